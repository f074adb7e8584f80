"""Several servers of one board, each on a machine of its own, with one server of PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from unittest import mock

from door.server.server import Server
from tests.clock import FakeClock
from tests.door.lines.board import PATIENCE
from tests.single_shoes import planted
from tests.world import BOARD, NOON, World
from timebank.ledger.database import BUSY_SECONDS
from timebank.ledger.engines import books_of
from timebank.settings.place import ServerPlace

MACHINE = """
events = []
{board}
[server]
name = "{name}"
[timebank]
{bank}
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
        self.clock.rests.append(self._rest_before_time)
        await self.server.start()


def url_of(database: ServerPlace) -> str:
    options = "&".join(f"{key}={value}" for key, value in database.options)
    return f"postgresql://{database.user}@/{database.name}?{options}"


@asynccontextmanager
async def machines(
    folder: Path,
    database: ServerPlace,
    *names: str,
    toml: str = BOARD,
    bank: str = "",
) -> AsyncIterator[list[Machine]]:
    """Serve one board from machines of these names; at the end its books must be in order."""
    bank = f'{bank}\ndatabase = "{url_of(database)}"'
    found: list[Machine] = []
    async with AsyncExitStack() as stack:
        stack.enter_context(planted())
        for name in names:
            place = folder / name
            place.mkdir()
            text = MACHINE.format(board=toml, name=name, bank=bank)
            (place / "sysop.toml").write_text(text, encoding="utf-8")
            machine = Machine(place, FakeClock(NOON), BUSY_SECONDS)
            stack.push_async_callback(machine.close)  # also machines that failed to open
            await machine.open()
            found.append(machine)
        yield found
        assert found[0].findings() == []


@asynccontextmanager
async def another_machine(
    folder: Path, database: ServerPlace, name: str, toml: str = BOARD
) -> AsyncIterator[Machine]:
    """Serve from one more machine in addition to those of this folder."""
    more = folder / f"beside-{name}"
    more.mkdir()
    async with machines(more, database, name, toml=toml) as (machine,):
        yield machine


async def until(reached: Callable[[], bool], owner: object, method: str) -> None:
    """Wait until it is so, which is looked at whenever a method of the owner has been called."""
    real, news = getattr(owner, method), asyncio.Event()

    def called(*args: object, **more: object) -> object:
        done = real(*args, **more)
        news.set()
        return done

    with mock.patch.object(owner, method, called):
        async with asyncio.timeout(PATIENCE):
            while not reached():
                news.clear()
                await news.wait()


async def until_known(machine: Machine, *names: str) -> None:
    """Wait until a server knows the others."""
    peers = machine.server.board.peers
    await until(lambda: {peer.name for peer in peers.others} == set(names), peers, "adopt")
