"""Every command that reads the books, with a hundred thousand transfers, a million and five.

The baseline of a row is the same command in the next smaller books, and the ratio has the goal: a
command may take as many times longer as there are more rows. A command about the day alone may
take hardly longer. Seconds are CPU of the process and its children.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from bench import large
from bench.board import name_of
from bench.report import Goal, Row, Scale

# The cost of a row may grow a little with the depth of an index and with missed caches.
LINEAR = 1.3
# Where only the day and the callers count.
FLAT = 3.0
SETTINGS = '[board]\ntime_zone = "UTC"\n'
TIMEBANK, DOOR = "timebank", "door"


class Command(NamedTuple):
    words: tuple[str, ...]
    is_flat: bool = False
    # It may end with 1: hands that repeat a few are no believable luck, and behind books that end
    # long ago the clock is in doubt.
    finds: bool = False

    def __str__(self) -> str:
        return " ".join(self.words)


COMMANDS: tuple[Command, ...] = (
    Command((TIMEBANK, "maintain"), finds=True),
    Command((TIMEBANK, "accounts")),
    Command((TIMEBANK, "ledger")),
    Command((TIMEBANK, "ledger", "--kind", "grant")),
    Command((TIMEBANK, "ledger", "--caller", name_of(1)), is_flat=True),
    Command((TIMEBANK, "statement", name_of(1)), is_flat=True),
    Command((TIMEBANK, "summary", "--by", "month")),
    Command((TIMEBANK, "summary", "--since", "2026-03-01")),
    Command((TIMEBANK, "house"), finds=True),
    Command((TIMEBANK, "export", "csv")),
    Command((TIMEBANK, "boards"), is_flat=True),
    Command((TIMEBANK, "outbox"), is_flat=True),
    Command((TIMEBANK, "audit")),
    Command((DOOR, "audit")),
    # After it, because it begins with the hand where that ended.
    Command((DOOR, "audit", "--since-last")),
    Command((TIMEBANK, "backup", "copy")),
)


def run(scale: Scale, disk: Path) -> Iterator[Row]:
    """Run every command in books of each size; one size after the other is on the disk."""
    taken: dict[int, list[float]] = {}
    for size in scale.command_transfers:
        with tempfile.TemporaryDirectory(prefix="bench-", dir=disk) as folder:
            board = Path(folder)
            (board / "data").mkdir()
            (board / "sysop.toml").write_text(SETTINGS, encoding="utf-8")
            count = large.write(board / "data" / "board.sqlite3", size)
            taken[count] = [_seconds(board, command) for command in COMMANDS]
    for (fewer, before), (more, after) in pairwise(taken.items()):
        for command, small, large_ in zip(COMMANDS, before, after, strict=True):
            bound = FLAT if command.is_flat else LINEAR * more / fewer
            what = f"{command}, {more:,}"
            yield Row(what, "s", large_, small, Goal("ratio", "<=", round(bound, 1)))


def _seconds(board: Path, command: Command) -> float:
    """Run a command and return the CPU time that it takes, in seconds."""
    name, *words = command.words
    program = Path(sys.executable).with_name(name)
    with subprocess.Popen([program, *words], cwd=board, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, command.finds):
        raise RuntimeError(f"{command} ended with {process.returncode}")
    (board / "copy").unlink(missing_ok=True)
    return used.ru_utime + used.ru_stime
