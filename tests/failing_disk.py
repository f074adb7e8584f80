"""A disk that fails when a test says so, below SQLite, under a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

NEED_CLIENTS = "BJFT_NEED_CLIENTS"  # set where a missing program is a failure, not a skip
SOURCE = Path(__file__).with_suffix(".c")

SYNC_LOG, WRITE_LOG = "sync -wal", "write -wal"
FIRST_SYNC_LOG, SECOND_SYNC_LOG = "sync@1 -wal", "sync@2 -wal"
THEN_WRITE_LOG = "then-write -wal"  # from the first sync on that has failed


@cache
def _library() -> Path:
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("a library can be put below SQLite on Linux only")
    if shutil.which("gcc") is None:
        assert not os.environ.get(NEED_CLIENTS), "gcc must be here: apt-get install gcc"
        pytest.skip(f"gcc is not installed; {NEED_CLIENTS} makes that a failure")
    library = Path(mkdtemp(prefix="failing-disk-"), "failing_disk.so")
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, SOURCE, "-ldl"],
        check=True,
    )
    return library


class FailingDisk:
    """The disk of one process; `environment` is for starting the process."""

    def __init__(self, folder: Path) -> None:
        self._orders = folder / "failing"
        self.environment = {"LD_PRELOAD": str(_library()), "FAILING_DISK": str(self._orders)}

    @contextmanager
    def failing(self, *orders: str) -> Iterator[None]:
        """Make these operations fail for a while."""
        self.fail(*orders)
        try:
            yield
        finally:
            self.mend()

    def fail(self, *orders: str) -> None:
        """Make these operations fail from now on, all from the same moment."""
        new = self._orders.with_suffix(".new")
        new.write_text("".join(f"{order}\n" for order in orders), encoding="ascii")
        new.replace(self._orders)

    def mend(self) -> None:
        """End all failures."""
        self._orders.unlink(missing_ok=True)
