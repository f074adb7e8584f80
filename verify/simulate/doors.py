"""A door: the process that a host starts for one caller, from where it has read its options on.

It hands its caller over to a server that listens (`counter`), or serves them itself as `door run`
does, from their drop file on: only the line and the connection to the server are others.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from types import SimpleNamespace
from typing import Any
from unittest import mock

from door.call.board import Board
from door.call.process import BY_ITSELF
from door.cli import run
from door.config.config import Config
from door.games.registry import GAMES
from door.lines.host.host import Introduction
from door.run import relay
from door.session.arrival import Asked
from timebank.guests import claims
from timebank.guests.claims import Claim
from timebank.ledger.database import Database, Desk
from timebank.settings.settings import BankSettings
from verify.simulate.hosts import Guest, Handed
from verify.simulate.life import Life, Machine, at_work
from verify.simulate.packets import Ear, End
from verify.simulate.wire import Lent, Wire

HANDED_OVER = 0.6  # how often, where a server listens
HANG_UPS = ("told", "told", "ends", "both")  # what becomes of a door's signals and of its line


class HostLine(Wire):
    """The line of a caller whom a host leads to its door."""

    door: Door

    def _end(self, reason: str) -> None:
        """Have the host tell its door of the caller's hang-up, or end the line, or do both.

        A door that has ended is told nothing, and a server may have its line still.
        """
        is_elsewhere = self.door.relay is not None or isinstance(self.holder, Lent)
        how = self.door.machine.chance.choice(HANG_UPS) if is_elsewhere else "ends"
        self.closed = True
        if self.door.relay is not None and how != "ends":
            number = signal.SIGTERM if reason == "SIGTERM" else signal.SIGHUP
            self._loop.call_soon(self.door.hear, number)
        if how != "told":
            super()._end(reason)


class Door(Life):
    """A door process, and the caller that it hands over or serves.

    `started` says by the name in the books since when a door serves a caller by itself.
    """

    def __init__(
        self,
        machine: Machine,
        config: Config,
        name: str,
        new_seed: Callable[[], bytes],
        guest: Guest,
        handed: Handed,
        started: dict[str, float],
    ) -> None:
        super().__init__(machine, config, name, new_seed)
        self.guest, self.handed = guest, handed
        self.claims: list[tuple[Claim, int]] = []  # and what the host would have found before each
        self.relay: relay._Relay | None = None  # while its caller is handed over
        self.end: End | None = None  # of its connection to the server, whatever became of it
        self.is_back = False  # whether the host has read its files
        self.went_on = False  # by itself, after its caller was at a server
        self.zone_offset = 0
        self.wire: HostLine
        self.task: asyncio.Task[int]
        self._started = started
        self._alarm: asyncio.TimerHandle | None = None

    def open(self, node: int, now: datetime) -> None:
        """Start it; nothing of it runs before the loop turns. `now` is in the host's zone."""
        chance, loop = self.machine.chance, self.machine.loop
        offset = now.utcoffset()
        assert offset is not None  # it is aware
        self.zone_offset = int(offset.total_seconds())
        self.wire = HostLine(self.guest.telephone, "", chance, loop, self.is_dead)
        self.wire.door, self.wire.kind = self, "stdio"
        code = chance.choice(list(GAMES)) if chance.random() < 0.3 else None
        with self.at_work():
            before = relay.Before()
            self._started[BY_ITSELF + self.name] = before.arrived
            self.task = loop.create_task(self._run(before, now, node, code))

    async def _run(self, before: relay.Before, now: datetime, node: int, code: str | None) -> int:
        ear = self.machine.ear
        if ear is not None and not ear.closed and self.machine.chance.random() < HANDED_OVER:
            said = {"dropfile": str(self.handed.file), "board": self.guest.board, "node": f"{node}"}
            came_to = await self._hand_over(ear, said | ({"door": code} if code else {}), before)
            if came_to is not None:
                self.wire.hang_up()
                return came_to
            self.went_on = before.went_on
            if self.went_on:
                self._started[BY_ITSELF + self.name] = self.machine.loop.time()
        asked = Asked(self.handed.file, self.guest.board, node)
        arrival, news = run._received(asked, self.config, before, now)
        line = _opened(self, arrival.introduction)
        options = mock.Mock(door=code, table=code)
        return await run._serve(options, self.config, line, arrival.guest, news)

    async def _hand_over(self, ear: Ear, said: dict[str, str], before: relay.Before) -> int | None:
        """Do what `relay.relay` does, which waits for each message in recv(); None for a caller
        who goes on elsewhere."""
        with socket.socket(socket.AF_UNIX) as line:
            self.machine.lines[os.fstat(line.fileno()).st_ino] = (self, self.wire)
            self.end = ear.dial(self.machine.loop, self.machine.chance, self.mortal)
            self.pipes.append(self.end)
            course = self.relay = relay._Relay(self.end, before)  # type: ignore[arg-type] # a fake
            try:
                course._call({**said, "socket": f"{line.fileno()}"}, {})
                while course._obey(message := await self.end.receive()):
                    continue
                return course._came_to(message)
            except relay._Late:
                return 0
            except relay._NotServed:
                return None
            except OSError:
                return course._go_on()
            finally:
                self.relay = None
                self.end.close()
                self.alarm(0)

    def hear(self, number: signal.Signals) -> None:
        """Take a signal of the host's; one that comes when the caller is no more handed over ends
        their line."""
        if self.relay is None:
            self.wire.hang_up()
        elif not self.is_dead():
            with self.at_work():
                self.relay._heard(number, None)

    def alarm(self, seconds: int) -> None:
        """Let the process be interrupted so much later, or not at all, as signal.alarm() does."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if seconds and self.end is not None:
            loop = self.machine.loop
            self._alarm = loop.call_later(seconds, self.end.interrupt, relay._Late())

    def door_of(self, call_id: int) -> Door:
        return self

    def wires(self) -> list[Wire]:
        return [self.wire]


@contextlib.contextmanager
def doors_live() -> Iterator[None]:
    """Let `door run` find the machine of the simulation around it."""
    signals = {name: getattr(signal, name) for name in ("SIGHUP", "SIGTERM", "SIGWINCH", "Signals")}
    with contextlib.ExitStack() as stack:
        for what, instead in {
            "door.cli.run.SystemClock": lambda: at_work().clock,
            "door.cli.run.os": SimpleNamespace(environ={}),
            "door.cli.run.time": SimpleNamespace(monotonic=_monotonic),
            "door.run.relay.time": SimpleNamespace(
                time=_time, monotonic=_monotonic, localtime=_localtime
            ),
            "door.run.relay.signal": SimpleNamespace(alarm=_alarm, **signals),
            "door.run.process.books_of": _books,
            "door.run.process.Board": _board,
            "door.run.process.new_seed": lambda: at_work().new_seed(),
            "door.call.guest_caller.bank_claim": _claim,
        }.items():
            stack.enter_context(mock.patch(what, instead))
        yield


@contextlib.asynccontextmanager
async def _opened(door: Door, introduction: Introduction) -> AsyncIterator[Wire]:
    wire = door.wire
    wire.pass_to(door, door.is_dead)
    wire.address, wire.hints = introduction.address, introduction.hints
    try:
        yield wire
    finally:
        wire.hang_up()


def _this_door() -> Door:
    life = at_work()
    assert isinstance(life, Door)  # no other process has a relay
    return life


def _time() -> float:
    return at_work().clock.now().timestamp()


def _monotonic() -> float:
    return at_work().machine.loop.time()


def _localtime(seconds: float) -> SimpleNamespace:
    return SimpleNamespace(tm_gmtoff=_this_door().zone_offset)


def _alarm(seconds: int) -> None:
    _this_door().alarm(seconds)


def _books(settings: BankSettings) -> Database:
    return at_work().open_books(settings.database)


def _board(*parts: Any, **more: Any) -> Board:
    life = at_work()
    life.board = Board(*parts, **more)
    return life.board


def _claim(desk: Desk, call_id: int) -> Claim | None:
    claimed = claims.claim(desk, call_id)
    if claimed is not None:
        door = at_work().door_of(call_id)
        if isinstance(door, Door) and not door.is_back:
            door.claims.append((claimed, door.handed.found()))
    return claimed
