"""Callers of other boards: who they are here, and what they bring when they come in.

A board's caller is known by the board and by the key that the board knows them by, never by
their name. They have no password and so never log on here by themselves; their name has the board's
in it, which no name of our own callers can have. Their time is the host's: see ledger/visit.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import chain, count

from sqlalchemy import select

from timebank.callers import awards, callers, messages, sysop_log
from timebank.callers.callers import CallerRecord
from timebank.callers.notices import waiting
from timebank.calls.calls import CUT_OFF, Nodes, Opened, begin_call
from timebank.guests.departure import HOST_WAYS, THEBANK_EXT, owed
from timebank.ledger import dialects, reasons, schema
from timebank.ledger.database import Desk
from timebank.ledger.entries import day
from timebank.ledger.entries.posting import enter
from timebank.ledger.schema import stamp
from timebank.ledger.sql import Prepared, Reader, change, equal, there_is, value
from timebank.ledger.transfers import EXTERNAL
from timebank.ledger.visit import GuestArrival, debt_of, used_on
from timebank.names import look_alikes
from timebank.words import clean

LONGEST_ALIAS = 24  # characters, as of names here
LONGEST_KEY = 16  # characters of a key that are shown in a name
NAMELESS = "Caller"
NUMBER_KEY = "number "  # how a key begins that a board counts its users by
HIDDEN_KEYS = ("name:", "key ")  # how keys begin that may say more than an alias
FOLLOWED_BY = "drop file"  # who has moved an account, in the sysop's log
WAYS = (*HOST_WAYS, THEBANK_EXT)

_CALLERS, _LOG = schema.callers, schema.sysop_log
_LIVING = _CALLERS.c.deleted.is_(None)
_NUMBER: Reader[int] = value(
    lambda: select(_CALLERS.c.id).where(equal(_CALLERS.c.board, _CALLERS.c.board_key), _LIVING)
)
_MOVE = Prepared(lambda: change(_CALLERS, "board", equal(_CALLERS.c.id)))
_VISITS, _CALLS = schema.visits, schema.calls
_WHY_LAST_ENDED: Reader[str | None] = value(
    lambda: (
        select(_CALLS.c.reason)
        .join(_VISITS, _VISITS.c.call_id == _CALLS.c.id)
        .where(equal(_VISITS.c.caller_id))
        .order_by(_VISITS.c.id.desc())
        .limit(1)
    )
)
_TOLD = Prepared(lambda: there_is(equal(_LOG.c.caller_id, _LOG.c.what)))


@dataclass(frozen=True, slots=True)
class CarriedIn:
    """What a host says of its caller's time, and what is agreed with it. Amounts are seconds."""

    # Their time left there; None for unlimited, which is not 0.
    seconds: int | None
    # What they bring for a day when no clock of the host counts their time.
    allowance: int
    # Percent of their time left that they may bring.
    share: int
    # The host's next event, or when it must have them back; None for neither.
    until: datetime | None
    # The host's clock can be set lower, by the same way as it is given time back.
    shows_losses: bool
    # "moduser", "door.sys", "exitinfo" or "thebank.ext"; None for a host that takes nothing.
    takes_gains: str | None
    # What has ticked since the host handed them over, before the call is opened here.
    waited: int = 0


def host_caller(
    desk: Desk, board: str, key: str, alias: str, formerly: str | None = None
) -> CallerRecord:
    """Find the caller that a board knows by `key`, or enter one; the name follows the alias there.

    It is "Alias@Board", or where another one is called that "Alias#8@Board": after the number that
    the board knows the caller by, else after a number of ours, because a key that is a name may be
    a real one and others see it. `formerly` is the board under which callers of this one were
    entered before its files were understood: an account from there follows, with all that is in
    it, where this board has none yet and both key and alias are the same. Else it stays as it is.
    Either is noted in the sysop's log, once. ValueError for an empty board or key.
    """
    if not board.strip() or not key.strip():
        raise ValueError("a board's caller has a board and a key")
    caller_id = _number_of(desk, board, key)
    plain, told_apart = _beginnings(alias, key)
    old_id = None if formerly is None else _number_of(desk, formerly, key)
    if old_id is not None:
        before = callers.get(desk, old_id)
        # What is before the first of them is the alias that the caller came with last.
        known_as = before.name.partition("@")[0].partition("#")[0]
        same = known_as.casefold() == plain.casefold()
        if caller_id is None and same:
            name = _free(desk, plain, told_apart, board, old_id)
            return _follow(desk, before, board, name)
    if caller_id is None:
        name = _free(desk, plain, told_apart, board, None)
        record = callers.register_of_board(desk, name, board, key)
    else:
        record = callers.get(desk, caller_id)
        if not _is_told_apart(record.name.partition("@")[0], plain, told_apart):
            name = _free(desk, plain, told_apart, board, caller_id)
            record = callers.rename_of_board(desk, caller_id, name)
    if old_id is not None:
        _leave_alone(desk, before, record)
    return record


def _number_of(desk: Desk, board: str, key: str) -> int | None:
    return _NUMBER.first(desk.connection, board=board, board_key=key)


