"""The server: listeners, leases, signals, and an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import logging
import os
import resource
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from door import closed, wording
from door.call import passwords
from door.call.board import Board, new_seed
from door.call.board_clock import BoardClock
from door.call.books import Books
from door.call.shared import Shared
from door.clock import MachineClock, SystemClock, sleep
from door.config import config as settings
from door.config import people, privacy, reloading
from door.config.listeners import DOORS_ALONE
from door.defence.reception import REMEMBERED
from door.errors import (
    BoardClosed,
    CannotListen,
    CertificateRefused,
    Closing,
)
from door.lines.port.connection import Entrance
from door.lines.registry import KINDS, Answering
from door.lines.tls.tls import Certificate
from door.server import health, server_note
from door.server.control import answer_control
from door.server.door_calls import DoorListener
from door.server.for_doors import make_way
from door.server.housekeeping import Housekeeping
from door.server.pages_process import check_libraries, keep_pages
from door.server.presence import Presence
from door.server.rlogin_calls import answer_board
from door.server.service_manager import READY, STOPPING, ServiceManager
from door.session.logon import DRAINING
from door.session.session import answer
from door.tables import floor
from timebank import serving
from timebank.callers import callers, ssh_keys
from timebank.calls.calls import close_orphaned_calls, latest_addresses
from timebank.errors import BooksFailed, BooksTaken, BooksUnavailable, OlderBooks, SettingsError
from timebank.language import N_, Phrase, _, speaking_to
from timebank.ledger.database import Database
from timebank.ledger.engines import books_of
from timebank.serving import left_to
from timebank.words import MINUTE, span

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from door.config.config import Config
    from door.lines.line import Line
    from door.lines.port.listener import Listener
    from door.lines.registry import ListenerSettings
    from door.lines.rlogin.header import RloginHeader
    from door.lines.ssh.ssh_identity import SshIdentity
    from door.lines.web.pages import File
    from door.server.for_doors import ForDoors
    from door.server.public_page import PublicPage
    from timebank.ledger.database import Desk
    from timebank.serving import Lock


# The event loop of a board: uvloop's if it is installed and allowed, else asyncio's own.


def loop_of(config: Config) -> Callable[[], AbstractEventLoop] | None:
    """Return the factory of the event loop that the settings ask for; None for asyncio's own."""
    return quickest() if config.server.loop == "auto" else None


def quickest() -> Callable[[], AbstractEventLoop] | None:
    """Return the factory of the fastest event loop installed; None for asyncio's own."""
    try:
        import uvloop  # noqa: PLC0415 - there are no wheels of it for every machine
    except ImportError:
        return None
    make: Callable[[], AbstractEventLoop] = uvloop.new_event_loop
    return make


OLD_COLLECTIONS = 1000  # collections of younger objects before one of all objects


def spare_collections() -> None:
    """Exempt the objects that exist now from garbage collection, and collect old ones less often.

    With 1,000 callers online, a collection of all objects stops everybody for 100 ms. A call that
    ends leaves no cycles. Young objects are collected as often as before.
    """
    gc.freeze()
    young, middle, _old = gc.get_threshold()
    gc.set_threshold(young, middle, OLD_COLLECTIONS)


# The time limits of an orderly end, within the ten seconds that init systems allow: for callers to
# read the words, be posted and hung up; for sessions that are then cancelled; for unsent bytes.
CLOSING_SECONDS, LATE_SECONDS, PARTING_SECONDS = 5.0, 1.5, 1.5
# How long the end waits for books that another program keeps locked, within `CLOSING_SECONDS`.
LOCKED_SECONDS = 3.0
# How long a server that doors have started may take to end for another.
ROOM_SECONDS, ROOM_POLL_SECONDS = 15.0, 0.1
LOCK_SECONDS = 5.0  # between two checks that the file of the lock still exists
CLOSING_SOON = N_("The sysop is about to close the board. Please finish soon.")
OPEN_FILES = 65536  # one for each line; more callers than any board has

log = logging.getLogger("door.server")


