"""Who is richest, who won and lost most, and how the house did, in time: for the bulletins.

What hands came to is read from running totals (`schema.results`), which grow with callers and days,
not with hands. `differing` compares them with the hands, and `count_anew` mends one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from itertools import islice
from typing import NamedTuple

from sqlalchemy import (
    CTE,
    ColumnElement,
    Executable,
    Table,
    Text,
    and_,
    bindparam,
    case,
    delete,
    except_,
    func,
    insert,
    literal,
    select,
    true,
    union,
    union_all,
)

from timebank.ledger.database import Desk
from timebank.ledger.schema import accounts, callers, results, results_ever, rounds
from timebank.ledger.sql import Prepared, Query, equal, read, total, value


class Standing(NamedTuple):
    """A caller's place in a list; `seconds` are what they saved, won (above 0) or lost (below)."""

    name: str
    seconds: int


class CallResult(NamedTuple):
    """What the hands of a call came to in time, and the largest win of one: 0 without any."""

    hands: int
    net: int
    best: int


class DayResult(NamedTuple):
    """What a caller's hands of a day came to in time, the largest win of one, and their place among
    the `callers` who have played that day: those who won as much share it."""

    hands: int
    net: int
    best: int
    place: int
    callers: int


class HouseDay(NamedTuple):
    """How one game's house did: hands settled, and what it won from callers less what it paid."""

    game: str
    hands: int
    result: int


_RICHEST = read(
    Standing,
    lambda: (
        select(callers.c.name, accounts.c.balance)
        .join(callers, callers.c.id == accounts.c.caller_id)
        .where(accounts.c.kind == "bank", accounts.c.unit == "second", accounts.c.balance > 0)
        .where(callers.c.deleted.is_(None))
        .order_by(accounts.c.balance.desc(), callers.c.name)
        .limit(bindparam("most"))
    ),
)
_HOUSE = read(
    HouseDay,
    lambda: (
        select(results.c.game, func.sum(results.c.hands), func.sum(results.c.lost - results.c.won))
        .where(results.c.unit == "second", equal(results.c.day))
        .group_by(results.c.game)
        .order_by(results.c.game)
    ),
)


# By caller and day, which are in an index.
_OF_CALL = read(
    CallResult,
    lambda: (
        select(
            func.count(),
            func.coalesce(func.sum(rounds.c.won - rounds.c.lost), 0),
            func.coalesce(func.max(rounds.c.won - rounds.c.lost), 0),
        )
        .where(equal(rounds.c.caller_id), rounds.c.day >= bindparam("since"))
        .where(rounds.c.unit == "second", equal(rounds.c.call_id))
        .where(rounds.c.settled.is_not(None), rounds.c.outcome != "void")
    ),
)
_SAVED = and_(accounts.c.kind == "bank", accounts.c.unit == "second", accounts.c.balance > 0)
_OWN_SAVINGS = value(
    lambda: select(func.sum(accounts.c.balance)).where(_SAVED, equal(accounts.c.caller_id))
)
_RICHER = value(
    lambda: (
        select(func.count())
        .select_from(accounts)
        .join(callers, callers.c.id == accounts.c.caller_id)
        .where(_SAVED, accounts.c.balance > bindparam("saved"), callers.c.deleted.is_(None))
    )
)


_OF_DAY = Prepared(
    lambda: select(
        total(results.c.hands),
        total(results.c.won - results.c.lost),
        func.coalesce(func.max(results.c.best), 0),
    ).where(equal(results.c.day, results.c.caller_id), results.c.unit == "second")
)


def _placed() -> Query:
    """Count all who have played for time on a day, and those of them who have won more."""
    nets = (
        select(func.sum(results.c.won - results.c.lost).label("net"))
        .select_from(results)
        .join(callers, callers.c.id == results.c.caller_id)
        .where(equal(results.c.day), results.c.unit == "second", callers.c.deleted.is_(None))
        .group_by(results.c.caller_id)
        .subquery()
    )
    return select(func.count(), total(case((nets.c.net > bindparam("net"), 1), else_=0)))


