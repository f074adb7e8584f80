"""One life of the server, from its start to its end in peace or by kill -9."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Iterator
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
from tests.simulate.disk import InlineWriter, Killed, Machine, inline_writer
from tests.simulate.wire import Telephone, Wire
from timebank.database import Database

SETTLE = 0.05  # seconds that are left to a step for what follows from it


class Consoles(dict[Console, None]):
    """A set that is gone through in the order of coming: one of addresses has another each time."""

    def add(self, console: Console) -> None:
        self[console] = None

    def discard(self, console: Console) -> None:
        self.pop(console, None)


class Life:
    """A server process on its machine."""

    def __init__(
        self,
        config: Config,
        name: str,
        begins: float,
        wall: WallClock,
        chance: random.Random,
        new_seed: Callable[[], bytes],
    ) -> None:
        self.chance = chance
        self.name = name
        self.new_seed = new_seed
        self.config = replace(config, listeners=())  # its callers come over wires
        self.loop = SimulatedLoop(begins, self._work_takes)
        self.clock = BoardClock(self.loop, wall)
        self.machine = Machine(config.database, chance)
        self.sessions: dict[asyncio.Task[None], Wire] = {}
        self.database: Database
        self.server: Server

    @property
    def board(self) -> Board:
        return self.server.board

    @property
    def writer(self) -> InlineWriter:
        writer = self.server.books._writer
        assert isinstance(writer, InlineWriter)
        return writer

    @property
    def is_well(self) -> bool:
        return self.machine.is_well and not self.machine.dead

    # The life.

    def open(self) -> None:
        """Open the books and start the server, as `door serve` does."""
        self.config.database.parent.mkdir(parents=True, exist_ok=True)
        self.database = Database(self.config.database, busy_seconds=0)
        self.machine.connect_to(self.database)
        self.database.open()
        self._run(self._start())

    async def _start(self) -> None:
        with mock.patch("door.books.Writer", inline_writer(self.machine, self._later)):
            self.server = Server(self.config, self.database, self.clock, self.new_seed)
        self.board.process = self.name
        self.board.consoles = Consoles()  # type: ignore[assignment] # a set, in order
        await self.server.start()

    def run(self, seconds: float = SETTLE) -> None:
        """Let time pass; raises `Killed` when the process dies meanwhile."""
        self._run(asyncio.sleep(seconds))

    def settle(self) -> None:
        """Let everything happen that follows by itself, until nobody waits for the books."""
        self.run()
        for _ in range(40):
            if self.writer.is_idle:
                return
            self.run()

    def stop(self) -> None:
        """End it in peace."""
        self._run(self.server.stop("The board is closing."))
        self.database.close()
        self._end()

    def bury(self) -> None:
        """Take apart what a killed process has left in memory; nothing of it is written or sent."""
        self.machine.dead = True
        self.machine.unlock()
        for _ in range(8):
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            with contextlib.suppress(Killed):
                self._run(asyncio.sleep(0.01))
        self.database.close()
        self._end()

    def _end(self) -> None:
        self.loop.set_exception_handler(lambda loop, context: None)
        self.loop.close()

    # Callers.

    def connect(self, telephone: Telephone, address: str) -> Wire:
        async def make() -> Wire:
            return Wire(telephone, address, self.chance, lambda: self.machine.dead)

        wire: Wire = self._run(make())
        task = self.loop.create_task(self._serve(wire))
        self.sessions[task] = wire
        task.add_done_callback(lambda task: self.sessions.pop(task, None))
        return wire

    async def _serve(self, wire: Wire) -> None:
        try:
            await self.server._answer(wire)
        finally:
            wire.hang_up()

    def caller_on(self, wire: Wire) -> Caller | None:
        return next((each for each in self.board.callers() if each.console.line is wire), None)

    # Inside.

    def _run(self, what: Any) -> Any:
        return self.loop.run_until_complete(what)

    def _later(self, turn: Callable[[], None]) -> object:
        """Call the writer's turn: at once, or after the time that a busy disk takes."""
        if self.chance.random() < 0.7:
            return self.loop.call_soon(turn)
        return self.loop.call_later(self.chance.uniform(0.001, 0.04), turn)

    def _work_takes(self) -> float:
        return self.chance.uniform(0.001, 0.05)


@contextlib.contextmanager
def one_machine(is_gone: Callable[[str], bool]) -> Iterator[None]:
    """Let processes be gone when `is_gone` says so, and passwords cost nothing."""
    with (
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