class Server:
    def __init__(
        self,
        config: Config,
        database: Database,
        machine: MachineClock,
        new_seed: Callable[[], bytes] = new_seed,
        shared: Mapping[str, Shared] | None = None,
        for_doors: ForDoors | None = None,
        lock: Lock | None = None,
    ) -> None:
        """Build a board from its parts. `lock` is the lock of the books, and `for_doors` is given
        to a server that a door has started."""
        self._for_doors = for_doors
        clock = BoardClock(machine)
        self.books = Books(database, lambda: self.board.config.bank, clock)
        make_shared = partial(floor.make_shared, existing=shared)
        self.board = Board(config, self.books, clock, make_shared, new_seed)
        self.ports: list[int] = []
        self._housekeeping = Housekeeping(self.board, self.books, database, clock)
        self._sessions: set[asyncio.Task[object]] = set()
        self._listeners: list[Listener] = []
        self._handed = DoorListener(
            self.board,
            self._session,
            self._door_comes,
            self._look_who_is_on,
            self.give_way,
            partial(answer_control, self),
        )
        self.public_page: PublicPage | None = None  # only with a listener for the web
        self._lock = lock
        self.is_replaced = False  # whether another process has the lock of the books by now
        # Whether a process that has left calls or a server's row in the books has ended.
        self._has_ended = left_to(lock, in_file=config.bank.server is None)
        self._presence = Presence(self.board, self._has_ended)
        self._looks: list[asyncio.Task[object]] = []
        self._pulse = health.Pulse(self.books, clock)
        self._health: Listener | None = None
        self._stops = False
        self._is_shut = False  # whether the sysop has closed the board, for doors as well
        self._text_at_start = config.text  # of sysop.toml at the start
        self.ended = asyncio.Event()  # set when the server must close

    async def start(self) -> None:
        """Settle what an earlier process left, then listen; raise `CannotListen` on failure."""
        with self._within_reach() as folder:
            self._handed.refuse_another(folder)  # before its calls are closed as orphans
        passwords.make_ready()
        await self._housekeeping.take_up_the_books()
        await self._housekeeping.keep_clock()
        await self.books.run(partial(close_orphaned_calls, is_gone=self._has_ended))
        await self._presence.begin()
        await self._housekeeping.start()
        await self.board.resume_games()
        latest, doubts = await self.books.run(self._look_back)
        _warn_of([*self.board.config.retired, *doubts])
        self.board.reception.remember(address for _, address in latest)
        self.board.reception.open_log(self.board.config.board.data)
        for listener in self.board.config.listeners:
            try:
                telephone = await self._listen(listener)
            except CertificateRefused as refused:
                raise CannotListen(
                    f"{refused} [[listeners]] in {self.board.config.path} names the file."
                ) from refused
            except OSError as error:
                raise CannotListen(
                    f"Port {listener.port} on {listener.host} cannot be opened"
                    f" ({_reason(error)}). {_ADVICE.get(error.errno or 0, '')}"
                    f"[[listeners]] in {self.board.config.path} says where to listen."
                ) from error
            self._listeners.append(telephone)
            self.ports.append(telephone.port)
        if self.public_page is not None:
            await self.public_page.open(self.ports)
            self._looks.append(asyncio.create_task(self.public_page.keep()))
        self._listen_for_doors()
        await self._open_health()
        self._note_serving()
        self._looks.append(asyncio.create_task(self._end_when_gone()))
        self._looks.append(asyncio.create_task(self._keep_lock()))

    async def stop(self, words: str) -> None:
        """Take no more calls, end those online in peace, and close the books. Each caller reads
        `words` in their language."""
        self._stops = True
        self.books.limit_waits(LOCKED_SECONDS)
        for look in self._looks:
            look.cancel()
        for listener in self._listeners:
            listener.close()
        self._handed.close()
        await self._housekeeping.stop()
        # Before all else: seats that are left later are not stood, the journal keeps them.
        await self.board.stop_games()
        if self.books.gone.is_set():
            words = wording.BOOKS_DAMAGED
        elif not self._is_shut:
            self._handed.hand_back(staying=set())
        self.board.interrupt_all(Closing(Phrase(words)))
        if self._sessions:
            _, late = await asyncio.wait(self._sessions, timeout=CLOSING_SECONDS)
            for session in late:
                session.cancel()
            if late:
                _, stuck = await asyncio.wait(late, timeout=LATE_SECONDS)
                for session in stuck:
                    log.error("a session does not end: %s", session.get_name())
        parting = [listener.finish(PARTING_SECONDS) for listener in self._listeners]
        await asyncio.gather(*parting)
        # Last of the ports: a front end that gets no answer cuts off its callers.
        if self._health is not None:
            await self._health.finish(0)
        await self._handed.finish()
        await self.board.close_games()
        await self._housekeeping.hand_on()
        await self._presence.end()
        await self.books.close()
        self.board.passwords.close()
        self.board.reception.close_log()

    def shut(self, by: str) -> str:
        """Close the board now, for doors as well, until the sysop opens it; return a sentence about
        a problem, or ""."""
        self.ended.set()
        return self._close_for_doors(f"{by} with `door stop`")

    def _close_for_doors(self, by: str) -> str:
        self._is_shut = True
        return _closed_for_doors(str(self.board.config.board.data), by)

    def drain(self, by: str = "the sysop") -> str:
        """Take no more calls, and close when the last caller has gone. A second drain closes now.

        Closes the board for doors at once, until the sysop opens it. Returns a sentence about a
        problem, or "".
        """
        problem = self._close_for_doors(f"{by} with `door drain`")
        if self.board.draining:
            self.ended.set()
            return problem
        here = self.board.callers()
        self._take_no_more()
        self._looks.append(asyncio.create_task(self._presence.announce_drain()))
        for caller in here:
            caller.console.screen.bell()
            with speaking_to(caller.console.viewer):
                caller.console.screen.say(f"|14{_(CLOSING_SOON)}")
        self._close_when_empty()
        return problem

    def _take_no_more(self) -> None:
        self.board.draining = True
        for listener in self._listeners:
            listener.close()
        on_calls = {caller.console for caller in self.board.callers()}
        for console in self.board.consoles - on_calls:
            console.keyboard.interrupt(Closing(Phrase(DRAINING)))

    def look_now(self) -> None:
        """Read at once the changes that a command has written into the books."""
        self._housekeeping.look_now()

    async def give_way(self) -> bool:
        """End for another server if a door has started this one; its callers go on there."""
        if self._for_doors is None:
            return False
        if not self.ended.is_set():
            log.info("this server, which a door has started, ends for another")
        self._handed.close()  # at once: doors that come from now on wait for the next server
        self.ended.set()
        return True

    def reload(self) -> None:
        """Read sysop.toml again, for new calls, and log what that changes."""
        with contextlib.suppress(SettingsError):  # which is logged
            self._looks.append(asyncio.create_task(self._tell_changes(*self._read_again())))

    async def tell_reload(self) -> list[str]:
        """Do the same and return the sentences; raise `SettingsError` if the file is wrong."""
        return await self._tell_changes(*self._read_again())

    def _read_again(self) -> tuple[Config, Config]:
        """Apply the settings of the file, and return the old and the new ones."""
        old = self.board.config
        try:
            new = reloading.keep_until_restart(old, self._adapted(settings.load(old.path)))
        except SettingsError as error:
            log.error("%s is wrong, the old settings stay in force:\n%s", old.path, error)
            raise
        new.bank.schedule.adopt_early(old.bank.schedule.early)
        self.board.config = new
        if not new.social.watching:
            self.board.send_watchers_away()
        self.board.reception.keep_to(new)
        self._handed.leave_note()
        self._look_who_is_on()
        return old, new

    async def _tell_changes(self, old: Config, new: Config) -> list[str]:
        """Log and return sentences about new settings. Tell the other servers."""
        self._looks.append(update := asyncio.create_task(self._presence.update_settings()))
        sentences = await asyncio.to_thread(reloading.changes, self._text_at_start, old, new)
        with contextlib.suppress(BooksUnavailable):  # `door check` reports these doubts too
            sentences += await self.books.run(partial(people.doubts, path=new.path))
        _warn_of(sentences)
        if self.public_page is not None:
            await self.public_page.renew()
        await asyncio.wait([update], timeout=3.0)  # the books may be away
        return sentences + (update.result() if update.done() else [])

    def _adapted(self, config: Config) -> Config:
        return config if self._for_doors is None else self._for_doors.adapt(config)

    def _look_back(self, desk: Desk) -> tuple[list[tuple[str, str]], list[str]]:
        # `door init` has said how people register: a board without callers has nothing to warn of.
        doubts = people.doubts(desk, self.board.config.path) if callers.count(desk) else []
        return latest_addresses(desk, REMEMBERED), doubts

    async def _listen(self, where: ListenerSettings) -> Listener:
        certificate = None
        if where.certificate is not None and where.key is not None:
            certificate = Certificate(where.certificate, where.key)
        entrance = Entrance(self.board.reception, where.proxies, certificate)
        server = Answering(
            board=self.board.config.board.name,
            language=self.board.config.board.language,
            data=self.board.config.board.data,
            logon_seconds=self.board.config.calls.logon_seconds,
            answer=self._answer,
            answer_ssh=self._answer_ssh,
            answer_board=self._answer_board,
            knows_key=self._knows_key,
            means_new=settings.means_new,
            is_blocked=self.board.reception.is_blocked,
            public_files=self._public_files,
        )
        listener = KINDS[where.kind].listener(server, where, entrance)
        return await listener.open(where.host, where.port)

    def _public_files(self) -> MutableMapping[str, File]:
        from door.server.public_page import PublicPage  # noqa: PLC0415 - for the web alone

        self.public_page = self.public_page or PublicPage(self.board, self.books)
        return self.public_page.files

    async def _knows_key(self, name: str, key: bytes) -> bool:
        try:
            return await self.books.run(lambda desk: ssh_keys.owner(desk, name, key)) is not None
        except BooksFailed:
            return False  # the caller is asked for a password, and then told about the books

    async def _open_health(self) -> None:
        """Open the port for front ends and Prometheus if the settings name one; raise
        `CannotListen`."""
        from door.server.metrics import LoopLag, numbers  # noqa: PLC0415 - for this port alone

        config = self.board.config
        where = config.server.health
        if where is None:
            return
        proxies = (each for listener in config.listeners for each in listener.proxies)
        friends, lag = (*proxies, *config.metrics.allow), LoopLag()
        metrics = partial(numbers, self.board, lag)
        port = health.HealthPort(self.status, metrics, friends, self.board.reception)
        try:
            self._health = await port.open(where.host, where.port)
        except OSError as error:
            raise CannotListen(
                f"The port {where} for front ends cannot be opened ({_reason(error)})."
                f" It is set by [server] health in {config.path}."
            ) from error
        self._looks += map(asyncio.create_task, (self._pulse.feel(), lag.watch()))

    def status(self) -> int:
        """Return the HTTP status for front ends."""
        if self._stops:
            return health.DRAINS
        if not self._pulse.is_felt():
            return health.LOST
        is_late = self._pulse.silence() >= health.LATE_SECONDS
        return health.DRAINS if self.board.draining or is_late else health.SERVES

    def _listen_for_doors(self) -> None:
        """Accept callers from doors and commands from the sysop; raise `CannotListen`.

        A server that a door has started ends when no caller has been online for a while.
        """
        with self._within_reach() as folder:
            self._handed.open_in(folder)
        if self._for_doors is None:
            return
        self._for_doors.serves(
            self.board.clock,
            lambda: self.board.config.server.start_for_doors_minutes,
            lambda: not self._sessions and self._handed.is_empty,
            self._end_empty,
        )

    @contextlib.contextmanager
    def _within_reach(self) -> Iterator[Path]:
        """Yield the data folder, in which doors and commands reach this server."""
        folder = self.board.config.board.data
        try:
            yield folder
        except OSError as error:
            raise CannotListen(
                "Neither doors nor commands such as `door nodes` could reach this server in"
                f" {folder}: {_reason(error)}."
            ) from error

    def _end_empty(self) -> None:
        self._handed.close()  # at once: doors that come from now on wait for the next server
        self.ended.set()

    def _look_who_is_on(self) -> None:
        if self._for_doors is not None:
            self._for_doors.look()

    @property
    def stays(self) -> int | None:
        """Minutes that this server stays without callers; None if it stays until it is stopped."""
        minutes = self.board.config.server.start_for_doors_minutes
        return None if self._for_doors is None else minutes

    def _door_comes(self) -> None:
        """Read changed settings before a door is served, if a door has started this server."""
        part = self._for_doors
        if part is not None and part.has_other_settings(self.board.config):
            self.reload()

    async def _answer(self, line: Line) -> None:
        with self._session():
            await answer(self.board, line)

    async def _answer_ssh(self, line: Line, identity: SshIdentity) -> None:
        with self._session():
            await answer(self.board, line, identity)

    async def _answer_board(self, line: Line, header: RloginHeader) -> None:
        with self._session():
            await answer_board(self.board, line, header)

    @contextlib.contextmanager
    def _session(self) -> Iterator[None]:
        """Count the current task as a session, which the server ends in peace when it stops."""
        session = asyncio.current_task()
        assert session is not None  # the listener gives every call a task
        self._sessions.add(session)
        try:
            yield
        finally:
            self._sessions.discard(session)
            self._close_when_empty()
            self._look_who_is_on()

    async def _end_when_gone(self) -> None:
        await self.books.gone.wait()
        self.ended.set()

    async def _keep_lock(self) -> None:
        """Keep the lock even if its file is removed; end if another process has the lock."""
        place = self.board.config.bank.lock
        while self._lock is not None:
            await sleep(self.board.clock, LOCK_SECONDS)
            try:
                is_held = self._lock.keep(place)
            except OSError as error:
                log.error("%s", serving.refusal(place, error))
                continue
            if not is_held:
                log.error("%s was removed. %s: this server ends.", place, serving.read(place))
                self.is_replaced = True
                self.ended.set()
                return
            note = serving.read(place)
            if note is None:
                log.error("%s was removed and is locked again: do not remove it", place)
                self._note_serving()

    def _note_serving(self) -> None:
        if self._lock is not None:
            config = self.board.config
            server_note.leave(self._lock, config.path, config.board.data)

    def _close_when_empty(self) -> None:
        if self.board.draining and not self._sessions:
            self.ended.set()


