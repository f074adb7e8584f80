"""A copy of the tree, into which one mutant at a time is put."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from verify.mutants.mutant import Mutant

SHARED_MEMORY = Path("/dev/shm")
# Seconds since 1970, from 2001 on. Python recognises compiled files by date and size, and no file
# of the tree is that old.
DATES = count(10**9)


@contextlib.contextmanager
def copied(root: Path) -> Iterator[Path]:
    """Copy git's files of a working tree, and new ones; the copy is removed at the end."""
    where = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="mutants-", dir=where) as folder:
        listing = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        )
        for name in filter(None, listing.stdout.split("\0")):
            if (root / name).is_file():  # one that was removed is listed until that is staged
                target = Path(folder, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, target)
        yield Path(folder)


@contextlib.contextmanager
def with_fault(root: Path, mutant: Mutant) -> Iterator[None]:
    """Run the program with a mutant; raises `Stale`."""
    path = root / mutant.file
    changed = mutant.mutated(root)
    before = path.read_text()
    _write(path, changed)
    try:
        yield
    finally:
        _write(path, before)


def _write(path: Path, text: str) -> None:
    path.write_text(text)
    date = next(DATES)
    os.utime(path, (date, date))
