"""A board, its callers, its clocks and its books at a moment of a story."""

from __future__ import annotations

import asyncio
import hashlib
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from door.call.caller import Caller
from door.config import config as settings
from timebank.calls.clock import LEAP_SECONDS, BelievedClock
from timebank.errors import BooksFailed, SettingsError
from timebank.ledger.database import Database, Desk
from timebank.ledger.sqlite.database import SqliteDatabase
from verify.simulate.below import Below, State, state_of
from verify.simulate.books import Watch
from verify.simulate.clock import START, MachineClocks, ProcessClock
from verify.simulate.company import Company, Letters
from verify.simulate.disk import Books, Mortal
from verify.simulate.doors import Door
from verify.simulate.ears import Ears
from verify.simulate.hosts import Guest, some_guests
from verify.simulate.house import some_house, some_place, some_tournament
from verify.simulate.life import SETTLE, Life, Machine, Process
from verify.simulate.people import Person
from verify.simulate.platter import Platter
from verify.simulate.post import Post
from verify.simulate.rules_of_time import Readings
from verify.simulate.wire import TELEPHONES, Lent, Wire

if TYPE_CHECKING:
    from tests.timebank.cluster import Cluster
    from verify.simulate.server import BooksServer

LATE = timedelta(minutes=30)
DAY = timedelta(days=1)
ANSWERED = 0.005  # seconds
POSTED = 65.0  # seconds until everybody has been posted since the books could be written again


@dataclass(frozen=True)
class Screen:
    """A caller on line, their screen, and their process."""

    life: Life
    person: Person
    wire: Wire
    caller: Caller


class Undone(Exception):
    """A happening ends with nothing done, as the books cannot be opened."""


