"""All machines of a run, with boards and robots, and their repair."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from verify.machines import phones
from verify.machines.databases import (
    CALLERS_PORT,
    DATABASES,
    FRONT,
    MENDING_SECONDS,
    SERVERS,
    Databases,
)
from verify.machines.networks import CannotBeDone, inside
from verify.machines.programs import Program, wait_until
from verify.robots import house

HEALTH_PORT = 2330
PHONES, PHONES_NUMBER = "phones", 41
ROBOTS = 16
SOCIABLE = 0.5  # of them like the tables of Vegas best
TABLES = 2  # there
STARTING_SECONDS = 60.0
GOOD_BYE_SECONDS = 60.0
FILLER = "filler"
FIRST = next(iter(SERVERS))
HOME = Path(__file__).parents[2]
Tell = Callable[[str], None]


class World:
    """The machines, and the chance that decides their faults."""

    def __init__(self, databases: Databases, folder: Path, seed: int, tell: Tell) -> None:
        """Have books of its own on these databases; `folder`, which is new, gives them their name.

        Nothing is made yet.
        """
        self.folder = folder
        self.chance = random.Random(seed)
        self.tell = tell
        self.network = databases.network
        self.databases = databases
        self.url = ""
        self.servers: dict[str, Program] = {}
        self.phones: Program | None = None
        self._starts: Counter[str] = Counter()

    def open(self) -> None:
        """Start the rest: books, a board on each server, and robots on a separate machine."""
        self.folder.mkdir()
        self.databases.create(self.folder.name)
        self.url = self.databases.url(self.folder.name)
        inside(self.network.namespace(FIRST), self._prepare)
        for machine in SERVERS:
            self.start_server(machine)
        self.network.add(PHONES, PHONES_NUMBER)
        self._wait_for_boards()
        plan = {
            "host": self.network.addresses[FRONT],
            "port": CALLERS_PORT,
            "names": self._names(),
            "sociable": int(SOCIABLE * len(self._names())),
            "seed": self.chance.getrandbits(32),
            "folder": str(self.folder),
        }
        words = [sys.executable, "-m", "verify.machines.phones", json.dumps(plan)]
        places = {"PYTHONPATH": str(HOME), "PYTHONFAULTHANDLER": "1"}
        self.phones = Program(self.network, PHONES, words, self.folder, environment=places)
        self.phones.start()

    def _prepare(self) -> None:
        """Lay the books and write the settings; done on the first server's machine."""
        folder = self.config(FIRST).parent
        folder.mkdir()
        house.prepare(folder, self._names(), self.url)
        text = self.config(FIRST).read_text()
        for machine in SERVERS:
            self.config(machine).parent.mkdir(exist_ok=True)
            here = f'host = "{self.network.addresses[machine]}"\nport = {CALLERS_PORT}'
            front = f'proxies = ["{self.network.addresses[FRONT]}"]'
            health = f'health = "{self.network.addresses[machine]}:{HEALTH_PORT}"'
            listener = 'host = "127.0.0.1"\nport = 0'
            vegas = "[games.vegas]\n"
            own = text.replace(listener, f"{here}\n{front}")
            own = own.replace(vegas, f"{vegas}tables = {TABLES}\n")
            self.config(machine).write_text(f"{own}\n[server]\n{health}\n")

    def close(self) -> None:
        """End all that was started, by its number; the databases stay."""
        for program in (*self.servers.values(), *filter(None, [self.phones])):
            program.kill()

    def start_server(self, machine: str) -> None:
        run = "from door.cli.main import main; main()"
        words = [sys.executable, "-c", run, "serve", "--config", str(self.config(machine))]
        places = {"PYTHONPATH": str(HOME), "PYTHONFAULTHANDLER": "1"}
        folder = self.config(machine).parent
        program = Program(self.network, machine, words, folder, environment=places)
        program.start()
        self.servers[machine] = program
        self._starts[machine] += 1

    def acknowledged(self) -> int:
        """Count the hands that robots have seen settled so far."""
        notes = phones.notes(self.folder)
        return notes[-1][2] if notes else 0

    def config(self, machine: str) -> Path:
        """Return where the settings of a server's board are."""
        return self.folder / machine / "sysop.toml"

    def _names(self) -> list[str]:
        return [f"Robot {number}" for number in range(1, ROBOTS + 1)]

    def _wait_for_boards(self) -> None:
        wait_until("both boards answer", self._are_ready, STARTING_SECONDS)

    def _are_ready(self) -> bool:
        ready = f"port {CALLERS_PORT}."
        return all(
            program.log.read_text().count(ready) == self._starts[machine]
            for machine, program in self.servers.items()
        )

    # Putting it right.

    def mend(self) -> float:
        """Resume everything, restart the dead, and wait until all is well; return the seconds.

        Raises `CannotBeDone` when it stays broken.
        """
        began = time.monotonic()
        self.network.heal()
        for machine in DATABASES:
            (self.databases.disk(machine) / FILLER).unlink(missing_ok=True)
            self.databases.set_clock(machine, 0)
            self.databases.signal_machine(machine, signal.SIGCONT)
        programs = (*self.databases.keepers.values(), *self.databases.patronis.values())
        for program in (*programs, self.databases.front, *self.servers.values()):
            program.send(signal.SIGCONT)
        for program in (*programs, self.databases.front):
            if not program.runs:
                program.start()
        wait_until("all databases well", self.databases.is_whole, MENDING_SECONDS)
        for machine, program in self.servers.items():
            if not program.runs:
                self._refuse_own_end(machine, program)
                self.start_server(machine)
        before = self.acknowledged()
        wait_until("an answer", lambda: self.acknowledged() > before, MENDING_SECONDS)
        seconds = time.monotonic() - began
        # A board needs its databases to start, so harm to them waits for it.
        self._wait_for_boards()
        return seconds

    def stop_asking(self) -> None:
        """End robots and boards; raises `CannotBeDone` when one fails."""
        assert self.phones is not None
        self.phones.end(GOOD_BYE_SECONDS)
        if self.phones.status != 0:
            raise CannotBeDone(f"The phones failed: {self.phones.log.read_text()[-2000:]}")
        for machine, program in self.servers.items():
            program.end()
            self._refuse_own_end(machine, program)

    def _refuse_own_end(self, machine: str, program: Program) -> None:
        """Refuse to restart a program that has failed by itself."""
        # One that has just been started may not have come to know SIGTERM yet.
        if program.status not in (0, -signal.SIGKILL, -signal.SIGTERM):
            output = program.log.read_text()[-2000:]
            raise CannotBeDone(f"The board on {machine} ended with {program.status}: {output}")

    # Requests of faults.

    def primary(self) -> str:
        """Return the primary's name, as soon as there is one."""
        wait_until("a primary", lambda: bool(self.databases.primary()), MENDING_SECONDS)
        return self.databases.primary()

    def standbys(self) -> tuple[str, str]:
        """Return the standby in step, and the other, as soon as there are both."""
        names: list[tuple[str, str]] = []

        def there_are() -> bool:
            in_step = self.databases.roles("sync_standby")
            others = self.databases.roles("replica")
            if len(in_step) == len(others) == 1:
                names.append((in_step[0], others[0]))
            return bool(names)

        wait_until("two standbys", there_are, MENDING_SECONDS)
        return names[0]

    def pause(self, least: float, most: float) -> float:
        seconds = self.chance.uniform(least, most)
        time.sleep(seconds)
        return seconds

    def fill_disk(self, machine: str) -> None:
        """Leave no room on a database's disk."""
        file = os.open(self.databases.disk(machine) / FILLER, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            for size in (1 << 20, 4096):
                try:
                    while True:
                        os.write(file, bytes(size))
                except OSError:
                    continue
        finally:
            os.close(file)
