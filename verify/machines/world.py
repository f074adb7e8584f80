"""All machines of a run, the processes of the bank on them, and what puts it right again."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from verify.machines.databases import DATABASES, MENDING_SECONDS, SERVERS, TTL, Databases
from verify.machines.networks import CannotBeDone, inside
from verify.machines.programs import Program, wait_until
from verify.machines.worker import prepare

CALLERS = 12
HANDS = 6  # operations under way at once in each process
PACE = 0.02  # seconds between two of them
SHORT_PACE = 0.1  # in a slice, where several worlds share the machine with other tests
FILLER = "filler"
FIRST = next(iter(SERVERS))
HOME = Path(__file__).parents[2]
Tell = Callable[[str], None]


class World:
    """The machines, and the chance that decides what happens to them."""

    def __init__(
        self, databases: Databases, folder: Path, seed: int, tell: Tell, lie: str = ""
    ) -> None:
        """Have books of its own on these databases; `folder`, which is new, gives them their name.

        `lie` is a fault of the bank (lies.py). Nothing is made yet.
        """
        self._lie = lie
        self.folder = folder
        self.chance = random.Random(seed)
        self.tell = tell
        self.network = databases.network
        self.databases = databases
        self.url = ""
        self.servers: dict[str, Program] = {}
        # Which servers stood still, from when until when by the monotonic clock.
        self.stopped: list[tuple[str, float, float]] = []
        self.started = 0
        self.is_short = False  # a slice: no term is waited for, and less is asked
        self.callers: list[int] = []

    def open(self) -> None:
        """Start what is its own: books, and a process of the bank on each server."""
        self.folder.mkdir()
        self.databases.create(self.folder.name)
        self.url = self.databases.url(self.folder.name)
        inside(self.network.namespace(FIRST), self._prepare)
        for machine in SERVERS:
            self.start_server(machine)

    def _prepare(self) -> None:
        """Lay the books; done on the first server's machine."""
        self.callers = prepare(self.url, self.folder, CALLERS)

    def close(self) -> None:
        """End all that was started, by its number; the databases stay."""
        for program in self.servers.values():
            program.kill()

    def start_server(self, machine: str) -> None:
        """Start a process of the bank, with a history of its own."""
        self.started += 1
        told = {
            "name": f"{machine}-{self.started}",
            "url": self.url,
            "folder": str(self.folder),
            "callers": self.callers,
            "hands": HANDS,
            "pace": SHORT_PACE if self.is_short else PACE,
            "lie": self._lie,
            "seed": self.chance.getrandbits(32),
        }
        words = [sys.executable, "-m", "verify.machines.worker", json.dumps(told)]
        places = {"PYTHONPATH": str(HOME)}
        program = Program(self.network, machine, words, self.folder, environment=places)
        program.start()
        self.servers[machine] = program

    def histories(self) -> list[Path]:
        return sorted(self.folder.glob("*.history"))

    def acknowledged(self) -> int:
        """Count the answers "done" so far."""
        return sum(file.read_bytes().count(b'"outcome": "ok"') for file in self.histories())

    # Putting it right.

    def mend(self) -> float:
        """Let everything go on, start what is dead, and wait until all is well; how long it took.

        Raises `CannotBeDone` when it does not come to that.
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
        return time.monotonic() - began

    def stop_asking(self) -> None:
        """Let the processes of the bank end; raises `CannotBeDone` when one fails."""
        for machine, program in self.servers.items():
            program.end()
            self._refuse_own_end(machine, program)

    def _refuse_own_end(self, machine: str, program: Program) -> None:
        """Let nobody start again what has failed by itself."""
        # One that has just been started may not have come to know SIGTERM yet.
        if program.status not in (0, -signal.SIGKILL, -signal.SIGTERM):
            said = program.log.read_text()[-2000:]
            raise CannotBeDone(f"The bank on {machine} ended with {program.status}: {said}")

    # What faults ask for.

    def set_clock(self, machine: str, seconds: int) -> None:
        """Move the clock of a server against the real one; the bank has the databases' alone."""

    def primary(self) -> str:
        """Name the primary, as soon as there is one."""
        wait_until("a primary", lambda: bool(self.databases.primary()), MENDING_SECONDS)
        return self.databases.primary()

    def standbys(self) -> tuple[str, str]:
        """Name the standby that is in step, and the other, as soon as there are both."""
        found: list[tuple[str, str]] = []

        def there_are() -> bool:
            in_step = self.databases.roles("sync_standby")
            others = self.databases.roles("replica")
            if len(in_step) == len(others) == 1:
                found.append((in_step[0], others[0]))
            return bool(found)

        wait_until("two standbys", there_are, MENDING_SECONDS)
        return found[0]

    def wait_for_another(self, primary: str) -> None:
        """Wait until the keepers have given up a primary that is dead, and for what comes then."""
        if self.is_short:
            self.databases.end_term()
            others = {"", primary}
            wait_until(
                "another primary", lambda: self.databases.primary() not in others, MENDING_SECONDS
            )
        else:
            self.pause(TTL, TTL + 5)

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
