"""Every game of the house behind one face, for all who do not play it but keep it.

The journal, resuming, replays and the audit treat a round as a function of (rules, shoe, actions)
and do not care which game it is. A `Kind` is what they need to know of one: how it is dealt, what
an action means, what a seat has won or lost, and what is to be told of it afterwards. Amounts are
whole numbers of the smallest unit of the stakes; seats count from 0 here and from 1 in journals.
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
from door.games.engine.quoting import either, shown
from door.games.engine.rules import Check, checked


class Totals(NamedTuple):
    """What moved so far, over some seats; once the round is over, lost + returned == staked."""

    staked: int
    lost: int
    returned: int
    won: int


class Act(NamedTuple):
    """An action as journals and replays name it: "hit", "2:hit", "insurance:300"."""

    word: str
    seat: int | None = None  # from 1; None where there is but one
    amount: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the form that `str` gives; ValueError when it is not of that form.

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
        """Read what `entry` gives; TypeError when it is none."""
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
        """The cards from the first that was dealt, those to come included."""

    @property
    def cards_used(self) -> int:
        """How many of them are dealt."""

    @property
    def over(self) -> bool:
        """Whether nothing is left to decide."""


# What starts a round with a stake.
Start: TypeAlias = Callable[[Any, Sequence[Card], Any], tuple[Any, Sequence[Any]]]


@dataclass(frozen=True, kw_only=True)
class Kind(ABC):
    """A game of the house.

    Its rounds (`round_`) are its own objects, which only it looks into; each is a `Dealt`. Here
    stands what games of one seat share, whose shoe is never shuffled in mid-round: their rounds
    have `legal`, `apply`, `totals` and `outcome`, their rules `decks` and `shuffle_due`.
    """

    # In journals, ledgers, replays and sysop.toml: "baccarat".
    name: str
    # How many may sit at it.
    most_seats: int = 1
    # Its rules before a house varies them.
    base: Any
    # What each key of them must hold, and which keys stand only in the journal.
    checks: Mapping[str, Check]
    only_journaled: frozenset[str] = frozenset()
    start: Start
    actions: type[StrEnum]
    # Cards of each shuffle that are never dealt; None where every shuffle has a seed of its own.
    undealt: int | None = None

    # What a game says itself.

    @abstractmethod
    def absent(self, round_: Any) -> Act:
        """Return what is done, in a round that is not over, for one who is not there to decide."""

    @abstractmethod
    def laid(self, round_: Any, seat: int) -> Mapping[str, object]:
        """Return the cards of a seat's round that is over, as journals and replays name them."""

    @abstractmethod
    def lies(self, round_: Any, settled: bool) -> str:
        """Return the cards on the table in words; what lies face down stays so until `settled`."""

    def face_down(self, round_: Any) -> tuple[Card, ...]:
        """Return the cards on the table of a round that is over which were never turned up."""
        return ()

    # Rules.

    @property
    def sysop_keys(self) -> tuple[str, ...]:
        """The keys of its rules that a sysop may set."""
        return tuple(key for key in self.checks if key not in self.only_journaled)

    def vary(self, mapping: Mapping[str, object], base: Any) -> Any:
        """Return `base` with the keys of `mapping` in place of its own. `RulesRefused`, which names
        every wrong key, when any is wrong."""
        return replace(base, **checked(mapping, self.checks))

    def read_rules(self, mapping: Mapping[str, object]) -> Any:
        """Return the rules with the keys of `mapping` in place; `RoundRefused` for a wrong one."""
        values = tuple(mapping.values())
        read = self._read_once
        try:
            hash(values)
        except TypeError:  # there is a list or a table, which is no rule
            read = self._rules_of
        try:
            # With their types, for True is equal to 1.
            return read(tuple(mapping), values, tuple(map(type, values)))
        except RulesRefused as refused:
            raise RoundRefused(f"rules: {refused}") from None

    @cached_property
    def _read_once(self) -> Callable[..., Any]:
        """What reads rules once, by their names, values and types: every hand asks for those of
        its table a few times. A memory of its own, for to hash `base` takes longer than that."""
        return lru_cache(maxsize=64)(self._rules_of)

    def _rules_of(self, names: tuple[str, ...], values: tuple[object, ...], _types: object) -> Any:
        return self.vary(dict(zip(names, values, strict=True)), self.base)

    def decks(self, rules: Mapping[str, object]) -> int:
        """Return of how many decks its shoe is; `RoundRefused` for rules that make no round."""
        decks: int = self.read_rules(rules).decks
        return decks

    def most_alike(self, decks: int) -> int:
        """Return how often one card may come in a round from a shoe of so many decks."""
        return decks

    def is_used_up(self, rules: Mapping[str, object], decks: int, dealt: int, seats: int) -> bool:
        """Tell whether a shoe of which `dealt` cards are gone is done before the next round."""
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
        """Deal a round: the round and its events. `scale`: in how many parts a unit of the rules is
        counted here. Raises `RoundRefused` for rules, stakes or cards that make no round."""
        (stake,) = stakes
        return self.begin(self.read_rules(rules), cards, stake)

    def begin(self, rules: Any, cards: Sequence[Card], stake: Any) -> tuple[Any, Sequence[Any]]:
        try:
            return self.start(rules, cards, stake)
        except (ShoeTooShort, ValueError) as error:
            raise RoundRefused(_small(error)) from None

    def act(self, round_: Any, act: Act) -> tuple[Any, Sequence[Any]]:
        """Return the round after an action and its events; `RoundRefused` when it is not open."""
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
        """Apply an action, whose word is known, to a round."""
        if act.seat not in (None, 1) or act.amount is not None:
            raise RoundRefused(f"{action} takes neither a seat nor an amount here")
        after: tuple[Any, Sequence[Any]] = round_.apply(action)
        return after

    def open_words(self, round_: Any) -> tuple[str, ...]:
        words: tuple[str, ...] = round_.legal()
        return words

    def by_chance(self, round_: Any, seed: bytes, cut: shuffle.Cut, position: int) -> Act | None:
        """Return what the shoe's seed decides now, where the house tosses; None where it does not.
        `position` is that of the round's first card."""
        return None

    # What comes of it.

    def totals(self, round_: Any, seat: int) -> Totals:
        totals: Totals = round_.totals
        return totals

    def outcome(self, round_: Any, seat: int) -> str:
        """Return how a seat ended, its hands parted by spaces; empty while none has."""
        return str(round_.outcome or "")

    def result(self, round_: Any, seat: int) -> dict[str, object]:
        """Return what the journal keeps of a seat's round that is over."""
        totals = round_.totals
        return {
            "outcome": str(round_.outcome),
            **self.laid(round_, seat),
            "net": totals.won - totals.lost,
            "cards_used": round_.cards_used,
        }

    def replayed(self, round_: Any) -> dict[str, object]:
        """Return outcome and cards of a round that is over as `door replay` gives them, no net."""
        result = self.result(round_, 0)
        del result["net"]
        return result


@dataclass(frozen=True)
class Samples:
    """What a robot and a fuzzer, which know no rules, need to get anywhere at a game.

    `hands` are hands that are over, as `door replay` takes them. `habits` say how often each letter
    is pressed where a question has the words of the key; `taste` how often the game is chosen by
    those who like another one best.
    """

    hands: tuple[Mapping[str, object], ...]
    habits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    taste: int = 5


# What rounds of any game refuse, and take from a shoe.


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
