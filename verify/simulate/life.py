"""The processes of the board, started, killed and buried: one server or two, and doors.

`doors` has the parts special to a door.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
import warnings
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Set
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from argon2 import PasswordHasher

from door.call.board import Board
from door.call.books import Books
from door.call.caller import Caller
from door.call.console import Console
from door.config.config import Config
from door.lines.rlogin.header import RloginHeader
from door.server.server import Server
from tests.thinking import Later
from timebank.ledger.database import Database
from verify.simulate.clock import SHORTEST, MachineClocks, ProcessClock, SimulatedLoop
from verify.simulate.disk import Disk, InlineWriter, Killed, Mortal, file_operations
from verify.simulate.packets import Ear, Readable
from verify.simulate.wire import Lent, Telephone, Wire

SETTLE = 0.05  # seconds for the consequences of a step

# The process at work; every task knows its own.
AT_WORK: ContextVar[Life | None] = ContextVar("at_work", default=None)


class Consoles(dict[Console, None]):
    """A set that is gone through in the order of coming: one of addresses has another each time."""

    def add(self, console: Console) -> None:
        self[console] = None

    def discard(self, console: Console) -> None:
        self.pop(console, None)

    def __sub__(self, others: Set[Console]) -> list[Console]:
        return [console for console in self if console not in others]


class Machine:
    """What all processes share: the loop, the clocks and the disk."""

    def __init__(
        self,
        wall: MachineClocks,
        begins: float,
        chance: random.Random,
        disk: Disk,
    ) -> None:
        self.chance = chance
        self.wall = wall
        self.disk = disk
        self.loop = SimulatedLoop(begins, self._work_takes)
        self.loop.set_task_factory(self._make_task)
        self.ear: Ear | None = None  # the one by which doors hand their callers over
        self.lines: dict[int, tuple[object, Wire]] = {}  # by their inodes, and their doors
        self._owners: dict[asyncio.Task[Any], Life | None] = {}

    def run(self, what: Coroutine[Any, Any, Any]) -> Any:
        with self.at_work():
            return self.loop.run_until_complete(what)

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Treat writes as the board's, which must make them durable."""
        if self.disk.below is None:
            yield
            return
        with self.disk.below.platter.durable(0):
            yield

    def end(self) -> None:
        self.disk.mend()
        self.loop.set_exception_handler(lambda loop, context: None)
        self.loop.close()

    def tasks_of(self, life: Life) -> list[asyncio.Task[Any]]:
        return [task for task, owner in self._owners.items() if owner is life]

    def later(self, turn: Callable[[], None]) -> object:
        """Call a writer's turn: as soon as can be, or after the time that a busy disk takes."""
        if self.chance.random() < 0.7:
            return self.loop.call_later(SHORTEST, turn)
        return self.loop.call_later(self.chance.uniform(0.001, 0.04), turn)

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, what: Coroutine[Any, Any, Any], **how: Any
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(what, loop=loop, **how)
        self._owners[task] = AT_WORK.get()
        task.add_done_callback(lambda task: self._owners.pop(task, None))
        return task

    def _work_takes(self) -> float:
        return self.chance.uniform(0.001, 0.05)


class Life:
    """A process of the board, from its start to its end in peace or by kill -9."""

    board: Board

    def __init__(
        self, machine: Machine, config: Config, name: str, new_seed: Callable[[], bytes]
    ) -> None:
        self.machine = machine
        self.name = name
        self.new_seed = new_seed
        self.config = config
        self.mortal = machine.disk.mortal(machine.chance, machine.loop.time)
        self.clock = ProcessClock(machine.loop, machine.wall, self.is_dead)
        self.pipes: list[Readable] = []  # its ends of connections to other processes
        self.database: Database | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no task waits for the books."""
        if not hasattr(self, "board"):
            return True
        writer = self.board.books._writer
        assert isinstance(writer, InlineWriter)
        return writer.is_idle

    def is_dead(self) -> bool:
        return self.mortal.dead

    def wires(self) -> list[Wire]:
        """The lines that its callers are on."""
        raise NotImplementedError

    def callers(self) -> list[Caller]:
        """The callers on line here."""
        return self.board.callers() if hasattr(self, "board") else []

    def door_of(self, call_id: int) -> object:
        """Return the door that a caller came by; None for a call without one."""
        raise NotImplementedError

    def open_books(self, path: Path) -> Database:
        """Open the books, through a disk or a server that fails."""
        self.database = self.machine.disk.books(path, self.mortal)
        return self.database

    def bury(self) -> None:
        """Dismantle a killed process's memory without writing or sending anything."""
        self.mortal.dead = True
        wires = self.wires()
        with warnings.catch_warnings():
            # Of a host, which the door has opened: the system closes them.
            warnings.filterwarnings("ignore", "unclosed file", ResourceWarning)
            for _ in range(8):
                for task in self.machine.tasks_of(self):
                    task.cancel()
                with contextlib.suppress(Killed):
                    self.machine.run(asyncio.sleep(0.01))
        for wire in wires:
            wire.abort()
        for pipe in self.pipes:  # the system closes a dead process's open files
            pipe.vanish()
        with self._frozen():
            if hasattr(self, "board"):
                self.board.reception.close_log()
            if self.database is not None:
                self.database.close()
            self.mortal.hang_up()  # else other processes would meet its connections

    def _frozen(self) -> contextlib.AbstractContextManager[None]:
        """Block all writes of a dead process."""
        below = self.machine.disk.below
        return contextlib.nullcontext() if below is None else below.platter.frozen()

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        before = AT_WORK.set(self)
        try:
            with self.machine.at_work():
                yield
        finally:
            AT_WORK.reset(before)


