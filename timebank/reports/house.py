"""The house's result at each table, compared with exact odds.

The board knows the odds (entry point `timebank.odds`): the average result of a hand as it was
played. The difference from it is luck, which is zero on average however callers play. So incredible
luck is a cheat or a bug. Hands are read one after the other, and only sums by table and by caller
stay in memory.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from itertools import groupby
from typing import Final, NamedTuple

from sqlalchemy import BigInteger, and_, bindparam, func, select

from timebank.ledger.database import Desk
from timebank.ledger.schema import actions, callers, rounds, shoes, transfers
from timebank.ledger.sql import NO_BOUND, Prepared, Query, equal, read
from timebank.reports.statements import NAME, amount, printable
from timebank.reports.tables import Column, Listing, Loud, Piece, Row, figures
from timebank.wagers.rounds import VOID
from timebank.words import Unit, title

ODDS = "timebank.odds"

BEYOND_BELIEF = 5.0
"""In standard deviations. Chance alone exceeds it once in 1.7 million times."""

COMMON = 2.0
"""In standard deviations. Chance alone stays within it on nineteen days of twenty."""

FEWEST = 100
"""The hands needed for a judgement: the luck of fewer is not normally distributed."""


@dataclass(slots=True)
class Luck:
    """The hands of a table, or of one caller there. Amounts are in `unit`, the house's side."""

    game: str
    unit: Unit
    caller_id: int | None = None
    hands: int = 0
    staked: int = 0
    house: int = 0
    unknown: int = 0  # hands with unknown odds, which count in `hands` and `house`
    given: float = 0.0  # the house's average result by the odds
    luck: float = 0.0  # the house's luck in all hands with known odds
    _squares: float = field(default=0.0, repr=False)
    _variance: float = field(default=0.0, repr=False)

    def add(self, round_: Iterable[tuple[FinishedHand, Odds | None]]) -> None:
        """Add the hands of one round, which share the dealer's cards, each with its odds."""
        luck = sd = 0.0
        for hand, odds in round_:
            self.hands += 1
            self.staked += hand.staked
            self.house += hand.house
            if odds is None:
                self.unknown += 1
                continue
            net, deviation = odds
            self.given -= net
            luck += hand.house + net
            sd += deviation
        self.luck += luck
        self._squares += luck * luck
        self._variance += sd * sd

    def join(self, other: Luck) -> None:
        """Add the hands of another luck in the same unit."""
        self.hands += other.hands
        self.staked += other.staked
        self.house += other.house
        self.unknown += other.unknown
        self.given += other.given
        self.luck += other.luck
        self._squares += other._squares
        self._variance += other._variance

    def band(self, deviations: float) -> tuple[float, float]:
        """Return the house's lowest and highest result so many deviations from the expected one.

        Hands with unknown odds count with their results.
        """
        expected = self.house - self.luck
        return expected - deviations * self.deviation, expected + deviations * self.deviation

    @property
    def deviation(self) -> float:
        """The standard deviation of luck: the observed one or perfect play's, whichever is more."""
        return math.sqrt(max(self._squares, self._variance))

    @property
    def deviations(self) -> float:
        """The house's luck in standard deviations; below 0 if the callers were lucky."""
        return self.luck / self.deviation if self.deviation else 0.0

    @property
    def is_believable(self) -> bool:
        return self.hands - self.unknown < FEWEST or abs(self.deviations) <= BEYOND_BELIEF


class FinishedHand(NamedTuple):
    """A finished hand with everything that its odds depend on. `lead` numbers its round.

    `rules` and `result` are JSON from the journal. `words` are the actions of the hand, which are
    needed if more was `staked` than the bet.
    """

    lead: int
    game: str
    unit: Unit
    caller_id: int
    rules: str
    decks: int
    bet: int
    staked: int
    house: int
    result: str
    words: tuple[str, ...]


# The average win of a hand, and its standard deviation under perfect play.
Odds = tuple[float, float]
HandOdds = Callable[[FinishedHand], Odds | None]


class HandNumbers(NamedTuple):
    """Numbers of hands, from `first` to before `end`."""

    first: int = 0
    end: int = NO_BOUND


ALL_HANDS: Final = HandNumbers()
SPAN = ("since", "until", *HandNumbers._fields)


