"""A board with nothing behind its SSH port but a notebook, and callers' programs for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncssh

from door.lines.line import Line
from door.lines.port.connection import OPEN, Entrance
from door.lines.ssh.ssh import USUAL_LIMITS, Shown, SshLimits, SshListener
from tests.door.lines.board import GREETING, PATIENCE, Call

# Made once: it takes longer than a call.
BOARD_KEY = asyncssh.generate_private_key("ssh-ed25519")
OWN_KEY = asyncssh.generate_private_key("ssh-ed25519")
PASSWORD = "open sesame"


class SshBoard:
    """An SSH port whose calls wait in `calls`, greeted and listened to; `known` keys by name."""

    def __init__(self) -> None:
        self.calls: asyncio.Queue[tuple[Call, Shown]] = asyncio.Queue()
        self.known: dict[str, set[bytes]] = {}
        self.asked: list[str] = []
        self.is_ready = asyncio.Event()  # cleared to let callers wait before they are listened to
        self.is_ready.set()
        self.listener: SshListener

    @property
    def port(self) -> int:
        return self.listener.port

    async def answered(self) -> tuple[Call, Shown]:
        """The next call that got through, and what its caller has shown."""
        async with asyncio.timeout(PATIENCE):
            return await self.calls.get()

    async def serve(self, line: Line, shown: Shown) -> None:
        line.write(GREETING)
        await self.is_ready.wait()
        call = Call(line)
        line.attach(call)
        self.calls.put_nowait((call, shown))
        await call.over.wait()

    async def knows(self, name: str, key: bytes) -> bool:
        self.asked.append(name)
        return key in self.known.get(name, ())


@asynccontextmanager
async def open_board(
    limits: SshLimits = USUAL_LIMITS, entrance: Entrance = OPEN
) -> AsyncIterator[SshBoard]:
    board = SshBoard()
    listener = SshListener(board.serve, board.knows, BOARD_KEY, limits, entrance)
    board.listener = await listener.open("127.0.0.1", 0)
    try:
        yield board
    finally:
        async with asyncio.timeout(PATIENCE):
            await board.listener.finish()


@asynccontextmanager
async def connected(
    board: SshBoard, name: str = "Alice", **options: Any
) -> AsyncIterator[asyncssh.SSHClientConnection]:
    """A caller's program that has logged on."""
    usual = {"password": PASSWORD, "client_keys": None, "known_hosts": None, "config": None}
    async with asyncio.timeout(PATIENCE):
        connection = await asyncssh.connect(
            "127.0.0.1", board.port, username=name, agent_path=None, **{**usual, **options}
        )
    try:
        yield connection
    finally:
        connection.abort()
        await connection.wait_closed()


class Screen:
    """A terminal on a connection."""

    def __init__(self, process: asyncssh.SSHClientProcess[bytes]) -> None:
        self.process = process
        self.shown = b""

    def send(self, data: bytes) -> None:
        self.process.stdin.write(data)

    async def until_shown(self, words: bytes) -> None:
        async with asyncio.timeout(PATIENCE):
            while words not in self.shown:
                data = await self.process.stdout.read(65_536)
                assert data, self.shown
                self.shown += data


async def terminal(
    connection: asyncssh.SSHClientConnection,
    kind: str = "xterm-256color",
    size: tuple[int, int] = (100, 30),
    **options: Any,
) -> Screen:
    process = await connection.create_process(
        term_type=kind, term_size=size, encoding=None, **options
    )
    return Screen(process)