async def serve(
    config: Config,
    announce: Callable[[str], None],
    for_doors: ForDoors | None = None,
    *,
    is_trial: bool = False,
) -> None:
    """Run the board until SIGTERM or SIGINT. SIGHUP reads the settings again.

    `for_doors` is given to a server that a door has started. A trial (`is_trial`) ends with SIGHUP,
    because its terminal is gone. Raises `BoardClosed` if the files of the books were removed,
    replaced or written over.
    """
    if config.pages.is_served and for_doors is None:
        check_libraries()
    with contextlib.suppress(OSError):  # the lock or the books will report the same problem
        privacy.make_folder(config)
    with await _locked(config) if for_doors is None else for_doors.lock as lock:
        await _serve(config, announce, lock, for_doors, is_trial=is_trial)


async def _locked(config: Config) -> Lock:
    """Take the lock of the books; a server that a door has started ends for this one.

    Raises `BooksTaken` if another process keeps the lock, and `DatabaseRefused`.
    """
    until = time.monotonic() + ROOM_SECONDS
    gives_way = False
    while True:
        try:
            return serving.take(config.bank.lock, serving.STARTING, str(config.board.data))
        except BooksTaken as taken:
            folder = Path(taken.data) if taken.data else config.board.data
            gives_way = gives_way or make_way(folder)
            waits = gives_way or taken.state == serving.STARTING
            if not waits or time.monotonic() > until:
                raise
            await asyncio.sleep(ROOM_POLL_SECONDS)


