"""How long the commands take to print their first word, next to an idle interpreter."""

from __future__ import annotations

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
# The code of an installed command.
DOOR = "from door.cli.main import main; main()"
COMMANDS = {
    BARE: ("-c", "pass"),
    "door --help": ("-c", DOOR, "--help"),
    "timebank --help": ("-c", "from timebank.cli.main import main; main()", "--help"),
    "import sqlalchemy": ("-c", "import sqlalchemy"),
}
GOALS = {"door --help": Goal("value", "<=", 45)}
LISTENS = "It listens"
MILLI = 1e3


def run(scale: Scale) -> Iterator[Row]:
    found: dict[str, list[float]] = {what: [] for what in COMMANDS}
    serving: list[float] = []
    for _ in range(scale.starts):  # the first, when bytecode is written, is no median
        for what, arguments in COMMANDS.items():
            found[what].append(_run(arguments))
        serving.append(_serve())
    bare = median(found.pop(BARE))
    yield Row(BARE, "ms", bare * MILLI)
    for what, times in found.items():
        over = (median(times) - bare) * MILLI
        yield Row(f"{what}, over bare Python", "ms", over, bare * MILLI, GOALS.get(what))
    over = (median(serving) - bare) * MILLI
    yield Row("door serve until it listens, over bare Python", "ms", over, bare * MILLI)


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
