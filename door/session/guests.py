"""Log-on without a password: callers of trusted boards, and the sysop at the machine itself."""

from __future__ import annotations

import contextlib
import logging
from functools import partial
from typing import TYPE_CHECKING

from door.errors import LogonRefused
from door.lobby import looks
from door.session.identity import in_the_books
from door.session.logon import call_or_take_over, refuse_if_out, refuse_while_closed
from timebank.callers import callers
from timebank.calls.arrival import host_caller
from timebank.errors import BooksFailed
from timebank.keeping import caller_acts
from timebank.language import Phrase
from timebank.names import names
from timebank.words import BY_COMMAND

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.call.console import Console
    from door.call.guest import Guest
    from door.call.guest_caller import HostCaller
    from timebank.callers.callers import CallerRecord
    from timebank.ledger.database import Desk


CONSOLE_NODE = 0  # boards number the sysop's own node so

log = logging.getLogger("door.logon")


async def receive_guest(board: Board, console: Console, guest: Guest) -> HostCaller:
    """Let in another board's caller, under a name made of that board's and their name there."""
    refuse_while_closed(board)
    known = guest.board.name, guest.key, guest.name, guest.formerly
    record = await in_the_books(board, console, lambda desk: host_caller(desk, *known))
    refuse_if_out(console, record)
    look = looks.remembered(record.preferences, console.line.hints) or guest.look
    if look is not None:
        console.use_look(looks.fitting(look, console.line.hints))
    opening = partial(board.open_guest_call, console, record, guest)
    caller = await call_or_take_over(board, console, record, opening)
    caller.asks_look = look is None
    caller.is_new = record.last_call is None
    caller.asks_language = looks.asks_language(console, record)
    return caller


async def let_sysop_in(board: Board, console: Console) -> Caller:
    """Let in the user of this machine as the sysop: they can read and write the books anyway."""
    name = board.config.board.sysop
    record = await in_the_books(board, console, partial(_sysop_record, name=name))
    if not names.is_same(record.name, name):
        raise LogonRefused(
            Phrase(
                "{other}, caller number {number}, looks like {name}, your name in sysop.toml. Give"
                " one of you another name.",
                other=record.name,
                number=record.id,
                name=name,
            ),
            "the sysop's name is taken",
        )
    look = looks.remembered(record.preferences, console.line.hints)
    if look is not None:
        console.use_look(looks.fitting(look, console.line.hints))
    opening = partial(board.open_call, console, record, CONSOLE_NODE)
    caller = await call_or_take_over(board, console, record, opening)
    caller.asks_look = look is None and looks.known(console.line.hints) is None
    return caller


async def ask_look(caller: Caller) -> None:
    """Let a caller on a call choose a look, use it from now on, and remember it.

    Enter takes the usual look of boards for a guest, whose own board has drawn on the terminal
    already. The environment does not count: it may come from the shell that started the board.
    """
    console, usual = caller.console, None
    if caller.record.board is not None:
        charset = console.line.hints.charset or None
        usual = looks.look_by_host("ansi", charset) or looks.look_by_host("ansi", None)
    look = await looks.choose(console, usual)
    caller.console.use_look(look)
    # At worst the caller is asked again the next time.
    with contextlib.suppress(BooksFailed):
        await looks.remember(caller, look)


def _sysop_record(desk: Desk, name: str) -> CallerRecord:
    """Find the sysop by name, or enter a caller with the sysop's powers and no password.

    Without a password they can log on at this machine alone. A caller who exists already keeps
    the powers that they have.
    """
    record = callers.find(desk, name)
    return record or caller_acts.enter(desk, name, "", BY_COMMAND, with_powers=True)
