"""Callers that other boards send by rlogin. If their board is believed, they play as guests."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from ansi.charset import Charset
from door.call import terminal
from door.call.console import Console
from door.call.guest import Guest
from door.call.markup import literal
from door.dropfiles.dropfile import fold_name
from door.errors import BoardNotTrusted
from door.games.registry import game_named
from door.lines.rlogin.trust import RloginCaller, trusted
from door.lobby import greeting, looks
from door.session.arrival import NAME_KEY
from door.session.session import answer_guest

if TYPE_CHECKING:
    from door.call.board import Board
    from door.lines.line import Line
    from door.lines.rlogin.header import RloginHeader

NOT_KNOWN = b"This port takes callers of boards that are known here, and yours is not.\r\n"

# How long to wait for a terminal that has told nothing about itself. Synchronet may wait three
# seconds for the terminal first, and passes nothing on meanwhile.
ANSWER_SECONDS = 4.0
ANSI, UNICODE = "ansi", "unicode"  # types for a terminal that has answered, by its letters

log = logging.getLogger("door.rlogin")


async def answer_board(board: Board, line: Line, header: RloginHeader) -> None:
    """Serve the caller of a board that is believed; tell all others only that it is not known.

    `xtrn=CODE` in the header leads straight to a table; an unknown code leads to the main menu.
    """
    hosts = board.config.boards
    try:
        caller = trusted(header, line.address, [host.trusted for host in hosts.values()])
    except BoardNotTrusted as reason:
        log.warning("rlogin %s: refused: %s", line.address, reason)
        board.reception.not_known(line.address, str(reason))
        line.write(NOT_KNOWN)
        return
    console = Console(line, looks.guess(line.hints), board.clock)
    await _meet(console)
    guest = _guest(board, caller, line)
    game = game_named(header.xtrn) if header.xtrn else None
    if header.xtrn and game is None:
        log.info(
            "rlogin %s: %s asks for %s, which is not a table",
            line.address,
            caller.board,
            header.xtrn,
        )
    greeting.show(console, board.config, [f"|07Welcome from |15{caller.board}"], board.champion)
    await answer_guest(board, console, guest, game)


async def _meet(console: Console) -> None:
    """Identify the caller's terminal. With `xtrn=CODE` the header does not name the terminal."""
    line = console.line
    if looks.known(line.hints) is not None:
        terminal.ask_size(console)
        return
    look = await terminal.probe(console, ANSWER_SECONDS)
    if look is not None:
        console.use_look(look)
        kind = UNICODE if look.charset is Charset.UTF8 else ANSI
        line.hints = replace(line.hints, terminal_types=(kind,), charset=look.charset.value)


def _guest(board: Board, caller: RloginCaller, line: Line) -> Guest:
    known = looks.known(line.hints) is not None
    return Guest(
        board=board.config.boards[caller.board],
        key=f"{NAME_KEY}{fold_name(caller.user)}",
        name=literal(caller.user),
        node=None,
        arrived=board.clock.monotonic(),
        seconds=None,
        until=None,
        way=None,
        look=looks.guess(line.hints) if known else None,
    )