def _hands(*, of_caller: bool) -> Query:
    hand = rounds.c
    since, until, first, end = (bindparam(name, type_=BigInteger) for name in SPAN)
    whose = (equal(hand.caller_id),) if of_caller else ()
    return (
        select(
            *(hand.id, hand.game, hand.unit, hand.caller_id, hand.rules, hand.bet, hand.lost),
            *(hand.returned, hand.won, hand.result, hand.seat),
            func.coalesce(hand.lead, hand.id).label("lead"),
            func.coalesce(shoes.c.decks, 0).label("decks"),
        )
        .select_from(rounds)
        .join(shoes, shoes.c.id == hand.shoe_id, isouter=True)
        .where(and_(hand.settled.is_not(None), hand.outcome != VOID))
        .where(hand.settled >= since, hand.settled < until)
        .where(*whose, hand.id >= first, hand.id < end)
        .order_by(hand.id)
    )


_HANDS = Prepared(lambda: _hands(of_caller=False))
_HANDS_OF = Prepared(lambda: _hands(of_caller=True))  # uses an index
_NUMBERS = read(
    HandNumbers,
    lambda: (
        # "+ 0" keeps SQLite from scanning an index through all of the books for the minimum.
        select(
            func.coalesce(func.min(transfers.c.round_id + 0), 0),
            func.coalesce(func.max(transfers.c.round_id + 0) + 1, 0),
        ).where(transfers.c.id >= bindparam("first"), transfers.c.id < bindparam("end"))
    ),
)
_ACTIONS = Prepared(
    lambda: (
        select(actions.c.action)
        .where(actions.c.round_id == bindparam("lead"))
        .order_by(actions.c.sequence)
    )
)
_NAMES = Prepared(lambda: select(callers.c.id, callers.c.name))


def installed_odds() -> HandOdds | None:
    """Return the board's function that knows the odds, None if no board is installed."""
    functions: list[HandOdds] = [point.load() for point in entry_points(group=ODDS)]
    return functions[0] if functions else None


def hands_of_transfers(desk: Desk, first: int, end: int = NO_BOUND) -> HandNumbers:
    """Return the numbers of the hands of the transfers from number `first` to before `end`.

    A hand moves time when it ends, so no other hand has ended in these transfers.
    """
    return _NUMBERS.one(desk.connection, first=first, end=end)


def lucks(
    desk: Desk,
    given: HandOdds | None,
    since: int | None,
    until: int | None,
    caller_id: int | None = None,
    numbers: HandNumbers = ALL_HANDS,
) -> tuple[list[Luck], list[Luck]]:
    """Return the luck of each table, and that of each caller at a table.

    Counts hands that ended from `since` to before `until`, of one caller or of all. Other `numbers`
    are skipped, which saves a scan of large books.
    """
    tables: dict[tuple[str, Unit], Luck] = {}
    people: dict[tuple[str, Unit, int], Luck] = {}
    span = {"since": since or 0, "until": until or NO_BOUND, **numbers._asdict()}
    # The hands of a round have consecutive numbers.
    for _, seats in groupby(_played(desk, span, caller_id), lambda each: each.lead):
        round_ = [(hand, given and given(hand)) for hand in seats]
        where = round_[0][0].game, round_[0][0].unit
        tables.setdefault(where, Luck(*where)).add(round_)
        for each in round_:
            owner = each[0].caller_id
            people.setdefault((*where, owner), Luck(*where, owner)).add([each])
    return sorted(tables.values(), key=_sort_key), list(people.values())


def house(
    desk: Desk,
    given: HandOdds | None,
    since: int | None,
    until: int | None,
    caller_id: int | None,
    numbers: HandNumbers = ALL_HANDS,
) -> tuple[list[Luck], list[Luck]]:
    """Return the luck of each table, and the incredible luck of callers at a table: see `lucks`."""
    tables, people = lucks(desk, given, since, until, caller_id, numbers)
    doubted = [luck for luck in people if not luck.is_believable]
    return tables, sorted(doubted, key=lambda luck: luck.deviations)


