"""Servers of one board on one machine, with the same books and the same clock.

They reach each other by real sockets. One of them can stop, as a process does at SIGSTOP: whatever
waits for its clock waits on, and nobody hears of it. Or it is gone, as after kill -9.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from unittest import mock

from door.call.status_line import StatusLine
from door.games.vegas.room import VegasRoom, room_of
from door.lines.port.connection import LineConnection
from tests.clock import FakeClock
from tests.world import BOARD, NOON, World, _not_painted, world


class Servers(list[World]):
    """All of them, the first one first."""

    async def pass_time(self, seconds: float) -> None:
        """Let time pass for all; what it brings about is done before the next second."""
        clock = self[0].clock
        with mock.patch.object(StatusLine, "show", _not_painted):
            for _ in range(int(seconds)):
                self._pass_on_the_server()
                await clock.advance(1.0)
                for _ in range(2):  # one may have given the other something to do
                    await self.at_rest()

    def _pass_on_the_server(self) -> None:
        """Let a second pass by the clock of the server that the books are on, if they are: what was
        to end in a while ends a second sooner."""
        if self[0].config.bank.server is not None:
            with self[0].books() as desk:
                desk.connection.exec_driver_sql("UPDATE leases SET until = until - 1")

    async def at_rest(self) -> None:
        for here in self:
            await here.at_rest()

    def room(self, number: int) -> VegasRoom:
        return room_of(self[number].server.board)

    def stops(self, number: int) -> None:
        """Let a server do nothing more by itself."""
        for job in self.room(number)._jobs:
            job.cancel()

    @contextmanager
    def stands_still(self, number: int) -> Iterator[None]:
        """Let nothing be heard of a server meanwhile."""
        self.stops(number)
        lines = [visit.answer.line for visit in self._visits_to(number)]
        with ExitStack() as stack:
            for line in lines:
                stack.enter_context(mock.patch.object(line, "write", return_value=None))
            yield

    def is_gone(self, number: int) -> None:
        """Let a server be gone without a word: its links break, and nothing answers there."""
        self.stops(number)
        self.cut_links(number)

    def cut_links(self, number: int) -> None:
        """Let nobody reach a server, and break its links; it goes on."""
        for listener in self[number].server._presence.listeners:
            listener.close()
        for visit in self._visits_to(number):
            visit.cut()

    def _visits_to(self, number: int) -> list[LineConnection]:
        listeners = self[number].server._presence.listeners
        return [visit for listener in listeners for visit in listener._visits]


@asynccontextmanager
async def servers(folder: Path, count: int = 2, toml: str = BOARD) -> AsyncIterator[Servers]:
    """Open so many servers; at the end they are closed, and the books must be in order."""
    clock, found = FakeClock(NOON), Servers()
    async with AsyncExitStack() as stack:
        for number in range(count):
            with mock.patch("door.call.board.this_process", return_value=f"here/1:{number}"):
                here = await stack.enter_async_context(world(folder, toml=toml, clock=clock))
            found.append(here)
        for here in found:
            await here.server.board.peers.look()
        yield found


__all__: Sequence[str] = ("Servers", "servers")
