"""The audit of visits by other boards' callers, and of time given back to their boards.

The results of every visit are computed again from its amounts, and compared with the transfers of
its call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, and_, case, exists, func, not_, or_, select

from timebank.audit.findings import Check, Finding, each_is_wrong
from timebank.ledger import schema
from timebank.ledger.database import Desk
from timebank.ledger.schema import accounts, callers, given_back, source, target, transfers, visits
from timebank.ledger.sql import Prepared, Query, total
from timebank.ledger.visit import HostSession, Parting
from timebank.words import MINUTE


def check_hosts(desk: Desk) -> Iterator[Finding]:
    for check in CHECKS:
        yield from check(desk)


def _sum(amount: ColumnElement[int], these: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((these, amount), else_=0))


def _guests_who(*wrong: ColumnElement[Any]) -> Query:
    return select(callers.c.id, callers.c.name, *wrong[1:]).where(
        callers.c.board.is_not(None), wrong[0]
    )


@each_is_wrong("caller {}", "{1} is of another board, and has a password here.")
def _with_password() -> Query:
    return _guests_who(callers.c.password_hash != "")


@each_is_wrong("caller {}", "{1} is of another board, and has the name of one of ours.")
def _with_plain_name() -> Query:
    return _guests_who(~callers.c.name.contains("@"))


@each_is_wrong("caller {}", "{1} is of another board and on no call, and has {2} left.")
def _with_time_left() -> Query:
    own = accounts.c
    on_call = exists().where(
        schema.calls.c.caller_id == callers.c.id, schema.calls.c.closed.is_(None)
    )
    left = (
        select(total(own.balance))
        .where(own.caller_id == callers.c.id, own.unit == "second")
        .where(own.kind.in_(["online", "held"]), ~on_call.correlate(callers))
        .correlate(callers)
        .scalar_subquery()
    )
    return _guests_who(left != 0, left)


# Kinds of transfer that only this board's callers have, and kinds that only guests have.
OURS = ("grant", "forfeit", "carry")
THEIRS = ("brought", "taken home", "gain", "given back", "put back", "kept", "loan paid")


@each_is_wrong("transfer {}", "Its caller cannot have a transfer of this kind.")
def _transfers_of_wrong_kind() -> Query:
    kind, board = transfers.c.kind, callers.c.board
    ours = and_(kind.in_(OURS), board.is_not(None))
    return (
        select(transfers.c.id)
        .select_from(transfers)
        .join(accounts, accounts.c.id.in_([transfers.c.source, transfers.c.target]))
        .join(callers, callers.c.id == accounts.c.caller_id)
        .where(kind.in_([*OURS, *THEIRS]))
        .where(or_(ours, and_(kind.in_(THEIRS), board.is_(None))))
    )


def _calls() -> Query:
    visit, call = visits.c, schema.calls.c
    over, left = call.closed.is_not(None), visit.closed.is_not(None)
    return (
        select(call.id, visit.id, over, left)
        .select_from(schema.calls)
        .join(callers, callers.c.id == call.caller_id)
        .join(visits, visit.call_id == call.id, isouter=True)
        .where(
            or_(
                _differ(visit.id.is_(None), callers.c.board.is_(None)),
                and_(visit.id.is_not(None), _differ(left, over)),
                visit.caller_id != call.caller_id,
            )
        )
    )


def _differ(one: ColumnElement[bool], other: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return whether exactly one of two conditions holds. Neither may be NULL."""
    return or_(and_(one, not_(other)), and_(not_(one), other))


_CALLS = Prepared(_calls)


def _check_calls(desk: Desk) -> Iterator[Finding]:
    for call, visit, over, left in _CALLS.run_long(desk.connection):
        if visit is None:
            yield Finding(f"call {call}", "Its caller is from another board, but it has no visit.")
        elif over != left:
            which = "is over, but the visit is" if over else "is open, but the visit is"
            yield Finding(f"visit {visit}", f"Its call {call} {which} not.")
        else:
            yield Finding(f"visit {visit}", f"Call {call} belongs to another caller.")


PURSE = ("online", "held", "stake")
SAVINGS = ("bank", "loan")


