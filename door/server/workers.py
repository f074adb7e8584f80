"""Several servers on one machine, for more of its cores: a parent that starts them and keeps them.

Each is a server like any other, with all ports of the board: the system gives each new call to one
of them. The parent serves nobody. It holds the ports, so that they stay the board's, starts another
server for one that dies, and passes signals on. Its children are forks of it, and share the modules
that it has loaded; when it is gone they close.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import TYPE_CHECKING

from door.config import config as settings
from door.config.reloading import keep_begun
from door.lines.port.listener import reserve
from door.server import health
from door.server.health_desk import HealthDesk
from door.server.service_manager import READY, STOPPING, ServiceManager
from door.server.standing import How, Standings
from timebank.cli.errors import EXIT_REFUSED, UserError
from timebank.errors import SettingsError

if TYPE_CHECKING:
    from door.config.config import Config
    from door.config.listeners import LinkSettings

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
# Until a server is started again that has ended soon after its start: each time twice as long.
SOON_SECONDS, FIRST_PAUSE, LONGEST_PAUSE = 10.0, 1.0, 30.0
# Each server says again and again that its loop turns. One that has not for so many turns of the
# parent stands still, and is killed: front ends ask the parent, which answers for all of them. The
# parent counts its own turns, not seconds: where the whole machine stood still nobody is late.
BEAT_SECONDS, MISSED_BEATS = 1.0, 15
AWAY_BEATS = 3  # after so many it does not count as one that serves

log = logging.getLogger("door.server")


@dataclass(frozen=True)
class Worker:
    """One of the servers, as it knows of it: `number` is from 1."""

    number: int
    # By which it begins.
    config: Config
    # Those that all have, in the order of the settings.
    ports: Sequence[int]
    _parent: int
    _ready: int
    # How all of them stand.
    standing: Standings

    def adapt(self, config: Config) -> Config:
        """Return settings that were read as they are for this one."""
        return _adapted(config, self.number)

    def serves(self, end: Callable[[], None]) -> None:
        """Tell the parent that callers are served, and call `end` when it is gone; on the loop."""
        os.set_blocking(self._ready, False)
        beating = asyncio.ensure_future(self._beat())
        _beating.add(beating)
        beating.add_done_callback(_beating.discard)
        asyncio.get_running_loop().add_reader(self._parent, end)

    async def _beat(self) -> None:
        """Tell the parent that the loop turns, until it ends: what comes then takes its time."""
        try:
            while True:
                with contextlib.suppress(OSError):  # the parent stands still itself, or is gone
                    os.write(self._ready, b".")
                await asyncio.sleep(BEAT_SECONDS)
        finally:
            os.close(self._ready)


_beating: set[asyncio.Future[None]] = set()  # so that it is not collected


def _adapted(config: Config, number: int) -> Config:
    """Return the settings as they are for one of the servers: its link is one port apart, and front
    ends ask the parent how all of them are."""
    own = config.server
    return replace(config, server=replace(own, link=_apart(own.link, number), health=None))


def _apart(place: LinkSettings | None, number: int) -> LinkSettings | None:
    if place is None or place.port == 0:
        return place
    return replace(place, port=place.port + number - 1)


@dataclass
class _Child:
    number: int
    process: int
    ready: int | None  # what tells that it serves, and then that its loop turns, until that ends
    has_served: bool = False
    missed: int = 0  # turns of the parent in which it has told nothing, since it serves
    is_replaced: bool = False  # it was told to end so that another takes its place
    began: float = field(default_factory=time.monotonic)


class Workers:
    def __init__(self, config: Config, count: int) -> None:
        self._config = config
        self._count = count
        self._children: dict[int, _Child] = {}  # by their processes
        self._due: dict[int, float] = {}  # when one is started again, by number
        self._pause = dict.fromkeys(range(1, count + 1), FIRST_PAUSE)
        self._served: set[int] = set()  # places where a server has served
        self._is_closing = False
        self._status = 0
        self._turn_ends = time.monotonic() + BEAT_SECONDS
        self._ports: list[socket.socket] = []
        self._standing = Standings(count)
        self._desk: HealthDesk | None = None
        self._alive = (-1, -1)
        self._manager = ServiceManager.of(os.environ)

    def start(self) -> Worker:
        """Start all servers. Returns in each of them; the parent keeps them until the last has
        ended, and raises SystemExit with the status of the board.

        Raises `UserError` where a port is another program's.
        """
        for listener in self._config.listeners:
            try:
                self._ports.append(reserve(listener.host, listener.port))
            except OSError as error:
                raise UserError(
                    f"Port {listener.port} on {listener.host} cannot be opened"
                    f" ({error.strerror}). [[listeners]] in {self._config.path} says where to"
                    " listen."
                ) from error
        self._open_desk()
        self._alive = os.pipe()
        with _signals() as (woken, caught):
            for number in range(1, self._count + 1):
                worker = self._fork(number)
                if worker is not None:
                    return worker
            while self._children or self._due:
                worker = self._look(woken, caught)
                if worker is not None:
                    return worker
        sys.exit(self._status)

    # The parent.

    def _open_desk(self) -> None:
        """Answer front ends, if the settings say where; raises `UserError`."""
        where = self._config.server.health
        if where is None:
            return
        try:
            wire = reserve(where.host, where.port)
        except OSError as error:
            raise UserError(
                f"The port {where} for front ends that ask cannot be opened ({error.strerror})."
                f" [server] health in {self._config.path} says where it is."
            ) from error
        proxies = tuple(each for listener in self._config.listeners for each in listener.proxies)
        self._desk = HealthDesk(wire, proxies, self._health)

    def _health(self) -> int:
        """Return what front ends are told of all servers, as a number of HTTP."""
        return health.DRAINS if self._is_closing else self._standing.status()

    def _look(self, woken: int, caught: list[int]) -> Worker | None:
        """Wait for something to happen, and do what follows; a `Worker` in a new child."""
        ready = [child.ready for child in self._children.values() if child.ready is not None]
        first = min(self._due.values(), default=self._turn_ends)
        patience = max(0.0, min(first, self._turn_ends) - time.monotonic())
        asking = [] if self._desk is None else self._desk.descriptors()
        readable, _, _ = select.select([woken, *ready, *asking], [], [], patience)
        if woken in readable:
            os.read(woken, 4096)
        self._note_ready(readable)
        if time.monotonic() >= self._turn_ends:
            self._turn_ends = time.monotonic() + BEAT_SECONDS
            self._count_missed()
            self._manager.turned()
            self._replace_lost()
        if self._desk is not None:
            self._desk.look(readable)
        while caught:
            self._obey(caught.pop(0))
        self._take_note_of_ends()
        for number, when in list(self._due.items()):
            if when <= time.monotonic():
                del self._due[number]
                worker = self._fork(number)
                if worker is not None:
                    return worker
        return None

    def _obey(self, number: int) -> None:
        if number == signal.SIGHUP:
            self._read_again()
            self._tell(signal.SIGHUP)
        elif number != signal.SIGCHLD:
            self._close()

    def _read_again(self) -> None:
        """Have a server that is started from now on begin by the settings of the others."""
        with contextlib.suppress(SettingsError):  # they say what is wrong with it
            self._config, _ = keep_begun(self._config, settings.load(self._config.path))

    def _close(self) -> None:
        self._is_closing = True
        self._manager.say(STOPPING)
        self._due.clear()
        self._tell(signal.SIGTERM)

    def _tell(self, number: int) -> None:
        for process in self._children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def _note_ready(self, readable: Sequence[int]) -> None:
        for child in self._children.values():
            if child.ready is not None and child.ready in readable:
                if os.read(child.ready, 4096):
                    child.missed = 0
                    if not child.has_served:
                        child.has_served = True
                        self._served.add(child.number)
                        self._manager.say(READY)
                        log.info("server %d serves, process %d", child.number, child.process)
                else:
                    os.close(child.ready)
                    child.ready = None

    def _count_missed(self) -> None:
        """Kill what serves and has long not told that its loop turns; its callers call again."""
        for child in self._children.values():
            if child.ready is None or not child.has_served:
                continue
            child.missed += 1
            if child.missed >= AWAY_BEATS:
                self._standing.note(child.number, How.AWAY)
            if child.missed == MISSED_BEATS:
                seconds = MISSED_BEATS * BEAT_SECONDS
                log.error("server %d stands still for %.0f seconds: killed", child.number, seconds)
                os.kill(child.process, signal.SIGKILL)

    def _replace_lost(self) -> None:
        """Have one end that does not reach its books, where another does: it is the server's own
        trouble. Another takes its place, and its callers call again."""
        for child in self._children.values():
            number = child.number
            if child.is_replaced or self._standing.of(number) is not How.LOST:
                continue
            if self._standing.others_serve(number):
                child.is_replaced = True
                log.error("server %d has lost its books, which others have: it is to end", number)
                os.kill(child.process, signal.SIGTERM)

    def _take_note_of_ends(self) -> None:
        for process in list(self._children):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                if (ready := self._children[process].ready) is not None:
                    self._note_ready([ready])
                self._has_ended(self._children.pop(process), os.waitstatus_to_exitcode(status))

    def _has_ended(self, child: _Child, status: int) -> None:
        """See what becomes of the place of a server that has ended."""
        self._standing.note(child.number, How.AWAY)
        if self._is_closing or (status == 0 and not child.is_replaced):
            log.info("server %d has ended", child.number)
            self._status = self._status or max(status, 0)
            return
        is_first = child.number not in self._served
        if status == EXIT_REFUSED and not child.is_replaced and (child.has_served or is_first):
            # It has said why, and it would be no other with the next one.
            self._status = status
            if not child.has_served:
                self._close()
            return
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        pause = 0.0
        if time.monotonic() - child.began < SOON_SECONDS:
            pause = self._pause[child.number]
            self._pause[child.number] = min(2 * pause, LONGEST_PAUSE)
        else:
            self._pause[child.number] = FIRST_PAUSE
        log.error("server %d has ended %s; another one takes its place", child.number, how)
        self._due[child.number] = time.monotonic() + pause

    # A child.

    def _fork(self, number: int) -> Worker | None:
        """Start a server; return what it is, in its own process."""
        told, tells = os.pipe()
        # What is told to the child meanwhile waits until it can do what is wanted.
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        process = os.fork()
        if process:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            os.close(tells)
            self._children[process] = _Child(number, process, told)
            return None
        os.close(told)
        os.close(self._alive[1])
        for child in self._children.values():
            if child.ready is not None:
                os.close(child.ready)
        ports = [wire.getsockname()[1] for wire in self._ports]
        for wire in self._ports:
            wire.close()
        if self._desk is not None:
            self._desk.close()
        config = _adapted(self._config, number)
        return Worker(number, config, ports, self._alive[0], tells, self._standing)


@contextlib.contextmanager
def _signals() -> Iterator[tuple[int, list[int]]]:
    """Catch what is told to a parent; give what can be read when something was, and what."""
    caught: list[int] = []

    def catch(number: int, _frame: FrameType | None) -> None:
        caught.append(number)

    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    before = {number: signal.signal(number, catch) for number in SIGNALS}
    signal.set_wakeup_fd(wakes)
    try:
        yield woken, caught
    finally:
        signal.set_wakeup_fd(-1)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(woken)
        os.close(wakes)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
