"""A door that hands its caller over to the server of a board within the test's process."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

from door.lines import hand_over
from door.run import relay
from tests.door.dropfiles import writers
from tests.terminal import PATIENCE, Profile, Terminal
from tests.world import World
from timebank import serving
from timebank.serving import Lock

ANSI = Profile(charset="cp437", answers=False)


class HostTerminal(Terminal):
    """A caller on a line of the host."""

    async def attach(self, wire: socket.socket) -> None:
        wire.setblocking(False)
        await asyncio.get_running_loop().create_connection(lambda: self, sock=wire)


class Rider:
    """One door, and its caller at a terminal."""

    def __init__(self, board: World, alias: str = "Moth", number: int = 42) -> None:
        self.board = board
        self.name = f"{alias}@Xibalba"
        self.terminal = HostTerminal(ANSI)
        self.file = board.folder / f"node{number}" / "DOOR32.SYS"
        self.file.parent.mkdir(exist_ok=True)
        fields = writers.door32(number=str(number), alias=alias, comm="2", handle="7")
        self.file.write_bytes(writers.text(*fields))
        self.words = {"dropfile": str(self.file), "no-telnet": ""}  # of the command line
        self._loop = asyncio.get_running_loop()
        self.wire: socket.socket

    def dials(self) -> None:
        wire = hand_over.dial(str(self.board.config.board.data))
        self.wire = socket.socket(fileno=wire.detach())
        self.wire.setblocking(False)

    async def asks(self) -> list[str]:
        """Send the caller's data and return the server's answer."""
        before = relay.CallState()
        before.now = self.board.clock.now().timestamp()
        before.arrived = self.board.clock.monotonic()
        before.read(self.words.get("dropfile", "/"))
        for message in relay._messages(self.words, {}, before):
            self.wire.send(message)
        return await self.hears()

    async def comes_in(self) -> None:
        self.dials()
        assert await self.asks() == [hand_over.WANTED, hand_over.SOCKET, "7"]
        ours, callers = socket.socketpair()
        with callers:
            socket.send_fds(self.wire, [hand_over.packed(hand_over.LINE)], [callers.fileno()])
        await self.terminal.attach(ours)
        assert await self.hears() == [hand_over.TAKEN]
        await self.terminal.until("You bring")

    async def hears(self) -> list[str]:
        async with asyncio.timeout(PATIENCE):
            return hand_over.unpacked(await self._loop.sock_recv(self.wire, hand_over.LARGEST))

    async def hangs_up(self) -> None:
        """Report the host's SIGHUP and wait for the end."""
        await self._loop.sock_sendall(self.wire, hand_over.packed(hand_over.HUNG_UP))
        assert await self.hears() == [hand_over.DONE, "0"]
        await self.leaves()

    async def leaves(self) -> None:
        await self.terminal.close()
        self.wire.close()


def started_lock(folder: Path) -> Lock:
    """Take the lock of a board's books, as a door that starts a server."""
    (folder / "data").mkdir(exist_ok=True)
    return serving.take(str(folder / "data" / "board.sqlite3.serving"), serving.STARTING)
