"""The audit of contests: entries are paid once, and prizes are what the rules say."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sqlalchemy import (
    ColumnElement,
    and_,
    bindparam,
    case,
    func,
    null,
    or_,
    select,
    union_all,
)

from timebank.audit.findings import Check, Finding, each_is_wrong
from timebank.ledger.database import Desk
from timebank.ledger.prizes import prize_shares, shared_places
from timebank.ledger.schema import (
    DUELS,
    PRIZES,
    accounts,
    callers,
    deal_tries,
    deals,
    duels,
    source,
    target,
    tournaments,
    transfers,
    transfers_with_accounts,
)
from timebank.ledger.schema import contest_entries as entries
from timebank.ledger.sql import Prepared, Query, columns_of, total

_BY_HOUSE = ("put_in_id", "taken_back_id")
_BY_CALLER = ("paid_id", "back_id", "prize_id")


@each_is_wrong("transfer {}", "It moves prizes or stakes, but no contest records it.")
def _of_no_contest() -> Query:
    row = transfers.c
    held = select(accounts.c.id).where(accounts.c.kind.in_([PRIZES, DUELS]))
    columns = [*(tournaments.c[name] for name in _BY_HOUSE), *(entries.c[n] for n in _BY_CALLER)]
    claimed = union_all(*(select(each).where(each.is_not(None)) for each in columns))
    return (
        select(row.id)
        .where(or_(row.source.in_(held), row.target.in_(held)), row.id.not_in(claimed))
        .order_by(row.id)
    )


def _claim(
    name: str, kind: str, amount: ColumnElement[int], account: str, *, comes_in: bool
) -> Query:
    """Select transfers that differ from what a row records, with the row's seal.

    The column `name` of the row has the transfer's number. It moves `amount` into the account of
    prizes or of stakes, or out of it.
    """
    table = tournaments if name in _BY_HOUSE else entries
    giver, taker = (target, source) if comes_in else (source, target)
    whose = (
        and_(taker.c.kind == "house", taker.c.game == "tournament")
        if table is tournaments
        else taker.c.caller_id == table.c.caller_id
    )
    is_right = and_(transfers.c.kind == kind, transfers.c.amount == amount)
    is_right = and_(is_right, giver.c.kind == account, whose)
    joined = table.join(transfers_with_accounts, transfers.c.id == table.c[name], isouter=True)
    of_kind = table.c.seal.in_(select(duels.c.seal if account == DUELS else tournaments.c.seal))
    return (
        select(table.c[name], table.c.seal)
        .select_from(joined)
        .where(of_kind, table.c[name].is_not(None), func.coalesce(is_right, False).is_(False))
        .order_by(table.c[name])
    )


def _claims() -> Iterator[Check]:
    paid, prize, put_in = entries.c.paid, entries.c.prize, tournaments.c.put_in
    for name, kind, amount, account in (
        ("put_in_id", "put up", put_in, PRIZES),
        ("taken_back_id", "put up", put_in, PRIZES),
        ("paid_id", "entry", paid, PRIZES),
        ("back_id", "entry back", paid, PRIZES),
        ("prize_id", "prize", prize, PRIZES),
        ("paid_id", "duel stake", paid, DUELS),
        ("back_id", "stake back", paid, DUELS),
        ("prize_id", "duel won", prize, DUELS),
    ):
        yield _claim_check(name, kind, amount, account)


def _claim_check(name: str, kind: str, amount: ColumnElement[int], account: str) -> Check:
    comes_in = name in ("put_in_id", "paid_id")
    differs = each_is_wrong("transfer {}", "It differs from what contest {1} records.")
    return differs(lambda: _claim(name, kind, amount, account, comes_in=comes_in))


@each_is_wrong("{1} {0}", "Its deal is {2}, but the {1} is {3}.")
def _deals() -> Query:
    kind = case((tournaments.c.seal.is_not(None), "tournament"), else_="duel")
    outcome = func.coalesce(tournaments.c.outcome, duels.c.outcome)
    state = func.coalesce(outcome, case((tournaments.c.seal.is_(None), "open"), else_="running"))
    is_wrong = deals.c.closed.is_(null()) != outcome.is_(null())
    return (
        select(deals.c.seal, kind, case((deals.c.closed.is_(None), "open"), else_="closed"), state)
        .join_from(deals, tournaments, tournaments.c.seal == deals.c.seal, isouter=True)
        .join(duels, duels.c.seal == deals.c.seal, isouter=True)
        .where(func.coalesce(tournaments.c.seal, duels.c.seal).is_not(None))
        .where(or_(is_wrong, deals.c.daily == 1))
        .order_by(deals.c.seal)
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
    """An entry with its try. Without one `begun` is None; `score` and `cost` until it is over."""

    caller_id: int
    removed: int | None
    for_prize: int
    paid: int
    back_id: int | None
    place: int | None
    passed: int
    prize: int
    begun: int | None
    score: int | None
    cost: int | None


_HOLDS = Prepared(
    lambda: select(total(accounts.c.balance)).where(accounts.c.kind == bindparam("kind"))
)
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
            *(entries.c.seal, entries.c.caller_id, callers.c.removed),
            *(*(entries.c[name] for name in own), deal_tries.c.begun),
            *(deal_tries.c.score, deal_tries.c.cost),
        )
        .select_from(entries)
        .join(callers, callers.c.id == entries.c.caller_id)
        .join(deal_tries, is_same, isouter=True)
        .order_by(entries.c.seal, entries.c.caller_id)
    )


_ENTRIES = Prepared(_entries)


class _DuelTerms(NamedTuple):
    seal: str
    challenger_id: int
    rival_id: int
    stake: int
    outcome: str | None
    # Whether the duel ended after its time.
    is_late: int | None


_DUELS = Prepared(
    lambda: (
        select(
            *columns_of(duels, "seal challenger_id rival_id stake outcome"),
            deals.c.closed >= duels.c.ends,
        )
        .join_from(duels, deals, deals.c.seal == duels.c.seal)
        .order_by(duels.c.seal)
    )
)

CHECKS: tuple[Check, ...] = (*(_of_no_contest, *_claims(), _deals, _prices),)


def check_contests(desk: Desk) -> Iterator[Finding]:
    for check in CHECKS:
        yield from check(desk)
    by_seal: defaultdict[str, list[_Entry]] = defaultdict(list)
    for seal, *row in _ENTRIES.run_long(desk.connection):
        by_seal[seal].append(_Entry(*row))
    yield from _check_duels(desk, by_seal)
    for terms in [_Terms(*row) for row in _TERMS.run_long(desk.connection)]:
        for sentence in _wrong(terms, by_seal[terms.seal]):
            yield Finding(f"tournament {terms.seal}", sentence)
        if terms.outcome is None:
            promised = sum(json.loads(terms.prizes))
            promised += sum(each.paid for each in by_seal[terms.seal])
            holds = _HOLDS(desk.connection, kind=PRIZES).scalar_one()
            if promised > holds:
                sentence = f"It promises {promised}, but the prize account holds {holds}."
                yield Finding(f"tournament {terms.seal}", sentence)


def _check_duels(desk: Desk, by_seal: Mapping[str, list[_Entry]]) -> Iterator[Finding]:
    staked = 0
    for terms in [_DuelTerms(*row) for row in _DUELS.run_long(desk.connection)]:
        entered = by_seal.get(terms.seal, [])
        for sentence in _wrong_duel(terms, entered):
            yield Finding(f"duel {terms.seal}", sentence)
        staked += sum(each.paid for each in entered) if terms.outcome is None else 0
    holds = _HOLDS(desk.connection, kind=DUELS).scalar_one()
    if holds != staked:
        sentence = f"It holds {holds}, but the stakes of open duels are {staked}."
        yield Finding("account duels", sentence)


def _wrong_duel(terms: _DuelTerms, entered: list[_Entry]) -> Iterator[str]:
    """Hold that each stake is in the account, at home, or with the winner."""
    by_caller = {each.caller_id: each for each in entered}
    strangers = by_caller.keys() - {terms.challenger_id, terms.rival_id}
    if strangers or terms.challenger_id not in by_caller:
        yield f"It is between {terms.challenger_id} and {terms.rival_id}, not {sorted(by_caller)}."
    for each in entered:
        if each.paid != terms.stake:
            yield f"Caller {each.caller_id} staked {each.paid}, and the stake is {terms.stake}."
        if terms.outcome != "won" and (each.prize or each.place):
            yield f"Caller {each.caller_id} was paid {each.prize}, but the duel was not won."
        is_home = each.back_id is not None
        if is_home != (terms.outcome not in (None, "won")):
            state = terms.outcome or "open"
            where = "is" if is_home else "is not"
            yield f"It is {state}, but the stake of caller {each.caller_id} {where} back."
    begun = [each for each in entered if each.begun is not None]
    begun.sort(key=lambda each: (each.score is None, -(each.score or 0), each.cost or 0))
    finished = sum(each.score is not None for each in begun)
    if terms.outcome == "expired" and (len(begun), finished) == (2, 1):
        yield f"It expired, but caller {begun[0].caller_id} has won it."
    if terms.outcome != "won":
        return
    if len(begun) != 2 or not finished:
        yield "It was won, but not begun by both and finished by one."
        return
    if finished == 1 and not terms.is_late:
        yield "It was won before its time was over, but not finished by both."
    first, second = begun
    if (first.place, second.place) != (1, 2):
        yield f"Caller {first.caller_id} has won, and stands at place {first.place}."
    if (first.prize, second.prize) != (2 * terms.stake, 0):
        yield f"Caller {first.caller_id} has won it, and was paid {first.prize}."


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
        if each.paid and each.back_id is None and each.removed is None:
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