class World:
    """The state that a story changes and that every step is checked against.

    `people` is the number of callers, `nodes` how many of them may be on line at once. With a
    `platter` the disk below SQLite is simulated as well. `early` is whether the sysop starts
    events early, `company` whether callers play the daily deal and write to each other, `savers`
    whether they use the bank every day and the sysop freezes accounts, `relays` whether most
    events are of callers handed over by doors.
    """

    def __init__(
        self,
        seed: int,
        folder: Path,
        people: int,
        nodes: int,
        platter: Platter | None,
        cluster: Cluster | None,
        early: bool,
        company: bool,
        savers: bool,
        relays: bool,
    ) -> None:
        self.seed = seed
        self.early = early
        self.company = company
        self.savers = savers
        self.relays = relays
        self.platter = platter
        self.below: Below | None = None
        self.server: BooksServer | None = None
        self.folder = folder if platter is None else folder / "disk"
        self.folder.mkdir(exist_ok=True)
        self.chance = random.Random(seed)
        self.place = some_place(self.chance)
        self.wall = MachineClocks(self.place.begins)
        if cluster is not None:
            self.server = _server(cluster, self._seconds_of_the_server)
        self.nodes = nodes
        self.people = [self._person(number) for number in range(people)]
        self.guests = some_guests(people // 3, self.chance, self.names)
        self.letters = Letters()  # all that callers ever wrote
        self.deals_ever: set[str] = set()  # seals of the deals that there ever were
        if company:
            for each in self.everybody():
                each.company = Company(each.name, self.letters, self.chance, self._company)
        self.post = Post(self.folder, self.chance)
        self.number = 0  # of the step
        self.lives_begun = 0
        self.told: list[str] = []
        self.counted = Counter[str]()  # how often each event happened
        self.shelf = hashlib.sha256()  # over everything that happened
        self.ears = Ears(lambda: self.monotonic)
        self.loaded: settings.Config
        self.monotonic = self.began = START  # now, and when the step began
        self.ahead = 0.0  # seconds by which the board's time is ahead of the true time
        self.is_to_mend = False  # whether a caller is on a day that a wrong clock began
        self.calm_from = 0.0  # monotonic: every process knows what the clocks did
        self.posted_from = 0.0  # monotonic: every process knows a command's changes to accounts
        self.well_from = 0.0  # monotonic: everybody has noticed that the books can be written
        self.machine: Machine
        self.processes: list[Process] = []
        self.doors: list[Door] = []
        self.watch: Watch
        self.settled: Counter[Guest] = Counter()  # minutes that arrived, by the sysop's word
        self.written: dict[str, bool] = {}  # claims that a host has found
        self.back: list[Guest] = []  # guests who returned since the last look at the books
        self.is_over = False  # because the books are beyond repair, as the sysop was informed
        self.readings = Readings()  # of the clocks that are believed

    # Time.

    def let_pass(self, seconds: float) -> None:
        """Let time pass; raises `Killed` when a process dies."""
        self.machine.run(asyncio.sleep(seconds))

    def settle(self) -> None:
        """Let all consequences happen, until no task waits for the books."""
        for _ in range(40):
            self.let_pass(SETTLE)
            if all(life.is_idle for life in self.lives()):
                self.let_pass(ANSWERED)  # a just given answer is read
                if all(life.is_idle for life in self.lives()):
                    return

    def keep_time(self) -> None:
        self.monotonic = self.machine.loop.time()

    def really(self) -> datetime:
        """Return the true time, whatever the wall clock shows."""
        running = hasattr(self, "machine") and not self.machine.loop.is_closed()
        return self.wall.really(self.machine.loop.time() if running else self.monotonic)

    def _seconds_of_the_server(self) -> float:
        """Return the database server's time: nothing sets its clock."""
        running = hasattr(self, "machine") and not self.machine.loop.is_closed()
        monotonic = self.machine.loop.time() if running else self.monotonic
        return self.place.begins.timestamp() + self.wall.uptime(monotonic) - START

    def now(self) -> datetime:
        """Return the board's time."""
        return self.really() + timedelta(seconds=self.ahead)

    def clock(self) -> BelievedClock:
        """Return the clock of a command run next to the board."""
        clock = BelievedClock(ProcessClock(self.machine.loop, self.wall, lambda: False))
        database = self.bare_books()
        try:
            with database.reading(self.config.bank, clock.reading()) as desk:
                clock.adopt(clock.judge(desk))
        finally:
            database.close()
        return clock

    @property
    def is_led_astray(self) -> bool:
        """Whether the board uses a wrong clock, or one's effects are to be mended."""
        return bool(self.ahead) or self.is_to_mend

    def learn_what_is_to_be_mended(self, file: sqlite3.Connection) -> None:
        """Read older books: they may have effects of a wrong clock that were mended later."""
        (day,) = file.execute("SELECT coalesce(max(day), '') FROM callers").fetchone()
        self.is_to_mend = day > self._day_after(LATE + DAY)

    def _learn_what_is_believed(self) -> None:
        """Ask a server that has just started in books that may be older."""
        believed = self.processes[0].board.clock.now()
        ahead = (believed - self.really()).total_seconds()
        self.ahead = ahead if abs(ahead) > LEAP_SECONDS else 0.0

    def latest_day(self) -> str:
        """Return the last day that the board may ever have had, in its zone.

        It does not know a correction that was not written before a kill. Until a wrong clock's
        effects are mended, it may have had any day.
        """
        if self.is_led_astray:
            return "9999-12-31"
        return self._day_after(LATE)

    def _day_after(self, time: timedelta) -> str:
        latest = max(self.really(), self.wall.furthest) + time
        return latest.astimezone(ZoneInfo(self.place.zone)).date().isoformat()

    # Callers on line.

    def lives(self) -> list[Life]:
        return [*self.processes, *self.doors]

    def doors_of(self, guest: Guest) -> list[Door]:
        """Return the doors that serve a guest: two while the guest takes over an earlier call."""
        return [door for door in self.doors if door.guest is guest]

    def relayed(self) -> list[Door]:
        """Return the doors with callers handed over."""
        return [door for door in self.doors if door.relay is not None]

    def is_for_doors(self, process: Process) -> bool:
        """Whether doors hand their callers over to a server."""
        ear = self.machine.ear
        return ear is not None and not ear.closed and ear.mortal is process.mortal

    def everybody(self) -> list[Person]:
        return [*self.people, *self.guests]

    def names(self) -> list[str]:
        return [person.name for person in self.everybody()]

    def _company(self) -> list[str]:
        """Return the names of callers on line, or else of all known ones."""
        on = [person.name for person, _ in self.on_line()]
        return on or [person.name for person in self.people if person.is_known]

    def on_line(self) -> list[tuple[Person, Wire]]:
        return [(person, wire) for person in self.everybody() if (wire := person.wire)]

    def screens(self) -> list[Screen]:
        """Return every caller on line, with their screen and process."""
        by_wire = {wire: person for person in self.everybody() for wire in person.wires}
        screens = []
        for life in reversed(self.lives()):
            for caller in life.callers():
                line: object = caller.console.line
                if isinstance(line, Lent):
                    line = line.wire if line.is_held else None
                if isinstance(line, Wire) and line in by_wire:
                    screens.append(Screen(life, by_wire[line], line, caller))
        return screens

    def _person(self, number: int) -> Person:
        name = f"{('Ann', 'Bob', 'Cyd', 'Dan', 'Eve', 'Fay')[number % 6]}{number:02}"
        telephone = self.chance.choice((*TELEPHONES, TELEPHONES[0]))
        return Person(name, telephone, self.chance, self.names)

    # The settings and the books.

    @property
    def config(self) -> settings.Config:
        """The settings that count."""
        return self.processes[0].board.config if self.processes else self.loaded

    @property
    def toml(self) -> Path:
        return self.folder / "sysop.toml"

    def write_settings(self) -> None:
        """Write another sysop.toml."""
        toml = some_house(self.chance, self.place, self.nodes)
        if self.savers:
            toml = re.sub("(?m)^mode = .*$", 'mode = "built-in"', toml)
        if self.company:
            toml += some_tournament(self.chance, self.now(), self.place)
            toml += f'[deal]\nkind = "{self.chance.choice(("world", "board"))}"\n'
        if self.server is not None:
            where = f'database = "{self.server.url}"'
            toml = toml.replace("[timebank]\n", f"[timebank]\n{where}\n", 1)
        self.toml.write_text(toml, encoding="utf-8")

    def _load(self) -> settings.Config:
        try:
            self.loaded = settings.load(self.toml)
        except SettingsError:  # broken by a reload: the sysop mends it
            self.write_settings()
            self.loaded = settings.load(self.toml)
        return self.loaded

    @property
    def is_brief(self) -> bool:
        """Whether no hours are spent on idle time: the story is about the books, or about days."""
        return self.below is not None or self.server is not None or self.savers

    def bare_books(self, copy: Path | None = None) -> Database:
        """Return the books, or a copy in a file, for a reader outside the board."""
        if copy is None and self.server is not None:
            return self.machine.disk.bare_books(self.loaded.database)
        return SqliteDatabase(copy or self.config.database, busy_seconds=0)

    def books_at_the_command_line(self) -> Database:
        """Open the books as a command of the sysop does, which is a process of its own."""
        if self.below is None:
            return self.bare_books()
        machine = self.machine
        return Books(self.config.database, Mortal(machine.disk, self.chance, machine.loop.time))

    @contextmanager
    def command(self, otherwise: str, *refusals: type[Exception]) -> Iterator[Desk]:
        """Write into the books as a command of the sysop; `otherwise` describes a failure.

        The failure is unwritable books or a refusal. Raises `Undone` when it cannot begin.
        """
        database = self.books_at_the_command_line()
        has_begun = False
        try:
            with database.transaction(self.config.bank, self.clock().reading()) as desk:
                has_begun = True
                yield desk
        except (BooksFailed, *refusals) as refused:
            self.tell(f"{otherwise}: {refused}")
            if not has_begun:
                raise Undone from refused
        finally:
            database.close()

    def visible(self) -> State:
        """Return the state of the books that all can see."""
        with self.watch.reading() as file:
            return state_of(file)

    def mend(self) -> None:
        """Make the books writable again."""
        self.machine.disk.mend()
        self.well_from = self.monotonic + POSTED

    # Messages.

    def tell(self, words: str) -> None:
        """Write a line of the story."""
        line = f"{self.number:>6} {self.now():%d %b %H:%M:%S}Z  {words}"
        self.told.append(line)
        self.shelf.update(line.encode())

    def _new_seed(self) -> bytes:
        return self.chance.randbytes(32)


def _server(cluster: Cluster, now: Callable[[], float]) -> BooksServer:
    from verify.simulate.server import BooksServer  # an extra reaches it

    return BooksServer(cluster, now)
