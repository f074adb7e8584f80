"""Reads the caller of an entry, and the state that the entry begins with.

This is the hot path of every bet, so it runs few statements, all prepared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Integer,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    or_,
    select,
    union_all,
)

from timebank.ledger import early_events, reasons
from timebank.ledger.chain import head_columns
from timebank.ledger.database import Desk
from timebank.ledger.entries.state import CallerState, UpcomingEvent
from timebank.ledger.own_limits import (
    COLUMNS,
    OwnLimits,
    OwnLosses,
    in_doubt_since,
    sure_instant,
)
from timebank.ledger.schema import (
    CALLER_ACCOUNTS,
    accounts,
    actions,
    callers,
    calls,
    days,
    instant,
    own_limits,
    results,
    results_ever,
    rounds,
    stamp,
    transfers,
)
from timebank.ledger.schema import contest_entries as entries
from timebank.ledger.sql import Prepared, Query, Reader, equal, json_list, json_map, total, value
from timebank.ledger.transfers import ALLOTMENT, ELAPSED, Account
from timebank.words import Unit


class InPlay(NamedTuple):
    """The caller's open round: its last action, and the game's house once it has an account."""

    round_id: int
    game: str
    sequence: int
    house_id: int | None
    unit: Unit
    # Not zero if other callers play in the round.
    shared: int
    day: str
    # The bet, and the amounts settled so far.
    bet: int
    lost: int
    won: int


class CallerRow(NamedTuple):
    """The row that `_caller_query` selects for a caller."""

    # The fields of `CallerState` up to `old_stake`; `day` is repeated below.
    state: tuple[Any, ...]
    day: str | None
    # Account numbers in the order of CALLER_ACCOUNTS.
    accounts: tuple[int, ...]
    # None without an open round.
    in_play: InPlay | None
    limits: OwnLimits
    caller_id: int
    name: str
    is_frozen: int
    # When the caller registered who waits for the sysop's approval, else None.
    waits: int | None
    # None for a caller of this board.
    board: str | None
    has_limits: int
    # Today's finished hands by game, as a JSON object.
    turns: str | None
    # Rows of `results_ever`, as a JSON array of arrays.
    totals_ever: str | None
    # Seconds lost today; negative if won.
    lost: int
    # The last instant before the clock was in doubt.
    doubtful_since: float | None
    # Events started early, as a JSON array.
    early: str | None
    # The end of the chain.
    last_number: int
    last_digest: str


def _caller_row(row: Any) -> CallerRow:
    in_play = None if row[18] is None else InPlay(*row[18:28])
    return CallerRow(row[:13], row[9], row[13:18], in_play, OwnLimits(*row[28:35]), *row[35:])


# The fee of an entry in a contest less its prize, at least 0; 0 if the fee was paid back.
_LOSS_BY_ENTRY = case(
    (or_(entries.c.back_id.is_not(None), entries.c.prize >= entries.c.paid), 0),
    else_=entries.c.paid - entries.c.prize,
)


def _caller_query(tables: FromClause, *call_columns: ColumnElement[Any]) -> Query:
    """Select everything that an operation needs about a caller, as one row."""
    caller, hand, shared = callers.c, rounds.c, rounds.alias("shared")
    house = accounts.alias("house")
    last = select(func.max(actions.c.sequence)).where(
        actions.c.round_id == func.coalesce(hand.lead, hand.id)
    )
    house_id = select(house.c.id).where(
        house.c.kind == "house", house.c.game == hand.game, house.c.unit == hand.unit
    )
    is_today = and_(
        results.c.day == caller.day, results.c.caller_id == caller.id, results.c.unit == "second"
    )
    turns = select(json_map(results.c.game, results.c.hands)).where(is_today)
    lost = select(total(results.c.lost - results.c.won)).where(is_today)
    entered = select(total(_LOSS_BY_ENTRY)).where(
        entries.c.day == caller.day, entries.c.caller_id == caller.id
    )
    ever = select(json_list(*results_ever.c)).where(results_ever.c.caller_id == caller.id)
    old_stake = select(days.c.standing).where(
        days.c.caller_id == caller.id, days.c.day == caller.day
    )
    tables = tables.outerjoin(rounds, and_(hand.caller_id == caller.id, hand.settled.is_(None)))
    tables = tables.outerjoin(own_limits, own_limits.c.caller_id == caller.id)
    return select(
        *_account_columns(accounts.c.balance),
        *(call_columns or [literal(0)] * 4),
        *(caller.day, caller.held_until, caller.held_behind),
        func.coalesce(old_stake.scalar_subquery(), 0),
        *_account_columns(accounts.c.id),
        *(hand.id, hand.game, last.scalar_subquery(), house_id.scalar_subquery(), hand.unit),
        or_(hand.lead.is_not(None), exists().where(shared.c.lead == hand.id)),
        *(hand.day, hand.bet, hand.lost, hand.won),
        *COLUMNS,
        *(caller.id, caller.name, caller.frozen, caller.waits, caller.board),
        own_limits.c.caller_id.is_not(None),
        *(turns.scalar_subquery(), ever.scalar_subquery()),
        lost.scalar_subquery() + entered.scalar_subquery(),
        *(in_doubt_since(), early_events.column(), *head_columns()),
    ).select_from(tables)


def _account_columns(column: ColumnElement[int]) -> list[ColumnElement[int]]:
    """Select a column of each account of time by subqueries, which need no planning of joins."""
    own = accounts.c
    is_time = (own.caller_id == callers.c.id, own.unit == "second")
    return [
        select(column).where(*is_time, own.kind == kind).scalar_subquery()
        for kind in CALLER_ACCOUNTS
    ]


def _call_query() -> Query:
    tables = callers.join(calls, calls.c.caller_id == callers.c.id)
    own = calls.c
    query = _caller_query(tables, own.ticked, own.charged, own.waived, own.node)
    return query.where(equal(own.id), own.closed.is_(None))


BY_CALL = Reader(_caller_row, _call_query)
BY_CALLER = Reader(
    _caller_row,
    lambda: _caller_query(callers).where(equal(callers.c.id), callers.c.removed.is_(None)),
)


def _earned() -> Query:
    """Sum the time that came to online, held and stake on a day, less losses and cutoffs.

    The grant pays for used time and for `reasons.GRANT_PAYS` before earnings do, so these are not
    subtracted. Two exceptions keep the grant from becoming savings: the repayment of a loan of the
    same day, and a tournament entry that was paid back to the bank. A loan's share of the grant is
    not subtracted either.

    `after` is the last transfer before the day, and `carried` is added (schema.days).
    """
    row = transfers.c
    own: list[Any] = [bindparam(kind) for kind in ("online", "held", "stake")]
    is_of_day = row.id > bindparam("after")
    moved = select(total(row.amount)).where(is_of_day)
    came = moved.where(row.target.in_(own), row.source.not_in([*own, ALLOTMENT.id]))
    grants = select(days.c.grant_id).where(days.c.grant_id.is_not(None))
    first_loan = select(func.min(row.id)).where(
        is_of_day, row.target.in_(own), row.kind == reasons.Borrowed.KIND
    )
    given_back = select(entries.c.paid_id).where(entries.c.back_id.is_not(None))
    went = moved.where(
        row.source.in_(own),
        row.target.not_in([*own, ELAPSED.id]),
        or_(
            row.kind.not_in(sorted(reasons.GRANT_PAYS)),
            and_(row.kind == reasons.Repaid.KIND, row.id > first_loan.scalar_subquery()),
            and_(row.kind == reasons.Entered.KIND, row.id.in_(given_back)),
        ),
        or_(row.kind != reasons.LoanShare.KIND, (row.id - 1).not_in(grants)),
    )
    carried = bindparam("carried", type_=Integer)
    return select(carried + came.scalar_subquery() - went.scalar_subquery())


EARNED: Reader[int] = value(_earned)


def _lost_by_day() -> Query:
    hands = select(results.c.day, (results.c.lost - results.c.won).label("lost")).where(
        equal(results.c.caller_id), results.c.unit == "second", results.c.day >= bindparam("day")
    )
    fees = select(entries.c.day, _LOSS_BY_ENTRY).where(
        equal(entries.c.caller_id), entries.c.day >= bindparam("day")
    )
    each = union_all(hands, fees).subquery().c
    return select(each.day, total(each.lost)).group_by(each.day).order_by(each.day.desc())


_LOST_BY_DAY = Prepared(_lost_by_day)
_DAY = Prepared(
    lambda: select(days.c.after, days.c.carried).where(equal(days.c.caller_id, days.c.day))
)


def earned_on(desk: Desk, caller_id: int, day: str, accounts_by_kind: Mapping[str, Account]) -> int:
    """Return the seconds that a caller has earned on a day so far; see `EARNED`."""
    after, carried = _DAY(desk.connection, caller_id=caller_id, day=day).one()
    own = {kind: accounts_by_kind[kind].id for kind in ("online", "held", "stake")}
    return EARNED.one(desk.connection, **own, after=after, carried=carried)


def initial_state(desk: Desk, row: CallerRow, event: UpcomingEvent | None) -> CallerState:
    """Return the state that an entry begins with."""
    turns: dict[str, int] = json.loads(row.turns or "{}")
    hand = row.in_play
    if hand is not None and hand.day == row.day and hand.unit == "second":
        turns[hand.game] = turns.get(hand.game, 0) + 1
    own = _own_losses(desk, row) if row.has_limits else None
    is_frozen, is_guest = bool(row.is_frozen), row.board is not None
    waits = row.waits is not None and desk.settings.approval
    return CallerState._make((*row.state, turns, event, own, is_frozen, waits, is_guest, 0))


def _own_losses(desk: Desk, row: CallerRow) -> OwnLosses:
    since, hand, lost = row.doubtful_since, row.in_play, row.lost
    sure, in_play = sure_instant(stamp(desk.now), since), 0
    if hand is not None and hand.unit == "second":
        in_play = hand.lost - hand.won
    if since is not None:
        day = desk.settings.schedule.day_of(instant(sure)).isoformat()
        lost = _most_lost_since(desk, row.caller_id, day)
    return OwnLosses(row.limits.in_force(sure), sure, lost + in_play, in_play, since is not None)


def _most_lost_since(desk: Desk, caller_id: int, day: str) -> int:
    """Return the greatest loss of a caller from any day on until now; the first is `day`."""
    by_day = _LOST_BY_DAY(desk.connection, caller_id=caller_id, day=day).all()
    since = list(accumulate(lost for _, lost in by_day))
    today = desk.settings.schedule.day_of(desk.now).isoformat()
    if not by_day or by_day[0].day != today:
        since.append(0)  # nothing lost today
    most: int = max(since)
    return most
