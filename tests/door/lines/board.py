"""A board with only a notebook behind its port: the bytes and acts of each caller."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeVar

from door.lines.budget import Rate
from door.lines.line import Line
from door.lines.port.listener import Listener
from door.lines.telnet.passive import TelnetLine
from door.lines.telnet.telnet import USUAL_LIMITS, NegotiatingTelnet, TelnetLimits, TelnetListener
from tests.terminal import IAC, SB, SE, Terminal

PATIENCE = 120.0  # seconds; anything slower has failed
GREETING = b"Board."
MEMORY = 1_000_000  # bytes that no caller may cost the board

# Limits without the budget for commands, so that a test can reach the others.
NO_BUDGET = replace(USUAL_LIMITS, commands=Rate(burst=10**9, a_second=0.0))


QUESTION = b"GET / HTTP/1.0\r\n\r\n"


async def request(number: int, question: bytes = QUESTION) -> bytes:
    """Send a request to a port and return the whole answer."""
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", number)
        try:
            writer.write(question)
            return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.transport.abort()


class Call:
    """One caller, as the board sees them: a receiver that notes everything."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.served_at = asyncio.get_running_loop().time()
        self.typed = bytearray()
        self.pieces: list[int] = []
        self.sizes: list[tuple[int, int]] = []
        self.ends: list[str] = []
        self.pauses = False  # whether to pause the line at the next input
        self.over = asyncio.Event()  # set to make the board hang up
        self._news: list[asyncio.Future[None]] = []

    def received(self, data: bytes) -> None:
        assert not self.ends, "bytes came after the end"
        self.typed += data
        self.pieces.append(len(data))
        if self.pauses:
            self.line.pause()
        self._tell()

    def hung_up(self, reason: str) -> None:
        self.ends.append(reason)
        self._tell()

    def resized(self, columns: int, rows: int) -> None:
        self.sizes.append((columns, rows))
        self._tell()

    async def until(self, reached: Callable[["Call"], bool]) -> None:
        """Wait until `reached(self)`, asked whenever something came."""
        async with asyncio.timeout(PATIENCE):
            while not reached(self):
                news = asyncio.get_running_loop().create_future()
                self._news.append(news)
                await news

    async def until_typed(self, data: bytes) -> None:
        await self.until(lambda call: bytes(call.typed) == data)

    async def until_ended(self) -> str:
        await self.until(lambda call: bool(call.ends))
        assert len(self.ends) == 1
        return self.ends[0]

    def _tell(self) -> None:
        news, self._news = self._news, []
        for future in news:
            if not future.done():
                future.set_result(None)


class Board:
    """A port that greets its calls, listens to them and queues them in `calls`."""

    def __init__(self) -> None:
        self.calls: asyncio.Queue[Call] = asyncio.Queue()
        self.is_ready = asyncio.Event()  # cleared to make callers wait before the board listens
        self.is_ready.set()
        self.listener: Listener

    @property
    def port(self) -> int:
        return self.listener.port

    async def answered(self) -> Call:
        """The next call that got through."""
        async with asyncio.timeout(PATIENCE):
            return await self.calls.get()

    async def serve(self, line: Line) -> None:
        line.write(GREETING)
        await self.is_ready.wait()
        call = Call(line)
        line.attach(call)
        self.calls.put_nowait(call)
        await call.over.wait()


B = TypeVar("B", bound=Board)


@asynccontextmanager
async def opened(board: B, listener: Listener) -> AsyncIterator[B]:
    """Open the port of a board by any protocol."""
    board.listener = await listener.open("127.0.0.1", 0)
    try:
        yield board
    finally:
        async with asyncio.timeout(PATIENCE):
            await board.listener.finish()


async def connected(terminal: Terminal, board: Board) -> Call:
    """Call the board and get through."""
    await terminal.connect(board.port)
    return await board.answered()


async def connected_unread(terminal: Terminal, board: Board) -> Call:
    """Call the board, get through, and read none of its output."""
    await terminal.connect(board.port, receive_buffer=4096)
    call = await board.answered()
    terminal.stop_reading()
    return call


def subnegotiation(option: int, body: bytes) -> bytes:
    """The bytes of a subnegotiation as a telnet program sends them."""
    return bytes((IAC, SB, option)) + body.replace(b"\xff", b"\xff\xff") + bytes((IAC, SE))


@asynccontextmanager
async def open_board(limits: TelnetLimits) -> AsyncIterator[Board]:
    board = Board()
    async with opened(board, TelnetListener(board.serve, limits)):
        yield board


class Wire:
    """A `NegotiatingTelnet` on one end of a socket pair, fed with exact packets."""

    def __init__(self, limits: TelnetLimits) -> None:
        self.lines: list[TelnetLine] = []
        self.gone = asyncio.Event()
        self.telnet = NegotiatingTelnet(limits, self.lines.append, self.gone.set, "192.0.2.1")

    @property
    def call(self) -> Call:
        """The receiver of its input."""
        return self._call

    async def plug(self) -> None:
        """Connect, listen, and see the requests of the opening go out."""
        loop = asyncio.get_running_loop()
        self.far_end, near_end = socket.socketpair()
        self.far_end.setblocking(False)
        await loop.connect_accepted_socket(lambda: self.telnet, near_end)
        self._call = Call(self.telnet.line)
        self.telnet.line.attach(self._call)
        async with asyncio.timeout(PATIENCE):
            assert await loop.sock_recv(self.far_end, 4096)

    async def unplug(self) -> None:
        self.far_end.close()
        self.telnet.line.abort()
        async with asyncio.timeout(PATIENCE):
            await self.gone.wait()


@asynccontextmanager
async def plugged(limits: TelnetLimits) -> AsyncIterator[Wire]:
    wire = Wire(limits)
    await wire.plug()
    try:
        yield wire
    finally:
        await wire.unplug()
