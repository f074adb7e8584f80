"""How long the commands take to say their first word, beside an interpreter that does nothing."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.board import sysop_toml
from bench.processes import PATIENCE, ROOT, environment
from bench.report import Goal, Row, Scale, median

BARE = "bare Python"
LIBRARY = "import sqlalchemy"
# What an installed command runs.
DOOR = "from door.cli.main import main; main()"
COMMANDS = {
    BARE: ("-c", "pass"),
    "door --help": ("-c", DOOR, "--help"),
    "timebank --help": ("-c", "from timebank.cli.main import main; main()", "--help"),
    LIBRARY: ("-c", "import sqlalchemy"),
}
GOALS = {"door --help": Goal("value", "<=", 45)}
DOOR_RUN = Goal("ratio", "<=", 2.5)
# Below what a caller brings, which the books say: the first time, and from then on.
WELCOME = (b"one-minute tour?", b"any key", b"oodbye")
DROP_FILE = ("0", "-1", "38400", "The Bench", "42", "A Caller", "Caller", "50", "60", "1", "1")
LISTENS = "It listens"
MILLI = 1e3


def run(scale: Scale) -> Iterator[Row]:
    found: dict[str, list[float]] = {what: [] for what in COMMANDS}
    serving: list[float] = []
    shown: list[float] = []
    welcomed: list[float] = []
    for _ in range(scale.starts):  # the first, when bytecode is written, is no median
        for what, arguments in COMMANDS.items():
            found[what].append(_run(arguments))
        serving.append(_serve())
        first, welcome = _hand_over()
        shown.append(first)
        welcomed.append(welcome)
    library = median(found[LIBRARY]) * MILLI
    bare = median(found.pop(BARE))
    yield Row(BARE, "ms", bare * MILLI)
    for what, times in found.items():
        over = (median(times) - bare) * MILLI
        yield Row(f"{what}, over bare Python", "ms", over, bare * MILLI, GOALS.get(what))
    over = (median(serving) - bare) * MILLI
    yield Row("door serve until it listens, over bare Python", "ms", over, bare * MILLI)
    first, welcome = median(shown) * MILLI, median(welcomed) * MILLI
    yield Row("door run to its first screen (import sqlalchemy)", "ms", first, library, DOOR_RUN)
    yield Row("door run to its welcome (import sqlalchemy)", "ms", welcome, library)


def _run(arguments: tuple[str, ...]) -> float:
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=ROOT,
        env=environment(),
    )
    return time.perf_counter() - began


def _serve() -> float:
    """Start a new board, and end it."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        return seconds_to_listen(Path(folder))


def seconds_to_listen(folder: Path) -> float:
    """Start the board of a folder as its sysop would, and end it once it says that it listens."""
    config = folder / "sysop.toml"
    config.write_text(sysop_toml(16), encoding="utf-8")
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", DOOR, "serve", "--config", str(config)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as server:
        assert server.stdout is not None
        while not server.stdout.readline().startswith(LISTENS):
            if server.poll() is not None:
                break
        taken = time.perf_counter() - began
        server.send_signal(signal.SIGTERM)
        _, warned = server.communicate(timeout=PATIENCE)
    if server.returncode != 0:
        raise RuntimeError(f"door serve did not end in peace: {warned}")
    return taken


def _hand_over() -> tuple[float, float]:
    """Hand a caller over as a host does; return when the first thing and the welcome are shown."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        config = Path(folder) / "sysop.toml"
        config.write_text(sysop_toml(16), encoding="utf-8")
        drop_file = Path(folder) / "DOOR32.SYS"
        drop_file.write_text("".join(f"{line}\r\n" for line in DROP_FILE), encoding="ascii")
        words = ("run", "--config", str(config), "--dropfile", str(drop_file))
        host, caller = pty.openpty()
        began = time.perf_counter()
        with (
            os.fdopen(host, "rb", buffering=0) as screen,
            subprocess.Popen(
                [sys.executable, "-c", DOOR, *words],
                stdin=caller,
                stdout=caller,
                stderr=subprocess.DEVNULL,
                env=environment(),
            ) as door,
        ):
            os.close(caller)
            seen = screen.read(4096)
            first = time.perf_counter() - began
            while not any(asked in seen for asked in WELCOME):
                seen += screen.read(4096)
            welcome = time.perf_counter() - began
            door.send_signal(signal.SIGHUP)
            if door.wait(timeout=PATIENCE) != 0:
                raise RuntimeError("door run did not end in peace")
        return first, welcome
