"""Callers of other boards: who they are here, and what they bring when they come in.

A board's caller is known by the board and by the key that the board knows him by, never by his
name. He has no password and so never logs on here by himself; his name has the board's in it, which
no name of our own callers can have. His time is the host's: see hosts_visit.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from timebank import callers
from timebank.callers import CallerRecord
from timebank.calls import Opened, begin_call
from timebank.database import Desk
from timebank.hosts_given import HOST_WAYS, THEBANK_EXT, owed
from timebank.hosts_visit import Arrival, debt_of, used_on
from timebank.ledger import EXTERNAL
from timebank.model import stamp
from timebank.notices import notices
from timebank.posting import enter
from timebank.refusals import UnknownCaller
from timebank.words import clean, span

LONGEST_ALIAS = 24  # characters, as of names here
LONGEST_KEY = 16  # characters of a key that are shown in a name
NAMELESS = "Caller"
WAYS = (*HOST_WAYS, THEBANK_EXT)


@dataclass(frozen=True, slots=True)
class Brought:
    """What a host says of its caller's time, and what is agreed with it. Amounts are seconds."""

    # His time left there; None for unlimited, which is not 0.
    seconds: int | None
    # What he brings for a day when no clock of the host counts his time.
    allowance: int
    # Percent of his time left that he may bring.
    share: int
    # The host's next event, or when it must have him back; None for neither.
    until: datetime | None
    # The host's clock can be set lower, by the same way as it is given time back.
    shows_losses: bool
    # "moduser", "door.sys", "exitinfo" or "thebank.ext"; None for a host that takes nothing.
    takes_gains: str | None
    # What has ticked since the host handed him over, before the call is opened here.
    waited: int = 0


def host_caller(desk: Desk, board: str, key: str, alias: str) -> CallerRecord:
    """Find the caller whom a board knows by `key`, or enter him; his name follows his alias there.

    He is "Alias@Board", or "Alias#KEY@Board" where another one is called that. ValueError for an
    empty board or key.
    """
    if not board.strip() or not key.strip():
        raise ValueError("a board's caller has a board and a key")
    caller_id = desk.connection.exec_driver_sql(
        "SELECT id FROM callers WHERE board = ? AND board_key = ? AND deleted IS NULL", (board, key)
    ).scalar()
    wanted = [f"{begins}@{board}" for begins in _beginnings(alias, key)]
    if caller_id is None:
        return callers.register_of_board(desk, _free(desk, wanted, None), board, key)
    record = callers.get(desk, caller_id)
    if record.name in wanted:
        return record
    return callers.rename_of_board(desk, caller_id, _free(desk, wanted, caller_id))


def _beginnings(alias: str, key: str) -> tuple[str, str]:
    """Give what a name may begin with, before the board's."""
    plain = alias.replace("@", " ").replace("#", " ")
    shown = clean(plain, LONGEST_ALIAS) or NAMELESS
    return shown, f"{shown}#{clean(key.replace('@', ' '), LONGEST_KEY)}"


def _free(desk: Desk, wanted: list[str], caller_id: int | None) -> str:
    """Choose the first name that nobody else has; of keys that look alike, one gets a number."""
    name, last = wanted[0], wanted[-1]
    for number in range(len(wanted) + callers.count(desk)):
        name = wanted[number] if number < len(wanted) else last.replace("@", f"#{number}@")
        holder = callers.find(desk, name)
        if holder is None or holder.id == caller_id:
            break
    return name


def open_host_call(
    desk: Desk,
    caller_id: int,
    node: int,
    process: str,
    address: str,
    brought: Brought,
    take_over: bool,
) -> Opened:
    """Open a call of another board's caller with the time that he brings; else as `open_call`.

    He brings the share of the host's time left that he may, but not past the next event, less the
    debt of the day and less what of the host's stands on the table. His time ticks from when the
    host handed him over, so what has ticked by now is charged at once. ValueError for one of our
    own callers, and for a way to give time back that there is not.
    """
    _check(desk, caller_id, brought)
    begun = begin_call(desk, caller_id, node, process, address, take_over)
    posting = enter(desk, begun.call_id, 0)
    visit = posting.visit
    assert visit is not None  # he is a board's
    visit.day = posting.day or ""
    visit.shown = brought.seconds
    visit.until = None if brought.until is None else stamp(brought.until)
    visit.way, visit.shows_losses = brought.takes_gains, brought.shows_losses
    posting.look_for_events()
    visit.debt = debt_of(desk, caller_id, visit.day)
    if brought.seconds is None:
        visit.clock = max(0, brought.allowance - used_on(desk, caller_id, visit.day))
        most = visit.clock
    else:
        visit.clock = max(0, brought.seconds)
        most = visit.clock * brought.share // 100
    if posting.limit is not None:
        most = min(most, posting.limit)
    amount = max(0, most - visit.debt - visit.standing)
    visit.brought, visit.changed = amount, True
    why = f"{span(amount)} brought from {visit.board}"
    posting.move(EXTERNAL, posting.online, amount, "brought", why)
    why = (
        f"Time used on node {node} since {visit.board} handed over its caller, before this call"
        " was opened"
    )
    posting.charge_to(brought.waited, why)
    receipt = posting.finish(0, "")
    arrival = Arrival(
        board=visit.board,
        shown=visit.shown,
        brought=amount,
        debt=visit.debt,
        standing=visit.standing,
        host_limit=None if visit.shown is None else visit.clock,
        owed=sum(row.minutes for row in owed(desk, caller_id)),
        earlier=begun.parting,
    )
    waiting = notices(desk, caller_id)
    return Opened(begun.call_id, receipt, waiting, begun.taken_over, arrival)


def _check(desk: Desk, caller_id: int, brought: Brought) -> None:
    if brought.takes_gains not in (None, *WAYS):
        raise ValueError(f"there is no way {brought.takes_gains!r} to give time back")
    row = desk.connection.exec_driver_sql(
        "SELECT board FROM callers WHERE id = ? AND deleted IS NULL", (caller_id,)
    ).first()
    if row is None:
        raise UnknownCaller(f"There is no caller number {caller_id}.")
    if row.board is None:
        raise ValueError("our own callers are granted their time: open_call")
