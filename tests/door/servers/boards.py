"""Several servers of one board: each on a machine of its own, with one server of PostgreSQL, or all
on one machine, with a file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from unittest import mock

from door.server.server import Server
from tests.clock import FakeClock
from tests.world import BOARD, NOON, World
from timebank.ledger.database import BUSY_SECONDS
from timebank.ledger.engines import books_of
from timebank.settings.place import ServerPlace

MACHINE = """
events = []
{board}
[server]
name = "{name}"
{link}
[timebank]
{database}
"""


class Machine(World):
    """One of the servers, in a folder of its own."""

    async def open(self) -> None:
        asyncio.get_running_loop().set_default_executor(self._executor)
        await asyncio.to_thread(self.config.board.data.mkdir, parents=True, exist_ok=True)
        self.database = books_of(self.config.bank, self.busy_seconds)
        self.database.open()
        name = self.config.server.name
        process = f"{self.folder.parent.name}-{name}/1:1"
        with mock.patch("door.call.board.this_process", return_value=process):
            self.server = Server(
                self.config, self.database, self.clock, self.new_seed, {"tutor": self.thinking}
            )
        self._watch_the_books()
        await self.server.start()


def url_of(database: ServerPlace) -> str:
    options = "&".join(f"{key}={value}" for key, value in database.options)
    return f"postgresql://{database.user}@/{database.name}?{options}"


@asynccontextmanager
async def machines(
    folder: Path,
    database: ServerPlace | None,
    *names: str,
    toml: str = BOARD,
    link: str = 'link = "127.0.0.1:0"',
) -> AsyncIterator[list[Machine]]:
    """Serve one board from machines of these names; at the end its books must be in order.

    Without a database they are processes of one machine, with their data in one folder.
    """
    books = "" if database is None else f'database = "{url_of(database)}"'
    if database is None:
        link, toml = "", toml.replace("[board]", f'[board]\ndata = "{folder / "data"}"')
    found: list[Machine] = []
    async with AsyncExitStack() as stack:
        for name in names:
            place = folder / name
            place.mkdir()
            text = MACHINE.format(board=toml, name=name, link=link, database=books)
            (place / "sysop.toml").write_text(text, encoding="utf-8")
            machine = Machine(place, FakeClock(NOON), BUSY_SECONDS)
            stack.push_async_callback(machine.close)  # also what could not be opened, as `serve`
            await machine.open()
            found.append(machine)
        yield found
        assert found[0].findings() == []
