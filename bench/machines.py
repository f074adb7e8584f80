"""Several servers at the same books: in a file, on PostgreSQL, and half a millisecond off from it.

Each server is a process with its bettors; each hand is three keys that commit: a shoe is sealed, a
bet placed, a hand stood. The books are on the same disk in both, and every COMMIT waits for it. The
way to a machine that is half a millisecond off is a relay (away.py), half of it in each direction.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bench.bettors import Rate
from bench.processes import Child, kept_port
from bench.report import Goal, Row, Scale, median

KEYS = 3  # of a hand, which commit
AWAY = 0.0005  # seconds there and back
ACCOUNTS = ("postgres", "nobody")  # users that run it when we are root, which it refuses
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "on",
    "synchronous_commit": "on",
    "shared_buffers": "256MB",
    "max_wal_size": "4GB",
}
TICKS = os.sysconf("SC_CLK_TCK")

CALLERS = 200  # playing at leisure, a hand every so many seconds
HAND_SECONDS = 20.0

AT_ONCE = Goal("value", ">=", 100)
AT_ONCE_AWAY = Goal("value", ">=", 25)
AT_LEISURE = Goal("value", "<=", 150)


class ServersRun(NamedTuple):
    """The work of several servers: keys that committed a second, and seconds of CPU for each."""

    keys: float
    p99: float
    cpu: float
    database_cpu: float

    @property
    def hands(self) -> float:
        return self.keys / KEYS

    @property
    def cores(self) -> float:
        """The number of busy cores."""
        return self.keys * (self.cpu + self.database_cpu)


Key = tuple[str, int]  # the place of the books, and the number of servers


def run(scale: Scale, disk: Path) -> Iterator[Row]:
    if programs() is None:
        return
    results: dict[Key, list[ServersRun]] = {}
    with _postgres(disk) as server:
        for _ in range(scale.rounds):
            for count in scale.servers:
                for where, measured in _turn(scale, disk, server, count):
                    results.setdefault((where, count), []).append(measured)
        leisure = [_at_leisure(scale, server) for _ in range(scale.rounds)]
    middle = {
        key: ServersRun(*(median(column) for column in zip(*each, strict=True)))
        for key, each in results.items()
    }
    yield from _rows(scale, middle)
    what = f"{AT}, {CALLERS} callers, a hand in {HAND_SECONDS:g} s: p99 of a key"
    yield Row(what, "ms", median(each.p99 for each in leisure) * 1e3, None, AT_LEISURE)


def _turn(
    scale: Scale, disk: Path, server: _Postgres, count: int
) -> Iterator[tuple[str, ServersRun]]:
    with tempfile.TemporaryDirectory(prefix="bench-", dir=disk) as folder:
        yield "file", _played(scale, str(Path(folder, "board.sqlite3")), count, None)
    with server.new_database() as name:
        yield "PostgreSQL", _played(scale, server.url(name, server.port), count, server)
    with _some_way_off(server) as place:
        yield AT, _played(scale, place, count, server)


AT = "0.5 ms off"


@contextmanager
def _some_way_off(server: _Postgres) -> Iterator[str]:
    """Yield new books on a server that is half a millisecond away."""
    with (
        server.new_database() as name,
        closing(Child("bench.away", str(server.port), str(AWAY / 2))) as relay,
    ):
        yield server.url(name, relay.port)


def _at_leisure(scale: Scale, server: _Postgres) -> Rate:
    """Let callers play like people, at a single server."""
    pause = HAND_SECONDS / KEYS
    with (
        _some_way_off(server) as place,
        closing(Child("bench.server", place, "0", str(CALLERS))) as one,
    ):
        one.ask(str(scale.ledger_seconds))
        return Rate(*one.ask(f"{scale.leisure_seconds} {pause}"))


def _rows(scale: Scale, results: dict[Key, ServersRun]) -> Iterator[Row]:
    goals = {"PostgreSQL": AT_ONCE, AT: AT_ONCE_AWAY}
    for (where, count), measured in results.items():
        what = f"{where}, {count} x {scale.bettors}"
        goal = goals.get(where) if count == 1 else None
        baseline = results["file" if count == 1 else where, 1]
        is_beside = (where, count) != ("file", 1)
        yield Row(
            f"{what}: bets", "/s", measured.hands, baseline.hands if is_beside else None, goal
        )
        yield Row(f"{what}: p99 of a key that commits", "ms", measured.p99 * 1e3)
        yield Row(f"{what}: CPU a key, servers", "us", measured.cpu * 1e6)
        if where != "file":
            yield Row(f"{what}: CPU a key, PostgreSQL", "us", measured.database_cpu * 1e6)
        yield Row(f"{what}: cores busy", "", measured.cores)


def _played(scale: Scale, place: str, count: int, server: _Postgres | None) -> ServersRun:
    """Let this many servers play at once at new books."""
    with ExitStack() as stack, ThreadPoolExecutor(count) as pool:
        servers = [
            stack.enter_context(Child("bench.server", place, str(number), str(scale.bettors)))
            for number in range(count)
        ]
        order = str(scale.ledger_seconds)
        # A connection is slow until it has loaded the tables and planned its queries.
        list(pool.map(lambda each: each.ask(order), servers))
        used = 0.0 if server is None else server.cpu()
        rates = [Rate(*each) for each in pool.map(lambda each: each.ask(order), servers)]
        used = 0.0 if server is None else server.cpu() - used
    keys = sum(rate.a_second for rate in rates)
    return ServersRun(
        keys,
        max(rate.p99 for rate in rates),
        fmean(rate.cpu for rate in rates),
        used / (keys * scale.ledger_seconds),
    )


# PostgreSQL.


def programs() -> Path | None:
    """The folder of the newest server that is installed."""
    paths = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    program = str(paths[-1]) if paths else shutil.which("initdb")
    return Path(program).parent if program else None


class _Postgres:
    """A server of PostgreSQL whose COMMITs wait for a disk."""

    def __init__(self, folder: Path, port: int, process: int) -> None:
        self._folder = folder
        self.port = port
        self._process = process
        self._made = 0

    def url(self, name: str, port: int) -> str:
        return f"postgresql://postgres@127.0.0.1:{port}/{name}"

    @contextmanager
    def new_database(self) -> Iterator[str]:
        self._made += 1
        name = f"books_{self._made}"
        import psycopg

        with psycopg.connect(self.url("postgres", self.port), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
            yield name
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def cpu(self) -> float:
        """Return the CPU seconds of the server and all its processes, ended ones included."""
        total = 0
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and (times := _times(entry)):
                parent, *ticks = times
                if self._process == int(entry.name):
                    total += sum(ticks)
                elif self._process == parent:
                    total += ticks[0] + ticks[1]
        return total / TICKS


def _times(process: Path) -> list[int]:
    """The parent of a process, and its CPU: user, system, and both of its children that ended."""
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
    return [int(fields[1]), *map(int, fields[11:15])]


@contextmanager
def _postgres(disk: Path) -> Iterator[_Postgres]:
    binaries = programs()
    assert binaries is not None
    with (
        tempfile.TemporaryDirectory(prefix="bench-", dir=disk, ignore_cleanup_errors=True) as name,
        kept_port() as port,
    ):
        folder, data = Path(name), Path(name, "data")
        who = _account()
        if who:
            shutil.chown(folder, who)
        initdb = (
            binaries / "initdb",
            "-A",
            "trust",
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--no-locale",
        )
        subprocess.run(
            [*_as(who), *initdb, "-D", data], check=True, capture_output=True, cwd=folder
        )
        options = [f"-c{key}={value}" for key, value in SETTINGS.items()]
        process = subprocess.Popen(
            [
                *_as(who),
                binaries / "postgres",
                "-D",
                data,
                "-k",
                folder,
                "-p",
                str(port),
                *options,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        try:
            server = _Postgres(folder, port, process.pid)
            _wait_for(server, process)
            yield server
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def _account() -> str:
    if os.geteuid() != 0:
        return ""
    known = Path("/etc/passwd").read_text()
    return next(each for each in ACCOUNTS if f"\n{each}:" in known)


def _as(account: str) -> list[str]:
    if not account:
        return []
    # The folder may be in one that only root may enter.
    may_enter = ("--inh-caps=+dac_override", "--ambient-caps=+dac_override")
    who = (f"--reuid={account}", "--regid=nogroup", "--clear-groups")
    return ["setpriv", *who, *may_enter]


def _wait_for(server: _Postgres, process: subprocess.Popen[bytes]) -> None:
    """Return once the server takes connections; raise `RuntimeError` if it ends before."""
    import psycopg

    while process.poll() is None:
        try:
            psycopg.connect(server.url("postgres", server.port)).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"PostgreSQL ended unasked (its status is {process.returncode})")
