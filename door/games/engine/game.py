"""`Kind`, the interface of every game to the journal, replays and the audit.

They treat a round as a function of (rules, shoe, actions). A `Kind` deals, acts, and returns what a
seat has won or lost. Amounts are whole numbers of the smallest unit of the stakes. Seats count from
0 here and from 1 in journals.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

from door.games.engine import shuffle
from door.games.engine.cards import Card
from door.games.engine.errors import IllegalAction, RoundRefused, RulesRefused, ShoeTooShort
from door.games.engine.rules import Check, checked
from timebank.settings.quoting import either, shown

# The sets of rules that a sysop may choose: the old texts as docs/rules.md reads them, and what
# casinos play.
TEXT, CASINO = "1991", "casino"
HOUSE_SETS = (TEXT, CASINO)


class Totals(NamedTuple):
    """Amounts of some seats so far. After the round, lost + returned == staked."""

    staked: int
    lost: int
    returned: int
    won: int


class Act(NamedTuple):
    """An action in the form of journals and replays: "hit", "2:hit", "insurance:300"."""

    word: str
    seat: int | None = None  # from 1; None in a game of one seat
    amount: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the action of a text in the form of `str`; raises ValueError.

        >>> Act.parse("2:insurance:300")
        Act(word='insurance', seat=2, amount=300)
        """
        first, *rest = text.split(":")
        seat = None
        if first.isdecimal() and rest:
            seat, first, *rest = int(first), *rest
        if len(rest) > 1 or not all(part.isdecimal() and part.isascii() for part in rest):
            raise ValueError(f"not an action: {text}")
        return cls(first, seat, int(rest[0]) if rest else None)

    def __str__(self) -> str:
        seat = "" if self.seat is None else f"{self.seat}:"
        amount = "" if self.amount is None else f":{self.amount}"
        return f"{seat}{self.word}{amount}"

    def entry(self) -> dict[str, object]:
        entry: dict[str, object] = {"action": self.word}
        if self.seat is not None:
            entry["seat"] = self.seat
        if self.amount is not None:
            entry["amount"] = self.amount
        return entry

    @classmethod
    def of_entry(cls, entry: Mapping[str, object]) -> Self:
        """Return the action of an `entry`; raises TypeError."""
        word, seat, amount = entry.get("action"), entry.get("seat"), entry.get("amount")
        if not isinstance(word, str) or not _number(seat) or not _number(amount):
            raise TypeError("it has an action that is not one")
        return cls(word, seat, amount)  # type: ignore[arg-type]  # _number has looked


def _number(value: object) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


class Dealt(Protocol):
    """A round of any game at one moment."""

    @property
    def shoe(self) -> tuple[Card, ...]:
        """The cards from the first one dealt on, with those to come."""

    @property
    def cards_used(self) -> int:
        """The number of cards dealt."""

    @property
    def over(self) -> bool:
        """Whether no decision is left."""


# A function that deals a round from rules, shoe and stake.
Start: TypeAlias = Callable[[Any, Sequence[Card], Any], tuple[Any, Sequence[Any]]]