def _visits() -> Query:
    """Select the amounts of each visit, and the sums of its transfers."""
    visit, row = visits.c, transfers.c
    from_purse, to_purse = source.c.kind.in_(PURSE), target.c.kind.in_(PURSE)
    from_savings, to_savings = source.c.kind.in_(SAVINGS), target.c.kind.in_(SAVINGS)
    own = row.kind.not_in(["gain", "put back", "kept", "loan paid"])

    def moved(*these: ColumnElement[bool]) -> ColumnElement[int]:
        return _sum(row.amount, and_(*these))

    def of_time(account: Any, kind: str) -> ColumnElement[bool]:
        return and_(account.c.kind == kind, account.c.unit == "second")

    recorded = (
        *(visit.brought + func.coalesce(visit.also_brought, 0), visit.own, visit.elapsed),
        *(visit.result, func.coalesce(visit.loan_paid, 0), visit.gain, visit.put_back),
        *(visit.taken_home, visit.left_staked - visit.staked),
    )
    came = (
        moved(row.kind == "brought"),
        moved(from_savings, to_purse, own) - moved(from_purse, to_savings, own),
        moved(target.c.kind == "elapsed"),
        moved(of_time(source, "house"))
        - moved(of_time(target, "house"))
        - moved(target.c.kind == "forfeit", own),
        moved(row.kind == "loan paid", from_purse),
        *(moved(row.kind == kind) for kind in ("gain", "put back", "taken home")),
        moved(of_time(target, "stake")) - moved(of_time(source, "stake")),
    )
    return (
        select(visit.id, visit.closed.is_not(None), *recorded, *came)
        .select_from(visits)
        .join(transfers, row.call_id == visit.call_id, isouter=True)
        .join(source, source.c.id == row.source, isouter=True)
        .join(target, target.c.id == row.target, isouter=True)
        .where(visit.call_id.is_not(None))
        .group_by(visit.id)
    )


_VISITS = Prepared(_visits)
COLUMNS = (
    *("brought", "of their own", "used", "won", "paid on the loan", "gained", "put back"),
    *("taken home", "more on the table"),
)


def _check_transfers(desk: Desk) -> Iterator[Finding]:
    for number, over, *amounts in _VISITS.run_long(desk.connection):
        recorded, moved = amounts[: len(COLUMNS)], amounts[len(COLUMNS) :]
        # An open visit knows only the amounts that came in.
        for what, says, moves in list(zip(COLUMNS, recorded, moved, strict=True)):
            if not over and what not in COLUMNS[:2]:
                continue
            if says != moves:
                yield Finding(
                    f"visit {number}", f"It says {says} {what}; its transfers add up to {moves}."
                )


@each_is_wrong(
    "caller {}",
    "Hands that ended between calls: the visits say {1} taken home and {2} saved, and their"
    " transfers add up to {3} and {4}.",
)
def _without_call() -> Query:
    visit, row = visits.c, transfers.c
    saved_by_visit = func.coalesce(visit.loan_paid, 0) + visit.gain + visit.put_back
    recorded = (
        select(
            visit.caller_id,
            func.sum(visit.taken_home).label("home"),
            func.sum(saved_by_visit).label("saved"),
        )
        .where(visit.call_id.is_(None))
        .group_by(visit.caller_id)
        .subquery()
    )
    goes_home = row.kind == "taken home"
    moved = (
        select(
            accounts.c.caller_id,
            _sum(row.amount, goes_home).label("home"),
            _sum(row.amount, not_(goes_home)).label("saved"),
        )
        .select_from(transfers)
        .join(accounts, accounts.c.id == row.source)
        .where(row.call_id.is_(None), accounts.c.kind.in_(["online", "held"]))
        .where(row.kind.in_(["taken home", "gain", "put back", "loan paid"]))
        .group_by(accounts.c.caller_id)
        .subquery()
    )
    says_home, says_saved = func.coalesce(recorded.c.home, 0), func.coalesce(recorded.c.saved, 0)
    home, saved = func.coalesce(moved.c.home, 0), func.coalesce(moved.c.saved, 0)
    return (
        select(callers.c.id, says_home, says_saved, home, saved)
        .select_from(callers)
        .join(recorded, recorded.c.caller_id == callers.c.id, isouter=True)
        .join(moved, moved.c.caller_id == callers.c.id, isouter=True)
        .where(or_(says_home != home, says_saved != saved))
    )


def _ordered() -> Query:
    """Select visits with the day's debt before each, and the debt that was shown to the host.

    Which of the shown debt came before the visit is unknown, because claims and visits may have the
    same second.
    """
    visit, before, given = visits.c, visits.alias(), given_back.c
    debts = (
        select(total(before.c.debt_added - before.c.debt_paid))
        .where(before.c.id < visit.id, before.c.caller_id == visit.caller_id)
        .where(before.c.day == visit.day, before.c.closed.is_not(None))
        .correlate(visits)
        .scalar_subquery()
    )
    shown = (
        select(func.coalesce(-func.sum(given.minutes), 0) * MINUTE)
        .where(given.caller_id == visit.caller_id, given.day == visit.day)
        .where(given.minutes < 0, given.state == "written")
        .correlate(visits)
        .scalar_subquery()
    )
    return (
        select(visits, callers.c.board, debts.label("debts"), shown.label("shown_since"))
        .join(callers, callers.c.id == visit.caller_id)
        .order_by(visit.caller_id, visit.id)
    )


_ORDERED = Prepared(_ordered)


BEGUN = ("clock", "debt", "staked", "standing", "standing_own", "brought", "own")
ENDED = ("elapsed", "result", "owed", *Parting._fields[2:])


