"""The command `python -m verify.fuzz.lines`: hostile callers against a real board, for hours.

Round after round of every attack (`hostile.py`), in another order each time, while one who means no
harm is on the line and types on. After each the board says how long one round of its event loop
kept the others waiting, and how much memory it held: see verify/fuzz/README.md.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import click

from bench.processes import Child
from verify.fuzz.hostile import Attack, Target, Wire, attacks
from verify.fuzz.target import MEMORY

STALL = 0.05  # seconds that one connection may keep the others waiting
SIZE = 1_000_000  # bytes of a flood
FILLS_CACHES = "paste of lines, at the main menu"  # it goes from table to table
ENDING = 20.0  # seconds until a call that was broken off is closed in the books at the latest
HEADING = f"{'attack':<58}{'rounds':>7}{'stall':>10}{'memory':>10}"


@dataclass
class Worst:
    """The most that an attack has cost so far: seconds in one round of the loop, and bytes."""

    times: int = 0
    stall: float = 0.0
    memory: int = 0
    said: list[str] = field(default_factory=list)


class Siege:
    """A board, one caller who means no harm, and everybody else."""

    def __init__(self, board: Child, target: Target) -> None:
        """Let the one who means no harm come in."""
        self._board = board
        self._target = target
        self._friend = target.stranger()
        self.worst: dict[str, Worst] = {}

    def warm_up(self) -> None:
        """Come in every way once, so that what is imported and kept for all is there."""
        for connect in (self._target.stranger, self._target.caller, self._target.guest):
            with connect():
                pass

    def fill_caches(self, order: str) -> None:
        """Have what all callers share filled up, and counted from the time it comes in."""
        self._board.ask(order)
        for _ in range(2):
            dict(attacks(SIZE))[FILLS_CACHES](self._target)

    def run(self, name: str, attack: Attack, order: str) -> None:
        """Measure one attack; `order` is `watch` for its stall or `memory` for its bytes."""
        worst = self.worst.setdefault(name, Worst())
        worst.times += 1
        self._board.ask(order)
        try:
            attack(self._target)
        except Exception as error:
            worst.said.append(f"{type(error).__name__}: {error}")
        report = self._board.ask("report")
        if order == "watch":
            worst.stall = max(worst.stall, report["longest"])
        else:
            worst.memory = max(worst.memory, report["peak"])
        self._is_served(self._friend)

    def leave(self) -> None:
        """Let the one who means no harm go."""
        with self._friend:
            pass

    def _is_served(self, friend: Wire) -> None:
        """Type a letter of a name, and rub it out: the board answers each key."""
        friend.heard.clear()
        friend.send(b"q")
        friend.until(b"q")
        friend.send(b"\x08")
        friend.until(b"\x08 \x08")


@click.command()
@click.option("--hours", type=float, help="How long the whole run takes.")
@click.option("--seconds", type=float, help="The same in seconds; each attack is made once.")
@click.option("--attack", "wanted", default="", help="Only attacks whose name holds this.")
@click.option("--uvloop", is_flag=True, help="A board that runs on uvloop.")
@click.option("--size", default=SIZE, show_default=True, help="How much a flood has (bytes).")
def main(hours: float | None, seconds: float | None, wanted: str, size: int, uvloop: bool) -> None:
    """Attack a board of `door serve` on this machine in every way known here."""
    if (hours is None) == (seconds is None):
        raise click.UsageError("Say how long: --hours 1, or --seconds 60 for a taste.")
    end = time.monotonic() + (seconds if seconds is not None else (hours or 0) * 3600)
    known = [(name, attack) for name, attack in attacks(size) if wanted in name]
    random = Random(1)
    words = ("uvloop",) if uvloop else ()
    with (
        tempfile.TemporaryDirectory() as folder,
        Child("verify.fuzz.served", folder, *words) as board,
    ):
        siege = Siege(board, Target(*board.ask("ports")))
        siege.warm_up()
        tasks = board.ask("tasks")
        while True:
            for order in ("watch", "memory"):
                siege.fill_caches(order)
                for name, attack in random.sample(known, len(known)):
                    siege.run(name, attack, order)
            if time.monotonic() >= end:
                break
        left = _left_behind(board, tasks)
        siege.leave()
        log = (Path(folder) / "log").read_text(encoding="utf-8")
    failed = _tell(siege, left, log)
    sys.exit(1 if failed else 0)


def _left_behind(board: Child, before: int) -> int:
    """Count the tasks that there are more than before, once those that end have ended."""
    end = time.monotonic() + ENDING
    while (left := int(board.ask("tasks")) - before) > 0 and time.monotonic() < end:
        time.sleep(0.2)
    return left


def _tell(siege: Siege, left: int, log: str) -> bool:
    """Print what was measured; tell whether anything was too much."""
    click.echo(HEADING)
    failed = False
    for name, worst in sorted(siege.worst.items(), key=lambda item: -item[1].stall):
        bad = worst.stall > STALL or worst.memory > MEMORY or bool(worst.said)
        failed |= bad
        stall, memory = f"{worst.stall * 1000:.1f} ms", f"{worst.memory / 1000:.0f} kB"
        mark = "  FAILED" if bad else ""
        click.echo(f"{name:<58}{worst.times // 2:>7}{stall:>10}{memory:>10}{mark}")
        for said in dict.fromkeys(worst.said):
            click.echo(f"    {said}")
    broken = [line for line in log.split("\n") if not line.isprintable() or "Traceback" in line]
    for line in broken[:5]:
        click.echo(f"in the log: {line!r}")
    if left > 0:
        click.echo(f"{left} tasks were left behind.")
    return failed or bool(broken) or left > 0


if __name__ == "__main__":
    main()
