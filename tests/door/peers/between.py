"""Something between the board and its database, which a test can cut, or keep from talking."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from tests.door.lines.board import PATIENCE
from timebank.settings.place import ServerPlace

SOCKET = ".s.PGSQL.5432"


class Between:
    def __init__(self, real: str) -> None:
        self._real = real
        self.is_open = True  # whether new connections get through
        self.swallows = False  # whether to drop the database's answers
        self.connections = 0
        self.said = 0  # packets sent by the board
        self._news = asyncio.Event()
        self._ends: set[asyncio.StreamWriter] = set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._ends.add(writer)
        if not self.is_open:
            writer.transport.abort()
            return
        self.connections += 1
        self._news.set()
        there, back = await asyncio.open_unix_connection(self._real)
        self._ends.add(back)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._pump(reader, back, is_swallowed=False))
            group.create_task(self._pump(there, writer, is_swallowed=True))

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_swallowed: bool
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                self.said += not is_swallowed
                self._news.set()
                if not (is_swallowed and self.swallows):
                    writer.write(data)
                    await writer.drain()
        writer.close()

    async def until(self, reached: Callable[[], bool]) -> None:
        """Wait until it is so, asked whenever something came."""
        async with asyncio.timeout(PATIENCE):
            while not reached():
                self._news.clear()
                await self._news.wait()

    def cut(self) -> None:
        for end in self._ends:
            end.transport.abort()
        self._ends.clear()


@asynccontextmanager
async def between(
    database: ServerPlace, folder: Path
) -> AsyncIterator[tuple[Between, ServerPlace]]:
    """Yield the proxy and the address of the database behind it."""
    options = dict(database.options)
    proxy = Between(f"{options['host']}/{SOCKET}")
    server = await asyncio.start_unix_server(proxy.carry, folder / SOCKET)
    place = replace(database, options=tuple({**options, "host": str(folder)}.items()))
    try:
        yield proxy, place
    finally:
        server.close()
        proxy.cut()
