"""The audit of the days: which rows of the books belong to which day of which caller.

A day's limits, earnings and losses are counted from the transfer that begins the day.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import ColumnElement, FromClause, and_, case, exists, func, literal, or_, select

from timebank.audit.findings import Check, Finding, each_is_wrong
from timebank.audit.traces import clock_went_back, log_reaches, was_mended
from timebank.ledger import schema
from timebank.ledger.database import Desk
from timebank.ledger.schema import (
    accounts,
    callers,
    days,
    mended_days,
    rounds,
    sysop_log,
    transfers,
)
from timebank.ledger.schema import contest_entries as entries
from timebank.ledger.sql import NO_BOUND, Prepared, Query
from timebank.settings.settings import LAST_SECONDS, MOST_GRACE
from timebank.words import MINUTE

ALLOTMENT, *_ = schema.SYSTEM_ACCOUNTS


@each_is_wrong("transfer {}", "It is a grant that no day of its caller accounts for.")
def _grants_without_day() -> Query:
    accounted = (
        exists().where(
            table.c.grant_id == transfers.c.id, table.c.caller_id == accounts.c.caller_id
        )
        for table in (days, mended_days)
    )
    return (
        select(transfers.c.id)
        .join(accounts, accounts.c.id == transfers.c.target)
        .where(or_(transfers.c.kind == "grant", transfers.c.source == ALLOTMENT))
        .where(*(~each for each in accounted))
    )


@each_is_wrong("caller {}", "The grant of {1} should be transfer {2}, but is not.")
def _days_without_grant() -> Query:
    """Select days that do not begin with their grant."""
    row, day = transfers.c, days.c
    return (
        select(day.caller_id, day.day, day.grant_id)
        .join(transfers, row.id == day.grant_id, isouter=True)
        .where(day.grant_id.is_not(None))
        .where(or_(row.id.is_(None), row.kind != "grant", row.id != day.after + 1))
    )


# The facts of a grant (reasons.Granted), before and after the date.
_GRANTED, _END = '{"code":"granted","day":"', '"}'


def _regranted() -> Query:
    row, day, log = transfers.c, days.c, sysop_log.c
    granted = func.substr(row.facts, len(_GRANTED) + 1, len("2026-01-31"))
    mended = literal("Mended the clock: day set back from ") + granted + " to " + day.day + "%"
    is_mended = exists().where(log.caller_id == day.caller_id, log.what.like(mended))
    return (
        select(day.caller_id, day.day, granted, row.at)
        .join(transfers, row.id == day.grant_id)
        .where(row.facts.startswith(_GRANTED, autoescape=True))
        .where(row.facts != _GRANTED + day.day + _END, ~is_mended)
        .order_by(day.caller_id, day.day)
    )


_REGRANTED = Prepared(_regranted)


def _check_granted(desk: Desk) -> Iterator[Finding]:
    """Find days whose date was changed, which would grant their caller's minutes twice.

    The mending of a wrong clock also changes dates, and is allowed.
    """
    for caller_id, day, granted, at in list(_REGRANTED.run_long(desk.connection)):
        if day > granted or not clock_went_back(desk, at):
            yield Finding(
                f"caller {caller_id}", f"The minutes of {day} were granted for {granted}."
            )


@each_is_wrong("caller {}", "{1} was taken back, and the sysop's log does not say so.")
def _unlogged_mends() -> Query:
    day, log = mended_days.c, sysop_log.c
    is_logged = exists().where(
        *(log.caller_id == day.caller_id, log.at == day.mended),
        log.what.like("Mended the clock: %"),
    )
    return (
        select(day.caller_id, day.day)
        .where(~is_logged, log_reaches(day.mended))
        .order_by(day.caller_id, day.number)
    )


@each_is_wrong("caller {}", "Their debt when {1} began was deleted.")
def _debts_struck_out() -> Query:
    return (
        select(days.c.caller_id, days.c.day)
        .where(days.c.owed.is_(None))
        .order_by(days.c.caller_id, days.c.day)
    )


@each_is_wrong(
    "caller {}", "{2} uncharged seconds were given on {1}, more than any settings allow."
)
def _too_much_grace() -> Query:
    most = case((callers.c.board.is_(None), MOST_GRACE * MINUTE), else_=0) + LAST_SECONDS
    last = and_(callers.c.id == days.c.caller_id, callers.c.day == days.c.day)
    return (
        select(days.c.caller_id, days.c.day, days.c.grace)
        .join(callers, last)
        .where(days.c.grace > most)
    )


@each_is_wrong(
    "caller {}",
    "Day {1} has {2} earned before it and {3} left of an earlier day, but the caller's time belongs"
    " to another board.",
)
def _guests_with_leftovers() -> Query:
    last = and_(callers.c.id == days.c.caller_id, callers.c.day == days.c.day)
    return (
        select(days.c.caller_id, days.c.day, days.c.carried, days.c.standing)
        .join(callers, last)
        .where(days.c.carried + days.c.standing > 0, callers.c.board.is_not(None))
    )


@each_is_wrong("caller {}", "The caller's row says {1}, but the last day begun is {2}.")
def _last_days() -> Query:
    last = select(func.max(days.c.day)).where(days.c.caller_id == callers.c.id).scalar_subquery()
    return select(callers.c.id, callers.c.day, last).where(callers.c.day.is_distinct_from(last))


# Hands and tournament entries, which count towards a day's turns and losses.


def _wrong_days_of(
    number: ColumnElement[int], rows: FromClause, first: ColumnElement[int]
) -> Query:
    """Select the rows whose `day` is not the day of their transfer `first`.

    `rows` has the columns `caller_id` and `day`.
    """
    day, nxt, last = days.c, days.alias(), days.alias()
    following = (
        select(nxt.c.after)
        .where(nxt.c.caller_id == rows.c.caller_id, nxt.c.day > rows.c.day)
        .order_by(nxt.c.day)
        .limit(1)
        .scalar_subquery()
    )
    was = (
        select(func.max(last.c.day))
        .where(last.c.caller_id == rows.c.caller_id, last.c.after < first)
        .scalar_subquery()
    )
    same = and_(day.caller_id == rows.c.caller_id, day.day == rows.c.day)
    is_right = and_(day.after < first, func.coalesce(following, NO_BOUND) >= first)
    return (
        select(number, rows.c.caller_id, rows.c.day, was, transfers.c.at)
        .select_from(rows)
        .join(transfers, transfers.c.id == first)
        .join(days, same, isouter=True)
        .where(func.coalesce(is_right, False).is_(False))
        .order_by(number)
    )


def _hands_by_day() -> Query:
    row = transfers.c
    first = (
        select(row.round_id, func.min(row.id).label("first"))
        .where(row.round_id.is_not(None))
        .group_by(row.round_id)
        .subquery()
    )
    hand = select(rounds.c.id, rounds.c.caller_id, rounds.c.day, first.c.first).join(
        first, first.c.round_id == rounds.c.id
    )
    rows = hand.subquery()
    return _wrong_days_of(rows.c.id, rows, rows.c.first)


_HANDS_BY_DAY = Prepared(_hands_by_day)
_ENTRIES_BY_DAY = Prepared(lambda: _wrong_days_of(entries.c.seal, entries, entries.c.paid_id))


def _check_counted(desk: Desk) -> Iterator[Finding]:
    for what, query in (("hand", _HANDS_BY_DAY), ("tournament", _ENTRIES_BY_DAY)):
        for number, caller_id, day, was, at in list(query.run_long(desk.connection)):
            is_explained = was_mended(desk, caller_id) or clock_went_back(desk, at)
            if was is not None and not is_explained:
                sentence = f"For caller {caller_id} it counts on {day}, but it began on {was}."
                yield Finding(f"{what} {number}", sentence)


CHECKS: tuple[Check, ...] = (
    *(
        _grants_without_day,
        _days_without_grant,
        _check_granted,
        _unlogged_mends,
        _debts_struck_out,
        _too_much_grace,
        _guests_with_leftovers,
        _last_days,
    ),
    _check_counted,
)
