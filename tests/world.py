"""A whole board for a test: the real server on a free port, under a clock that the test moves."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock

from argon2 import PasswordHasher

from door.call import phrases
from door.call.canvas_display import CanvasDisplay
from door.call.status_line import StatusLine
from door.config import config as settings
from door.config.config import Config
from door.games.blackjack.round import BlackjackRound, start
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
from door.games.engine import shuffle
from door.server.for_doors import ForDoors
from door.server.server import Server
from door.tables.tutor.tutor_process import TutorProcess
from tests.clock import FakeClock
from tests.single_shoes import PHRASE, planted
from tests.terminal import MODERN, Profile, Terminal
from tests.thinking import InPlace
from tests.timebank.books import lay_new_books
from tests.timebank.by_hand import ByHand
from timebank import serving
from timebank.audit.accounts import Finding
from timebank.callers import callers, powers, sysop_log
from timebank.ledger import transfers
from timebank.ledger.database import BUSY_SECONDS, Database, Desk
from timebank.ledger.engines import books_of
from timebank.ledger.transfers import Account, Movement
from timebank.reports import extracts
from timebank.reports.ledger_pages import Sought
from timebank.serving import Lock

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PASSWORD = "open sesame"
# Rounds of the event loop in which all woken tasks have sent their requests to the books.
TURNS = 3

BOARD = """
[board]
name = "The Test Board"
animation = "off"
[[listeners]]
kind = "telnet"
host = "127.0.0.1"
port = 0
"""

# Seconds. Books that do not answer for longer are held by the test, and time is to pass for them.
HELD = 30.0

# The first-call choices of callers with the profiles in `tests.terminal`.
LOOKS: Mapping[str, object] = {
    "xterm-256color": {"charset": "utf-8", "paint": "colour"},
    "syncterm": {"charset": "cp437", "paint": "colour"},
    "unknown": {"charset": "ascii", "paint": "lines"},
}


def cut_with(phrase: str = "", seats: int = 1) -> str:
    """Return the cut of a planted shoe: the `phrase` of each seat, or else `PHRASE`."""
    return "\n".join([phrase or PHRASE] * seats)


@cache
def quick_hash() -> str:
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)


def _not_painted(of: StatusLine | CanvasDisplay, *_: object) -> None:
    """Replace the painting of seconds in which the test does not look."""


class Executor(ThreadPoolExecutor):
    """The executor beside the event loop, which knows its open work."""

    def __init__(self) -> None:
        super().__init__()
        self._jobs: set[Future[Any]] = set()

    def submit(self, *work, **more):
        job = super().submit(*work, **more)
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)
        return job

    def jobs(self) -> list[asyncio.Future[Any]]:
        return [asyncio.wrap_future(job) for job in self._jobs.copy()]


def as_tests_want(config: Config) -> Config:
    """Have no grace where the settings do not name it: who is out of time is sent off at once."""
    toml = config.path.read_text("utf-8")
    if "grace_minutes" not in toml:
        config = replace(config, bank=replace(config.bank, grace_minutes=0))
    return config


class BoardServer(Server):
    def _adapted(self, config: Config) -> Config:
        return as_tests_want(super()._adapted(config))


class World:
    """One board, its clock, and the seeds that its shuffles will come from."""

    def __init__(self, folder: Path, clock: FakeClock, busy_seconds: float) -> None:
        self.folder = folder
        self.clock = clock
        self.busy_seconds = busy_seconds
        self.seeds: list[bytes] = []
        self.terminals: list[Terminal] = []
        self.thinking: TutorProcess = InPlace()
        self._next_seed = count(1)
        self._unanswered = 0
        self._answered = 0
        self._all_answered: asyncio.Future[None] | None = None  # while somebody waits for it
        self._is_abandoned = False  # whether somebody asked and does not wait for the answer
        self._executor = Executor()
        self._are_books_slow = False  # because the test wants it
        self.config = as_tests_want(settings.load(folder / "sysop.toml"))
        self.for_doors: ForDoors | None = None
        self.lock: Lock | None = None
        self.server: Server
        self.database: Database

    def new_seed(self) -> bytes:
        if self.seeds:
            return self.seeds.pop(0)
        return next(self._next_seed).to_bytes(shuffle.SEED_BYTES, "big")

    async def open(self) -> None:
        asyncio.get_running_loop().set_default_executor(self._executor)
        self.config.board.data.mkdir(parents=True, exist_ok=True)
        if self.config.bank.server is None:
            lay_new_books(self.config.database)
        self.database = books_of(self.config.bank, self.busy_seconds)
        self.database.open()
        place = self.config.bank.lock
        self.lock = serving.take_now(place) if self.for_doors is None else self.for_doors.lock
        self.server = BoardServer(
            *(self.config, self.database, self.clock, self.new_seed, {"tutor": self.thinking}),
            for_doors=self.for_doors,
            lock=self.lock,
        )
        self._watch_the_books()
        self.clock.rests.append(self._rest_before_time)
        try:
            await self.server.start()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        self.clock.rests.remove(self._rest_before_time)
        await self.server.stop("The board is closing.")
        for terminal in self.terminals:
            await terminal.close()
        self.database.close()
        if self.lock is not None:
            with self.lock:
                self.lock = None

    async def call(self, profile: Profile = MODERN, source: str | None = None) -> Terminal:
        """Call the board, from another address of this machine than the usual one if `source`."""
        terminal = Terminal(profile)
        await terminal.connect(self.server.ports[0], source=source)
        self.terminals.append(terminal)
        return terminal

    async def pass_time(self, seconds: float) -> None:
        """Let time pass; the clock's work in the books ends before the next second.

        Every second ticks. Scenes and the status line are painted only in the last one, for the
        test to read.
        """
        end = self.clock.monotonic() + seconds
        with (
            mock.patch.object(StatusLine, "show", _not_painted),
            mock.patch.object(CanvasDisplay, "refresh", _not_painted),
            mock.patch.object(CanvasDisplay, "refresh_clock", _not_painted),
        ):
            await self._pass_until(end - 1.0)
        await self._pass_until(end)

    async def _pass_until(self, end: float) -> None:
        while (left := end - self.clock.monotonic()) > 0:
            await self.clock.advance_at_once(min(1.0, left))
            await self.at_rest()

    async def _rest_before_time(self) -> None:
        if not self._are_books_slow:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.at_rest(), HELD)

    async def at_rest(self) -> None:
        """Wait until nothing is under way in the books or beside the event loop."""
        while True:
            before = self._answered
            for _ in range(TURNS):
                await asyncio.sleep(0)
            if before != self._answered:
                continue  # an answered task has not had all these turns
            if jobs := self._executor.jobs():
                await asyncio.wait(jobs)
            elif self._is_abandoned:
                self._is_abandoned = False
                await self.settled()
            elif self._unanswered:
                self._all_answered = asyncio.get_running_loop().create_future()
                await self._all_answered
            else:
                return

    async def settled(self) -> None:
        """Wait until everything that was asked of the books has been answered."""
        await self.server.books.run(lambda desk: None)
        await asyncio.sleep(0)

    def _watch_the_books(self) -> None:
        """Count the open requests to the books."""
        run = self.server.books.run

        async def counted(*asked, **more):
            self._unanswered += 1
            try:
                return await run(*asked, **more)
            except asyncio.CancelledError:  # it is answered all the same
                self._is_abandoned = True
                raise
            finally:
                self._answered += 1
                self._unanswered -= 1
                if not self._unanswered and self._all_answered is not None:
                    if not self._all_answered.done():  # nobody waits any more
                        self._all_answered.set_result(None)
                    self._all_answered = None

        self.server.books.run = counted  # type: ignore[method-assign]

    @asynccontextmanager
    async def slow_books(self) -> AsyncIterator[None]:
        """Block all writes: requests to the books wait their turn."""
        loop, stands, go_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

        def stand_still(desk: Desk) -> None:
            loop.call_soon_threadsafe(stands.set)
            go_on.wait()

        standstill = asyncio.create_task(self.server.books.run(stand_still))
        await stands.wait()
        self._are_books_slow = True
        try:
            yield
        finally:
            self._are_books_slow = False
            go_on.set()
            await standstill

    def enter(self, name: str, *, saved: int = 0, looks: Mapping[str, object] = LOOKS) -> None:
        """Put a caller with PASSWORD in the books, with `saved` seconds in the bank.

        The password is hashed so that a log-on costs next to nothing.
        """
        with self.books() as desk:
            if desk.settings.reserves(name):
                record = callers.register_kept(desk, name, quick_hash(), powers=name == "Sysop")
            else:
                record = callers.register(desk, name, quick_hash())
            drawn = {"text": PHRASE, "own": False, "after": []}
            callers.set_preferences(desk, record.id, {"looks": looks, phrases.PREFERENCE: drawn})
        if saved:
            self.give(name, saved)

    def give(self, name: str, seconds: int) -> None:
        """Put seconds into a caller's bank, as a gift."""
        with self.books() as desk:
            number = callers.number_named(desk, name)
            bank = next(
                Account(held.account_id, "bank", "second")
                for held in transfers.balances(desk, number)
                if held.kind == "bank"
            )
            gift = Movement(
                transfers.ADJUSTMENT, bank, seconds, ByHand("gift", "A gift"), None, None
            )
            transfers.transfer(desk, [gift])

    @contextmanager
    def books(self) -> Iterator[Desk]:
        with self.database.transaction(self.config.bank, self.clock.now()) as desk:
            yield desk

    def balances(self, name: str) -> dict[str, int]:
        """The caller's accounts in seconds."""
        with self.books() as desk:
            rows = desk.connection.exec_driver_sql(
                "SELECT a.kind, a.balance FROM accounts a JOIN callers c ON c.id = a.caller_id"
                " WHERE c.name = ? AND a.unit = 'second'",
                (name,),
            )
            return dict(rows.all())

    def moved(self, name: str) -> list[tuple[str, int]]:
        """Return the caller's movements in the ledger, in order: (kind, seconds)."""
        return [(line.kind, line.amount) for line in self.lines(name)]

    def lines(self, name: str) -> list[transfers.Extract]:
        """Return the caller's lines in the ledger, in order."""
        with self.books() as desk:
            number = callers.number_named(desk, name)
            return extracts.chosen(desk, Sought(callers=(number,)))

    def findings(self) -> list[Finding]:
        from door.games import hand_check

        with self.books() as desk:
            _note_powers(desk)
            return hand_check.audit(desk)[0]