def _check_sequence(desk: Desk) -> Iterator[Finding]:
    """Recompute every visit, and check that it begins where the caller's last visit ended."""
    before: Any = None
    for row in _ORDERED.run_long(desk.connection).mappings():
        where = f"visit {row['id']}"
        first = before is None or before["caller_id"] != row["caller_id"]
        left = (0, 0) if first else (before["left_standing"], before["left_own"])
        if (row["standing"], row["standing_own"]) != left:
            yield Finding(where, "Its opening stake is not what the visit before it left.")
        before = row
        begun = [row[name] for name in BEGUN]
        ended = [] if row["closed"] is None else [row[name] for name in ENDED]
        shown = 0 if row["shown"] is None else row["shown"]
        if not all(isinstance(amount, int) for amount in (*begun, shown, *ended)):
            yield Finding(where, "Some of its amounts are not numbers.")
            continue
        if row["shown"] is not None and row["clock"] != max(0, shown):
            sentence = f"The host's clock showed {shown}, but {row['clock']} were counted."
            yield Finding(where, sentence)
        if row["brought"] > max(0, row["clock"] - row["debt"] - row["standing"]):
            yield Finding(where, f"It brought {row['brought']}, more than the caller had.")
        if row["closed"] is None:
            continue
        lowest = max(0, row["debts"] - row["shown_since"])
        if not lowest <= row["owed"] <= max(0, row["debts"]):
            yield Finding(where, f"The debt of {row['day']} was {row['debts']}, not {row['owed']}.")
        if any(row[name] != value for name, value in _recomputed(row).items()):
            yield Finding(where, "Its results do not follow from its amounts.")


def _recomputed(row: Any) -> dict[str, int]:
    given = ("caller_id", "call_id", "board", "staked", "standing", "standing_own")
    more = ("clock", "brought", "own")
    visit = HostSession(*(row[name] for name in given), **{name: row[name] for name in more})
    parts = ("loan_paid", "gain", "put_back", "taken_home", "left_staked")
    left = sum(row[name] for name in parts)
    parting = visit.part(
        *(left - row["also_brought"], row["left_staked"], row["elapsed"], row["owed"]),
        row["loan"],
    )
    result = parting.gained - (visit.staked - visit.standing - visit.standing_own)
    return {"result": result, **{name: getattr(parting, name) for name in parting._fields[1:]}}


def _amounts_not_in(kind: str, column: ColumnElement[int]) -> Query:
    """Select the transfers of a kind that no row of `given_back` records with their amount."""
    given, row = given_back.c, transfers.c
    return (
        select(row.id, row.amount, func.coalesce(given.minutes, 0))
        .select_from(transfers)
        .join(given_back, column == row.id, isouter=True)
        .where(row.kind == kind, row.amount.is_distinct_from(given.minutes * MINUTE))
    )


@each_is_wrong("transfer {}", "It gives back {1} seconds, but given_back has {2} minutes of it.")
def _gifts_unrecorded() -> Query:
    return _amounts_not_in("given back", given_back.c.transfer_id)


@each_is_wrong("given back {}", "It does not belong to its transfer.")
def _gifts_of_others() -> Query:
    given, row, own = given_back.c, transfers.c, accounts.c
    wrong = or_(row.kind.is_distinct_from("given back"), own.caller_id != given.caller_id)
    return (
        select(given.number)
        .select_from(given_back)
        .join(transfers, row.id == given.transfer_id, isouter=True)
        .join(accounts, own.id == row.source, isouter=True)
        .where(given.transfer_id.is_not(None), wrong)
    )


@each_is_wrong("transfer {}", "It keeps {1} seconds here, but given_back has {2} minutes of it.")
def _returns_unrecorded() -> Query:
    return _amounts_not_in("kept", given_back.c.kept_id)


@each_is_wrong("given back {}", "Its state and its transfer disagree on whether it was kept here.")
def _returns_of_other_state() -> Query:
    given, is_kept = given_back.c, transfers.c.kind.is_not_distinct_from("kept")
    return (
        select(given.number)
        .select_from(given_back)
        .join(transfers, transfers.c.id == given.kept_id, isouter=True)
        .where(_differ(and_(given.state == "kept", given.minutes > 0), is_kept))
    )


@each_is_wrong("caller {}", "On {1} they lost {3}, but their host was shown {2}.")
def _debts_overstated() -> Query:
    given, visit = given_back.c, visits.c
    shown = -func.sum(given.minutes) * MINUTE
    lost = (
        select(total(visit.debt_added))
        .where(visit.caller_id == given.caller_id, visit.day == given.day)
        .correlate(given_back)
        .scalar_subquery()
    )
    return (
        select(given.caller_id, given.day, shown, lost)
        .where(given.minutes < 0, given.state != "kept")
        .group_by(given.caller_id, given.day)
        .having(shown > lost)
    )


CHECKS: tuple[Check, ...] = (
    *(_with_password, _with_plain_name, _with_time_left, _transfers_of_wrong_kind, _check_calls),
    *(_check_transfers, _without_call, _check_sequence, _gifts_unrecorded, _gifts_of_others),
    *(_returns_unrecorded, _returns_of_other_state, _debts_overstated),
)
