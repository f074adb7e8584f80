"""The command `python -m bench`: measure, and print ratios next to their goals.

bench/README.md explains each line and has the results.
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
from typing import Any

import click

from bench import (
    animation,
    books,
    connect,
    doors,
    keys,
    ledger,
    machines,
    odds,
    pages,
    peers,
    stall,
    startup,
    tutor,
    web,
)
from bench.report import FULL, HEADING, QUICK, Row, Scale, line
from door.server.server import quickest

MEMORY = Path("/dev/shm")  # a file system in memory, if there is one

Part = Callable[[Scale, Path, Path | None], Iterator[Row]]

PARTS: dict[str, Part] = {
    "keys": lambda scale, disk, memory: keys.run(scale, disk),
    "animation": lambda scale, disk, memory: animation.run(scale, disk),
    "connect": lambda scale, disk, memory: connect.run(scale, disk),
    "web": lambda scale, disk, memory: web.run(scale, disk),
    "ledger": ledger.run,
    "stall": stall.run,
    "tutor": lambda scale, disk, memory: tutor.run(scale, disk),
    "startup": lambda scale, disk, memory: startup.run(scale),
    "odds": lambda scale, disk, memory: odds.run(scale),
    "doors": lambda scale, disk, memory: doors.run(scale, disk),
    "books": lambda scale, disk, memory: books.run(scale, disk),
    "pages": lambda scale, disk, memory: pages.run(scale, disk),
    "machines": lambda scale, disk, memory: machines.run(scale, disk),
}

# Asked for by name alone: it takes minutes.
LONG: dict[str, Part] = {"crowd": lambda scale, disk, memory: web.crowd(scale, disk)}
PEERS = "peers"  # asked for by name alone, with a host


@click.command()
@click.argument("host", required=False)
@click.argument("port", type=click.IntRange(1, 65535), required=False)
@click.option(
    "--part",
    "parts",
    type=click.Choice([*PARTS, *LONG, PEERS]),
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
@click.option("--pid", type=click.IntRange(1), help="peers: the process of that host.")
@click.option("--callers", default=200, show_default=True, help="peers: who are on at once.")
@click.option("--key", default="x", show_default=True, help="peers: the key that they press.")
def main(
    parts: Sequence[str],
    quick: bool,
    uvloop: bool,
    disk: Path,
    host: str | None,
    port: int | None,
    **how: Any,
) -> None:
    """Print the board's cost as ratios to the simplest program that does the same.

    With --part peers: the cost of the telnet host at HOST and PORT on this machine, of any kind.
    """
    if PEERS in parts or host is not None:
        if parts != (PEERS,) or host is None or port is None:
            raise click.UsageError("It reads: --part peers HOST PORT, and no other part.")
        _show_peer(host, port, quick, **how)
        return
    if uvloop and quickest() is None:
        raise click.UsageError("uvloop is not installed here: pip install uvloop.")
    began = time.perf_counter()
    missed = 0
    scale = replace(QUICK if quick else FULL, loop="uvloop" if uvloop else "asyncio")
    click.echo(f"{_machine()}, the board on {scale.loop}")
    memory = MEMORY if MEMORY.is_dir() else None
    for part in parts or PARTS:
        click.echo(f"\n{part}\n{HEADING}")
        for row in {**PARTS, **LONG}[part](scale, disk, memory):
            click.echo(line(row))
            missed += row.verdict == "MISSED"
    click.echo(f"\n{missed} missed, {time.perf_counter() - began:.0f} seconds.")


def _show_peer(host: str, port: int, quick: bool, pid: int | None, callers: int, key: str) -> None:
    peer = peers.Peer(host, port, pid, callers, 100 if quick else 1000, key.encode())
    click.echo(f"{_machine()}\n\n{PEERS}: {host}, port {port}\n{HEADING}")
    try:
        for row in peers.run(peer):
            click.echo(line(row))
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _machine() -> str:
    load = ", ".join(f"{number:.1f}" for number in os.getloadavg())
    return (
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"{os.cpu_count()} cores, load {load}"
    )


if __name__ == "__main__":
    main()
