"""A sysop's visit to a caller: the sysop watches the caller's screen, or chats with them.

The command `{"control": "attend", "node": N, "call": C}` begins a visit, and the end of the
connection ends it. Without `call` the sysop visits any caller on the node. The server answers:

    {"name": "Ada", "node": 2}                       the caller, once
    {"columns": 80, "rows": 24, "screen": [...]}     the caller's screen, after each change
    {"chat": true}                                   a chat has begun
    {"chat": false}                                  the chat has ended
    {"chat": false, "why": "..."}                    the chat could not begin

The sysop's side sends `{"chat": true, "by": "..."}` to begin a chat, `{"chat": false}` to end it.
It sends `{"typing": "..."}` for the unfinished line, and `{"line": "..."}` for a finished one.

A server shows only the screens of its own callers.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from door.call.bystander import LOOK_SECONDS
from door.call.shoulder import Shoulder
from door.clock import sleep
from door.errors import CommandRefused
from door.server.board_commands import clean, look_into, place_of
from timebank.errors import BooksFailed

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.lines.commands import Message, SysopCommand

ATTEND = "attend"
_GONE = "{name} is no longer on node {node}."

log = logging.getLogger("door.control")


async def attend(board: Board, command: SysopCommand) -> None:
    """Show the sysop a caller's screen until the caller hangs up; raise `CommandRefused`."""
    match command.request:
        case {"node": int(node)}:
            await _show(board, command, await _caller_on(board, node, command.request))
        case _:
            raise CommandRefused("NODE is a number.")


async def _caller_on(board: Board, node: int, request: Message) -> Caller:
    try:
        books = await look_into(board)
    except (TimeoutError, BooksFailed) as error:
        raise CommandRefused("The books do not say now who is on.") from error
    call = books.on(node)
    if call is None:
        raise CommandRefused(f"Nobody is on node {node}.")
    if request.get("call", call.call_id) != call.call_id:
        raise CommandRefused(f"Another call is on node {node} by now.")
    caller = next((each for each in board.callers() if each.call_id == call.call_id), None)
    if caller is None:
        raise CommandRefused(
            f"{clean(call.name)} is on {place_of(call)}, whose screens are seen from there alone."
        )
    return caller


async def _show(board: Board, command: SysopCommand, caller: Caller) -> None:
    name = clean(caller.record.name)
    log.warning("the sysop watches %s on node %d", name, caller.node)
    sysop = _Sysop(caller)
    try:
        command.listen(sysop.obey, sysop.leave)
        while not command.has_ended:
            if caller not in board.callers():
                raise CommandRefused(_GONE.format(name=name, node=caller.node))
            sysop.look()
            for what in sysop.pending():
                await command.answer(what)
            await sleep(board.clock, LOOK_SECONDS)
    finally:
        command.stop()
        sysop.leave()
        log.warning("the sysop no longer watches %s", name)


class _Sysop:
    """The sysop's end of the connection: what the sysop is shown, and what the sysop types."""

    def __init__(self, caller: Caller) -> None:
        self._console = caller.console
        self._shoulder = Shoulder(caller, self._chat_is_over)
        self._shown: tuple[object, ...] = ()
        self._has_left = False
        self._pending: list[Message] = [{"name": clean(caller.record.name), "node": caller.node}]

    def pending(self) -> list[Message]:
        """Return the messages not sent yet, each once."""
        pending, self._pending = self._pending, []
        return pending

    def look(self) -> None:
        line = self._console.line
        view = (line.columns, line.rows, *self._shoulder.rows())
        if view != self._shown:
            self._shown = view
            columns, rows, *screen = view
            self._pending.append({"columns": columns, "rows": rows, "screen": screen})

    def leave(self) -> None:
        if not self._has_left:
            self._has_left = True
            self._shoulder.end()

    def obey(self, request: Message) -> None:
        chat = self._shoulder.chat
        match request:
            case {"chat": True, **more} if chat is None:
                by = clean(str(more.get("by") or "")) or "Another sysop"
                why = self._shoulder.begin_chat(by)
                self._pending.append({"chat": False, "why": why} if why else {"chat": True})
            case {"chat": False} if chat is not None:
                chat.end()
            case {"typing": str(text)} if chat is not None:
                chat.sysop_types(text)
            case {"line": str(text)} if chat is not None:
                chat.sysop_says(text)

    def _chat_is_over(self) -> None:
        self._pending.append({"chat": False})
