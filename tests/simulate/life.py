"""The processes of the board: one server or two on one disk, born, killed and buried."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Coroutine, Iterator
from contextvars import ContextVar
from dataclasses import replace
from typing import Any
from unittest import mock

from argon2 import PasswordHasher

from door.board import Board
from door.caller import Caller
from door.config import Config
from door.console import Console
from door.server import Server
from tests.simulate.clock import BoardClock, SimulatedLoop, WallClock
from tests.simulate.disk import Disk, InlineWriter, Killed, Mortal, inline_writer
from tests.simulate.wire import Telephone, Wire
from timebank.database import Database

SETTLE = 0.05  # seconds that are left to a step for what follows from it

# Whose work is being done; every task knows the process that it is part of.
_AT_WORK: ContextVar[str] = ContextVar("at_work", default="")


class Consoles(dict[Console, None]):
    """A set that is gone through in the order of coming: one of addresses has another each time."""

    def add(self, console: Console) -> None:
        self[console] = None

    def discard(self, console: Console) -> None:
        self.pop(console, None)


class Machine:
    """What all processes share: the loop, the clocks and the disk."""

    def __init__(self, config: Config, wall: WallClock, begins: float, chance: random.Random):
        self.chance = chance
        self.wall = wall
        self.disk = Disk(config.database, chance)
        self.loop = SimulatedLoop(begins, self._work_takes)
        self.loop.set_task_factory(self._make_task)
        self._owners: dict[asyncio.Task[Any], str] = {}

    def run(self, what: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(what)

    def end(self) -> None:
        self.disk.mend()
        self.loop.set_exception_handler(lambda loop, context: None)
        self.loop.close()

    def tasks_of(self, name: str) -> list[asyncio.Task[Any]]:
        return [task for task, owner in self._owners.items() if owner == name]

    def later(self, turn: Callable[[], None]) -> object:
        """Call a writer's turn: at once, or after the time that a busy disk takes."""
        if self.chance.random() < 0.7:
            return self.loop.call_soon(turn)
        return self.loop.call_later(self.chance.uniform(0.001, 0.04), turn)

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, what: Coroutine[Any, Any, Any], **how: Any
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(what, loop=loop, **how)
        self._owners[task] = _AT_WORK.get()
        task.add_done_callback(lambda task: self._owners.pop(task, None))
        return task

    def _work_takes(self) -> float:
        return self.chance.uniform(0.001, 0.05)


class Process:
    """A server process, from its start to its end in peace or by kill -9."""

    def __init__(
        self, machine: Machine, config: Config, name: str, new_seed: Callable[[], bytes]
    ) -> None:
        self.machine = machine
        self.name = name
        self.new_seed = new_seed
        self.config = replace(config, listeners=())  # its callers come over wires
        self.mortal = Mortal(machine.disk, machine.chance)
        self.clock = BoardClock(machine.loop, machine.wall, self._is_dead)
        self.sessions: dict[asyncio.Task[None], Wire] = {}
        self.database: Database
        self.server: Server

    @property
    def board(self) -> Board:
        return self.server.board

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits for the books."""
        writer = self.server.books._writer
        assert isinstance(writer, InlineWriter)
        return writer.is_idle

    # The life.

    def open(self) -> None:
        """Open the books and start the server, as `door serve` does."""
        self.config.database.parent.mkdir(parents=True, exist_ok=True)
        self.database = Database(self.config.database, busy_seconds=0)
        self.mortal.connect_to(self.database)
        with self._at_work():
            self.database.open()
            self.machine.run(self._start())

    async def _start(self) -> None:
        writer = inline_writer(self.mortal, self.machine.later)
        with mock.patch("door.books.Writer", writer):
            self.server = Server(self.config, self.database, self.clock, self.new_seed)
        self.board.process = self.name
        self.board.consoles = Consoles()  # type: ignore[assignment] # a set, in order
        await self.server.start()

    def stop(self) -> None:
        """End it in peace."""
        with self._at_work():
            self.machine.run(self.server.stop("The board is closing."))
        self.database.close()

    def bury(self) -> None:
        """Take apart what a killed process has left in memory; nothing of it is written or sent."""
        self.mortal.dead = True
        wires = list(self.sessions.values())
        for _ in range(8):
            for task in self.machine.tasks_of(self.name):
                task.cancel()
            with contextlib.suppress(Killed):
                self.machine.run(asyncio.sleep(0.01))
        for wire in wires:
            wire.abort()
        if hasattr(self, "server"):  # the system closes the files of a dead process
            self.board.reception.close_log()
        self.database.close()

    # Callers.

    def connect(self, telephone: Telephone, address: str) -> Wire:
        with self._at_work():
            wire = Wire(telephone, address, self.machine.chance, self.machine.loop, self._is_dead)
            task = self.machine.loop.create_task(self._serve(wire))
            self.sessions[task] = wire
            task.add_done_callback(lambda task: self.sessions.pop(task, None))
        return wire

    async def _serve(self, wire: Wire) -> None:
        try:
            await self.server._answer(wire)
        finally:
            wire.hang_up()

    def callers(self) -> dict[Wire, Caller]:
        """Give those who are on a call here, by their lines."""
        if not hasattr(self, "server"):
            return {}
        found = {}
        for caller in self.board.callers():
            line = caller.console.line
            assert isinstance(line, Wire)
            found[line] = caller
        return found

    # Inside.

    def _is_dead(self) -> bool:
        return self.mortal.dead

    @contextlib.contextmanager
    def _at_work(self) -> Iterator[None]:
        before = _AT_WORK.set(self.name)
        try:
            yield
        finally:
            _AT_WORK.reset(before)


@contextlib.contextmanager
def one_machine(is_gone: Callable[[str], bool]) -> Iterator[None]:
    """Let processes be gone when `is_gone` says so, and passwords cost nothing.

    Nothing is listened to: callers come over wires, and door processes are not simulated.
    """
    no_sockets = OSError("there are no sockets here")
    with (
        mock.patch("door.server.LinkListener.open_in", side_effect=no_sockets),
        mock.patch("door.server.process_is_gone", is_gone),
        mock.patch("door.tables.vegas_dealer.process_is_gone", is_gone),
        mock.patch("door.passwords._hasher", _quick_hasher),
    ):
        yield


def _quick_hasher() -> PasswordHasher:
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class Ears(logging.Handler):
    """Hears what the program writes into its log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.failures: list[str] = []  # what it did not expect itself
        self.errors: list[str] = []  # what it did
        self.is_listening = True

    def emit(self, record: logging.LogRecord) -> None:
        if not self.is_listening:
            return
        if record.exc_info:
            text = logging.Formatter().formatException(record.exc_info)
            self.failures.append(f"{record.getMessage()}\n{text}")
        elif record.levelno >= logging.ERROR:
            self.errors.append(record.getMessage())

    def forget(self) -> None:
        self.failures.clear()
        self.errors.clear()
