"""Where a server takes over callers of hosts: `door.server.door_calls`, on a socket in memory."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from unittest import mock

from door.lines import hand_over
from door.lines.host.host import Introduction, Signs
from door.server.door_calls import DoorListener
from door.session import line_setup
from verify.simulate.life import at_work
from verify.simulate.packets import Ear
from verify.simulate.wire import Lent


class Counter(DoorListener):
    """The program's own; only the socket is another, and no note of it is left."""

    def open_in(self, folder: Path) -> None:
        life = at_work()
        machine = life.machine
        if self._wire is not None:
            return
        ear = Ear(machine.loop, machine.chance, life.mortal)
        life.pipes.append(ear)
        if machine.ear is None or machine.ear.closed:
            machine.ear = ear  # a second server's is in a data folder without doors
        self._wire = ear  # type: ignore[assignment] # what the program asks of a socket
        self._path = folder / hand_over.NAME
        self._listen()

    def leave_note(self) -> None:
        """Leave none."""


@contextlib.asynccontextmanager
async def _opened(
    way: line_setup.WayIn, ends: Sequence[int], introduction: Introduction, signs: Signs
) -> AsyncIterator[Lent]:
    life = at_work()
    door, wire = life.machine.lines[os.fstat(ends[0]).st_ino]
    wire.address, wire.hints = introduction.address, introduction.hints
    line = Lent(door, wire, life.machine.loop, life.is_dead)
    signs.watch(line.lose_carrier)
    forget = signs.follow(line.look)
    try:
        yield line
    finally:
        forget()
        line.hang_up()


@contextlib.contextmanager
def counters_open() -> Iterator[None]:
    """Let every server of the simulation accept callers of hosts."""
    with (
        mock.patch("door.server.server.DoorListener", Counter),
        mock.patch("door.session.line_setup.opened", _opened),
    ):
        yield
