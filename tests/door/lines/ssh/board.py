"""A board with nothing behind its SSH port but a notebook, and callers' programs for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncssh

from door.lines.line import Line
from door.lines.port.connection import OPEN, Entrance
from door.lines.registry import Compatibility
from door.lines.ssh.algorithms import OFFERS
from door.lines.ssh.ssh import USUAL_LIMITS, SshIdentity, SshLimits, SshListener, options_for
from tests.door.lines.board import PATIENCE, Board, Call, opened

# Made once: it takes longer than a call.
BOARD_KEY = asyncssh.generate_private_key("ssh-ed25519")
RSA_KEY = asyncssh.generate_private_key("ssh-rsa", key_size=2048)
OWN_KEY = asyncssh.generate_private_key("ssh-ed25519")
PASSWORD = "open sesame"


class SshBoard(Board):
    """A board that is called by SSH; `known` keys by name."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, set[bytes]] = {}
        self.asked: list[str] = []
        self.identities: dict[Line, SshIdentity] = {}  # by each caller

    async def answered_with(self) -> tuple[Call, SshIdentity]:
        """Return the next connected call and its caller's output."""
        call = await self.answered()
        return call, self.identities[call.line]

    async def serve_ssh(self, line: Line, identity: SshIdentity) -> None:
        self.identities[line] = identity
        await self.serve(line)

    async def knows(self, name: str, key: bytes) -> bool:
        self.asked.append(name)
        return key in self.known.get(name, ())


@asynccontextmanager
async def open_board(
    limits: SshLimits = USUAL_LIMITS,
    entrance: Entrance = OPEN,
    compatibility: Compatibility = "modern",
) -> AsyncIterator[SshBoard]:
    board = SshBoard()
    options = options_for([BOARD_KEY, RSA_KEY], OFFERS[compatibility])
    means_new = {"new", "nouveau"}.__contains__
    listener = SshListener(board.serve_ssh, board.knows, means_new, options, limits, entrance)
    async with opened(board, listener):
        yield board


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
