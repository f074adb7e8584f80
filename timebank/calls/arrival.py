"""Callers of other boards: their accounts here, and the time they bring to a call.

Such an account is found by its board and by the key that the board uses for the caller, never by
its name. It has no password, so its owner cannot log on here directly. The name contains the name
of the board, which no name of our own callers can. The caller's time is the host's: see
ledger/visit.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import chain, count

from sqlalchemy import select

from timebank.callers import awards, callers, messages, sysop_log
from timebank.callers.callers import CallerRecord
from timebank.callers.notices import waiting
from timebank.calls.calls import CUT_OFF, Nodes, OpenedCall, begin_call
from timebank.guests.departure import THEBANK_EXT, WINNINGS_FILES, waiting_payments
from timebank.ledger import dialects, reasons, schema
from timebank.ledger.database import Desk
from timebank.ledger.entries import day
from timebank.ledger.entries.posting import enter
from timebank.ledger.schema import stamp
from timebank.ledger.sql import Prepared, Reader, any_row, change, equal, value
from timebank.ledger.transfers import EXTERNAL
from timebank.ledger.visit import GuestArrival, debt_of, used_on
from timebank.names import look_alikes
from timebank.words import clean

LONGEST_ALIAS = 24  # characters, like a name of our own callers
LONGEST_SHOWN_KEY = 16  # characters
NAMELESS = "Caller"
NUMBER_PREFIX = "number "  # of a key that is the user's number on the board
HIDDEN_PREFIXES = ("name:", "key ")  # of keys that may tell a real name
LOG_AUTHOR = "drop file"  # in the sysop's log
GAIN_FILES = (*WINNINGS_FILES, THEBANK_EXT)

_CALLERS, _LOG = schema.callers, schema.sysop_log
_NUMBER: Reader[int] = value(
    lambda: (
        select(_CALLERS.c.id)
        .where(equal(_CALLERS.c.board, _CALLERS.c.board_key), _CALLERS.c.removed.is_(None))
        .order_by(_CALLERS.c.deleted.is_not(None), _CALLERS.c.deleted.desc())
    )
)
_SET_BOARD = Prepared(lambda: change(_CALLERS, "board", equal(_CALLERS.c.id)))
_VISITS, _CALLS = schema.visits, schema.calls
_LAST_END: Reader[str | None] = value(
    lambda: (
        select(_CALLS.c.reason)
        .join(_VISITS, _VISITS.c.call_id == _CALLS.c.id)
        .where(equal(_VISITS.c.caller_id))
        .order_by(_VISITS.c.id.desc())
        .limit(1)
    )
)
_LOGGED = Prepared(lambda: any_row(equal(_LOG.c.caller_id, _LOG.c.what)))


@dataclass(frozen=True, slots=True)
class HostTerms:
    """The time that a host gives its caller, and what was agreed with it. Amounts are seconds."""

    # The caller's time left on the host; None if it is unlimited.
    seconds: int | None
    # The time for a day if `seconds` is None.
    allowance: int
    # Percent of `seconds` that the caller may bring, 0 to 100.
    share: int
    # When the host's next event begins, or the host needs its caller back; None for neither.
    until: datetime | None
    # Whether the host's clock can also be set lower, through the same file as gains.
    shows_losses: bool
    # "moduser", "door.sys", "exitinfo" or "thebank.ext"; None for a host that takes no gains.
    takes_gains: str | None
    # The time from the hand-over by the host to the start of the call here.
    waited: int = 0


def host_caller(
    desk: Desk, board: str, key: str, alias: str, former_board: str | None = None
) -> CallerRecord:
    """Return the account of a board's caller with this `key`. Create it if there is none.

    Its name follows the alias: "Alias@Board", or "Alias#8@Board" if the first is taken. The number
    is the user's number on the board. A key that may tell a real name is not shown; such a caller
    gets a number of ours.

    `former_board` is the name under which earlier releases entered this board's callers. An account
    from there moves to this board if key and alias are the same and this board has no account for
    the key. Otherwise both accounts stay. Either case is noted once in the sysop's log.

    A deleted account that the sysop can bring back is returned as it is.

    Raises ValueError if the board or the key is empty.
    """
    if not board.strip() or not key.strip():
        raise ValueError("a board's caller has a board and a key")
    record = _account(desk, board, key)
    plain, keyed = _base_names(alias, key)
    before = None if former_board is None else _account(desk, former_board, key)
    if record is None and before is not None:
        last_alias = before.name.partition("@")[0].partition("#")[0]
        if last_alias.casefold() == plain.casefold():
            return before if before.deleted else _move(desk, before, board, plain, keyed)
    if record is None:
        name = _free_name(desk, plain, keyed, board, None)
        record = callers.register_of_board(desk, name, board, key)
    elif not (record.deleted or _fits(record.name.partition("@")[0], plain, keyed)):
        name = _free_name(desk, plain, keyed, board, record.id)
        record = callers.rename_of_board(desk, record.id, name)
    if before is not None and not before.deleted:
        _note_same_key(desk, before, record)
    return record


def _account(desk: Desk, board: str, key: str) -> CallerRecord | None:
    number = _NUMBER.first(desk.connection, board=board, board_key=key)
    return None if number is None else callers.even_if_deleted(desk, number)


def _move(desk: Desk, before: CallerRecord, board: str, plain: str, keyed: str) -> CallerRecord:
    name = _free_name(desk, plain, keyed, board, before.id)
    _SET_BOARD(desk.connection, board=board, id=before.id)
    record = callers.rename_of_board(desk, before.id, name)
    what = (
        f"{before.name} is {record.name} from now on, with all that the account holds: its drop"
        f" files are known for those of {board} now"
    )
    sysop_log.note(desk, LOG_AUTHOR, before.id, what)
    return record


def _note_same_key(desk: Desk, before: CallerRecord, record: CallerRecord) -> None:
    """Note once in the log that two accounts have the same key, and may be two people's."""
    what = (
        f"{before.name} stays an account of its own beside {record.name}, which has the same key:"
        " if both are one caller's, move what is in its bank by timebank transfer"
    )
    if _LOGGED(desk.connection, caller_id=before.id, what=what).first() is None:
        sysop_log.note(desk, LOG_AUTHOR, before.id, what)


