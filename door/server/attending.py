"""The sysop beside a caller, by the socket in the data folder: a look over a shoulder, a chat.

A header `{"control": "attend", "node": N, "call": C}` begins it, and the end of the connection ends
it; without a call it is whichever is on the node. What goes to and fro are lines of JSON. From the
server:

    {"name": "Ada", "node": 2}                       who it is, once
    {"columns": 80, "rows": 24, "screen": [...]}     what they see, when that has changed
    {"chat": true}                                   a chat has begun, or has ended
    {"chat": false, "why": "..."}                    it could not begin

and to it: `{"chat": true, "by": "..."}` begins a chat, `{"chat": false}` ends it,
`{"typing": "..."}` says what stands in the sysop's line, `{"line": "..."}` sends it.

A server shows the screens of its own callers.
"""

from __future__ import annotations

import contextlib
import json
import logging
from typing import TYPE_CHECKING, Any

from door.call.bystander import LOOK_SECONDS
from door.call.shoulder import Shoulder
from door.clock import sleep
from door.errors import CommandRefused
from door.server.everywhere import clean, look_into, place_of
from timebank.errors import BooksFailed

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.lines.link import LinkConnection, Said

ATTEND = "attend"
LARGEST = 4096  # bytes of a line from the sysop
_GONE = "{name} is on node {node} no more."

log = logging.getLogger("door.control")


async def attend(board: Board, connection: LinkConnection, said: Said) -> None:
    """Show the sysop what a caller sees until the connection ends; raises `CommandRefused`."""
    try:
        match said:
            case {"node": int(node)}:
                await _show(board, connection, await _caller_on(board, node, said))
            case _:
                raise CommandRefused("NODE is a number.")
    except CommandRefused as refused:
        _send(connection, {"error": str(refused)})
    connection.line.end({"how": "done"})


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


async def _show(board: Board, connection: LinkConnection, caller: Caller) -> None:
    name = clean(caller.record.name)
    log.warning("the sysop looks over the shoulder of %s on node %d", name, caller.node)
    sysop = _Sysop(connection, caller)
    _send(connection, {"name": name, "node": caller.node})
    try:
        while not connection.line.ended:
            if caller not in board.callers():
                raise CommandRefused(_GONE.format(name=name, node=caller.node))
            sysop.look()
            await sleep(board.clock, LOOK_SECONDS)
    finally:
        sysop.leave()
        log.warning("the sysop looks over the shoulder of %s no more", name)


class _Sysop:
    """The other end of a connection: their keys come as lines of JSON."""

    def __init__(self, connection: LinkConnection, caller: Caller) -> None:
        self._connection = connection
        self._console = caller.console
        self._shoulder = Shoulder(caller, self._chat_is_over)
        self._shown: tuple[object, ...] = ()
        self._waiting = b""
        self._has_left = False
        connection.line.attach(self)

    def look(self) -> None:
        line = self._console.line
        seen = (line.columns, line.rows, *self._shoulder.rows())
        if seen != self._shown:
            self._shown = seen
            columns, rows, *screen = seen
            _send(self._connection, {"columns": columns, "rows": rows, "screen": screen})

    def leave(self) -> None:
        if not self._has_left:
            self._has_left = True
            self._shoulder.end()

    # What the line tells.

    def received(self, data: bytes) -> None:
        *lines, self._waiting = (self._waiting + data).split(b"\n")
        if len(self._waiting) > LARGEST:
            self._connection.line.cut_off("a line that is too long")
        for line in lines:
            with contextlib.suppress(ValueError, RecursionError):
                self._obey(json.loads(line))

    def hung_up(self, reason: str) -> None:
        self.leave()

    def resized(self, columns: int, rows: int) -> None:
        """The caller's screen has the size that it has."""

    def _obey(self, said: object) -> None:
        chat = self._shoulder.chat
        match said:
            case {"chat": True, **more} if chat is None:
                by = clean(str(more.get("by") or "")) or "Another sysop"
                why = self._shoulder.begin_chat(by)
                _send(self._connection, {"chat": False, "why": why} if why else {"chat": True})
            case {"chat": False} if chat is not None:
                chat.end()
            case {"typing": str(text)} if chat is not None:
                chat.sysop_types(text)
            case {"line": str(text)} if chat is not None:
                chat.sysop_says(text)

    def _chat_is_over(self) -> None:
        _send(self._connection, {"chat": False})


def _send(connection: LinkConnection, said: dict[str, Any]) -> None:
    connection.line.write(json.dumps(said).encode() + b"\n")
