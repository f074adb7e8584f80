"""Real boards on the servers' machines, called by robots through the front, and their screens."""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from door.config import config as settings
from door.games import hands
from timebank.audit import accounts as accounts_audit
from timebank.ledger.engines import books_of
from verify.kills.count import Count
from verify.kills.rounds import BAD, forgive_half_screens
from verify.machines import phones
from verify.machines.databases import CALLERS_PORT, FRONT, SERVERS, set_clock
from verify.machines.networks import CannotBeDone
from verify.machines.programs import Program, wait_until
from verify.machines.result import Result
from verify.machines.world import FIRST, HOME, World
from verify.robots import check, copied, house

LINK_PORT, HEALTH_PORT = 2324, 2330
PHONES, PHONES_NUMBER = "phones", 41
ROBOTS = 16
ROBOTS_OF_A_SLICE = 8
SOCIABLE = 0.5  # of them like the tables of Vegas best
TABLES = 2  # there
LAG = 90.0  # seconds that a screen may be behind the books, while a server stands still
STARTING_SECONDS = 60.0
GOOD_BYE_SECONDS = 60.0


class Boards(World):
    """A world whose servers are `door serve`, and whose callers are robots on a machine apart."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._starts: Counter[str] = Counter()

    def open(self) -> None:
        super().open()
        self.network.add(PHONES, PHONES_NUMBER)
        self._wait_for_boards()
        told = {
            "host": self.network.addresses[FRONT],
            "port": CALLERS_PORT,
            "names": self._names(),
            "sociable": int(SOCIABLE * len(self._names())),
            "seed": self.chance.getrandbits(32),
            "folder": str(self.folder),
        }
        words = [sys.executable, "-m", "verify.machines.phones", json.dumps(told)]
        places = {"PYTHONPATH": str(HOME)}
        self.phones = Program(self.network, PHONES, words, self.folder, environment=places)
        self.phones.start()

    def close(self) -> None:
        if hasattr(self, "phones"):
            self.phones.kill()
        super().close()

    def set_clock(self, machine: str, seconds: int) -> None:
        set_clock(self._clock(machine), seconds)

    def mend(self) -> float:
        for machine in SERVERS:
            self.set_clock(machine, 0)
        seconds = super().mend()
        # One that starts needs its databases: whoever harms them waits for it.
        self._wait_for_boards()
        return seconds

    def start_server(self, machine: str) -> None:
        self.set_clock(machine, 0)
        run = f"from verify.machines.clocks import main; main({str(self._clock(machine))!r})"
        words = [sys.executable, "-c", run, "serve", "--config", str(self._config(machine))]
        places = {"PYTHONPATH": str(HOME)}
        folder = self._config(machine).parent
        program = Program(self.network, machine, words, folder, environment=places)
        program.start()
        self.servers[machine] = program
        self._starts[machine] += 1

    def acknowledged(self) -> int:
        """Count the hands that robots have seen settled so far."""
        found = phones.notes(self.folder)
        return found[-1][2] if found else 0

    def stop_asking(self) -> None:
        self.phones.end(GOOD_BYE_SECONDS)
        if self.phones.status != 0:
            raise CannotBeDone(f"The phones failed: {self.phones.log.read_text()[-2000:]}")
        super().stop_asking()

    def compare(self, result: Result) -> None:
        """Hold all screens against the books; done on the first server's machine."""
        bank = settings.load(self._config(FIRST)).bank
        database = books_of(bank)
        try:
            with database.reading(bank, datetime.now(UTC)) as desk:
                result.wrong += [str(finding) for finding in accounts_audit.audit(desk)]
                result.wrong += [str(finding) for finding in hands.audit(desk)[0]]
        finally:
            database.close()
        file = copied.to_read(bank, self.folder)
        count = Count(file)
        try:
            count.look()
        except AssertionError as failure:
            result.wrong.append(f"the second count: {failure}")
        everybody = phones.seen(self.folder)
        for seen in everybody:
            forgive_half_screens(seen)
        compared = check.against_the_books(file, everybody, LAG)
        result.wrong += compared.wrong
        result.counted += Counter(
            {
                "keys": sum(seen.keys for seen in everybody),
                "calls": sum(seen.calls for seen in everybody),
                "hands": compared.hands,
                "hands seen": compared.settlements,
                "of them at Vegas": sum(
                    hand.game == "vegas" for seen in everybody for hand in seen.settlements
                ),
                "movements seen": compared.movements,
                "glances at the clock": compared.purses,
                "cards seen": compared.cards,
            }
        )
        for seen in everybody:
            for seconds, question, _, _ in seen.unanswered:
                result.waited(f"{seen.name}, after {question!r},", seconds)
        silent = max((wait for seen in everybody for wait in seen.slowest), default=0.0)
        result.longest_without_a_word = silent
        moments = phones.notes(self.folder)
        told = [at for (at, _, hands), (_, _, more) in pairwise(moments) if more > hands]
        result.longest_silence = max((b - a for a, b in pairwise(told)), default=0.0)
        for machine in SERVERS:
            said = self._config(machine).parent.glob("*.log")
            for log in said:
                text = log.read_text()
                result.counted["errors in logs"] += len(BAD.findall(text))
                if "Traceback" in text:
                    result.wrong.append(f"{log}: {text[text.index('Traceback') :][:2000]}")

    def _wait_for_boards(self) -> None:
        wait_until("both boards answer", self._are_ready, STARTING_SECONDS)

    def _are_ready(self) -> bool:
        ready = f"port {CALLERS_PORT}."
        return all(
            program.log.read_text().count(ready) == self._starts[machine]
            for machine, program in self.servers.items()
        )

    def _names(self) -> list[str]:
        robots = ROBOTS_OF_A_SLICE if self.is_short else ROBOTS
        return [f"Robot {number}" for number in range(1, robots + 1)]

    def _clock(self, machine: str) -> Path:
        return self._config(machine).parent / "clock"

    def _config(self, machine: str) -> Path:
        return self.folder / machine / "sysop.toml"

    def _prepare(self) -> None:
        folder = self._config(FIRST).parent
        folder.mkdir()
        house.prepare(folder, self._names(), self.url)
        text = self._config(FIRST).read_text()
        for machine in SERVERS:
            self._config(machine).parent.mkdir(exist_ok=True)
            here = f'host = "{self.network.addresses[machine]}"\nport = {CALLERS_PORT}'
            front = f'proxies = ["{self.network.addresses[FRONT]}"]'
            # Where the other server reaches it, and where HAProxy asks how it is.
            address = self.network.addresses[machine]
            places = f'link = "{address}:{LINK_PORT}"\nhealth = "{address}:{HEALTH_PORT}"'
            listener = 'host = "127.0.0.1"\nport = 0'
            vegas = "[games.vegas]\n"
            own = text.replace(listener, f"{here}\n{front}")
            own = own.replace(vegas, f"{vegas}tables = {TABLES}\n")
            self._config(machine).write_text(f"{own}\n[server]\n{places}\n")
