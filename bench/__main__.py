"""The command `python -m bench`: measure, and print ratios with the figures to reach beside them.

bench/README.md says what each line means and what was found.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from bench import books, connect, doors, keys, ledger, stall, startup, tutor
from bench.report import FULL, HEADING, QUICK, Row, Scale, line
from door.server.server import quickest

MEMORY = Path("/dev/shm")  # a file system without a disk, where there is one

Part = Callable[[Scale, Path, Path | None], Iterator[Row]]

PARTS: dict[str, Part] = {
    "keys": lambda scale, disk, memory: keys.run(scale, disk),
    "connect": lambda scale, disk, memory: connect.run(scale, disk),
    "ledger": ledger.run,
    "stall": stall.run,
    "tutor": lambda scale, disk, memory: tutor.run(scale, disk),
    "startup": lambda scale, disk, memory: startup.run(scale),
    "doors": lambda scale, disk, memory: doors.run(scale, disk),
    "books": lambda scale, disk, memory: books.run(scale, disk),
}


@click.command()
@click.option(
    "--part",
    "parts",
    type=click.Choice(list(PARTS)),
    multiple=True,
    help="Measure this alone; may be given more than once.",
)
@click.option("--quick", is_flag=True, help="A short run: what it finds is rough.")
@click.option("--uvloop", is_flag=True, help="Let the board run on uvloop, which must be there.")
@click.option(
    "--disk",
    type=click.Path(path_type=Path, exists=True, file_okay=False, writable=True),
    default=Path(tempfile.gettempdir()),
    show_default=True,
    help="A folder on a disk, for books that are committed to it.",
)
def main(parts: Sequence[str], quick: bool, uvloop: bool, disk: Path) -> None:
    """Print what the board costs, as ratios to the simplest program that does the same."""
    if uvloop and quickest() is None:
        raise click.UsageError("uvloop is not installed here: pip install uvloop.")
    began = time.perf_counter()
    missed = 0
    scale = replace(QUICK if quick else FULL, loop="uvloop" if uvloop else "asyncio")
    click.echo(f"{_machine()}, the board on {scale.loop}")
    memory = MEMORY if MEMORY.is_dir() else None
    for part in parts or PARTS:
        click.echo(f"\n{part}\n{HEADING}")
        for row in PARTS[part](scale, disk, memory):
            click.echo(line(row))
            missed += row.verdict == "MISSED"
    click.echo(f"\n{missed} missed, {time.perf_counter() - began:.0f} seconds.")


def _machine() -> str:
    load = ", ".join(f"{number:.1f}" for number in os.getloadavg())
    return (
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"{os.cpu_count()} cores, load {load}"
    )


if __name__ == "__main__":
    main()