def _base_names(alias: str, key: str) -> tuple[str, str]:
    """Return a name without its board: the alias alone, and the alias with the key if it is shown.

    >>> _base_names("Ann", "number 8"), _base_names("Ann", "name:Ann Smith")
    (('Ann', 'Ann#8'), ('Ann', 'Ann'))
    """
    shown = clean(alias.replace("@", " ").replace("#", " "), LONGEST_ALIAS) or NAMELESS
    if key.startswith(HIDDEN_PREFIXES):
        return shown, shown
    number = key.removeprefix(NUMBER_PREFIX).replace("@", " ")
    return shown, f"{shown}#{clean(number, LONGEST_SHOWN_KEY)}"


def _fits(base: str, plain: str, keyed: str) -> bool:
    """Return whether a name without its board is one that `_free_name` makes of the base names."""
    if base in (plain, keyed):
        return True
    _, sign, number = base.removeprefix(keyed).rpartition("#")
    return base == f"{keyed}{sign}{number}" and bool(sign) and number.isdecimal()


def _free_name(desk: Desk, plain: str, keyed: str, board: str, caller_id: int | None) -> str:
    """Return the first name that no other caller has. Keys that look alike get a number each."""
    numbered = (f"{keyed}#{number}" for number in count(2))
    names = (f"{base}@{board}" for base in chain((plain, keyed), numbered))
    return next(name for name in names if _is_free(desk, name, caller_id))


def _is_free(desk: Desk, name: str, caller_id: int | None) -> bool:
    holder = callers.find(desk, name)
    if holder is not None and holder.id != caller_id:
        return False
    own = look_alikes.NOBODY if caller_id is None else caller_id
    return look_alikes.holder(dialects.runner(desk.connection), name, ignored_id=own) is None


def open_host_call(
    desk: Desk,
    caller_id: int,
    node: int | Nodes,
    process: str,
    address: str,
    brought: HostTerms,
    take_over: bool,
) -> OpenedCall:
    """Open a call of another board's caller with the time that they bring.

    That is the agreed share of the host's time left, but not past the next event. The debt of the
    day and the host's part of the stake on the table are taken off. The time since the hand-over by
    the host is charged at once.

    Arguments and errors are those of `open_call`. Raises ValueError for one of our own callers, and
    for an unknown `takes_gains`.
    """
    if brought.takes_gains not in (None, *GAIN_FILES):
        raise ValueError(f"unknown file for gains: {brought.takes_gains!r}")
    begun = begin_call(desk, caller_id, node, process, address, take_over, of_board=True)
    was_cut_off = _LAST_END.first(desk.connection, caller_id=caller_id) == CUT_OFF
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
    posting.set_visit(visit)
    if posting.state.limit is not None:
        most = min(most, posting.state.limit)
    amount = max(0, most - visit.debt - visit.standing)
    posting.set_visit(visit._replace(brought=amount))
    posting.move(EXTERNAL, "online", amount, reasons.BroughtIn(visit.board))
    posting.apply(day.charge, brought.waited, reasons.Waited(begun.node, visit.board))
    receipt = posting.finish()
    arrival = GuestArrival(
        board=visit.board,
        shown=visit.shown,
        brought=amount,
        debt=visit.debt,
        host_stake=visit.standing,
        host_limit=None if visit.shown is None else visit.clock,
        owed=sum(row.minutes for row in waiting_payments(desk, caller_id)),
        was_cut_off=was_cut_off,
    )
    running = awards.on_call(desk, caller_id)
    texts = waiting(desk, caller_id)
    return OpenedCall(
        *(begun.call_id, begun.node, receipt, texts, begun.ended_call, arrival),
        messages=messages.waiting(desk, caller_id),
        days_running=running,
    )