async def _serve(
    config: Config,
    announce: Callable[[str], None],
    lock: Lock,
    for_doors: ForDoors | None,
    *,
    is_trial: bool,
) -> None:
    """Run the board with the lock of its books, until the server ends."""
    manager, folder = ServiceManager.from_environment(os.environ), str(config.board.data)
    _allow_many_lines()
    # A core file would hold what callers type and the seeds of shoes that are open.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    database = books_of(config.bank)
    _open(database, config, announce, None if for_doors is not None else lock)
    for words in privacy.restrict_modes(config):
        log.warning("%s", words)
    try:
        server = Server(config, database, SystemClock(), for_doors=for_doors, lock=lock)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, server.ended.set)
        loop.add_signal_handler(signal.SIGHUP, server.ended.set if is_trial else server.reload)
        showing: asyncio.Task[None] | None = None
        watched = asyncio.create_task(manager.keep_alive())
        try:
            await server.start()
            if for_doors is None and (problem := closed.reopen(folder)):
                log.error("%s Doors let nobody in.", problem)
            showing = _show_the_books(server)
            spare_collections()
            for words in _announcement(config, server.ports, server.stays, is_trial=is_trial):
                announce(words)
            manager.say(READY)
            await server.ended.wait()
            if for_doors is None and not (server.books.gone.is_set() or server.is_replaced):
                _closed_for_doors(folder, "the end of `door serve`")
            manager.say(STOPPING)
            journal = "" if is_trial else ", hands in play stay in the journal"
            announce(f"Closing: callers are told{journal}.")
        finally:
            if showing is not None:
                showing.cancel()
            # In any case: the writer's thread would keep a failed process alive.
            await server.stop(N_("The board is closing."))
            if showing is not None:
                await asyncio.wait([showing])
            watched.cancel()
        if server.books.gone.is_set():
            raise BoardClosed(
                f"The board has closed: its books at {config.database} were removed, replaced or"
                " written over. Its log says what happened, and what was saved of them."
            )
    finally:
        database.close()


