"""No flood has more than one read of a turn of the event loop, whichever loop the board runs on."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from door.lines.flow import UNREAD
from door.lines.line import Line
from door.lines.rlogin import rlogin
from door.lines.rlogin.header import RloginHeader
from tests.certificates import trusting
from tests.door.lines.board import PATIENCE, USUAL_LIMITS, Board, Call, open_board
from tests.door.lines.test_tls import board_with_tls

PASTE = b"0123456789abcdef" * 20_000
HEADER = b"\0ada\0Ada\0ansi/9600\0"


class Turns:
    """Counts the turns of the loop and the input of a call in each."""

    def __init__(self, call: Call) -> None:
        self.given = Counter[int]()
        self._call = call
        self._turn = self._before = 0
        self._next()

    def _next(self) -> None:
        taken = len(self._call.typed)
        self.given[self._turn] += taken - self._before
        self._before = taken
        self._turn += 1
        if not self._call.ends:
            asyncio.get_running_loop().call_soon(self._next)


async def pasted(call: Call, wire: socket.socket) -> None:
    """Send a long paste at once and record how it arrives."""
    call.typed.clear()
    turns = Turns(call)
    async with asyncio.timeout(PATIENCE):
        await asyncio.to_thread(wire.sendall, PASTE)
    await call.until_typed(PASTE)
    assert max(turns.given.values()) <= UNREAD
    wire.close()
    await call.until_ended()


@asynccontextmanager
async def rlogin_board() -> AsyncIterator[Board]:
    board = Board()

    async def serve(line: Line, header: RloginHeader) -> None:
        await board.serve(line)

    listener = await rlogin.RloginListener(serve, rlogin.USUAL_LIMITS).open("127.0.0.1", 0)
    board.listener = listener  # type: ignore[assignment]  # it has a port, and comes to an end
    try:
        yield board
    finally:
        await listener.finish()


async def by_telnet(folder: Path) -> None:
    async with open_board(USUAL_LIMITS) as board:
        wire = socket.create_connection(("127.0.0.1", board.port))
        await pasted(await board.answered(), wire)


async def by_rlogin(folder: Path) -> None:
    async with rlogin_board() as board:
        wire = socket.create_connection(("127.0.0.1", board.port))
        wire.sendall(HEADER)
        await pasted(await board.answered(), wire)


async def over_tls(folder: Path) -> None:
    def call(port: int) -> ssl.SSLSocket:
        return trusting().wrap_socket(
            socket.create_connection(("127.0.0.1", port)), server_hostname="localhost"
        )

    async with board_with_tls(folder) as board:
        wire = await asyncio.to_thread(call, board.port)
        await pasted(await board.answered(), wire)


@pytest.mark.parametrize("way", [by_telnet, by_rlogin, over_tls])
@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_a_paste_has_one_read_in_each_turn(
    tmp_path: Path, loop: str, way: Callable[[Path], Coroutine[None, None, None]]
) -> None:
    kind = pytest.importorskip(loop, reason="there are no wheels of uvloop for this machine")
    with asyncio.Runner(loop_factory=kind.new_event_loop) as runner:
        runner.run(way(tmp_path))