_PLACED = Prepared(_placed)


# The preference of a caller who wants to be named among those who lost most.
NAMED_AS_LOSER = "named_as_loser"


def _net(totals: Table, when: ColumnElement[bool], *, won: bool) -> Query:
    net = func.sum(totals.c.won - totals.c.lost)
    found = (
        select(callers.c.name, net, *([] if won else [callers.c.preferences]))
        .select_from(totals)
        .join(callers, callers.c.id == totals.c.caller_id)
        .where(totals.c.unit == "second", callers.c.deleted.is_(None), when)
        .group_by(callers.c.id, callers.c.name)
        .having(net > 0 if won else net < 0)
        .order_by(net.desc() if won else net, callers.c.name)
    )
    return found.limit(bindparam("most")) if won else found


_WITHIN = results.c.day.between(bindparam("since"), bindparam("until"))
_WINNERS_EVER = read(Standing, lambda: _net(results_ever, true(), won=True))
_LOSERS_EVER = Prepared(lambda: _net(results_ever, true(), won=False))
_WINNERS = read(Standing, lambda: _net(results, _WITHIN, won=True))
_LOSERS = Prepared(lambda: _net(results, _WITHIN, won=False))


def richest(desk: Desk, most: int) -> list[Standing]:
    return _RICHEST.all(desk.connection, most=most)


def of_call(desk: Desk, caller_id: int, call_id: int, since: date) -> CallResult:
    """Add up the hands of a call that began on the day `since`."""
    (result,) = _OF_CALL.all(
        desk.connection, caller_id=caller_id, call_id=call_id, since=since.isoformat()
    )
    return result


def of_day(desk: Desk, caller_id: int, day: date) -> DayResult:
    """Return how a caller has done on a day; they have no place without a hand."""
    hands, net, best = _OF_DAY(desk.connection, caller_id=caller_id, day=day.isoformat()).one()
    if not hands:
        return DayResult(0, 0, 0, 0, 0)
    played, ahead = _PLACED(desk.connection, day=day.isoformat(), net=net).one()
    return DayResult(hands, net, best, 1 + ahead, played)


def place(desk: Desk, caller_id: int) -> int:
    """Return a caller's place among the richest, 0 for one who has saved nothing."""
    saved = _OWN_SAVINGS.one(desk.connection, caller_id=caller_id)
    return 1 + int(_RICHER.one(desk.connection, saved=saved)) if saved else 0


class DaySpan(NamedTuple):
    """Days by which hands are counted as turns, the first and the last of them included."""

    first: date
    last: date

    @property
    def bounds(self) -> dict[str, str]:
        return {"since": self.first.isoformat(), "until": self.last.isoformat()}


def winners(desk: Desk, period: DaySpan | None, most: int) -> list[Standing]:
    """List who won most by hands of some days, or ever."""
    if period is None:
        return _WINNERS_EVER.all(desk.connection, most=most)
    return _WINNERS.all(desk.connection, most=most, **period.bounds)


def losers(desk: Desk, period: DaySpan | None, most: int) -> list[Standing]:
    """List who lost most by hands of some days, or ever, of those who wish to be named; their
    seconds are below zero."""
    if period is None:
        rows = _LOSERS_EVER.long(desk.connection)
    else:
        rows = _LOSERS.long(desk.connection, **period.bounds)
    named = (Standing(name, net) for name, net, wishes in rows if wishes_to_be_named(wishes))
    return list(islice(named, most))


def wishes_to_be_named(preferences: str) -> bool:
    """Whether a caller with these preferences, as JSON, is named also where they have lost."""
    return json.loads(preferences).get(NAMED_AS_LOSER) is True


def house_day(desk: Desk, day: date) -> list[HouseDay]:
    return _HOUSE.all(desk.connection, day=day.isoformat())


def _common(totals: Table) -> list[str]:
    return [column.name for column in totals.primary_key]


