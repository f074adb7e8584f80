"""The sysop beside a caller: a look over a shoulder, a chat.

The command `{"control": "attend", "node": N, "call": C}` begins it, and the end of the connection
ends it; without a call it is whichever is on the node. What the server answers:

    {"name": "Ada", "node": 2}                       who it is, once
    {"columns": 80, "rows": 24, "screen": [...]}     what they see, when that has changed
    {"chat": true}                                   a chat has begun, or has ended
    {"chat": false, "why": "..."}                    it could not begin

What the sysop types: `{"chat": true, "by": "..."}` begins a chat, `{"chat": false}` ends it,
`{"typing": "..."}` says what stands in the sysop's line, `{"line": "..."}` sends it.

A server shows the screens of its own callers.
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
    from door.lines.commands import Said, SysopCommand

ATTEND = "attend"
_GONE = "{name} is on node {node} no more."

log = logging.getLogger("door.control")


async def attend(board: Board, command: SysopCommand) -> None:
    """Show the sysop what a caller sees until they hang up; raises `CommandRefused`."""
    match command.said:
        case {"node": int(node)}:
            await _show(board, command, await _caller_on(board, node, command.said))
        case _:
            raise CommandRefused("NODE is a number.")


async def _caller_on(board: Board, node: int, said: Said) -> Caller:
    try:
        books = await look_into(board)
    except (TimeoutError, BooksFailed) as error:
        raise CommandRefused("The books do not say now who is on.") from error
    call = books.on(node)
    if call is None:
        raise CommandRefused(f"Nobody is on node {node}.")
    if said.get("call", call.call_id) != call.call_id:
        raise CommandRefused(f"Another call is on node {node} by now.")
    found = next((each for each in board.callers() if each.call_id == call.call_id), None)
    if found is None:
        raise CommandRefused(
            f"{clean(call.name)} is on {place_of(call)}, whose screens are seen from there alone."
        )
    return found


async def _show(board: Board, command: SysopCommand, caller: Caller) -> None:
    name = clean(caller.record.name)
    log.warning("the sysop looks over the shoulder of %s on node %d", name, caller.node)
    sysop = _Sysop(caller)
    try:
        command.listen(sysop.obey, sysop.leave)
        while not command.has_ended:
            if caller not in board.callers():
                raise CommandRefused(_GONE.format(name=name, node=caller.node))
            sysop.look()
            for what in sysop.unsaid():
                await command.answer(what)
            await sleep(board.clock, LOOK_SECONDS)
    finally:
        command.stop()
        sysop.leave()
        log.warning("the sysop looks over the shoulder of %s no more", name)


class _Sysop:
    """The other end of a connection: what they are shown, and what they type."""

    def __init__(self, caller: Caller) -> None:
        self._console = caller.console
        self._shoulder = Shoulder(caller, self._chat_is_over)
        self._shown: tuple[object, ...] = ()
        self._has_left = False
        self._unsaid: list[Said] = [{"name": clean(caller.record.name), "node": caller.node}]

    def unsaid(self) -> list[Said]:
        """Return what is to be sent, once."""
        unsaid, self._unsaid = self._unsaid, []
        return unsaid

    def look(self) -> None:
        line = self._console.line
        seen = (line.columns, line.rows, *self._shoulder.rows())
        if seen != self._shown:
            self._shown = seen
            columns, rows, *screen = seen
            self._unsaid.append({"columns": columns, "rows": rows, "screen": screen})

    def leave(self) -> None:
        if not self._has_left:
            self._has_left = True
            self._shoulder.end()

    def obey(self, said: Said) -> None:
        chat = self._shoulder.chat
        match said:
            case {"chat": True, **more} if chat is None:
                by = clean(str(more.get("by") or "")) or "Another sysop"
                why = self._shoulder.begin_chat(by)
                self._unsaid.append({"chat": False, "why": why} if why else {"chat": True})
            case {"chat": False} if chat is not None:
                chat.end()
            case {"typing": str(text)} if chat is not None:
                chat.sysop_types(text)
            case {"line": str(text)} if chat is not None:
                chat.sysop_says(text)

    def _chat_is_over(self) -> None:
        self._unsaid.append({"chat": False})
