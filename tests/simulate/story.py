"""One seed's evening on the board: what happens at each step, and what must hold after it."""

from __future__ import annotations

import hashlib
import logging
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self
from zoneinfo import ZoneInfo

from door import config as settings
from door import hands
from door.caller import Caller
from tests.simulate import shown
from tests.simulate.books import Watch, must
from tests.simulate.clock import START, WallClock
from tests.simulate.disk import FAULTS, Killed
from tests.simulate.house import next_change, some_house, some_place
from tests.simulate.life import Ears, Life, one_machine
from tests.simulate.people import Person
from tests.simulate.wire import TELEPHONES, Wire
from timebank.database import Database, Desk
from timebank.settings import SettingsError

DAYS_WEAR_OFF = 3.0  # seconds until everybody has noticed that a clock was set
LOGGERS = ("door", "timebank", "asyncio")


class Story:
    """A board, its callers, and everything that befalls them, from one seed.

    `people` is how many callers there are, `nodes` how many of them may be on at once.
    """

    def __init__(self, seed: int, folder: Path, people: int = 60, nodes: int = 24) -> None:
        self.seed = seed
        self.folder = folder
        self.chance = random.Random(seed)
        self.place = some_place(self.chance)
        self.wall = WallClock(self.place.begins)
        self.nodes = nodes
        self.people = [self._person(number) for number in range(people)]
        self.number = 0  # of the step
        self.lives = 0
        self.told: list[str] = []
        self.counted: dict[str, int] = {}  # how often what happened
        self.shelf = hashlib.sha256()  # over everything that happened
        self.gone: set[str] = set()  # processes that are known to be dead
        self.ears = Ears()
        self.journal = shown.Journal()
        self.life: Life
        self._monotonic = START
        self._calm_from = 0.0  # monotonic: everybody has noticed what the clocks did
        self._well_from = 0.0  # monotonic: everybody has noticed that the books can be written
        self._closing = ExitStack()
        self._stand = {name: logging.getLogger(name).level for name in LOGGERS}

    # From beginning to end.

    def __enter__(self) -> Self:
        self._closing.enter_context(one_machine(lambda process: process in self.gone))
        for name in LOGGERS:
            logger = logging.getLogger(name)
            logger.addHandler(self.ears)
            self._closing.callback(logger.removeHandler, self.ears)
            self._closing.callback(setattr, logger, "propagate", logger.propagate)
            logger.propagate = False
        self._write_settings()
        self.watch = Watch(settings.load(self._toml).database)
        self._open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.ears.is_listening = False
        self.watch.close()
        if not self.life.loop.is_closed():
            self.life.bury()
        self._closing.close()

    def play(self, steps: int) -> None:
        """Go through so many steps, and end with an audit of everything."""
        for _ in range(steps):
            self.step()
        self.end()

    def step(self) -> None:
        """Let one thing happen, and all that follows from it; then check."""
        self.number += 1
        began = self._monotonic
        happens = self._choose()
        try:
            happens()
            self.life.settle()
        except Killed:
            self._die(began)
            return
        self._check(began)

    def end(self) -> None:
        """Mend the disk, let everybody go, and audit the books."""
        began = self._monotonic
        self._tell("the end: everybody hangs up")
        machine = self.life.machine
        machine.mend()
        machine.dies_at, machine.dies_committing = 0, ""
        for wire in list(self.life.sessions.values()):
            wire.lose()
        self.life.run(5)
        self.life.settle()
        self._check(began)
        board = self.life.board
        must(not self.life.sessions, "{} sessions are left", len(self.life.sessions))
        must(not board.nodes, "nodes {} are left", board.nodes)
        must(not board.consoles, "{} consoles are left", len(board.consoles))
        self._audit()
        self.life.stop()
        self.watch.close()

    # What may happen.

    def _choose(self) -> Callable[[], None]:
        """Choose what happens now: mostly that callers press keys."""
        ways: dict[Callable[[], None], float] = {
            self._press: 60,
            self._call: 14 if len(self.life.board.consoles) < self.nodes else 1,
            self._wait: 12,
            self._hang_up: 3,
            self._call_twice: 0.6,
            self._wait_long: 0.5,
            self._meet_a_boundary: 0.4,
            self._set_the_clock: 0.5,
            self._break_the_disk: 0.7,
            self._kill: 0.8,
            self._restart: 0.15,
            self._reload: 0.5,
        }
        if not self.life.machine.is_well:
            ways[self._mend] = 25
        (happens,) = self.chance.choices(list(ways), list(ways.values()))
        self.counted[happens.__name__] = self.counted.get(happens.__name__, 0) + 1
        return happens

    def _press(self) -> None:
        """Let some callers read their screens and press keys, at the same moment."""
        on = [(person, wire) for person in self.people if (wire := person.wire)]
        if not on:
            self._call()
            return
        for person, wire in self.chance.sample(on, min(len(on), self.chance.randint(1, 12))):
            news = wire.screen.came != person.seen
            if not news and self.chance.random() < 0.8:
                continue
            person.seen = wire.screen.came
            keys = person.decides(wire.screen.prompt)
            if keys:
                self._type(person, wire, keys)

    def _type(self, person: Person, wire: Wire, keys: str) -> None:
        data = keys.encode("ascii")
        way = self.chance.random()
        if way < 0.012:  # the carrier is lost while he types
            sent = data[: self.chance.randint(0, len(data))]
            self._tell(f"{person.name} types {sent!r} and loses the carrier")
            wire.type(sent)
            wire.hang_up_in_peace() if self.chance.random() < 0.5 else wire.lose()
            return
        if way < 0.024:  # or while he is answered
            wire.loses_after = self.chance.choice((1, 10, 100, 1000)) * self.chance.randint(1, 9)
            self._tell(f"{person.name} loses the carrier after {wire.loses_after} bytes")
        elif way < 0.03:
            wire.reads = False
        self._tell(f"{person.name} types {keys!r} at {wire.screen.prompt.strip()[-40:]!r}")
        wire.type(data)

    def _call(self) -> None:
        """Let a few who are not on line call."""
        off = [person for person in self.people if person.wire is None]
        for person in self.chance.sample(off, min(len(off), self.chance.randint(1, 6))):
            self._dial(person)

    def _call_twice(self) -> None:
        """Let somebody who is on line call a second time."""
        on = [person for person in self.people if person.wire is not None]
        if on:
            self._dial(self.chance.choice(on))

    def _dial(self, person: Person) -> None:
        address = f"192.0.2.{self.chance.randint(1, 250)}"
        self._tell(f"{person.name} calls from {address}")
        person.wires.append(self.life.connect(person.telephone, address))

    def _hang_up(self) -> None:
        on = [(person, wire) for person in self.people if (wire := person.wire)]
        for person, wire in self.chance.sample(on, min(len(on), self.chance.randint(1, 4))):
            self._tell(f"{person.name} loses the carrier")
            wire.lose()

    def _wait(self) -> None:
        self._pass(self.chance.choice((0.3, 1, 2, 5, 15, 61)) * self.chance.uniform(0.5, 1.5))

    def _wait_long(self) -> None:
        self._pass(self.chance.choice((200, 400, 1200, 4000, 20_000)))

    def _meet_a_boundary(self) -> None:
        """Wait, or have the clock set, until shortly before something changes."""
        now, schedule = self._now(), self._config().bank.schedule
        boundaries = [schedule.next_day(now)]
        closed = schedule.closed_at_or_after(now)
        if closed is not None:
            boundaries += [closed.start if closed.start > now else closed.end]
        change = next_change(self.place, now)
        if change is not None:
            boundaries.append(change)
        before = self.chance.choice((3, 20, 100, 400, 1500))
        wait = (self.chance.choice(boundaries) - now).total_seconds() - before
        if wait <= 0:
            return
        if self.chance.random() < 0.5:
            self._step_clock(wait)
        else:
            self._pass(wait)

    def _set_the_clock(self) -> None:
        self._step_clock(self.chance.choice((1, -1)) * self.chance.choice((1, 7, 60, 3600, 90_000)))

    def _step_clock(self, seconds: float) -> None:
        self._tell(f"the wall clock is set by {seconds:.0f} s")
        self.wall.step(seconds)
        self._calm_from = self._monotonic + DAYS_WEAR_OFF
        self._pass(self.chance.choice((0.1, 4)))

    def _break_the_disk(self) -> None:
        machine = self.life.machine
        if not machine.is_well:
            return
        fault = self.chance.choice((*FAULTS, None))
        if fault is None:
            try:
                machine.lock()
            except sqlite3.OperationalError:
                return
            self._tell("another process locks the books")
        else:
            self._tell(f"the disk: {fault.words}, chance {fault.chance}")
            machine.fault = fault

    def _mend(self) -> None:
        self._tell("the books can be written again")
        self.life.machine.mend()
        self._well_from = self._monotonic + 65

    def _kill(self) -> None:
        """Arrange for the process to be killed soon: at an operation, or in a COMMIT."""
        machine = self.life.machine
        if self.chance.random() < 0.5:
            machine.dies_at = machine.operations + self.chance.randint(1, 200)
            self._tell(f"the process will be killed at operation {machine.dies_at}")
        else:
            machine.dies_committing = self.chance.choice(("before", "within", "within", "after"))
            self._tell(f"the process will be killed {machine.dies_committing} a COMMIT")

    def _restart(self) -> None:
        self._tell("the server is stopped in peace")
        self._mend()
        self.watch.close()
        self.life.stop()
        self._monotonic = self.life.loop.time()
        self.ears.errors.clear()
        self._open()

    def _reload(self) -> None:
        if self.chance.random() < 0.1:
            self._tell("sysop.toml is broken, and read again")
            self._toml.write_text("[board]\nnodes = 'many'\n", encoding="utf-8")
        else:
            self._tell("sysop.toml is changed, and read again")
            self._write_settings()
        self.life.server.reload()
        self.ears.errors = [error for error in self.ears.errors if "is not used" not in error]
        self._calm_from = self._monotonic + DAYS_WEAR_OFF
        self._pass(self.chance.choice((0.1, 4)))

    # Lives and deaths.

    def _open(self) -> None:
        """Start a server; it may be killed while it starts."""
        try:
            config = settings.load(self._toml)
        except SettingsError:  # broken by the last reload: the sysop mends it
            self._write_settings()
            config = settings.load(self._toml)
        self.lives += 1
        name = f"process {self.lives}"
        self.life = Life(config, name, self._monotonic, self.wall, self.chance, self._new_seed)
        self._calm_from = self._well_from = self._monotonic + DAYS_WEAR_OFF
        if self.chance.random() < 0.1:
            self.life.machine.dies_at = self.chance.randint(1, 60)
        try:
            self.life.open()
        except Killed:
            self._tell("the process is killed while it starts")
            self._rise()
            return
        self.watch.open()
        for person in self.people:
            person.wires.clear()

    def _die(self, began: float) -> None:
        """See what is left after a kill: on the disk, and on the screens."""
        self._tell("the process is killed")
        self.watch.close()
        screens = [
            (person, wire, caller)
            for person in self.people
            for wire in person.wires
            if (caller := self.life.caller_on(wire)) is not None
        ]
        old = self.life
        self._rise(lambda: self._check_dead(began, screens, old))

    def _rise(self, look: Callable[[], None] = lambda: None) -> None:
        """Go on after a kill, some time later; `look` is called before anything else."""
        old = self.life
        self._monotonic = old.loop.time()
        self.ears.is_listening = False
        old.bury()
        self.ears.is_listening = True
        self.ears.failures.clear()
        self.ears.errors.clear()
        if self.chance.random() < 0.7:
            self.gone.add(old.name)
        old.machine.restore()
        look()
        self._monotonic += self.chance.choice((0.5, 5, 25, 40, 300, 20_000))
        self._open()

    def _check_dead(
        self, began: float, screens: list[tuple[Person, Wire, Caller]], old: Life
    ) -> None:
        self.watch.open()
        try:
            self.watch.nothing_is_lost()
            self.watch.step(began, self._monotonic, self._latest_day())
            self._audit()
            with self._looking() as look:
                for person, wire, caller in screens:
                    look(person, wire, caller)
        finally:
            self.watch.close()

    # Checks.

    def _check(self, began: float) -> None:
        """Check everything that can be checked at any moment."""
        now = self._monotonic = self.life.loop.time()
        problems = [*self.life.loop.problems, *self.ears.failures]
        must(not problems, "{}", "\n".join(problems))
        if not self._has_been_well():
            self.ears.errors.clear()
        must(not self.ears.errors, "the log says: {}", self.ears.errors)
        self.watch.step(began, now, self._latest_day())
        with self._looking() as look:
            for person in self.people:
                for wire in person.wires:
                    caller = self.life.caller_on(wire)
                    if caller is not None:
                        self._check_purse(caller, wire)
                        if wire.screen.came != wire.looked_at:
                            look(person, wire, caller)
                            wire.looked_at = wire.screen.came
        self._check_calls()
        self._learn_names()
        if self.number % 400 == 0:
            self._audit()
        came = sum(wire.screen.came for person in self.people for wire in person.wires)
        self.shelf.update(f"{now:.4f} {self.watch.last} {came}".encode())

    def _learn_names(self) -> None:
        """Tell people that the board has their names."""
        with self.watch.reading() as file:
            names = {name for (name,) in file.execute("SELECT name FROM callers")}
        for person in self.people:
            person.is_known = person.name in names

    def _has_been_well(self) -> bool:
        return self.life.is_well and self._monotonic >= self._well_from

    def _check_calls(self) -> None:
        """No caller and no call is there twice; nobody who may go on is past an event."""
        callers = self.life.board.callers()
        ids = [caller.call_id for caller in callers]
        must(len(set(ids)) == len(ids), "calls are there twice: {}", ids)

    def _check_purse(self, caller: Caller, wire: Wire) -> None:
        """What the board thinks he has is what the books say, less what has ticked since."""
        if not self.life.writer.is_idle or not self._has_been_well():
            return
        with self.watch.reading() as file:
            row = file.execute(PURSE, (caller.call_id,)).fetchone()
        if row is None:  # his call is closed, and he is being told
            return
        online, ticked = row
        left = max(0, online - max(0, caller.ticked() - ticked))
        name = caller.record.name
        must(caller.spendable() == left, "{} has {}, not {}", name, left, caller.spendable())
        seen = shown.time_left(wire.screen)
        is_told = wire.telephone.paints and not wire.closed and not caller.status_waits
        if seen is not None and is_told:
            must(seen == left, "{} sees {} left, and has {}", name, seen, left)
        to_event = caller.seconds_to_event()
        if to_event is not None and self._monotonic > self._calm_from:
            most = to_event + 2
            must(left <= most, "{} has {}, {} to the event", name, left, to_event)

    @contextmanager
    def _looking(self) -> Iterator[Callable[[Person, Wire, Caller], None]]:
        """Give what compares a screen with the books as they are now."""
        config = self._config()
        eyes = Database(config.database, busy_seconds=0)
        try:
            with (
                self.watch.reading() as file,
                eyes.reading(config.bank, self._now()) as desk,
            ):
                yield lambda person, wire, caller: self._look(file, desk, person, wire, caller)
        finally:
            eyes.close()

    def _look(
        self,
        file: sqlite3.Connection,
        desk: Desk,
        person: Person,
        wire: Wire,
        caller: Caller,
    ) -> None:
        """Nothing on a caller's screen may be news to the books."""
        shown.seals_are_kept(wire.screen, file, paints=person.telephone.paints)
        game = shown.GAMES.get(caller.place)
        if game is None:
            return
        seen = shown.cards(game, wire.screen, paints=person.telephone.paints)
        if seen:
            lie = self.journal.cards(desk, caller.record.id, game)
            known = any(seen <= cards for cards in lie)
            picture = wire.screen.picture
            must(known, "{} sees {} at {}, not {}\n{}", person.name, seen, game, lie, picture)
            self.counted["cards seen"] = self.counted.get("cards seen", 0) + 1

    def _audit(self) -> None:
        """Run `timebank audit` and `door audit`, which is the first and every hand replayed."""
        config = self._config()
        database = Database(config.database, busy_seconds=0)
        try:
            with database.reading(config.bank, self._now()) as desk:
                findings, _ = hands.audit(desk)
            must(not findings, "the audit: {}", [str(finding) for finding in findings])
        finally:
            database.close()
        self.counted["audit"] = self.counted.get("audit", 0) + 1

    # Small things.

    @property
    def _toml(self) -> Path:
        return self.folder / "sysop.toml"

    def _config(self) -> settings.Config:
        return self.life.board.config if hasattr(self.life, "server") else self.life.config

    def _write_settings(self) -> None:
        toml = some_house(self.chance, self.place, self.nodes)
        self._toml.write_text(toml, encoding="utf-8")

    def _now(self) -> datetime:
        return self.wall.at(self._monotonic)

    def _latest_day(self) -> str:
        self._now()
        return self.wall.furthest.astimezone(ZoneInfo(self.place.zone)).date().isoformat()

    def _pass(self, seconds: float) -> None:
        self._tell(f"{seconds:.1f} s pass")
        self.life.run(seconds)

    def _new_seed(self) -> bytes:
        return self.chance.randbytes(32)

    def _person(self, number: int) -> Person:
        name = f"{('Ann', 'Bob', 'Cyd', 'Dan', 'Eve', 'Fay')[number % 6]}{number:02}"
        telephone = self.chance.choice((*TELEPHONES, TELEPHONES[0]))
        return Person(name, telephone, self.chance, lambda: [each.name for each in self.people])

    def _tell(self, words: str) -> None:
        now = self._now() if not hasattr(self, "life") else self.wall.at(self.life.loop.time())
        line = f"{self.number:>6} {now:%d %b %H:%M:%S}Z  {words}"
        self.told.append(line)
        self.shelf.update(line.encode())


PURSE = (
    "SELECT a.balance, k.ticked FROM calls k JOIN accounts a ON a.caller_id = k.caller_id"
    " AND a.kind = 'online' WHERE k.id = ? AND k.closed IS NULL"
)
