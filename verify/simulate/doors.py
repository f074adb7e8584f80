"""A door: the process that a host starts for one caller, from where it has read its options on.

It hands its caller over to the server that listens (`counter`), and to the next one when that has
ended. It starts none: where none listens it waits for as long as one takes to start.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable, Iterator
from datetime import datetime
from types import SimpleNamespace
from unittest import mock

from door.config.config import Config
from door.games.registry import GAMES
from door.lines import hand_over as handed
from door.run import relay, starting
from timebank.guests import claims
from timebank.guests.claims import Claim
from timebank.ledger.database import Desk
from verify.simulate.hosts import Guest, Handed
from verify.simulate.life import Life, Machine, at_work
from verify.simulate.packets import Ear, End
from verify.simulate.wire import Lent, Wire

HANG_UPS = ("told", "told", "ends", "both")  # the notification of a door and the end of its line


class HostLine(Wire):
    """The line of a caller whom a host leads to its door."""

    door: Door

    def _end(self, reason: str) -> None:
        """Have the host notify its door of the caller's hang-up, end the line, or both.

        A finished door gets no notice, and a server may still have its line.
        """
        is_elsewhere = self.door.relay is not None or isinstance(self.holder, Lent)
        how = self.door.machine.chance.choice(HANG_UPS) if is_elsewhere else "ends"
        self.closed = True
        if self.door.relay is not None and how != "ends":
            number = signal.SIGTERM if reason == "SIGTERM" else signal.SIGHUP
            self._loop.call_soon(self.door.hear, number)
        if how != "told":
            super()._end(reason)


class Relay(relay._Relay):
    """One call at one server, by a connection without a descriptor."""

    def _is_readable(self) -> bool:
        assert isinstance(self._wire, End)
        return self._wire.is_readable()


class Door(Life):
    """A door process, and the caller that it hands over.

    `come_since` says by the name of a door since when the next server may charge its caller.
    """

    def __init__(
        self,
        machine: Machine,
        config: Config,
        name: str,
        new_seed: Callable[[], bytes],
        guest: Guest,
        handed: Handed,
        come_since: dict[str, float],
    ) -> None:
        super().__init__(machine, config, name, new_seed)
        self.guest, self.handed = guest, handed
        self.claims: list[tuple[Claim, int]] = []  # with the host's minutes before each
        self.relay: relay._Relay | None = None  # while its caller is handed over
        self.end: End | None = None  # of its connection to the server, whatever its outcome
        self.is_back = False  # whether the host has read its files
        self.hand_overs = 0  # to servers that took its caller
        self.zone_offset = 0
        self.wire: HostLine
        self.task: asyncio.Task[int]
        self._come_since = come_since
        self._alarm: asyncio.TimerHandle | None = None

    def open(self, node: int, now: datetime) -> None:
        """Start it; nothing of it runs before the loop turns. `now` is in the host's zone."""
        chance, loop = self.machine.chance, self.machine.loop
        offset = now.utcoffset()
        assert offset is not None  # it is aware
        self.zone_offset = int(offset.total_seconds())
        self.wire = HostLine(self.guest.telephone, "", chance, loop, self.is_dead)
        self.wire.door, self.wire.kind = self, "stdio"
        options = {"dropfile": str(self.handed.file), "board": self.guest.board, "node": f"{node}"}
        if chance.random() < 0.3:
            options["door"] = chance.choice(list(GAMES))
        with self.at_work():
            door = relay.Door(options, {})
            self._come_since[self.name] = door.state.arrived
            self.task = loop.create_task(self._run(door))

    async def _run(self, course: relay.Door) -> int:
        """Do what `relay.Door.run` does, which waits for a server in time.sleep()."""
        try:
            while (ear := await self._server()) is not None:
                came_to = await self._hand_over(ear, course)
                if came_to is not None:
                    return came_to
                course._count_hand_over()
        except relay._NotServed as refusal:
            return refusal.status
        finally:
            self.wire.hang_up()
        return relay.WELL

    async def _server(self) -> Ear | None:
        """Wait for a server; return None if none comes or the caller leaves first."""
        for _ in range(int(starting.START_SECONDS / handed.PAUSE)):
            ear = self.machine.ear
            if self.wire.closed:
                return None
            if ear is not None and not ear.closed and not ear.mortal.dead:
                return ear
            await asyncio.sleep(handed.PAUSE)
        return None

    async def _hand_over(self, ear: Ear, door: relay.Door) -> int | None:
        """Do what `relay._Relay.run` does, which waits for each message in recv().

        Returns None for a caller who goes on at another server.
        """
        with socket.socket(socket.AF_UNIX) as line:
            self.machine.lines[os.fstat(line.fileno()).st_ino] = (self, self.wire)
            self.end = ear.dial(self.machine.loop, self.machine.chance, self.mortal)
            self.pipes.append(self.end)
            if not door.state.place:
                door.state.read(door.options["dropfile"])
            own_relay = self.relay = Relay(self.end, door.state)  # type: ignore[arg-type] # a fake
            try:
                if door.state.was_served:
                    self._come_since[self.name] = self.machine.loop.time()
                options = {**door.options, "socket": f"{line.fileno()}"}
                own_relay._call(relay._messages(options, {}, door.state))
                while own_relay._obey(message := await self.end.receive()):
                    self.hand_overs += message == handed.packed(handed.TAKEN)
                return own_relay._result(message)
            except relay._Late:
                return relay.WELL
            except OSError:
                return own_relay._restore_line()
            finally:
                self.relay = None
                self.end.close()
                self.alarm(0)

    def hear(self, number: signal.Signals) -> None:
        """Handle a signal of the host's; after the hand-over ended it ends the line."""
        if self.relay is None:
            self.wire.hang_up()
        elif not self.is_dead():
            with self.at_work():
                self.relay._pass_on(number, None)

    def alarm(self, seconds: int) -> None:
        """Interrupt the process after this time, or not at all, as signal.alarm() does."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if seconds and self.end is not None:
            loop = self.machine.loop
            self._alarm = loop.call_later(seconds, self.end.interrupt, relay._Late())

    def forget(self) -> None:
        """Forget since when its caller has come: their host has them back."""
        self._come_since.pop(self.name, None)

    def door_of(self, call_id: int) -> Door:
        return self

    def wires(self) -> list[Wire]:
        return [self.wire]


@contextlib.contextmanager
def doors_live() -> Iterator[None]:
    """Give `door run` the simulated machine."""
    signals = {name: getattr(signal, name) for name in ("SIGHUP", "SIGTERM", "SIGWINCH", "Signals")}
    with contextlib.ExitStack() as stack:
        for what, instead in {
            "door.run.relay.time": SimpleNamespace(
                time=_time, monotonic=_monotonic, localtime=_localtime, sleep=lambda seconds: None
            ),
            "door.run.relay.signal": SimpleNamespace(alarm=_alarm, **signals),
            "door.call.guest_caller.take_claim": _claim,
        }.items():
            stack.enter_context(mock.patch(what, instead))
        yield


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


def _claim(desk: Desk, call_id: int) -> Claim | None:
    claimed = claims.take_claim(desk, call_id)
    if claimed is not None:
        door = at_work().door_of(call_id)
        if isinstance(door, Door) and not door.is_back:
            door.claims.append((claimed, door.handed.found()))
    return claimed