def hands_of(desk: Desk, caller_id: int, since: int, most: int) -> list[FinishedHand]:
    """Return a caller's newest `most` hands that ended from `since` on, oldest first.

    Their odds take long to compute: see `lucks_of`.
    """
    span = {"since": since, "until": NO_BOUND, **ALL_HANDS._asdict()}
    return list(deque(_played(desk, span, caller_id), most))


def lucks_of(hands: Iterable[FinishedHand], given: HandOdds | None) -> list[Luck]:
    """Sum the hands of one caller by table, tables for minutes first."""
    tables: dict[tuple[str, Unit], Luck] = {}
    for hand in hands:
        where = hand.game, hand.unit
        tables.setdefault(where, Luck(*where)).add([(hand, given and given(hand))])
    return sorted(tables.values(), key=_sort_key)


def _sort_key(luck: Luck) -> tuple[bool, str, str]:
    return luck.unit != "second", luck.game, luck.unit


def _played(desk: Desk, span: Mapping[str, int], caller_id: int | None) -> Iterator[FinishedHand]:
    if caller_id is None:
        rows = _HANDS.run_long(desk.connection, **span)
    else:
        rows = _HANDS_OF.run_long(desk.connection, **span, caller_id=caller_id)
    for row in rows:
        staked = row.lost + row.returned
        words = _words(desk, row.lead, row.seat) if staked > row.bet else ()
        yield FinishedHand(
            *(row.lead, row.game, row.unit, row.caller_id, row.rules, row.decks, row.bet, staked),
            *(row.lost - row.won, row.result, words),
        )


def _words(desk: Desk, lead: int, seat: int) -> tuple[str, ...]:
    """Return the actions taken at a seat."""
    done = map(json.loads, _ACTIONS(desk.connection, lead=lead).scalars())
    return tuple(
        str(each["action"])
        for each in done
        if isinstance(each, Mapping) and "action" in each and each.get("seat", seat) == seat
    )


def names(desk: Desk, those: Iterable[Luck]) -> dict[int, str]:
    wanted = {luck.caller_id for luck in those}
    return {number: name for number, name in _NAMES.run_long(desk.connection) if number in wanted}


FIELDS = (
    *("game", "unit", "caller", "hands", "unknown", "staked", "house", "given", "luck"),
    *("deviations", "believable"),
)


def table(tables: list[Luck], doubted: list[Luck], named: Mapping[int, str]) -> Iterator[Piece]:
    columns = (
        Column("Table", least=NAME),
        *figures("Hands", "Staked", "House won"),
        *(Column("By odds", right=True, goes=1), *figures("Luck", "SD")),
    )
    yield Listing(columns, _rows(tables), "No hand is over.")
    for luck in (*(each for each in tables if not each.is_believable), *doubted):
        yield Loud(alert(luck, named))


def _rows(tables: Iterable[Luck]) -> Iterator[Row]:
    for luck in tables:
        amounts = (luck.staked, luck.house, round(luck.given), round(luck.luck))
        shown = (amount(each, luck.unit) for each in amounts)
        deviations = f"{luck.deviations:+.1f}"
        yield (
            *(printable(title(luck.game)), str(luck.hands), *shown),
            deviations if luck.is_believable else Loud(deviations),
        )
        if luck.unknown:
            yield f"  The odds of {luck.unknown} of them are unknown."


def alert(luck: Luck, named: Mapping[int, str]) -> str:
    who = "The house" if luck.caller_id is None else printable(named[luck.caller_id])
    won = luck.luck if luck.caller_id is None else -luck.luck
    more = "more" if won > 0 else "less"
    return (
        f"{who} won {amount(abs(round(won)), luck.unit)} {more} at {title(luck.game)} than luck"
        f" explains: {abs(luck.deviations):.1f} deviations in {luck.hands} hands. That is a cheat"
        " or a bug; `door audit` replays every hand."
    )


def lines(those: Iterable[Luck], named: Mapping[int, str]) -> Iterator[dict[str, object]]:
    for luck in those:
        values = (
            *(luck.game, luck.unit, None if luck.caller_id is None else named[luck.caller_id]),
            *(luck.hands, luck.unknown, luck.staked, luck.house, round(luck.given, 3)),
            *(round(luck.luck, 3), round(luck.deviations, 3), luck.is_believable),
        )
        yield dict(zip(FIELDS, values, strict=True))