_OVER = (rounds.c.settled.is_not(None), rounds.c.outcome != "void")
_KEY = ("caller_id", "game", "unit")
_STREAKS = ("streak", "longest_won", "longest_lost")
_WAY = case((rounds.c.won > rounds.c.lost, 1), else_=-1)


def _number_of(these: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((these, 1), else_=0))


def _has(word: str) -> ColumnElement[bool]:
    """Whether a word is among those of a hand's outcome; of two dialects one lacks `strpos`, and
    the other `instr`."""
    words = literal(" ") + rounds.c.outcome + " "
    return func.replace(words, f" {word} ", "") != words


def _streaks(*where: ColumnElement[bool]) -> Query:
    """Count hands in a row: those of now, and the most that were ever won and lost so.

    Of one caller at one game, hands are over in the order of their numbers. Two hands that were won
    are of one row when as many were won between them as there are between them.
    """
    way = _WAY
    of_hand = [rounds.c[name] for name in _KEY]
    among_all = func.row_number().over(partition_by=of_hand, order_by=rounds.c.id)
    among_alike = func.row_number().over(partition_by=[*of_hand, way], order_by=rounds.c.id)
    hands = (
        select(*of_hand, rounds.c.id, way.label("way"), (among_all - among_alike).label("row"))
        .where(*_OVER, rounds.c.won != rounds.c.lost, *where)
        .subquery()
    )
    of_row = [hands.c[name] for name in _KEY]
    length, last = func.count().label("length"), func.max(hands.c.id)
    age = func.row_number().over(partition_by=of_row, order_by=last.desc()).label("age")
    grouped = select(*of_row, hands.c.way, length, age).group_by(*of_row, hands.c.way, hands.c.row)
    row = grouped.subquery().c
    key = [row[name] for name in _KEY]
    longest = [func.max(case((row.way == way, row.length), else_=0)) for way in (1, -1)]
    now = func.sum(case((row.age == 1, row.way * row.length), else_=0))
    named = zip((now, *longest), _STREAKS, strict=True)
    return select(*key, *(column.label(name) for column, name in named)).group_by(*key)


def _counted(totals: Table, *where: ColumnElement[bool]) -> Query:
    """Count from the hands what a table of totals keeps, in its columns' order."""
    names = _common(totals)
    columns = [rounds.c[name] for name in names]
    net = rounds.c.won - rounds.c.lost
    kept = (
        *(func.count(), func.sum(rounds.c.lost), func.sum(rounds.c.won)),
        *(_number_of(net > 0), _number_of(net == 0)),
        *(_number_of(_has("natural")), _number_of(_has("charlie"))),
        func.max(case((net > 0, net), else_=0)),
    )
    named = [
        column.label(name) for column, name in zip(kept, _sums(totals)[: len(kept)], strict=True)
    ]
    counted = select(*columns, *named).where(*_OVER, *where).group_by(*columns)
    if totals is results:
        return counted
    hands, rows = counted.subquery(), _streaks(*where).subquery()
    same = and_(*(hands.c[name] == rows.c[name] for name in _KEY))
    in_a_row = (func.coalesce(rows.c[name], 0) for name in _STREAKS)
    return select(*hands.c, *in_a_row).select_from(hands).join(rows, same, isouter=True)


def _sums(totals: Table) -> list[str]:
    """Name the columns of a table of totals that are counted."""
    return [column.name for column in totals.c if not column.primary_key]


def _differing() -> Executable:
    """Choose the totals that are not what the hands add up to, streaks apart, with their tables.

    All hands are read, once for both; those of all days have "" in the place of the day.
    """
    of_day = _counted(results).cte("of_day")
    both = {results: of_day, results_ever: _of_all_days(of_day).cte("of_all_days")}
    wrong = []
    for totals, counted in both.items():
        kept, made = select(*(totals.c[each.name] for each in counted.c)), select(*counted.c)
        either = union(
            select(except_(kept, made).subquery()), select(except_(made, kept).subquery())
        ).subquery()
        day = either.c.day if totals is results else literal("")
        named = literal(totals.name, Text).label("totals"), day.label("day")
        wrong.append(select(*named, *(either.c[name] for name in _KEY)).distinct())
    return union_all(*wrong).order_by("totals", "day", *_KEY)


