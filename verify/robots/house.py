"""A board as a sysop runs it: `door serve` in a process of its own, over books full of callers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from argon2 import PasswordHasher

from bench.processes import Usage, environment
from door.config import config as settings
from door.config import privacy
from timebank.callers import callers, powers, sysop_log
from timebank.ledger.engines import books_of
from timebank.window import corrections
from verify.robots import phone
from verify.robots.robot import PASSWORD

ENDS_WITHIN = 20.0  # seconds; the server itself promises ten
NODES_TO_SPARE = 16
SAVINGS = 1800  # seconds in the bank of each

# Other settings have their defaults. No caller may run out of minutes or turns during a run, and a
# board with a thousand nodes admits a thousand callers.
SYSOP_TOML = """
[board]
name = "The Bench"
time_zone = "{zone}"
[[listeners]]
kind = "telnet"
host = "127.0.0.1"
port = 0
[calls]
nodes = {nodes}
minutes_per_day = 600
[defence]
allow = []
calls_per_address = 9999
calls_per_minute = 9999
wrong_passwords = 1000
new_names_per_day = 9999
logons = {nodes}
[timebank]
known_days = 0
database = "{database}"
[[events]]
name = "Mail hour"
time = "03:00"
minutes = 60
[games.black-jack-for-time]
turns_per_day = 0
[games.baccarat]
turns_per_day = 0
[games.vegas]
turns_per_day = 0
[games.red-dog]
turns_per_day = 0
"""

_COMMAND = "from {package}.cli.main import main; main()"
_LOOKS = {
    program.terminal.decode(): {"charset": program.charset, "paint": paint}
    for program, paint in (
        (phone.SYNCTERM, "colour"),
        (phone.XTERM, "colour"),
        (phone.UNKNOWN, "lines"),
        (phone.ATARI, "colour"),
        (phone.C128, "colour"),
    )
}

# The pace of their cards, in turn.
_PACES = ("off", "normal", "fast")


def zone_of_noon(now: datetime) -> str:
    """Name a time zone where it is about noon: neither event nor midnight is near.

    >>> zone_of_noon(datetime(2026, 11, 20, 20, 15, tzinfo=UTC))
    'Etc/GMT+8'
    >>> zone_of_noon(datetime(2026, 11, 20, 3, 0, tzinfo=UTC))
    'Etc/GMT-9'
    """
    west = now.hour - 12
    return f"Etc/GMT{west:+}" if west else "UTC"


def prepare(folder: Path, names: Iterable[str], database: str = "") -> settings.Config:
    """Write settings for these callers, and books where they are long registered.

    `database` is the place of the books, a file in the folder by default. Passwords are hashed as
    cheaply as Argon2 allows, and the screens are known.
    """
    everybody = list(names)
    file = folder / "sysop.toml"
    zone = zone_of_noon(datetime.now(UTC))
    nodes = len(everybody) + NODES_TO_SPARE
    file.write_text(SYSOP_TOML.format(nodes=nodes, zone=zone, database=database), encoding="utf-8")
    config = settings.load(file)
    privacy.make_folder(config)
    hashed = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    books = books_of(config.bank)
    books.open()
    with books.transaction(config.bank, datetime.now(UTC)) as desk:
        sysop = callers.register_kept(desk, config.board.sysop, hashed, powers=True)
        entered = f"{powers.numbered(sysop)}, was entered, with the sysop's powers"
        sysop_log.note(desk, "robots", sysop.id, entered)
        for number, name in enumerate(everybody):
            record = callers.register(desk, name, hashed)
            pace = _PACES[number % len(_PACES)]
            callers.set_preferences(desk, record.id, {"looks": _LOOKS, "animation": pace})
            corrections.adjust(desk, record.id, SAVINGS, "to duel with", "robots")
    books.close()
    return config


class Served:
    """The server's process; `port` is where it listens."""

    def __init__(self, config: settings.Config) -> None:
        self._config = config
        self._log = (config.path.parent / "served.log").open("w+", encoding="utf-8")
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", _COMMAND.format(package="door")),
                *("serve", "--config", str(config.path)),
            ],
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=environment(),
        )
        self.port = self._port()
        self.status: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def usage(self) -> Usage:
        """Return the resources used so far, as Linux counts them."""
        about = Path("/proc") / str(self._process.pid)
        # Behind the name, which may hold anything: state is the third field, CPU the 14th and 15th.
        fields = (about / "stat").read_text().rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        pages = int((about / "statm").read_text().split()[1])
        return Usage(ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE") / 1024)

    def starved(self) -> float:
        """Return the seconds in which its threads were ready but had no core."""
        threads = (Path("/proc") / str(self._process.pid) / "task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[1]) for thread in threads) / 1e9

    def nodes(self) -> tuple[int, int]:
        """Ask the running server how many nodes are busy, and how many lines are at the log-on."""
        answer = json.loads(self._run("door", "nodes", "--json"))
        return len(answer["nodes"]), answer["log_ons"]

    def audits(self) -> list[str]:
        """Have both programs audit the books; return their findings."""
        wrong = []
        for package in ("timebank", "door"):
            try:
                self._run(package, "audit")
            except subprocess.CalledProcessError as failed:
                wrong.append(f"{package} audit: {failed.stdout}{failed.stderr}")
        return wrong

    def said(self) -> str:
        """Return the warnings and errors in its log."""
        return Path(self._log.name).read_text(encoding="utf-8")

    def stop(self) -> None:
        """End it in peace, as a service manager does."""
        if self.status is None:
            self._process.terminate()
            try:
                self.status = self._process.wait(ENDS_WITHIN)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self.status = self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._log.close()

    def _run(self, package: str, *command: str) -> str:
        program = _COMMAND.format(package=package)
        return subprocess.run(
            [sys.executable, "-c", program, *command, "--config", str(self._config.path)],
            capture_output=True,
            text=True,
            env=environment(),
            check=True,
        ).stdout

    def _port(self) -> int:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if match := re.search(r"port (\d+)\.$", line.strip()):
                return int(match[1])
        raise RuntimeError(f"the server said no port: {self.said()}")
