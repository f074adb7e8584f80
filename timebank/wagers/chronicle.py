"""What a table tells of rounds that are over: how those of a shoe ended, and who broke the bank."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import and_, bindparam, func, or_, select

from timebank.ledger.database import Desk
from timebank.ledger.schema import accounts, callers, rounds, transfers
from timebank.ledger.sql import Prepared, Query
from timebank.wagers.play_money import FULL_BANK


def results_of_shoe(desk: Desk, shoe_id: int, count: int) -> list[Mapping[str, Any]]:
    """Return what the journal keeps of the last rounds of a shoe that are over, in their order."""
    found = _RESULTS(desk.connection, shoe_id=shoe_id, count=count).scalars()
    return [json.loads(result) for result in reversed(list(found)) if result]


_RESULTS = Prepared(
    lambda: (
        select(rounds.c.result)
        .where(rounds.c.shoe_id == bindparam("shoe_id"), rounds.c.settled.is_not(None))
        .where(rounds.c.outcome != "void")
        .order_by(rounds.c.id.desc())
        .limit(bindparam("count"))
    )
)


def bank_breakers(desk: Desk, count: int) -> list[str]:
    """Name those who broke the bank, whoever did so last first. It takes long in large books."""
    return list(_BREAKERS(desk.connection, full=FULL_BANK, count=count).scalars())


def _breakers() -> Query:
    """A bank was broken where it is empty, or where it was filled up from nothing once it had lost.

    The first filling is of a new bank, before anything was won from it.
    """
    won = transfers.alias()
    last_won = (
        select(func.max(won.c.id))
        .where(won.c.source == accounts.c.id, won.c.kind == "won")
        .correlate(accounts)
        .scalar_subquery()
    )
    first_won = (
        select(func.min(won.c.id))
        .where(won.c.source == accounts.c.id, won.c.kind == "won")
        .correlate(accounts)
        .scalar_subquery()
    )
    refilled = (
        select(func.max(transfers.c.id))
        .where(
            transfers.c.target == accounts.c.id,
            transfers.c.kind == "casino",
            transfers.c.amount == bindparam("full"),
            transfers.c.id > first_won,
        )
        .correlate(accounts)
        .scalar_subquery()
    )
    broken = or_(and_(accounts.c.balance == 0, last_won.is_not(None)), refilled.is_not(None))
    when = func.max(func.coalesce(refilled, last_won))
    return (
        select(callers.c.name)
        .select_from(accounts)
        .join(callers, callers.c.id == accounts.c.caller_id)
        .where(accounts.c.kind == "casino", callers.c.deleted.is_(None), broken)
        .group_by(callers.c.id, callers.c.name)
        .order_by(when.desc())
        .limit(bindparam("count"))
    )


_BREAKERS = Prepared(_breakers)
