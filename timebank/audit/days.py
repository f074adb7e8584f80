"""The audit of the days: which rows of the books are of which day of which caller.

Limits of a day, what was earned on it and what a caller lost are counted from the row of the day.
"""

from __future__ import annotations

from sqlalchemy import and_, exists, func, or_, select

from timebank.audit.finding import Check, bound, each_is_wrong
from timebank.ledger import schema
from timebank.ledger.schema import accounts, callers, days, mended_days, transfers
from timebank.ledger.sql import Query

ALLOTMENT, *_ = schema.SYSTEM_ACCOUNTS


@each_is_wrong("transfer {}", "It is a grant that no day of its caller accounts for.")
def _grants() -> Query:
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
        .where(transfers.c.id > bound("row"))
        .where(*(~each for each in accounted))
    )


@each_is_wrong("caller {}", "The grant of {1} should be transfer {2}, and is not.")
def _days() -> Query:
    row = transfers.c
    return (
        select(days.c.caller_id, days.c.day, days.c.grant_id)
        .join(transfers, row.id == days.c.grant_id, isouter=True)
        .where(days.c.grant_id.is_not(None))
        .where(or_(days.c.grant_id > bound("row"), days.c.after >= bound("row")))
        .where(or_(row.id.is_(None), row.kind != "grant", row.id <= days.c.after))
    )


@each_is_wrong(
    "caller {}", "Of their stake {2} are left of a day before {1}, and they have staked {3}."
)
def _standing() -> Query:
    who, own = callers.c, accounts.c
    today = and_(who.id == days.c.caller_id, who.day == days.c.day, who.deleted.is_(None))
    stake = and_(own.caller_id == who.id, own.kind == "stake", own.unit == "second")
    return (
        select(days.c.caller_id, days.c.day, days.c.standing, own.balance)
        .select_from(days)
        .join(callers, today)
        .join(accounts, stake)
        .where(days.c.standing > own.balance)
    )


@each_is_wrong(
    "caller {}", "{2} uncharged seconds were given on {1}, and their time is their board's."
)
def _grace() -> Query:
    last = and_(callers.c.id == days.c.caller_id, callers.c.day == days.c.day)
    return (
        select(days.c.caller_id, days.c.day, days.c.grace)
        .join(callers, last)
        .where(days.c.grace > 0, callers.c.board.is_not(None))
    )


@each_is_wrong("caller {}", "The day last seen is {1}, the last begun {2}.")
def _last_days() -> Query:
    last = select(func.max(days.c.day)).where(days.c.caller_id == callers.c.id).scalar_subquery()
    return select(callers.c.id, callers.c.day, last).where(callers.c.day.is_distinct_from(last))


CHECKS: tuple[Check, ...] = (_grants, _days, _standing, _grace, _last_days)