def _of_all_days(of_day: CTE) -> Query:
    """Add up what was counted of each day."""
    key, sums = ([of_day.c[name] for name in names] for names in (_KEY, _sums(results)))
    added = [
        (func.max(column) if column.name == "best" else func.sum(column)).label(column.name)
        for column in sums
    ]
    return select(*key, *added).group_by(*key)


def _these(table: Table, totals: Table) -> ColumnElement[bool]:
    return and_(*(table.c[name] == bindparam(f"this_{name}") for name in _common(totals)))


_DIFFERING = Prepared(_differing)


class _Streaks(NamedTuple):
    now: int = 0
    longest_won: int = 0
    longest_lost: int = 0

    def then(self, way: int) -> _Streaks:
        """Go on with a hand that was won (1) or lost (-1)."""
        now = self.now + way if self.now * way > 0 else way
        return _Streaks(now, max(self.longest_won, now), max(self.longest_lost, -now))


_NONE = _Streaks()
# In the order of the table, for a sort of all hands takes longer than all the rest.
_DECIDED = Prepared(
    lambda: (
        select(*(rounds.c[name] for name in _KEY), _WAY)
        .where(*_OVER, rounds.c.won != rounds.c.lost)
        .order_by(rounds.c.id)
    )
)
_KEPT_STREAKS = Prepared(
    lambda: select(*(results_ever.c[name] for name in (*_KEY, *_STREAKS))).order_by(
        *(results_ever.c[name] for name in _KEY)
    )
)


def _wrong_streaks(desk: Desk) -> Iterator[tuple[int, str, str]]:
    """Count hands in a row anew, and tell of whom at which game the books say otherwise."""
    counted: dict[tuple[int, str, str], _Streaks] = {}
    for caller_id, game, unit, way in _DECIDED.long(desk.connection):
        key = (caller_id, game, unit)
        counted[key] = counted.get(key, _NONE).then(way)
    kept = {
        (caller_id, game, unit): _Streaks(*streaks)
        for caller_id, game, unit, *streaks in _KEPT_STREAKS.long(desk.connection)
    }
    for key in counted | kept:
        if counted.get(key, _NONE) != kept.get(key, _NONE):
            yield key


class _Statements(NamedTuple):
    common: list[str]
    forget: Prepared
    count_anew: Prepared


def _statements(totals: Table) -> _Statements:
    names = _common(totals)
    return _Statements(
        names,
        Prepared(lambda: delete(totals).where(_these(totals, totals))),
        Prepared(
            lambda: insert(totals).from_select(
                totals.c.keys(), _counted(totals, _these(rounds, totals))
            )
        ),
    )


_TOTALS = {totals.name: _statements(totals) for totals in (results, results_ever)}


class Total(NamedTuple):
    """A row of the running totals: its table, and what its hands have in common."""

    table: str
    of: tuple[str | int, ...]

    def __str__(self) -> str:
        return f"{self.table} of {', '.join(map(str, self.of))}"


def differing(desk: Desk) -> list[Total]:
    """List the running totals that are not what the hands add up to; reads every hand."""
    of_days: list[Total] = []
    ever: dict[tuple[int, str, str], None] = {}
    for table, day, *key in _DIFFERING(desk.connection):
        if table == results.name:
            of_days.append(Total(table, (day, *key)))
        else:
            ever[tuple(key)] = None
    ever.update(dict.fromkeys(_wrong_streaks(desk)))
    return [*of_days, *(Total(results_ever.name, key) for key in ever)]


def count_anew(desk: Desk, total: Total) -> None:
    """Make one running total anew from its hands; without any, it goes."""
    statements = _TOTALS[total.table]
    these = {f"this_{name}": value for name, value in zip(statements.common, total.of, strict=True)}
    statements.forget(desk.connection, **these)
    statements.count_anew(desk.connection, **these)