def _note_powers(desk: Desk) -> None:
    """Log a command's entries for callers whom a test has registered with powers."""
    holders = {
        line.caller for line in sysop_log.entries(desk, None, 1_000) if "powers" in line.what
    }
    for record in powers.holders(desk):
        if record.name not in holders:
            what = f"{powers.numbered(record)}, was entered, with the sysop's powers"
            sysop_log.note(desk, "tests", record.id, what)


@asynccontextmanager
async def world(
    folder: Path,
    *,
    toml: str = BOARD,
    now: datetime = NOON,
    busy_seconds: float = BUSY_SECONDS,
    thinking: TutorProcess | None = None,
    clock: FakeClock | None = None,
    for_doors: ForDoors | None = None,
    is_planted: bool = True,
) -> AsyncIterator[World]:
    """Open a board in `folder`; at the end it is closed, and its books must be in order.

    Its shoes come from the seeds that the test names, unless `is_planted` is false.

    Several have a folder each and the same books on a server, and should have the same `clock`.
    With `for_doors` it is one that a door has started.
    """
    (folder / "sysop.toml").write_text(toml, encoding="utf-8")
    here = World(folder, clock or FakeClock(now), busy_seconds)
    if for_doors is not None:
        here.for_doors, here.config = for_doors, for_doors.adapt(here.config)
    here.thinking = thinking or here.thinking
    with planted() if is_planted else nullcontext():
        await here.open()
        try:
            yield here
            assert here.findings() == []
        finally:
            await here.close()