@dataclass(frozen=True, kw_only=True)
class Kind(ABC):
    """A game of the house.

    Its rounds (`round_`) are opaque to others; each is a `Dealt`. The methods here suit games of
    one seat without a shuffle in mid-round. Their rounds have `legal`, `apply`, `totals` and
    `outcome`, their rules `decks` and `shuffle_due`.
    """

    # As in journals, ledgers, replays and sysop.toml: "baccarat".
    name: str
    most_seats: int = 1
    # The rules that a house may vary: "1991", and the keys of "casino" that differ from them.
    base: Any
    in_casinos: Mapping[str, object] = field(default_factory=dict)
    # The check of each key of the rules, and the keys that only journals have.
    checks: Mapping[str, Check]
    only_journaled: frozenset[str] = frozenset()
    start: Start
    actions: type[StrEnum]
    # Cards of each shuffle that are never dealt; None where every shuffle has a seed of its own.
    undealt: int | None = None

    # A game overrides these.

    @abstractmethod
    def absent(self, round_: Any) -> Act:
        """Return the action for an absent caller in an open round."""

    @abstractmethod
    def laid(self, round_: Any, seat: int) -> Mapping[str, object]:
        """Return the cards of a seat in a finished round, in the form of journals and replays."""

    @abstractmethod
    def lies(self, round_: Any, settled: bool) -> str:
        """Return the cards on the table in words; hide those face down until `settled`."""

    def face_down(self, round_: Any) -> tuple[Card, ...]:
        """Return the cards of a finished round that stayed face down."""
        return ()

    # Rules.

    @property
    def sysop_keys(self) -> tuple[str, ...]:
        """The keys of the rules that a sysop may set."""
        return tuple(key for key in self.checks if key not in self.only_journaled)

    def rules_of(self, name: str) -> Any:
        """Return the rules of a set of `HOUSE_SETS`."""
        return self.vary(self.in_casinos if name == CASINO else {}, self.base)

    def vary(self, mapping: Mapping[str, object], base: Any) -> Any:
        """Return `base` with the keys of `mapping` replaced; raises `RulesRefused`."""
        return replace(base, **checked(mapping, self.checks))

    def read_rules(self, mapping: Mapping[str, object]) -> Any:
        """Return the rules of a journal; `RoundRefused` for a wrong key."""
        values = tuple(mapping.values())
        read = self._read_once
        try:
            hash(values)
        except TypeError:  # a list or a table, which is no rule
            read = self._rules_of
        try:
            # With their types, because True == 1.
            return read(tuple(mapping), values, tuple(map(type, values)))
        except RulesRefused as refused:
            raise RoundRefused(f"rules: {refused}") from None

    @cached_property
    def _read_once(self) -> Callable[..., Any]:
        """`_rules_of` with a cache, because each hand reads its table's rules several times.

        The cache belongs to the instance: hashing `base` would take longer.
        """
        return lru_cache(maxsize=64)(self._rules_of)

    def _rules_of(self, names: tuple[str, ...], values: tuple[object, ...], _types: object) -> Any:
        return self.vary(dict(zip(names, values, strict=True)), self.base)

    def decks(self, rules: Mapping[str, object]) -> int:
        """Return the number of decks in the shoe; raises `RoundRefused`."""
        decks: int = self.read_rules(rules).decks
        return decks

    def most_alike(self, decks: int) -> int:
        """Return how often a card can occur in a round from a shoe of `decks`."""
        return decks

    def is_used_up(self, rules: Mapping[str, object], decks: int, dealt: int, seats: int) -> bool:
        """Return whether a shoe with `dealt` cards gone must be replaced before the next round."""
        due: bool = self.read_rules_of(rules, decks).shuffle_due(dealt)
        return due

    def read_rules_of(self, rules: Mapping[str, object], decks: int) -> Any:
        table = self.read_rules(rules)
        return table if table.decks == decks else replace(table, decks=decks)

    # A round.

    def cards(self, seed: bytes, cut: shuffle.Cut, decks: int, position: int) -> tuple[Card, ...]:
        """Return the cards of a shoe from `position` on, enough for any round."""
        return shuffle.shuffle(seed, cut, decks)[position:]

    def deal(
        self, rules: Mapping[str, object], cards: Sequence[Card], stakes: Sequence[int], scale: int
    ) -> tuple[Any, Sequence[Any]]:
        """Return a dealt round and its events.

        `scale` parts of the stakes' unit make one unit of the rules. Raises `RoundRefused`.
        """
        (stake,) = stakes
        return self.begin(self.read_rules(rules), cards, stake)

    def begin(self, rules: Any, cards: Sequence[Card], stake: Any) -> tuple[Any, Sequence[Any]]:
        try:
            return self.start(rules, cards, stake)
        except (ShoeTooShort, ValueError) as error:
            raise RoundRefused(_small(error)) from None

    def act(self, round_: Any, act: Act) -> tuple[Any, Sequence[Any]]:
        """Return the round after an action, and its events; raises `RoundRefused`."""
        try:
            action = self.actions(act.word)
        except ValueError:
            wanted = either(tuple(self.actions))
            raise RoundRefused(f"must be {wanted}, is {shown(act.word)}") from None
        try:
            return self.apply(round_, action, act)
        except (IllegalAction, ShoeTooShort, ValueError) as error:
            raise RoundRefused(_small(error)) from None

    def apply(self, round_: Any, action: Any, act: Act) -> tuple[Any, Sequence[Any]]:
        """Apply a known action to a round."""
        if act.seat not in (None, 1) or act.amount is not None:
            raise RoundRefused(f"{action} takes neither a seat nor an amount here")
        after: tuple[Any, Sequence[Any]] = round_.apply(action)
        return after

    def open_words(self, round_: Any) -> tuple[str, ...]:
        words: tuple[str, ...] = round_.legal()
        return words

    def by_chance(self, round_: Any, seed: bytes, cut: shuffle.Cut, position: int) -> Act | None:
        """Return the action that the shoe's seed decides now, None where a caller decides.

        `position` is the position of the round's first card in the shoe.
        """
        return None

    # Results.

    def totals(self, round_: Any, seat: int) -> Totals:
        totals: Totals = round_.totals
        return totals

    def outcome(self, round_: Any, seat: int) -> str:
        """Return the outcomes of a seat's hands, separated by spaces; "" before the first."""
        return str(round_.outcome or "")

    def result(self, round_: Any, seat: int) -> dict[str, object]:
        """Return the result of a seat in a finished round, for the journal."""
        totals = round_.totals
        return {
            "outcome": str(round_.outcome),
            **self.laid(round_, seat),
            "net": totals.won - totals.lost,
            "cards_used": round_.cards_used,
        }

    def replayed(self, round_: Any) -> dict[str, object]:
        """Return outcome and cards of a finished round for `door replay`, without the net."""
        result = self.result(round_, 0)
        del result["net"]
        return result


# Helpers for the rounds of games.


def refuse_unless_open(action: str, legal: Sequence[str], round_is_over: str) -> None:
    if action not in legal:
        if not legal:
            raise IllegalAction(f"{action} is not open: {round_is_over}.")
        raise IllegalAction(f"{action} is not open here: it is {either(legal)}.")


def refuse_no_stake(stake: int) -> None:
    if stake <= 0:
        raise ValueError(f"The stake must be more than 0, is {stake}.")


def card_at(shoe: Sequence[Card], number: int) -> Card:
    if number >= len(shoe):
        cards = "1 card is" if len(shoe) == 1 else f"{len(shoe)} cards are"
        raise ShoeTooShort(f"The shoe is too short: its {cards} not enough.")
    return shoe[number]


def _small(error: Exception) -> str:
    sentence = str(error)
    return sentence[0].lower() + sentence[1:]