def _closed_for_doors(folder: str, by: str) -> str:
    """Close a board for doors until the sysop opens it; return the problem with that, or ""."""
    problem = closed.close(folder, by)
    if problem:
        problem = f"{problem} Doors may start another server."
        log.error("%s", problem)
    return problem


def _open(
    database: Database, config: Config, announce: Callable[[str], None], lock: Lock | None
) -> None:
    """Open the books; with the `lock` of `door serve`, upgrade older books first."""
    try:
        database.open()
    except OlderBooks:
        if lock is None:
            raise
        lock.note(serving.MIGRATING, str(config.board.data))
        if (upgraded := database.upgrade()) is not None:
            for words in upgraded.sentences():
                log.info("%s", words)
                announce(words)
        database.open()


def _show_the_books(server: Server) -> asyncio.Task[None] | None:
    """Start the pages next to a server that the sysop has started, if the settings want them."""
    config = server.board.config
    if not config.pages.is_served or server.stays is not None:
        return None
    return asyncio.create_task(keep_pages(config.path))


_ADVICE = {
    errno.EADDRINUSE: "Is another board running? ",
    errno.EADDRNOTAVAIL: "That is not an address of this machine. ",
    errno.EACCES: "Ports below 1024 need the rights of root. ",
}


def _reason(error: OSError) -> str:
    number = error.errno or 0
    return os.strerror(number) if number > 0 else str(error.strerror or error)


