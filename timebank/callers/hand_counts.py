"""The rules by which hands count for their caller: sums, streaks and awards.

This module does not use the books. hand_totals.py applies these rules to each hand when it is
settled, and to all hands in a recount.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import add
from typing import NamedTuple, TypeAlias

from timebank.callers.award_names import COMEBACK, WON

IN_A_ROW = 5  # hands won, or lost before one that is won
NUMBERED = {1: "hand", 100: "hundred", 1000: "thousand"}  # by the count of a caller's hands
BIG_WIN = 1800  # seconds, with one hand
TIMES_THE_BET = 4
FULL_TABLE = 4  # callers with a hand
WINS = frozenset({"win", "twenty-one", "natural", "charlie"})  # outcomes of hands of a split


class EndedHand(NamedTuple):
    """A hand that was settled and is not void; amounts are in `unit`."""

    number: int
    caller_id: int
    game: str
    unit: str
    day: str
    # When it was settled, in seconds since 1970.
    at: int
    outcome: str
    bet: int
    lost: int
    won: int
    # The number of hands settled at the table, including this one.
    together: int


class HandSums(NamedTuple):
    """The sums of hands: the columns of `schema.results` after its key."""

    hands: int = 0
    lost: int = 0
    won: int = 0
    hands_won: int = 0
    hands_even: int = 0
    naturals: int = 0
    charlies: int = 0
    best: int = 0

    def plus(self, other: HandSums) -> HandSums:
        best = max(self.best, other.best)
        return HandSums._make((*map(add, self[:-1], other[:-1]), best))


class Streaks(NamedTuple):
    """Hands in a row: the columns of `schema.results_ever` after the sums."""

    streak: int = 0
    longest_won: int = 0
    longest_lost: int = 0

    def then(self, net: int) -> Streaks:
        """Return the streaks after a hand. One that comes out even changes nothing."""
        if net == 0:
            return self
        way = 1 if net > 0 else -1
        streak = self.streak + way if self.streak * way > 0 else way
        return Streaks(streak, max(self.longest_won, streak), max(self.longest_lost, -streak))


class GameTotals(NamedTuple):
    """A caller's totals at a game in one unit."""

    sums: HandSums = HandSums()
    streaks: Streaks = Streaks()

    @classmethod
    def from_row(cls, row: Sequence[int]) -> GameTotals:
        """Make totals from the columns of `schema.results_ever` after the key."""
        size = len(HandSums._fields)
        return cls(HandSums(*row[:size]), Streaks(*row[size:]))

    @property
    def row(self) -> tuple[int, ...]:
        return (*self.sums, *self.streaks)


NO_TOTALS = GameTotals()
# A caller's totals, by game and unit.
TotalsByGame: TypeAlias = Mapping[tuple[str, str], GameTotals]


def sums_of(hand: EndedHand) -> HandSums:
    """Return the sums of a single hand."""
    net, words = hand.won - hand.lost, hand.outcome.split(" ")
    naturals, charlies = int("natural" in words), int("charlie" in words)
    is_won, is_even = int(net > 0), int(net == 0)
    return HandSums(1, hand.lost, hand.won, is_won, is_even, naturals, charlies, max(net, 0))


class HandEffect(NamedTuple):
    """The effect of a hand: the caller's totals after it, its sums for the day, and its awards.

    Only the first hand that deserves an award earns it.
    """

    totals_after: TotalsByGame
    sums: HandSums
    deserved: list[str]


def settle(before: TotalsByGame, hand: EndedHand) -> HandEffect:
    """Return the effect of a hand on the caller's totals `before` it."""
    key, sums = (hand.game, hand.unit), sums_of(hand)
    totals = before.get(key, NO_TOTALS)
    after = GameTotals(totals.sums.plus(sums), totals.streaks.then(hand.won - hand.lost))
    deserved = list(_deserved(hand, before, totals.streaks.streak))
    return HandEffect({**before, key: after}, sums, deserved)


def _deserved(hand: EndedHand, before: TotalsByGame, streak: int) -> Iterator[str]:
    """Yield the awards that a hand deserves. `streak` is the one before it at the same game."""
    hands = 1 + sum(totals.sums.hands for totals in before.values())
    if hands in NUMBERED:
        yield NUMBERED[hands]
    words = hand.outcome.split(" ")
    yield from (word for word in ("natural", "charlie") if word in words)
    if len(words) > 1 and WINS.issuperset(words):
        yield "split"
    if hand.together >= FULL_TABLE:
        yield "company"
    net = hand.won - hand.lost
    if net <= 0:
        return
    at_game = (totals.sums for (game, _), totals in before.items() if game == hand.game)
    if not any(sums.hands_won for sums in at_game):
        yield f"{WON}{hand.game}"
    if hand.unit == "second" and net >= BIG_WIN:
        yield "half"
    if net >= TIMES_THE_BET * hand.bet:
        yield "fourfold"
    if streak >= IN_A_ROW - 1:
        yield "streak"
    if streak <= -IN_A_ROW:
        yield COMEBACK


class Recount(NamedTuple):
    """The rows of `results`, `results_ever` and `awards` that hands add up to, by their keys."""

    by_day: dict[tuple[str, int, str, str], HandSums]
    ever: dict[tuple[int, str, str], tuple[int, ...]]
    # The time and the number of the hand that earned each.
    awards: dict[tuple[int, str], tuple[int, int]]


def recount(hands: Iterable[EndedHand]) -> Recount:
    """Count hands, which must be in the order in which each caller settled theirs."""
    standings: dict[int, TotalsByGame] = {}
    by_day: dict[tuple[str, int, str, str], HandSums] = {}
    awards: dict[tuple[int, str], tuple[int, int]] = {}
    for hand in hands:
        who = hand.caller_id
        standings[who], sums, deserved = settle(standings.get(who, {}), hand)
        for award in deserved:
            awards.setdefault((who, award), (hand.at, hand.number))
        day = hand.day, who, hand.game, hand.unit
        by_day[day] = by_day[day].plus(sums) if day in by_day else sums
    ever = {
        (who, *key): totals.row
        for who, totals_after in standings.items()
        for key, totals in totals_after.items()
    }
    return Recount(by_day, ever, awards)
