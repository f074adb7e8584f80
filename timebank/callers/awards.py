"""Awards: what a caller has done for the first time, with the moment and the hand.

Each is earned once, in the transaction that earns it. Those of hands are written by the trigger
that counts a hand (ledger/sqlite/dialect.py, ledger/postgres/guards.py), and `differing` compares
them with the hands; the others come from `earn`. Each waits until its caller was told (`untold`),
at once or on their next call.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import bindparam, delete, func, select

from timebank.callers import days_called
from timebank.callers.award_names import COMEBACK, WEEK, WON
from timebank.callers.standings import wishes_to_be_named
from timebank.ledger.database import Desk
from timebank.ledger.schema import awards, callers, instant, rounds, stamp
from timebank.ledger.sql import (
    Prepared,
    Reader,
    among,
    change,
    equal,
    given,
    insert_into,
    insert_or_keep,
    value,
)

IN_A_ROW = 5  # hands won, or lost before one that is won
FEW_HANDS, MANY_HANDS = 100, 1000
BIG_WIN = 1800  # seconds, with one hand
TIMES_THE_BET = 4
AT_A_TABLE = 4  # callers with a hand
DAYS_IN_A_ROW = 7

LATELY = timedelta(days=1)
_LOOKED_THROUGH = 12  # of the latest awards, for one that others may be told of


class Award(NamedTuple):
    """What was earned, by its word (award_names.py), and when."""

    word: str
    at: datetime


_EARN = Prepared(lambda: insert_or_keep(awards, given("caller_id", "award", "at")))
_OF_CALLER = Prepared(
    lambda: (
        select(awards.c.award, awards.c.at)
        .where(equal(awards.c.caller_id))
        .order_by(awards.c.at, awards.c.award)
    )
)
_LATEST = Prepared(
    lambda: (
        select(callers.c.name, awards.c.award, callers.c.preferences)
        .join(callers, callers.c.id == awards.c.caller_id)
        .where(awards.c.at >= bindparam("since"), callers.c.deleted.is_(None))
        .order_by(awards.c.at.desc(), callers.c.name, awards.c.award)
        .limit(_LOOKED_THROUGH)
    )
)
_UNTOLD = Prepared(
    lambda: (
        select(awards.c.caller_id, awards.c.award)
        .where(awards.c.told.is_(None), among(awards.c.caller_id, "caller_ids"))
        .order_by(awards.c.caller_id, awards.c.at, awards.c.award)
    )
)
_NOTE_TOLD = Prepared(
    lambda: change(
        awards, "told", equal(awards.c.caller_id, awards.c.award), awards.c.told.is_(None)
    )
)
_TAKE_BACK = Prepared(lambda: delete(awards).where(equal(awards.c.caller_id, awards.c.award)))


def earn(desk: Desk, caller_id: int, award: str) -> None:
    """Note what no hand earns by itself; who has it already keeps it as it is."""
    _EARN(desk.connection, caller_id=caller_id, award=award, at=stamp(desk.now))


def on_call(desk: Desk, caller_id: int) -> int:
    """Count the days in a row up to a call that begins, and note what they earn."""
    running = days_called.running(desk, caller_id)
    if running >= DAYS_IN_A_ROW:
        earn(desk, caller_id, WEEK)
    return running


def days_taken_back(desk: Desk, caller_id: int) -> None:
    """Forget what days of a wrong clock have earned."""
    if days_called.days_called(desk, caller_id).longest < DAYS_IN_A_ROW:
        _TAKE_BACK(desk.connection, caller_id=caller_id, award=WEEK)


def of_caller(desk: Desk, caller_id: int) -> list[Award]:
    """List what a caller has earned, the first of it first."""
    found = _OF_CALLER(desk.connection, caller_id=caller_id)
    return [Award(word, instant(at)) for word, at in found]


def untold(desk: Desk, caller_ids: Collection[int]) -> dict[int, list[str]]:
    """Give what these callers have earned and were not told of, in the order in which they did."""
    found: dict[int, list[str]] = {}
    for caller_id, word in _UNTOLD(desk.connection, caller_ids=json.dumps(list(caller_ids))):
        found.setdefault(caller_id, []).append(word)
    return found


def note_told(desk: Desk, caller_id: int, words: Iterable[str]) -> None:
    for word in words:
        _NOTE_TOLD(desk.connection, told=stamp(desk.now), caller_id=caller_id, award=word)


def latest(desk: Desk) -> tuple[str, str] | None:
    """Return who earned what last, of the last day, if others may be told of any."""
    since = stamp(desk.now - LATELY)
    for name, word, wishes in _LATEST(desk.connection, since=since):
        if word != COMEBACK or wishes_to_be_named(wishes):
            return name, word
    return None


# What the hands say.


class EarnedByHand(NamedTuple):
    caller_id: int
    award: str
    at: int
    round_id: int


_OVER = (rounds.c.settled.is_not(None), rounds.c.outcome != "void")
_FULL: Reader[int] = value(
    lambda: (
        select(rounds.c.lead)
        .where(rounds.c.lead.is_not(None), *_OVER)
        .group_by(rounds.c.lead)
        .having(func.count() >= AT_A_TABLE - 1)
        .order_by(rounds.c.lead)
    )
)
_HANDS = Prepared(
    lambda: (
        select(
            *(rounds.c.id, rounds.c.caller_id, rounds.c.game, rounds.c.unit, rounds.c.settled),
            *(rounds.c.outcome, rounds.c.won - rounds.c.lost, rounds.c.bet),
            func.coalesce(rounds.c.lead, rounds.c.id),
        )
        .where(*_OVER)
        .order_by(rounds.c.id)
    )
)
_KEPT = Prepared(
    lambda: (
        select(awards.c.caller_id, awards.c.award, awards.c.at, awards.c.round_id)
        .where(awards.c.round_id.is_not(None))
        .order_by(awards.c.caller_id, awards.c.award)
    )
)
_ADD = Prepared(lambda: insert_into(awards, "caller_id award at round_id"))


def _by_hands(desk: Desk) -> dict[tuple[int, str], EarnedByHand]:
    """Go through every hand in the order in which they were over."""
    full = set(_FULL.all(desk.connection))
    found: dict[tuple[int, str], EarnedByHand] = {}
    tables: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
    hands: defaultdict[int, int] = defaultdict(int)
    streaks: defaultdict[tuple[int, str, str], int] = defaultdict(int)
    for number, who, game, unit, at, outcome, net, bet, table in _HANDS.long(desk.connection):
        hands[who] += 1
        if table in full:
            tables[table].append((who, at, number))
        before = streaks[who, game, unit]
        if net:
            way = 1 if net > 0 else -1
            streaks[who, game, unit] = before + way if before * way > 0 else way
        for award in _of_hand(game, unit, outcome, net, bet, hands[who], before):
            if (who, award) not in found:
                found[who, award] = EarnedByHand(who, award, at, number)
    for seats in tables.values():
        for who, at, number in seats if len(seats) >= AT_A_TABLE else ():
            before_it = found.get((who, "company"))
            if before_it is None or number < before_it.round_id:
                found[who, "company"] = EarnedByHand(who, "company", at, number)
    return found


def _of_hand(
    game: str, unit: str, outcome: str, net: int, bet: int, hands: int, before: int
) -> Iterator[str]:
    """Name what a hand earns by itself, or as one of so many; `before` it so many were won in a
    row, or lost if below 0."""
    yield "hand"
    words = outcome.split(" ")
    yield from (word for word in ("natural", "charlie") if word in words)
    if outcome == "win win":
        yield "split"
    if hands >= FEW_HANDS:
        yield "hundred"
    if hands >= MANY_HANDS:
        yield "thousand"
    if net <= 0:
        return
    yield f"{WON}{game}"
    if unit == "second" and net >= BIG_WIN:
        yield "half"
    if net >= TIMES_THE_BET * bet:
        yield "fourfold"
    if before >= IN_A_ROW - 1:
        yield "streak"
    if before <= -IN_A_ROW:
        yield COMEBACK


class WrongAward(NamedTuple):
    """An award that is not as the hands say; `earned` is what they say, None for nothing."""

    caller_id: int
    award: str
    earned: EarnedByHand | None

    def __str__(self) -> str:
        return f"award {self.award!r} of caller {self.caller_id}"


def differing(desk: Desk) -> list[WrongAward]:
    """List the awards of hands that are not as the hands say; reads every hand."""
    earned = _by_hands(desk)
    kept = {
        (who, award): EarnedByHand(who, award, *it) for who, award, *it in _KEPT(desk.connection)
    }
    keys = sorted(key for key in earned | kept if earned.get(key) != kept.get(key))
    return [WrongAward(who, award, earned.get((who, award))) for who, award in keys]


def mend(desk: Desk, wrong: WrongAward) -> None:
    """Make an award what the hands say."""
    _TAKE_BACK(desk.connection, caller_id=wrong.caller_id, award=wrong.award)
    if wrong.earned is not None:
        _ADD(desk.connection, **wrong.earned._asdict())