def _warn_of(doubts: Iterable[str]) -> None:
    for sentence in doubts:
        log.warning("%s", sentence)


def _allow_many_lines() -> None:
    """Raise the limit of open files, often 1024, as far as the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if most == resource.RLIM_INFINITY else min(most, OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def _announcement(
    config: Config, ports: list[int], minutes: int | None = None, *, is_trial: bool
) -> list[str]:
    """Return the lines that say where the board listens, where its data is, and how to call it.

    `minutes` is how long a server for doors stays without callers, None for other servers.
    """
    if minutes is not None:
        stays = span(minutes * MINUTE)
        return [f"A door has started this server. It ends after {stays} without callers."]
    nodes = f": {config.calls.nodes} nodes" if config.listeners else ""  # for callers by a port
    lines = [f"{config.board.name} is open{nodes}."]
    for listener, port in zip(config.listeners, ports, strict=True):
        lines.append(f"It listens for {listener.kind} on {listener.host}, port {port}.")
    if not config.listeners:
        lines.append(DOORS_ALONE)
    if not is_trial:
        lines.append(f"Its data is in {config.board.data}.")
    for listener, port in zip(config.listeners, ports, strict=True):
        # Calls from this machine are cut off if only front ends may call, with their header.
        at_home = KINDS[listener.kind].local_call
        if at_home and not (listener.proxies or listener.forwarded or listener.certificate):
            lines.append(f"Call it with:  {at_home.format(port=port)}")
            break
    stays = "" if is_trial else ", and no hand is lost"
    lines.append(f"Stop it with Ctrl-C; callers are told{stays}.")
    return lines
