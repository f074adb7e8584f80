"""One seed's evening on the board: who is there, what has happened so far, and how it goes on.

What may happen at a step is in `happenings`, what must hold after it in `inspection`.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import logging
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self
from zoneinfo import ZoneInfo

from door.config import config as settings
from timebank.calls.clock import LEAP, BelievedClock
from timebank.errors import SettingsError
from timebank.ledger.database import Database
from verify.simulate import crashes, happenings
from verify.simulate.below import Below, State, state_of
from verify.simulate.books import Watch
from verify.simulate.clock import START, MachineClocks, ProcessClock
from verify.simulate.disk import Books, Killed, Mortal
from verify.simulate.doors import Door, doors_live
from verify.simulate.ears import Ears
from verify.simulate.hosts import Guest, hand_over, some_guests
from verify.simulate.house import some_house, some_place
from verify.simulate.inspection import Inspection, Screen
from verify.simulate.life import SETTLE, Life, Machine, Process, one_machine
from verify.simulate.people import Person
from verify.simulate.platter import Platter
from verify.simulate.post import Post
from verify.simulate.restores import Restores
from verify.simulate.rules_of_time import Readings, noticing
from verify.simulate.wire import TELEPHONES, Wire
from verify.simulate.wrong import must

LOGGERS = ("door", "timebank", "asyncio")
LATE = timedelta(minutes=30)
DAY = timedelta(days=1)
NOTICED = 3.0  # seconds until everybody has seen that a clock was set
ANSWERED = 0.005  # seconds
GIVEN_BACK = 2.0  # seconds from the end of a call until a door has given back and ended
POSTED = 65.0  # seconds until everybody has been posted since the books could be written again


class Story:
    """A board, its callers, and everything that befalls them, from one seed.

    `people` is how many callers there are, `nodes` how many of them may be on at once. With a
    `platter` the disk below SQLite is simulated as well.
    """

    def __init__(
        self,
        seed: int,
        folder: Path,
        people: int = 60,
        nodes: int = 24,
        platter: Platter | None = None,
    ) -> None:
        self.seed = seed
        self.platter = platter
        self.below: Below | None = None
        self.folder = folder if platter is None else folder / "disk"
        self.folder.mkdir(exist_ok=True)
        self.chance = random.Random(seed)
        self.place = some_place(self.chance)
        self.wall = MachineClocks(self.place.begins)
        self.nodes = nodes
        self.people = [self._person(number) for number in range(people)]
        self.guests = some_guests(people // 3, self.chance, self.names)
        self.post = Post(self.folder, self.chance)
        self.number = 0  # of the step
        self.lives_begun = 0
        self.told: list[str] = []
        self.counted = Counter[str]()  # how often what happened
        self.shelf = hashlib.sha256()  # over everything that happened
        self.gone: set[str] = set()  # processes that are known to be dead
        self.ears = Ears()
        self.loaded: settings.Config
        self.monotonic = self.began = START  # now, and when the step began
        self.ahead = 0.0  # seconds by which what the board believes is ahead of what time it is
        self.is_to_mend = False  # whether somebody is on a day that a wrong clock began
        self.calm_from = 0.0  # monotonic: everybody has noticed what the clocks did
        self.posted_from = 0.0  # monotonic: everybody knows what a command has done to accounts
        self.well_from = 0.0  # monotonic: everybody has noticed that the books can be written
        self.machine: Machine
        self.processes: list[Process] = []
        self.doors: list[Door] = []
        self.settled: Counter[Guest] = Counter()  # minutes that arrived, as the sysop said
        self.written: dict[str, bool] = {}  # claims that a host has found
        self.possible: set[State] = set()  # states of the books that a crash may leave
        # Others that it may leave while no server has seen to it that what it found is on the disk.
        self.earlier: set[State] = set()
        self.lost_end: int | None = None  # the generation of books that have lost theirs
        self.back: list[Guest] = []  # who is back since the books were last looked at
        self.restores = Restores(self)
        self._starts = False  # whether no server serves yet
        self.is_over = False  # for the books are beyond repair, as a sysop was told
        self.stood: set[tuple[int, int]] = set()  # actions, by round, for those who were away
        self.readings = Readings()  # of the clocks that are believed
        self._closing = ExitStack()

    # From beginning to end.

    def __enter__(self) -> Self:
        self._closing.enter_context(one_machine(lambda process: process in self.gone))
        self._closing.enter_context(doors_live())
        self._closing.enter_context(noticing(self.stood, self.readings))
        for name in LOGGERS:
            logger = logging.getLogger(name)
            logger.addHandler(self.ears)
            self._closing.callback(logger.removeHandler, self.ears)
            self._closing.callback(setattr, logger, "propagate", logger.propagate)
            logger.propagate = False
        self.write_settings()
        self.watch = Watch(self._load().database, self.post)
        if self.platter is not None:
            self.below = Below(
                self.platter, self.folder, self.watch.path, self.folder.with_name("eyes")
            )
            self.platter.begin(self.folder, self.watch.path, self.chance.getrandbits(62))
            self._closing.callback(self.platter.end)
            self._closing.enter_context(self.platter.durable(1))
            pool = logging.getLogger("sqlalchemy.pool")  # it misses the connections of the dead
            silence = logging.NullHandler()
            pool.addHandler(silence)
            self._closing.callback(pool.removeHandler, silence)
        self.inspection = Inspection(self)
        self._switch_on()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.ears.is_listening = False
        self.watch.close()
        if not self.machine.loop.is_closed():
            for life in self.lives():
                life.bury()
            self.machine.end()
        self._closing.close()

    def play(self, steps: int) -> None:
        """Go through so many steps, and end with an audit of everything."""
        for _ in range(steps):
            self.step()
            if self.is_over:
                return
        self._end()

    def step(self) -> None:
        """Let one thing happen, and all that follows from it; then check."""
        self.number += 1
        began = self.began = self.monotonic
        happens = self.restores.due() or happenings.choose(self)
        self.counted[happens.__name__] += 1
        try:
            happens(self)
            self.settle()
        except Killed:
            self._bury_the_dead(began)
        else:
            self._keep_time()
            self._take_back()
            if self.below is not None and self.below.has_failed():
                self.well_from = self.monotonic + POSTED
            self.inspection.after_step(began)

    def _end(self) -> None:
        """Mend the disk, let everybody go, and audit the books."""
        began = self.monotonic
        self.tell("the end: everybody hangs up")
        self.mend()
        for life in self.lives():
            life.mortal.lives_on()
            for wire in life.wires():
                wire.lose()
        self.let_pass(5)
        self.settle()
        self._keep_time()
        self._take_back()
        self.inspection.after_step(began)
        happenings.set_right(self)
        self.let_pass(POSTED)  # and whatever waited for the books goes its way
        self._keep_time()
        self.inspection.after_step(began)
        self.inspection.at_the_end()
        for process in self.processes:
            process.stop()
        self.watch.close()
        self.machine.end()

    # Time.

    def let_pass(self, seconds: float) -> None:
        """Let time pass; raises `Killed` when a process dies meanwhile."""
        self.machine.run(asyncio.sleep(seconds))

    def settle(self) -> None:
        """Let everything happen that follows by itself, until nobody waits for the books."""
        for _ in range(40):
            self.let_pass(SETTLE)
            if all(life.is_idle for life in self.lives()):
                self.let_pass(ANSWERED)  # what was answered just now is taken in
                if all(life.is_idle for life in self.lives()):
                    return

    def _keep_time(self) -> None:
        self.monotonic = self.machine.loop.time()

    def really(self) -> datetime:
        """Tell what time it is, whatever the wall clock shows."""
        running = hasattr(self, "machine") and not self.machine.loop.is_closed()
        return self.wall.really(self.machine.loop.time() if running else self.monotonic)

    def now(self) -> datetime:
        """Tell what time it is for the board."""
        return self.really() + timedelta(seconds=self.ahead)

    def clock(self) -> BelievedClock:
        """Give the clock of a command that is run beside the board."""
        clock = BelievedClock(ProcessClock(self.machine.loop, self.wall, lambda: False))
        database = Database(self.config.database, busy_seconds=0)
        try:
            with database.reading(self.config.bank, clock.reading()) as desk:
                clock.adopt(clock.judge(desk))
        finally:
            database.close()
        return clock

    @property
    def is_led_astray(self) -> bool:
        """Whether the board goes by a wrong clock, or somebody must mend what one did."""
        return bool(self.ahead) or self.is_to_mend

    def learn_what_is_to_be_mended(self, file: sqlite3.Connection) -> None:
        """Look into older books: what a wrong clock did may be in them although it was mended."""
        (day,) = file.execute("SELECT coalesce(max(day), '') FROM callers").fetchone()
        self.is_to_mend = day > self._day_after(LATE + DAY)

    def _learn_what_is_believed(self) -> None:
        """Ask a server that has just started in books that may be older."""
        believed = self.processes[0].board.clock.now()
        ahead = (believed - self.really()).total_seconds()
        self.ahead = ahead if abs(ahead) > LEAP else 0.0

    def latest_day(self) -> str:
        """Give the last day on which the board may ever have been, in its zone.

        A correction that it had not written down before a kill is one that it does not know of.
        Until what a wrong clock did is mended, it may have been anywhere.
        """
        if self.is_led_astray:
            return "9999-12-31"
        return self._day_after(LATE)

    def _day_after(self, time: timedelta) -> str:
        latest = max(self.really(), self.wall.furthest) + time
        return latest.astimezone(ZoneInfo(self.place.zone)).date().isoformat()

    # Lives and deaths.

    def lives(self) -> list[Life]:
        return [*self.processes, *self.doors]

    def books_at_the_command_line(self) -> Database:
        """Open the books as a command of the sysop does, which is a process of its own."""
        if self.below is None:
            return Database(self.config.database, busy_seconds=0)
        machine = self.machine
        return Books(self.config.database, Mortal(machine.disk, self.chance, machine.loop.time))

    def start_door(self, guest: Guest) -> None:
        """Have a board hand a caller over to a door of his own."""
        self.lives_begun += 1
        name = f"door {self.lives_begun}"
        node = 1 + self.lives_begun % 90
        shown = self.wall.at(self.monotonic)
        wall = shown.astimezone(ZoneInfo(self.place.zone))
        folder = self.folder / "hosts" / guest.board / f"node{node}"
        handed = hand_over(guest, node, folder, self.monotonic, wall)
        if handed.until is not None:  # by a clock that the board may not believe
            until = handed.until.astimezone(UTC) - (shown - self.now())
            handed = replace(handed, until=until)
        door = Door(self.machine, self._load(), name, self._new_seed, guest, handed)
        self.doors.append(door)
        guest.doors.append(door)
        self.watch.started[name] = self.monotonic
        door.open(node, wall)
        guest.wires.append(door.wire)

    def _take_back(self) -> None:
        """Let boards take back callers whose doors have ended, and read what those have left."""
        for door in list(self.doors):
            if door.task.done():
                failure = door.task.exception()
                must(failure is None, "{} has failed: {!r}", door.name, failure)
                self.doors.remove(door)
                self._is_back(door)

    def _is_back(self, door: Door) -> None:
        guest, minutes = door.guest, door.handed.read()
        self.tell(f"{guest.name} is back from {door.name}, {minutes} min more")
        guest.doors.remove(door)
        guest.reads(minutes)
        if minutes:
            self.counted["_given back"] += 1
            must(door.claims, "{} min were given that nobody has claimed", minutes)
            claim = door.claims[-1]
            must(claim.minutes == minutes, "{} min were given of {}", minutes, claim)
            self.written[claim.token] = True
        if not guest.doors and self.chance.random() < 0.4:
            guest.logs_off(self.monotonic)
        if not guest.doors:
            self.back.append(guest)

    def start_process(self) -> bool:
        """Start a server beside those there are; False when it is killed while it starts."""
        self.lives_begun += 1
        name = f"process {self.lives_begun}"
        process = Process(self.machine, self._load(), name, self._new_seed)
        if self.chance.random() < 0.1:
            process.mortal.dies_at = self.chance.randint(1, 60)
        elif self.below is not None and self.chance.random() < 0.15:
            self.below.control.dies_in = self.chance.randint(1, 60)
        self.processes.append(process)
        self.calm_from = self.monotonic + NOTICED
        self.well_from = max(self.well_from, self.calm_from)
        try:
            process.open()
        except (Killed, Exception) as error:
            if not isinstance(error, Killed) and not self._everything_stands_still():
                raise
            process.mortal.dead = True
            self.tell(f"{name} is killed while it starts")
            self.counted["killed"] += 1
            return False
        if self.below is not None:
            self.below.control.dies_in = 0
        return True

    def _everything_stands_still(self) -> bool:
        """Whether a process has died in an operation of the disk, and does not know it yet."""
        return self.below is not None and bool(self.below.control.has_died)

    def stop_process(self, process: Process) -> None:
        """End one in peace."""
        for each in self.lives():
            each.mortal.lives_on()
        process.stop()
        self.processes.remove(process)
        self._keep_time()
        self._take_back()

    def restart(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Stop everything in peace, and start anew; `meanwhile` comes between."""
        self.mend()
        for life in self.lives():
            life.mortal.lives_on()
        for door in self.doors:
            door.wire.lose("SIGTERM")
        self.let_pass(GIVEN_BACK)
        self._keep_time()
        self._take_back()
        must(not self.doors, "{} does not end", self.doors)
        self.watch.close()
        for process in list(self.processes):
            self.stop_process(process)
        self.machine.end()
        meanwhile()
        self.ears.forget()
        happenings.boot(self)
        if self.below is not None and self.chance.random() < 0.5:
            self._closed_books_last()
        if not self.is_over:
            self._switch_on()

    def mend(self) -> None:
        """Let the books be written again."""
        self.machine.disk.mend()
        self.well_from = self.monotonic + POSTED

    def _switch_on(self) -> None:
        """Start the machine and a server on it; it may be killed while it starts."""
        self.machine = Machine(self._load(), self.wall, self.monotonic, self.chance, self.below)
        below = self.below
        self._starts = True
        if below is not None:
            below.begins_alone()
        if self.start_process():
            self._starts = False
            if below is not None:
                below.tracks = False
                self.earlier.clear()
            self._keep_time()
            self._learn_what_is_believed()
            self.watch.open()
            return
        if below is not None:
            below.loses_power = self.chance.random() < 0.5
            self.possible = below.possible(below.now)
        self._fall([], self.began)

    def _closed_books_last(self) -> None:
        """Lose the power when everything was closed in peace: it is there, or the disk has lied."""
        below = self.below
        assert below is not None  # else there is none to lose it
        self.possible, below.loses_power = {below.state()}, True
        self._crash_below([], self.began)

    def _bury_the_dead(self, began: float) -> None:
        """See what is left after a kill: on the disk, and on the screens; then go on."""
        self._keep_time()
        screens = self.screens()
        # None is a command of the sysop's: a process of its own, which nobody calls.
        dead = self._dead()
        self.tell(f"{dead.name if dead else 'the command'} is killed")
        self.counted["killed"] += 1
        is_last = self.processes == [dead] and not self.doors
        below = self.below
        if below is not None:
            is_last |= below.loses_power or below.accident is not None
            spoiled = below.accident is not None and below.accident.loses_end
            self.possible = set() if spoiled else below.possible(self.visible())
        if is_last or self.chance.random() < (0.4 if dead in self.processes else 0.05):
            self.watch.close()
            self._fall(screens, began)
            return
        self.remove(dead)
        left = self.lives()
        self.inspection.after_kill(began, [screen for screen in screens if screen.life not in left])
        while not self.processes:  # doors go on, beside another server
            self.monotonic = self.machine.loop.time()
            self.mend()  # on a disk that fails a server only says so, and ends
            if not self.start_process():
                self.remove(self.processes[-1])

    def visible(self) -> State:
        """Return the state of the books that all can see."""
        with self.watch.reading() as file:
            return state_of(file)

    def _dead(self) -> Life | None:
        """Give the first process that is dead and not buried."""
        return next((life for life in self.lives() if life.mortal.dead), None)

    def remove(self, dead: Life | None) -> None:
        """Bury a process that was killed, if it was not a command alone; the others go on."""
        for life in self.lives():
            life.mortal.lives_on()
        if self.below is not None:
            self.below.one_has_died()
        if dead is not None:
            self.ears.is_listening = False
            dead.bury()
            self.ears.is_listening = True
            self._has_gone(dead)
        self.ears.forget()
        # A disk that fails may have killed more meanwhile.
        while (
            other := next((life for life in self.lives() if life.mortal.dead), None)
        ) is not None:
            self.tell(f"{other.name} is killed, too")
            self.counted["killed"] += 1
            self.remove(other)
        self.well_from = self.monotonic + POSTED
        self._keep_time()

    def _has_gone(self, dead: Life) -> None:
        """Take note that a process was buried."""
        self.inspection.remember_rules(dead)
        self._is_known_to_be_gone(dead)
        if isinstance(dead, Process):
            self.processes.remove(dead)
        elif isinstance(dead, Door):
            self.doors.remove(dead)
            self._is_back(dead)

    def _fall(self, screens: Sequence[Screen], began: float) -> None:
        """Let all processes be gone, and others rise some time later; look at what is left."""
        # What the disk above SQLite has then; a command dies on the one below alone.
        left = next((life.mortal.left for life in self.lives() if life.mortal.dead), None)
        self._keep_time()
        self.ears.is_listening = False
        for life in self.lives():
            life.mortal.dead = True
        fallen = self.lives()
        if self.below is not None:
            self.below.control.frozen = 1
        for life in fallen:
            life.bury()
        self.ears.is_listening = True
        self.ears.forget()
        self.machine.end()
        if self.below is not None:
            gc.collect()  # no connection is closed later
            self._crash_below(screens, began, fallen)
        else:
            assert left is not None  # one of them has died
            self.machine.disk.restore(left)
            for life in fallen:
                self._has_gone(life)
            if not self._starts:
                self.watch.open()
                self.inspection.after_kill(began, screens)
                self.watch.close()
        if self.is_over:
            return
        self.monotonic += self.chance.choice((0.5, 5, 25, 40, 300, 20_000))
        happenings.boot(self)
        self._switch_on()

    def _crash_below(
        self, screens: Sequence[Screen], began: float, fallen: Sequence[Life] = ()
    ) -> None:
        """Lose what nobody made durable, and look at what is left."""
        below = self.below
        assert below is not None  # it crashes
        has_lied, in_order = below.has_lied and below.loses_power, below.kept_order
        lost = below.loses_power
        self.tell(below.crash(self.chance))
        accident, below.accident = below.accident, None
        for life in fallen:
            self._has_gone(life)
        copy = below.copied()
        self.counted["crashes"] += 1
        if lost and accident is None and not has_lied:
            crashes.forget_what_the_power_took(self, copy)
        if accident is not None:
            crashes.look_after_an_accident(self, copy, began, screens, accident)
        elif has_lied:
            crashes.look_after_a_lie(self, copy, began, in_order=in_order)
        else:
            crashes.look(self, copy, began, screens)
        if lost:
            self.earlier.clear()
        else:
            self.earlier |= self.possible

    def _is_known_to_be_gone(self, process: Life) -> None:
        """A process on this machine is known to be dead; of others, their leases tell."""
        if self.chance.random() < 0.7:
            self.gone.add(process.name)

    # Small things.

    @property
    def toml(self) -> Path:
        return self.folder / "sysop.toml"

    def write_settings(self) -> None:
        """Write another sysop.toml."""
        toml = some_house(self.chance, self.place, self.nodes)
        self.toml.write_text(toml, encoding="utf-8")

    def _load(self) -> settings.Config:
        try:
            self.loaded = settings.load(self.toml)
        except SettingsError:  # broken by a reload: the sysop mends it
            self.write_settings()
            self.loaded = settings.load(self.toml)
        return self.loaded

    @property
    def config(self) -> settings.Config:
        """The settings that count."""
        return self.processes[0].board.config if self.processes else self.loaded

    def everybody(self) -> list[Person]:
        return [*self.people, *self.guests]

    def names(self) -> list[str]:
        return [person.name for person in self.everybody()]

    def on_line(self) -> list[tuple[Person, Wire]]:
        return [(person, wire) for person in self.everybody() if (wire := person.wire)]

    def screens(self) -> list[Screen]:
        """Give everybody who is on a call, with what he sees and who serves him."""
        by_wire = {wire: person for person in self.everybody() for wire in person.wires}
        found, away = [], {}
        for life in reversed(self.lives()):
            for caller in life.callers():
                line = caller.console.line
                if not isinstance(line, Wire):
                    line = away.get(caller.call_id)  # he is at a table of another process
                elif caller.is_away:
                    away[caller.call_id] = line
                    continue
                if line in by_wire:
                    found.append(Screen(life, by_wire[line], line, caller))
        return found

    def tell(self, words: str) -> None:
        """Write a line of the story."""
        line = f"{self.number:>6} {self.now():%d %b %H:%M:%S}Z  {words}"
        self.told.append(line)
        self.shelf.update(line.encode())

    def _new_seed(self) -> bytes:
        return self.chance.randbytes(32)

    def _person(self, number: int) -> Person:
        name = f"{('Ann', 'Bob', 'Cyd', 'Dan', 'Eve', 'Fay')[number % 6]}{number:02}"
        telephone = self.chance.choice((*TELEPHONES, TELEPHONES[0]))
        return Person(name, telephone, self.chance, self.names)
