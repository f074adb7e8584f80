"""One seed's story: processes are born and killed, and inspected then.

`happenings` has the possible events of a step, `evening` their sequence.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self
from zoneinfo import ZoneInfo

from door.errors import CannotJoin
from timebank.servers.registry import LIVING_SECONDS
from verify.simulate.below import Below
from verify.simulate.books import Watch
from verify.simulate.counter import counters_open
from verify.simulate.crashes import Crashes
from verify.simulate.disk import Disk, Killed
from verify.simulate.doors import Door, doors_live
from verify.simulate.hosts import Guest, hand_over
from verify.simulate.inspection import Inspection
from verify.simulate.life import Life, Machine, Process, one_machine
from verify.simulate.platter import Platter
from verify.simulate.restores import Restores
from verify.simulate.rules_of_time import noticing
from verify.simulate.world import POSTED, Screen, World
from verify.simulate.wrong import must

if TYPE_CHECKING:
    from tests.timebank.cluster import Cluster

LOGGERS = ("door", "timebank", "asyncio")
NOTICED = 3.0  # seconds until everybody has seen that a clock was set
GIVEN_BACK = 4.0  # seconds until a door has given back and ended: four messages, half a second each


class Story(World):
    """A board, its callers, and everything that befalls them, from one seed."""

    def __init__(
        self,
        seed: int,
        folder: Path,
        people: int,
        nodes: int,
        platter: Platter | None = None,
        cluster: Cluster | None = None,
        early: bool = False,
        company: bool = False,
        savers: bool = False,
        relays: bool = False,
    ) -> None:
        asked = (platter, cluster, early, company, savers, relays)
        super().__init__(seed, folder, people, nodes, *asked)
        self.gone: set[str] = set()  # processes known to be dead
        self.inspection = Inspection(self)
        self.restores = Restores(self, self.inspection)
        self.crashes = Crashes(self, self.inspection)
        self._starts = False  # whether no server serves yet
        self._closing = ExitStack()

    def _disk(self, path: Path) -> Disk:
        """Return the medium of the books."""
        if self.server is None:
            return Disk(path, self.chance, self.below)
        from verify.simulate.server import Served  # an extra reaches it

        # `door serve` makes the folder; books in a file would have made it, too.
        self.loaded.board.data.mkdir(0o700, exist_ok=True)
        return Served(self.server, path, self.chance, self.counted)

    def _watching(self, path: Path) -> Watch:
        if self.server is None:
            return Watch(path, self.post)
        from verify.simulate.server import Mirror, on_server  # an extra reaches it

        self._closing.callback(self.server.throw_away)
        self._closing.enter_context(on_server(self.server, self._monotonic))
        mirror = Mirror(self.server, self.folder / "mirror.sqlite3")
        self._closing.callback(mirror.forget)
        return Watch(mirror.path, self.post, mirror)

    def _monotonic(self) -> float:
        return self.machine.loop.time()

    # From beginning to end.

    def __enter__(self) -> Self:
        self._closing.enter_context(one_machine(self._is_gone))
        self._closing.enter_context(doors_live())
        self._closing.enter_context(counters_open())
        self._closing.enter_context(noticing(self.readings))
        for name in LOGGERS:
            logger = logging.getLogger(name)
            logger.addHandler(self.ears)
            self._closing.callback(logger.removeHandler, self.ears)
            self._closing.callback(setattr, logger, "propagate", logger.propagate)
            logger.propagate = False
        self.write_settings()
        self.watch = self._watching(self._load().database)
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
        self._switch_on()
        return self

    def _is_gone(self, process: str) -> bool:
        return self.server is None or process in self.gone  # a file has one server at a time

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

    # Lives and deaths.

    def start_door(self, guest: Guest) -> None:
        """Have a board hand a caller over to a door of their own."""
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
        process = (self.machine, self._load(), name, self._new_seed)
        come_since = self.watch.come_since[guest.board, guest.key]
        door = Door(*process, guest, handed, come_since)
        self.doors.append(door)
        door.open(node, wall)
        guest.wires.append(door.wire)

    def take_back(self) -> None:
        """Let boards take back callers whose doors have ended, and read the files."""
        for door in list(self.doors):
            if door.task.done():
                failure = door.task.exception()
                must(failure is None, "{} has failed: {!r}", door.name, failure)
                self.doors.remove(door)
                self._is_back(door)

    def _is_back(self, door: Door) -> None:
        guest, minutes = door.guest, door.handed.read()
        door.is_back = True
        door.forget()
        door.wire.hang_up()
        self.tell(f"{guest.name} is back from {door.name}, {minutes} min more")
        guest.reads(minutes)
        self.counted["_given back"] += bool(minutes)
        sums = [*(before for _, before in door.claims), minutes]
        must(not sums[0], "{} min were given that nobody has claimed", sums[0])
        for (claim, _), (before, after) in zip(door.claims, pairwise(sums), strict=True):
            must(after - before in (0, claim.minutes), "{} min of {}", after - before, claim)
            self.written[claim.token] = after != before
        self.counted["handed over"] += door.end is not None
        self.counted["gone on at another server"] += door.hand_overs > 1
        if not self.doors_of(guest):
            if self.chance.random() < 0.4:
                guest.logs_off(self.monotonic)
            self.back.append(guest)

    def start_process(self) -> bool:
        """Start a further server; return False if it does not come to serve.

        It is killed during the start, or refuses: a dead one with other settings may still hold
        its lease.
        """
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
        except CannotJoin:
            process.mortal.dead = True
            self.tell(f"{name} does not start beside what may live yet")
            self.counted["not started beside others"] += 1
            self.let_pass(LIVING_SECONDS + 1)
            process.mortal.left = self.machine.disk.files()
            return False
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
        self.keep_time()
        self.take_back()

    def restart(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Stop all processes cleanly and start again; `meanwhile` runs in between."""
        self.mend()
        for life in self.lives():
            life.mortal.lives_on()
        for door in self.doors:
            door.wire.lose("SIGTERM")
        self.let_pass(GIVEN_BACK)
        self.keep_time()
        self.take_back()
        must(not self.doors, "{} does not end", self.doors)
        self.watch.close()
        for process in list(self.processes):
            self.stop_process(process)
        self.machine.end()
        meanwhile()
        self.ears.forget()
        self._boot()
        if self.below is not None and self.chance.random() < 0.5:
            self._closed_books_last()
        if not self.is_over:
            self._switch_on()

    def _boot(self) -> None:
        """Perhaps reboot the machine; it may have been off for days, or wake in a year."""
        chance = self.chance
        if chance.random() < 0.5:
            return
        self.wall.reboot()
        if chance.random() < 0.3:
            self.tell("the machine was off for days")
            self.wall.sleep(chance.choice((2, 15)) * 86_400)
        if not self.wall.wrong and not self.is_led_astray and chance.random() < 0.2:
            self.tell("the machine wakes in another year")
            self.wall.go_wrong(31_622_400)
            self.ahead = self.wall.wrong
        elif self.wall.wrong > 0 and not self.is_led_astray:
            self.ahead = self.wall.wrong  # nothing contradicts it any more

    def _switch_on(self) -> None:
        """Start the machine and a server on it; it may be killed while it starts."""
        disk = self._disk(self._load().database)
        self.machine = Machine(self.wall, self.monotonic, self.chance, disk)
        below = self.below
        self._starts = True
        if below is not None:
            below.begins_alone()
        if self.start_process():
            self._starts = False
            if below is not None:
                below.tracks = False
                self.crashes.earlier.clear()
            self.keep_time()
            self._learn_what_is_believed()
            self.watch.open()
            return
        if below is not None:
            below.loses_power = self.chance.random() < 0.5
            self.crashes.possible = below.possible(below.now)
        self._fall([], self.began)

    def _closed_books_last(self) -> None:
        """Lose the power when everything was closed in peace: it is there, or the disk has lied."""
        below = self.below
        assert below is not None  # otherwise there is no power to lose
        self.crashes.possible, below.loses_power = {below.state()}, True
        self._crash_below([], self.began)

    def bury_the_dead(self, began: float) -> None:
        """Inspect the traces of a kill on the disk and the screens; then go on."""
        self.keep_time()
        screens = self.screens()
        # None is a command of the sysop's: a process without callers.
        dead = self._dead()
        self.tell(f"{dead.name if dead else 'the command'} is killed")
        self.counted["killed"] += 1
        is_last = self.processes == [dead] and not self.doors
        below = self.below
        if below is not None:
            is_last |= below.loses_power
            self.crashes.possible = below.possible(self.visible())
        if is_last or self.chance.random() < (0.4 if dead in self.processes else 0.05):
            self.watch.close()
            self._fall(screens, began)
            return
        self.remove(dead)
        left = self.lives()
        self.inspection.after_kill(began, [screen for screen in screens if screen.life not in left])
        self.serve_on()

    def serve_on(self) -> None:
        """Ensure that a server runs: doors go on, at another one."""
        while not self.processes:
            self.monotonic = self.machine.loop.time()
            self.mend()  # on a disk that fails a server only says so, and ends
            if not self.start_process():
                self.remove(self.processes[-1])

    def _dead(self) -> Life | None:
        """Return the first process that is dead and not buried."""
        return next((life for life in self.lives() if life.mortal.dead), None)

    def remove(self, dead: Life | None) -> None:
        """Bury a killed process other than a command; the others go on."""
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
        # A failing disk may have killed more meanwhile.
        while (
            other := next((life for life in self.lives() if life.mortal.dead), None)
        ) is not None:
            self.tell(f"{other.name} is killed, too")
            self.counted["killed"] += 1
            self.remove(other)
        self.well_from = self.monotonic + POSTED
        self.keep_time()

    def _has_gone(self, dead: Life) -> None:
        """Record the burial of a process."""
        self.inspection.remember_rules(dead)
        self._is_known_to_be_gone(dead)
        if isinstance(dead, Process):
            self.processes.remove(dead)
        elif isinstance(dead, Door):
            self.doors.remove(dead)
            self._is_back(dead)

    def _fall(self, screens: Sequence[Screen], began: float) -> None:
        """End all processes, start others some time later, and inspect the traces."""
        # The content of the disk above SQLite; a command dies only on the one below.
        left = next((life.mortal.left for life in self.lives() if life.mortal.dead), None)
        self.keep_time()
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
        self._boot()
        self._switch_on()

    def _crash_below(
        self, screens: Sequence[Screen], began: float, fallen: Sequence[Life] = ()
    ) -> None:
        """Lose everything that is not durable, and inspect the rest."""
        below = self.below
        assert below is not None  # it crashes
        has_lied, in_order = below.has_lied and below.loses_power, below.kept_order
        lost = below.loses_power
        self.tell(below.crash(self.chance))
        for life in fallen:
            self._has_gone(life)
        copy = below.copied()
        self.counted["crashes"] += 1
        if lost and not has_lied:
            self.crashes.forget_what_the_power_took(copy)
        if has_lied:
            self.crashes.look_after_a_lie(copy, began, in_order=in_order)
        else:
            self.crashes.look(copy, began, screens)
        if lost:
            self.crashes.earlier.clear()
        else:
            self.crashes.earlier |= self.crashes.possible

    def _is_known_to_be_gone(self, process: Life) -> None:
        """A dead process on this machine is known to be dead; elsewhere its lease shows it."""
        if self.chance.random() < 0.7:
            self.gone.add(process.name)