def _follow(desk: Desk, before: CallerRecord, board: str, name: str) -> CallerRecord:
    _MOVE(desk.connection, board=board, id=before.id)
    record = callers.rename_of_board(desk, before.id, name)
    what = (
        f"{before.name} is {record.name} from now on, with all that the account holds: its drop"
        f" files are known for those of {board} now"
    )
    sysop_log.note(desk, FOLLOWED_BY, before.id, what)
    return record


def _leave_alone(desk: Desk, before: CallerRecord, record: CallerRecord) -> None:
    """Note, once, that two accounts have one key and are not joined: they may be two people's."""
    what = (
        f"{before.name} stays an account of its own beside {record.name}, which has the same key:"
        " if both are one caller's, move what is in its bank by timebank transfer"
    )
    if _TOLD(desk.connection, caller_id=before.id, what=what).first() is None:
        sysop_log.note(desk, FOLLOWED_BY, before.id, what)


def _beginnings(alias: str, key: str) -> tuple[str, str]:
    """Return what the name begins with, and what it does where another one is called that."""
    shown = clean(alias.replace("@", " ").replace("#", " "), LONGEST_ALIAS) or NAMELESS
    if key.startswith(HIDDEN_KEYS):
        return shown, shown
    number = key.removeprefix(NUMBER_KEY).replace("@", " ")
    return shown, f"{shown}#{clean(number, LONGEST_KEY)}"


def _is_told_apart(begins: str, plain: str, told_apart: str) -> bool:
    if begins in (plain, told_apart):
        return True
    _, sign, number = begins.removeprefix(told_apart).rpartition("#")
    return begins == f"{told_apart}{sign}{number}" and bool(sign) and number.isdecimal()


def _free(desk: Desk, plain: str, told_apart: str, board: str, caller_id: int | None) -> str:
    """Choose the first name that nobody else has; of keys that look alike, one gets a number."""
    numbered = (f"{told_apart}#{number}" for number in count(2))
    names = (f"{begins}@{board}" for begins in chain((plain, told_apart), numbered))
    return next(name for name in names if _is_free(desk, name, caller_id))


def _is_free(desk: Desk, name: str, caller_id: int | None) -> bool:
    holder = callers.find(desk, name)
    if holder is not None and holder.id != caller_id:
        return False
    own = look_alikes.NOBODY if caller_id is None else caller_id
    return look_alikes.holder(dialects.runner(desk.connection), name, but=own) is None


def open_host_call(
    desk: Desk,
    caller_id: int,
    node: int | Nodes,
    process: str,
    address: str,
    brought: CarriedIn,
    take_over: bool,
) -> Opened:
    """Open a call of another board's caller with the time that they bring; else as `open_call`.

    They bring the agreed share of the host's time left, but not past the next event, less the debt
    of the day and less what of the host's stands on the table. Their time ticks from when the host
    handed them over, so what has ticked by now is charged at once. ValueError for one of our
    own callers, and for a way to give time back that there is not.
    """
    if brought.takes_gains not in (None, *WAYS):
        raise ValueError(f"there is no way {brought.takes_gains!r} to give time back")
    begun = begin_call(desk, caller_id, node, process, address, take_over, of_board=True)
    was_cut_off = _WHY_LAST_ENDED.first(desk.connection, caller_id=caller_id) == CUT_OFF
    posting = enter(desk, begun.call_id, 0)
    visit = posting.visit
    assert visit is not None  # the caller is a board's
    today = posting.state.day or ""
    if brought.seconds is None:
        clock = most = max(0, brought.allowance - used_on(desk, caller_id, today))
    else:
        clock = max(0, brought.seconds)
        most = clock * brought.share // 100
    visit = visit._replace(
        day=today,
        shown=brought.seconds,
        clock=clock,
        until=None if brought.until is None else stamp(brought.until),
        way=brought.takes_gains,
        shows_losses=brought.shows_losses,
        debt=debt_of(desk, caller_id, today),
    )
    posting.go_on_with(visit)
    if posting.state.limit is not None:
        most = min(most, posting.state.limit)
    amount = max(0, most - visit.debt - visit.standing)
    posting.go_on_with(visit._replace(brought=amount))
    posting.move(EXTERNAL, "online", amount, reasons.BroughtIn(visit.board))
    posting.apply(day.charge, brought.waited, reasons.Waited(begun.node, visit.board))
    receipt = posting.finish()
    arrival = GuestArrival(
        board=visit.board,
        shown=visit.shown,
        brought=amount,
        debt=visit.debt,
        standing=visit.standing,
        host_limit=None if visit.shown is None else visit.clock,
        owed=sum(row.minutes for row in owed(desk, caller_id)),
        was_cut_off=was_cut_off,
    )
    running = awards.on_call(desk, caller_id)
    texts = waiting(desk, caller_id)
    return Opened(
        *(begun.call_id, begun.node, receipt, texts, begun.ended_call, arrival),
        messages=messages.waiting(desk, caller_id),
        days_running=running,
    )
