"""The time of `door odds` for a table, without a cache, next to the import of a library."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from bench.processes import ROOT, environment
from bench.report import Goal, Row, Scale, median

LIBRARY = ("-c", "import sqlalchemy")
ODDS = ("-c", "from door.cli.main import main; main()", "odds")
DEFAULT_GOAL = Goal("ratio", "<=", 1.5)
OTHER_GOAL = Goal("ratio", "<=", 8)
TABLES = {
    "Black Jack For Time": (("bjft",), DEFAULT_GOAL),
    "Black Jack For Time, 8 decks": (("bjft", "--rules", "decks=8"), OTHER_GOAL),
    "Vegas": (("vegas",), OTHER_GOAL),
    "Vegas, 8 decks": (("vegas", "--rules", "decks=8"), OTHER_GOAL),
    "UNIX bj": (("unix-bj",), OTHER_GOAL),
    "Baccarat": (("baccarat",), OTHER_GOAL),
    "Red Dog": (("red-dog",), OTHER_GOAL),
}
MILLI = 1e3


def run(scale: Scale) -> Iterator[Row]:
    """Count processor time, which other programs on the machine disturb least."""
    times: dict[str, list[float]] = {table: [] for table in TABLES}
    library: list[float] = []
    for _ in range(max(1, scale.starts // 3)):  # one takes long, and little disturbs it
        library.append(_run(LIBRARY))
        for table, (words, _) in TABLES.items():
            times[table].append(_run((*ODDS, *words)))
    baseline = median(library) * MILLI
    for table, (_, goal) in TABLES.items():
        what = f"door odds, {table} (import sqlalchemy)"
        yield Row(what, "ms", median(times[table]) * MILLI, baseline, goal)


def _run(arguments: tuple[str, ...]) -> float:
    """Run Python in a folder without settings and with an empty cache; return its seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        paths = {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": folder}
        subprocess.run(
            [sys.executable, *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            env={**os.environ, **environment(), **paths},
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
