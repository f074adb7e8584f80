"""Every game of the house behind one face, for all who do not play it but keep it.

The journal, resuming, replays and the audit treat a round as a function of (rules, shoe, actions)
and do not care which game it is. A `Kind` is what they need to know of one: how it is dealt, what
an action means, what a seat has won or lost, and what is to be told of it afterwards. Amounts are
whole numbers of the smallest unit of the stakes; seats count from 0 here and from 1 in journals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

from door.games.engine.cards import Card

BETS: Mapping[str, type] = {
    "coin_minutes": int,
    "smallest_bet": int,
    "largest_bet": int,
    "turns_per_day": int,
}
"""The keys that bound a wager in every game that is played for time, for `Kind.house_keys`."""


@dataclass(frozen=True, slots=True)
class Totals:
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
        """Write the action as `parse` reads it."""
        seat = "" if self.seat is None else f"{self.seat}:"
        amount = "" if self.amount is None else f":{self.amount}"
        return f"{seat}{self.word}{amount}"

    def entry(self) -> dict[str, object]:
        """Return the action as a journal keeps it."""
        entry: dict[str, object] = {"action": self.word}
        if self.seat is not None:
            entry["seat"] = self.seat
        if self.amount is not None:
            entry["amount"] = self.amount
        return entry

    @classmethod
    def of_entry(cls, entry: Mapping[str, object]) -> Self:
        """Read what `entry` gives; TypeError when it is none."""
        word, seat, amount = (entry.get(key) for key in ("action", "seat", "amount"))
        if not isinstance(word, str) or not _number(seat) or not _number(amount):
            raise TypeError("an action in it is none")
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


class Kind(Protocol):
    """A game of the house.

    Its rounds (`round_`) are its own objects, which only it looks into; each is a `Dealt`.
    """

    @property
    def name(self) -> str:
        """The name in journals, ledgers, replays and sysop.toml: "baccarat"."""

    @property
    def most_seats(self) -> int:
        """How many may sit at it."""

    @property
    def house_keys(self) -> Mapping[str, type]:
        """Keys of its table in sysop.toml that change no round, and what they hold."""

    def deal(
        self, rules: Mapping[str, object], cards: Sequence[Card], stakes: Sequence[int], scale: int
    ) -> tuple[Any, Sequence[object]]:
        """Deal a round: the round and its events.

        `scale`: in how many parts a unit of the rules is counted here. Raises `RoundRefused` for
        rules, stakes or cards that make no round.
        """

    def act(self, round_: Any, act: Act) -> tuple[Any, Sequence[object]]:
        """Return the round after an action and its events; `RoundRefused` when it is not open."""

    def open_words(self, round_: Any) -> tuple[str, ...]:
        """Return the words of the actions that are open now; none once it is over."""

    def absent(self, round_: Any) -> Act:
        """Return what is done, in a round that is not over, for one who is not there to decide."""

    def totals(self, round_: Any, seat: int) -> Totals:
        """Return the money of one seat."""

    def outcome(self, round_: Any, seat: int) -> str:
        """Return how a seat ended, its hands parted by spaces; empty while none has."""

    def result(self, round_: Any, seat: int) -> dict[str, object]:
        """Return what the journal keeps of a seat's round that is over."""

    def replayed(self, round_: Any) -> dict[str, object]:
        """Return outcome and cards of a round that is over as `door replay` gives them, no net."""

    def lies(self, round_: Any, settled: bool) -> str:
        """Return the cards on the table in words; what lies face down stays so until `settled`."""

    def cards(self, seed: bytes, cut: str, decks: int, position: int) -> tuple[Card, ...]:
        """Return the cards of a shoe from `position` on, enough for any round."""

    def decks(self, rules: Mapping[str, object]) -> int:
        """Return of how many decks its shoe is; `RoundRefused` for rules that make no round."""

    def most_alike(self, decks: int) -> int:
        """Return how often one card may come in a round from a shoe of so many decks."""

    def is_used_up(self, rules: Mapping[str, object], decks: int, dealt: int, seats: int) -> bool:
        """Tell whether a shoe of which `dealt` cards are gone is done before the next round."""

    def by_chance(self, round_: Any, seed: bytes, cut: str, position: int) -> Act | None:
        """Return what the shoe's seed decides now, where the house tosses; None where it does not.

        `position` is that of the round's first card.
        """
