"""A board whose wall clock is moved by as many seconds as a file says.

It is the one place where the program reads that clock. libfaketime, which moves those of the
databases, lets a Python process wait for too long.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from door.cli.main import main as door
from timebank.ledger.machine import Machine


def main(file: str) -> None:
    """Run the command `door`, its wall clock moved."""
    real, moved = Machine.now, Path(file)

    def now(self: Machine) -> datetime:
        return real(self) + timedelta(seconds=int(moved.read_text()))

    Machine.now = now  # type: ignore[method-assign]
    door()
