"""The audit of tournaments: entries are paid once, and prizes are what the rules say."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, case, func, null, or_, select, union_all

from timebank.audit.findings import Check, Finding, each_is_wrong
from timebank.ledger.database import Desk
from timebank.ledger.prizes import prize_shares, shared_places
from timebank.ledger.schema import (
    PRIZES,
    accounts,
    callers,
    deal_tries,
    deals,
    moved,
    source,
    target,
    tournaments,
    transfers,
)
from timebank.ledger.schema import tournament_entries as entries
from timebank.ledger.sql import Prepared, Query, total

_BY_HOUSE = ("put_in_id", "taken_back_id")
_BY_CALLER = ("paid_id", "back_id", "prize_id")


def _account() -> ColumnElement[int]:
    return select(accounts.c.id).where(accounts.c.kind == PRIZES).scalar_subquery()


@each_is_wrong("transfer {}", "It moves time of the prize account, but no tournament records it.")
def _of_no_tournament() -> Query:
    row = transfers.c
    claimed = union_all(
        *(
            select(tournaments.c[name]).where(tournaments.c[name].is_not(None))
            for name in _BY_HOUSE
        ),
        *(select(entries.c[name]).where(entries.c[name].is_not(None)) for name in _BY_CALLER),
    )
    return (
        select(row.id)
        .where(or_(row.source == _account(), row.target == _account()))
        .where(row.id.not_in(claimed))
        .order_by(row.id)
    )


def _claim(name: str, kind: str, amount: ColumnElement[int], *, comes_in: bool) -> Query:
    """Select transfers that differ from what a row records, with the row's seal.

    The column `name` of the row has the transfer's number.
    """
    table = tournaments if name in _BY_HOUSE else entries
    giver, taker = (target, source) if comes_in else (source, target)
    whose = (
        and_(taker.c.kind == "house", taker.c.game == "tournament")
        if table is tournaments
        else taker.c.caller_id == table.c.caller_id
    )
    is_right = and_(transfers.c.kind == kind, transfers.c.amount == amount)
    is_right = and_(is_right, giver.c.kind == PRIZES, whose)
    joined = table.join(moved, transfers.c.id == table.c[name], isouter=True)
    return (
        select(table.c[name], table.c.seal)
        .select_from(joined)
        .where(table.c[name].is_not(None), func.coalesce(is_right, False).is_(False))
        .order_by(table.c[name])
    )


_says = each_is_wrong("transfer {}", "It differs from what tournament {1} records.")


@_says
def _put_in() -> Query:
    return _claim("put_in_id", "put up", tournaments.c.put_in, comes_in=True)


@_says
def _taken_back() -> Query:
    return _claim("taken_back_id", "put up", tournaments.c.put_in, comes_in=False)


@_says
def _paid() -> Query:
    return _claim("paid_id", "entry", entries.c.paid, comes_in=True)


@_says
def _given_back() -> Query:
    return _claim("back_id", "entry back", entries.c.paid, comes_in=False)


@_says
def _won() -> Query:
    return _claim("prize_id", "prize", entries.c.prize, comes_in=False)


@each_is_wrong("tournament {}", "Its deal is {1}, but the tournament is {2}.")
def _deals() -> Query:
    state = func.coalesce(tournaments.c.outcome, "running")
    is_wrong = deals.c.closed.is_(null()) != tournaments.c.outcome.is_(null())
    return (
        select(tournaments.c.seal, case((deals.c.closed.is_(None), "open"), else_="closed"), state)
        .join_from(tournaments, deals, deals.c.seal == tournaments.c.seal)
        .where(or_(is_wrong, deals.c.daily == 1))
    )


@each_is_wrong("tournament {}", "Entry costs {2}, but caller {1} paid {3}.")
def _prices() -> Query:
    """Select entries that cost another price, and paid entries of callers who cannot win."""
    price = case((entries.c.for_prize == 1, tournaments.c.entry), else_=0)
    return (
        select(entries.c.seal, entries.c.caller_id, price, entries.c.paid)
        .join_from(entries, tournaments, tournaments.c.seal == entries.c.seal)
        .where(entries.c.paid != price)
        .order_by(entries.c.seal, entries.c.caller_id)
    )


class _Terms(NamedTuple):
    seal: str
    outcome: str | None
    prizes: str
    put_in: int
    taken_back_id: int | None


class _Entry(NamedTuple):
    """An entry with its try. `score` and `cost` are None if it was not played to the end."""

    caller_id: int
    deleted: int | None
    for_prize: int
    paid: int
    back_id: int | None
    place: int | None
    passed: int
    prize: int
    score: int | None
    cost: int | None


_HOLDS = Prepared(lambda: select(total(accounts.c.balance)).where(accounts.c.kind == PRIZES))
_TERMS = Prepared(
    lambda: select(*(tournaments.c[name] for name in _Terms._fields)).order_by(tournaments.c.seal)
)


def _entries() -> Query:
    own = ("for_prize", "paid", "back_id", "place", "passed", "prize")
    is_same = and_(
        deal_tries.c.seal == entries.c.seal, deal_tries.c.caller_id == entries.c.caller_id
    )
    return (
        select(
            *(entries.c.seal, entries.c.caller_id, callers.c.deleted),
            *(*(entries.c[name] for name in own), deal_tries.c.score, deal_tries.c.cost),
        )
        .select_from(entries)
        .join(callers, callers.c.id == entries.c.caller_id)
        .join(deal_tries, is_same, isouter=True)
        .order_by(entries.c.seal, entries.c.caller_id)
    )


_ENTRIES = Prepared(_entries)


CHECKS: tuple[Check, ...] = (
    *(_of_no_tournament, _put_in, _taken_back, _paid, _given_back, _won, _deals, _prices),
)


def check_tournaments(desk: Desk) -> Iterator[Finding]:
    for check in CHECKS:
        yield from check(desk)
    by_seal: defaultdict[str, list[_Entry]] = defaultdict(list)
    for seal, *row in _ENTRIES.run_long(desk.connection):
        by_seal[seal].append(_Entry(*row))
    for terms in [_Terms(*row) for row in _TERMS.run_long(desk.connection)]:
        for sentence in _wrong(terms, by_seal[terms.seal]):
            yield Finding(f"tournament {terms.seal}", sentence)
        if terms.outcome is None:
            promised = sum(json.loads(terms.prizes))
            promised += sum(each.paid for each in by_seal[terms.seal])
            holds = _HOLDS(desk.connection).scalar_one()
            if promised > holds:
                sentence = f"It promises {promised}, but the prize account holds {holds}."
                yield Finding(f"tournament {terms.seal}", sentence)


def _wrong(terms: _Terms, entered: list[_Entry]) -> Iterator[str]:
    if terms.outcome == "settled":
        yield from _wrongly_settled(terms, entered)
        return
    if any(each.prize or each.place for each in entered):
        yield "It has winners, but was not settled."
    if terms.outcome is None:
        if terms.taken_back_id is not None or any(each.back_id for each in entered):
            yield "It is running, but something was given back."
        return
    if terms.put_in and terms.taken_back_id is None:
        yield f"The house has not taken back the {terms.put_in} that it put in."
    for each in entered:
        if each.paid and each.back_id is None and each.deleted is None:
            yield f"Caller {each.caller_id} was not given back their entry of {each.paid}."


def _wrongly_settled(terms: _Terms, entered: list[_Entry]) -> Iterator[str]:
    if terms.taken_back_id is not None or any(each.back_id for each in entered):
        yield "It was settled, but something was given back."
    for each in entered:
        is_over = each.cost is not None and not each.passed
        if is_over != (each.place is not None):
            yield f"Caller {each.caller_id} stands at place {each.place}."
    over = [each for each in entered if each.cost is not None and not each.passed]
    over.sort(key=lambda each: (each.cost, -(each.score or 0)))
    for each, place in zip(over, shared_places([(e.cost, e.score) for e in over]), strict=True):
        if each.place != place:
            yield f"Caller {each.caller_id} stands at place {each.place}, not {place}."
    winners = [each for each in over if each.for_prize]
    places = shared_places([(each.cost, each.score) for each in winners])
    paid = sum(each.paid for each in entered)
    due = {
        each.caller_id: prize
        for each, prize in zip(
            winners, prize_shares(json.loads(terms.prizes), paid, places), strict=True
        )
    }
    for each in entered:
        prize = due.get(each.caller_id, 0)
        if each.prize != prize:
            yield f"Caller {each.caller_id} was paid {each.prize}, and has won {prize}."
