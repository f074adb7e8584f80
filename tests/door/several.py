"""Servers of one board, with the same books on a server and the same clock.

One of them can stop, as a process does at SIGSTOP, and go on. Or it is gone, as after kill -9.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn
from unittest import mock

from door.call.status_line import StatusLine
from door.tables.vegas.room import VegasRoom
from tests.clock import FakeClock
from tests.world import BOARD, NOON, World, _not_painted, world
from timebank.ledger.schema import stamp
from timebank.servers import database_clock
from timebank.settings.place import ServerPlace


class Servers(list[World]):
    """All of them, the first one first."""

    async def pass_time(self, seconds: float) -> None:
        """Let time pass for all servers; the work of each second ends before the next."""
        clock = self[0].clock
        with mock.patch.object(StatusLine, "show", _not_painted):
            for _ in range(int(seconds)):
                self._pass_on_the_server()
                await clock.advance(1.0)
                for _ in range(2):  # one may have given the other something to do
                    await self.at_rest()

    def _pass_on_the_server(self) -> None:
        """Advance the database server's clock by a second: deadlines come a second sooner."""
        with self[0].books() as desk:
            run = desk.connection.exec_driver_sql
            run("UPDATE leases SET until = until - 1")
            run("UPDATE calls SET seen = seen - 1 WHERE closed IS NULL")

    async def at_rest(self) -> None:
        for here in self:
            await here.at_rest()

    def room(self, number: int) -> VegasRoom:
        return VegasRoom.among(self[number].server.board.shared)

    def stops(self, number: int) -> None:
        """Make a server do nothing by itself, like a stopped process."""
        server = self[number].server
        for job in (*server._housekeeping._jobs, server._presence._job):
            assert job is not None  # it was started
            job.cancel()

    def is_gone(self, number: int) -> None:
        """Make a server vanish, as after kill -9."""
        self.stops(number)
        for table in self.room(number)._tables.values():
            table._close()

    async def goes_on(self, number: int) -> None:
        """Let a stopped server see the others' work."""
        await self[number].server.board.renew_leases()
        await self.room(number).look_after(leads=False)


async def never_notified(server: ServerPlace, look: Callable[[], None]) -> NoReturn:
    """Replace `nudges.listen`: servers see each other's writes only by looking."""
    await asyncio.Event().wait()
    raise AssertionError


@asynccontextmanager
async def servers(
    folder: Path, bank: str, count: int = 2, toml: str = BOARD
) -> AsyncIterator[Servers]:
    """Open servers of the books that `bank` names; close them and check the books at the end.

    The clock of leases does not move by itself: `pass_time` lets them expire.
    """
    clock, machines = FakeClock(NOON), Servers()
    toml = toml.replace("[timebank]", "") + f"\n[timebank]\n{bank}\n"
    async with AsyncExitStack() as stack:
        now = stamp(datetime.now(UTC))
        stack.enter_context(mock.patch.object(database_clock, "seconds", return_value=now))
        for number in range(count):
            own = folder / f"server-{number}"
            own.mkdir()
            with mock.patch("door.call.board.this_process", return_value=f"here/1:{number}"):
                here = await stack.enter_async_context(world(own, toml=toml, clock=clock))
            machines.append(here)
        for here in machines:
            await here.server.board.peers.look()
        yield machines


__all__: Sequence[str] = ("Servers", "never_notified", "servers")