class Process(Life):
    """A server."""

    server: Server

    def __init__(
        self, machine: Machine, config: Config, name: str, new_seed: Callable[[], bytes]
    ) -> None:
        # Its callers come over wires.
        super().__init__(machine, replace(config, listeners=()), name, new_seed)
        self.sessions: dict[asyncio.Task[None], Wire] = {}

    def open(self) -> None:
        """Open the books and start the server, as `door serve` does."""
        with self.at_work():
            self.open_books(self.config.database).open()
            self.machine.run(self._start())

    async def _start(self) -> None:
        assert self.database is not None  # opened just now
        self.server = Server(self.config, self.database, self.clock, self.new_seed)
        self.board = self.server.board
        self.board.consoles = Consoles()  # type: ignore[assignment] # a set, in order
        await self.server.start()

    def reload(self) -> None:
        """Reload its settings, as on SIGHUP; the loop runs meanwhile."""

        async def reload() -> None:
            self.server.reload()

        with self.at_work():
            self.machine.run(reload())

    def drain(self) -> None:
        """Accept no more calls, as on `door drain`."""

        async def drain() -> None:
            self.server.drain()

        with self.at_work():
            self.machine.run(drain())

    def stop(self) -> None:
        """End it in peace."""
        assert self.database is not None  # it is open
        with self.at_work():
            self.machine.run(self.server.stop("The board is closing."))
        self.database.close()

    # Callers.

    def connect(self, telephone: Telephone, address: str) -> Wire:
        wire = Wire(telephone, address, self.machine.chance, self.machine.loop, self.is_dead)
        return self._serve(wire, partial(self.server._answer, wire))

    def connect_board(self, telephone: Telephone, address: str, header: RloginHeader) -> Wire:
        """Have another board connect by rlogin for one of its callers."""
        wire = Wire(telephone, address, self.machine.chance, self.machine.loop, self.is_dead)
        wire.kind = "rlogin"
        return self._serve(wire, partial(self.server._answer_board, wire, header))

    def _serve(self, wire: Wire, answer: Callable[[], Awaitable[None]]) -> Wire:
        async def serve() -> None:
            try:
                await answer()
            finally:
                wire.hang_up()

        with self.at_work():
            task = self.machine.loop.create_task(serve())
        self.sessions[task] = wire
        task.add_done_callback(lambda task: self.sessions.pop(task, None))
        return wire

    def wires(self) -> list[Wire]:
        return list(self.sessions.values())

    def door_of(self, call_id: int) -> object:
        lines = [each.console.line for each in self.callers() if each.call_id == call_id]
        return next((line.door for line in lines if isinstance(line, Lent)), None)


@contextlib.contextmanager
def one_machine(is_gone: Callable[[str], bool]) -> Iterator[None]:
    """Patch the program: process death by `is_gone`, life by `Life`, and cheap passwords.

    Patched functions look up the process at work.
    """
    patches = {
        "door.server.server.left_to": lambda *parts, **facts: is_gone,
        "door.call.passwords._hasher": _quick_hasher,
        "door.call.books.Writer": _writer,
        # No thread starts with the first of several requests.
        "door.call.books.Books._submit_soon": Books._submit,
        "door.tables.tutor.tutor_process.TutorProcess": Later,
        "door.call.board.this_process": lambda: at_work().name,
        # Notifications are all lost.
        "door.server.housekeeping.Housekeeping._listening": lambda housekeeping: [],
        "timebank.ledger.sqlite.guard.time": SimpleNamespace(
            monotonic=_monotonic, strftime=time.strftime, gmtime=time.gmtime
        ),
        "timebank.ledger.sqlite.guard.tempfile": SimpleNamespace(gettempdir=_folder_of_the_machine),
        **file_operations(_touching),
    }
    with contextlib.ExitStack() as stack:
        for what, instead in patches.items():
            stack.enter_context(mock.patch(what, instead))
        yield


def at_work() -> Life:
    """Return the process at work."""
    life = AT_WORK.get()
    assert life is not None  # every caller of this is part of the board
    return life


def _monotonic() -> float:
    return at_work().machine.loop.time()


def _folder_of_the_machine() -> Path:
    """Return a process's folder for files without a place of their own."""
    folder = at_work().config.database.parent.parent / "tmp"
    folder.mkdir(exist_ok=True)
    return folder


def _writer(*parts: Any) -> InlineWriter:
    life = at_work()
    return InlineWriter(*parts, mortal=life.mortal, later=life.machine.later)


def _touching() -> Mortal | None:
    """Return the process that touches a file; None outside the board."""
    life = AT_WORK.get()
    return None if life is None else life.mortal


def _quick_hasher() -> PasswordHasher:
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
