"""A door at a server, or one that starts it: until its caller can press a key.

Python starts without its site hooks (-S): where the program is installed for development, they take
twice as long as all the rest of its start, and would make any ratio look good.
"""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.board import sysop_toml
from bench.processes import PATIENCE, ROOT, environment
from bench.report import Goal, Row, Scale, median
from bench.startup import LISTENS
from door import closed
from door.server import server_note

# The code of an installed command.
DOOR = "from door.cli.entry import main; main()"
# The prompt after a caller's arrival, by the books: at the first call, and later.
WELCOME = (b"one-minute tour?", b"any key", b"Press Enter", b"oodbye")
DROP_FILE = ("0", "-1", "38400", "The Bench", "42", "A Caller", "Caller", "50", "60", "1", "1")
PYTHON = (sys.executable, "-S")
READY, SMALL = Goal("ratio", "<=", 3.2), Goal("value", "<=", 15)
# When a server must be started: a line at once, and then the prompt, in milliseconds.
FIRST, STARTED = Goal("value", "<=", 100), Goal("value", "<=", 2000)
MILLI = 1e3
WARM = 2  # uncounted doors first, so that the server has loaded its modules
STARTS = 3  # doors that start a server, at the least


class Ready(NamedTuple):
    """A door with its caller ready to press a key.

    It has the seconds until then, its own CPU, megabytes, and the seconds until the first output.
    """

    seconds: float
    cpu: float
    memory: float
    first: float = 0.0


def run(scale: Scale, disk: Path) -> Iterator[Row]:
    bare: list[Ready] = []
    handed: list[Ready] = []
    starts: list[Ready] = []
    with tempfile.TemporaryDirectory(prefix="bench-", dir=disk) as folder:
        config = Path(folder) / "sysop.toml"
        config.write_text(sysop_toml(16), encoding="utf-8")
        with _served(config) as server:
            for number in range(scale.starts + WARM):
                if number == WARM:
                    before = _cpu(server.pid)
                ready = _bare(), _door(config, number)
                if number >= WARM:
                    bare.append(ready[0])
                    handed.append(ready[1])
            spent = (_cpu(server.pid) - before) / scale.starts
            server.send_signal(signal.SIGTERM)
            server.wait(PATIENCE)
        closed.reopen(str(config.parent / "data"))
        for number in range(max(STARTS, scale.starts // 3)):
            starts.append(_door(config, number))
            _end_started(config.parent / "data")
    yield from _rows("a door at the server", handed, bare, READY, SMALL)
    at_server = spent * MILLI
    yield Row("a door at the server: CPU of the server, to its end", "ms", at_server)
    first = median(each.first for each in starts) * MILLI
    least = median(each.seconds for each in bare) * MILLI
    yield Row("a door that starts a server: a line (bare Python)", "ms", first, least, FIRST)
    yield from _rows("a door that starts a server", starts, bare, STARTED)


def _rows(
    what: str,
    here: list[Ready],
    bare: list[Ready],
    ready: Goal | None = None,
    small: Goal | None = None,
) -> Iterator[Row]:
    def of(number: int, ready: list[Ready]) -> float:
        return median(each[number] for each in ready)

    seconds, cpu = of(0, here) * MILLI, of(1, here) * MILLI
    yield Row(f"{what}: ready for a key (bare Python)", "ms", seconds, of(0, bare) * MILLI, ready)
    yield Row(f"{what}: CPU of its own (bare Python)", "ms", cpu, of(1, bare) * MILLI)
    yield Row(f"{what}: memory (bare Python)", "MB", of(2, here), of(2, bare), small)


def _served(config: Path) -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [*PYTHON, "-c", DOOR, "serve", "--config", str(config)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=_environment(),
    )
    assert server.stdout is not None
    while LISTENS not in server.stdout.readline():
        if server.poll() is not None:
            raise RuntimeError("door serve did not begin")
    return server


def _bare() -> Ready:
    """Measure an interpreter that does nothing; it reads its own memory at its end."""
    began = time.perf_counter()
    subprocess.run([*PYTHON, "-c", "pass"], check=True, cwd=ROOT, env=_environment())
    seconds = time.perf_counter() - began
    with subprocess.Popen(
        [*PYTHON, "-c", "input()"], stdin=subprocess.PIPE, cwd=ROOT, env=_environment()
    ) as idle:
        while (memory := _memory(idle.pid)) and _state(idle.pid) != "S":
            time.sleep(0.001)
        memory = _memory(idle.pid)
        cpu = _cpu(idle.pid)
        assert idle.stdin is not None
        idle.stdin.write(b"\n")
    return Ready(seconds, cpu, memory)


def _door(config: Path, number: int) -> Ready:
    """Hand a caller over as a host does, and hang up when they can press a key."""
    folder = config.parent / f"node{number}"
    folder.mkdir(exist_ok=True)
    drop_file = folder / "DOOR32.SYS"
    drop_file.write_text("".join(f"{line}\r\n" for line in DROP_FILE), encoding="ascii")
    words = ("run", "--config", str(config), "--dropfile", str(drop_file))
    host, caller = pty.openpty()
    began = time.perf_counter()
    with (
        os.fdopen(host, "rb", buffering=0) as screen,
        subprocess.Popen(
            [*PYTHON, "-c", DOOR, *words],
            stdin=caller,
            stdout=caller,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env=_environment(),
        ) as door,
    ):
        os.close(caller)
        output = screen.read(1)
        first = time.perf_counter() - began
        while not any(asked in output for asked in WELCOME):
            output += screen.read(65536)
        seconds = time.perf_counter() - began
        ready = Ready(seconds, _cpu(door.pid), _memory(door.pid), first)
        door.send_signal(signal.SIGHUP)
        if door.wait(timeout=PATIENCE) != 0:
            raise RuntimeError("door run did not end in peace")
    return ready


def _end_started(data: Path) -> None:
    """End the server started by a door, and wait until the books are free."""
    server = server_note.server_in(data)
    assert server is not None
    os.kill(server.process, signal.SIGTERM)
    while server.runs:
        time.sleep(0.01)


def _environment() -> dict[str, str]:
    """Return an environment in which a child finds the packages installed here."""
    known = environment()
    known["PYTHONPATH"] = os.pathsep.join([known["PYTHONPATH"], sysconfig.get_path("purelib")])
    return known


def _state(pid: int) -> str:
    return _stat(pid)[0]


def _cpu(pid: int) -> float:
    """Seconds of CPU so far, of all threads."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((each / "schedstat").read_text().split()[0]) for each in threads) / 1e9


def _memory(pid: int) -> float:
    """Megabytes that are resident."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
