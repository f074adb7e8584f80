"""Servers of one board, each with a link port, and nothing behind it but a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from door.lines.link import LinkConnection, LinkListener, Said, own_name
from door.lines.port.gate import Blame
from door.lines.tls.pinned import Identity
from door.servers.link_port import LinkPort
from door.servers.peers import Peers
from tests.door.lines.board import PATIENCE, Call


@dataclass(frozen=True)
class Row:
    id: int
    name: str
    process: str
    link: str
    certificate: str
    draining: bool = False


class Rows(list[Row]):
    """The rows of the living, as everybody finds them in the books."""

    def change(self, number: int, **changes) -> None:
        """Let a row say something else, or end with `is_gone`."""
        found = next(row for row in self if row.id == number)
        place = self.index(found)
        if changes.pop("is_gone", False):
            del self[place]
        else:
            self[place] = replace(found, **changes)

    async def look(self) -> list[Row]:
        return list(self)


class Log:
    """What is written down of strangers."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str, bool]] = []
        self.blocked: set[str] = set()
        self._news = asyncio.Event()

    def is_blocked(self, address: str) -> bool:
        return address in self.blocked

    def note(self, address: str, why: str, *, own_fault: bool = True) -> None:
        self.said.append((address, why, own_fault))
        self._news.set()

    def cut_off(self, address: str, blame: Blame) -> None:
        self.note(address, blame.why, own_fault=blame.own_fault)

    async def until(self, text: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while not any(text in why for _, why, _ in self.said):
                self._news.clear()
                await self._news.wait()


class Server:
    """One of them. Those with a folder of its own are on machines of their own."""

    def __init__(self, rows: Rows, number: int, folder: Path) -> None:
        self.number = number
        self.rows = rows
        self.folder = folder
        self.process = f"here/4026531836:{number}"
        self.peers = Peers(folder, rows.look)
        self.identity = Identity(folder)
        self.log = Log()
        self.calls: asyncio.Queue[tuple[Call, LinkConnection, Said]] = asyncio.Queue()
        self.now = 0.0
        self.port = LinkPort(
            *(self._answer, self.identity, self.peers, self.log),
            now=lambda: self.now,
            version="1.2",
        )
        self.socket = LinkListener(self._answer)

    async def open(self) -> None:
        await self.port.open("127.0.0.1", 0)
        await self.socket.open_in(self.folder, own_name(self.process))
        self.peers.identify(self.identity)
        self.peers.own_id = self.number
        self.rows.append(
            Row(
                *(self.number, "ABC"[self.number - 1], self.process),
                *(f"127.0.0.1:{self.port.port}", self.identity.certificate),
            )
        )

    async def close(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.port.finish(0)
            await self.socket.finish(0)

    async def answered(self) -> tuple[Call, LinkConnection, Said]:
        async with asyncio.timeout(PATIENCE):
            return await self.calls.get()

    async def _answer(self, connection: LinkConnection, said: Said) -> None:
        if "answer" in said:
            connection.line.write((said["answer"] * said.get("times", 1)).encode())
            connection.line.end({"how": "done"})
            return
        call = Call(connection.line)
        connection.line.attach(call)
        self.calls.put_nowait((call, connection, said))
        await call.over.wait()


@asynccontextmanager
async def servers(
    folder: Path, number: int = 2, *, apart: bool = True
) -> AsyncIterator[list[Server]]:
    """Open servers that all know each other, on machines of their own if `apart`."""
    rows, found = Rows(), []
    async with AsyncExitStack() as stack:
        for each in range(1, number + 1):
            place = folder / str(each) if apart else folder
            place.mkdir(exist_ok=True)
            server = Server(rows, each, place)
            stack.push_async_callback(server.close)
            await server.open()
            found.append(server)
        for server in found:
            await server.peers.look()
        yield found