async def register(terminal: Terminal, name: str) -> None:
    """Log on as a new caller, decline the tour and go to the main menu."""
    await is_offered_the_tour(terminal, name)
    await terminal.send("n").until("oodbye")


async def is_offered_the_tour(terminal: Terminal, name: str) -> None:
    """Log on as a new caller, as far as the offer of the tour."""
    await terminal.until("Name:")
    terminal.send("new\r")
    await registers_as(terminal, name)


async def registers_as(terminal: Terminal, name: str) -> None:
    """Answer the questions for new callers, as far as the offer of the tour."""
    await terminal.until("The name you want:")
    await terminal.send(f"{name}\r").until("A password")
    await terminal.send(f"{PASSWORD}\r").until("Once more:")
    await terminal.send(f"{PASSWORD}\r").until("It is valid as soon")
    terminal.send(" ")
    await confirm_look(terminal)
    await terminal.wait_for(
        lambda here: here.shows("minutes today.") or here.shows("get plain lines"),
        "the news, or why a small screen gets lines",
    )
    if terminal.shows("get plain lines"):
        await terminal.until("Press any key")
        terminal.send(" ")
    await terminal.until("minutes today.")
    await terminal.until("Take a one-minute")


async def log_on(terminal: Terminal, name: str) -> None:
    """Type name and password of a caller whose screen is known."""
    await terminal.until("Name:")
    await terminal.send(f"{name}\r").until("Password:")
    terminal.send(f"{PASSWORD}\r")


async def newcomer(board: World, name: str, profile: Profile = MODERN) -> Terminal:
    """Somebody who calls for the first time, and registers."""
    terminal = await board.call(profile)
    await register(terminal, name)
    return terminal


async def logged_on(board: World, name: str, profile: Profile = MODERN) -> Terminal:
    """Somebody of the books who calls, and types name and password."""
    terminal = await board.call(profile)
    await log_on(terminal, name)
    return terminal


async def confirm_look(terminal: Terminal) -> None:
    """Accept the guess about the screen."""
    await terminal.until("Which of these boxes looks right?")
    await terminal.until("Your choice")
    terminal.send("\r")


def seed_of(deal: Callable[[BlackjackRound], bool], cut: str = "") -> bytes:
    """Return a seed whose hand of the default game, dealt from its top, satisfies `deal`."""
    for number in range(10_000, 200_000):
        seed, dealt = _dealt(number, cut)
        if deal(dealt):
            return seed
    raise AssertionError("no seed deals that hand")


@lru_cache(16_384)
def _dealt(number: int, cut: str) -> tuple[bytes, BlackjackRound]:
    seed = number.to_bytes(shuffle.SEED_BYTES, "big")
    return seed, start(BLACK_JACK_FOR_TIME, shuffle.shuffle(seed, cut_with(cut), 1), [600])[0]
