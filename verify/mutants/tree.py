"""A copy of the tree, into which one mutant at a time is put."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from verify.mutants.mutant import Mutant

SHARED_MEMORY = Path("/dev/shm")
A_DATE = 10**9  # seconds since 1970, in 2001: no file of the tree is so old
PACKAGES = ("ansi", "timebank", "door", "tests", "verify")


class Tree:
    """A copy with files of its own; processes that start in it run its program and no other."""

    def __init__(self, root: Path) -> None:
        """Take a folder that holds a copy."""
        self.root = root
        # What runs here is ended when this is set, and nothing is known of it.
        self.is_given_up = threading.Event()
        self._changes = count()
        self._fault: tuple[Path, str, str] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs that is started here."""
        return {**os.environ, "PYTHONPATH": str(self.root)}

    @contextlib.contextmanager
    def with_fault(self, mutant: Mutant) -> Iterator[None]:
        """Have a mutant in it meanwhile; raises `Stale`."""
        path = self.root / mutant.file
        text = mutant.mutated(self.root)
        before, changed = path.read_text(), path.stat().st_mtime
        self._write(path, text)
        self._fault = path, before, text
        try:
            yield
        finally:
            self._fault = None
            self._write(path, before, changed)

    @contextlib.contextmanager
    def without_fault(self) -> Iterator[None]:
        """Have the tree as it was meanwhile, while `with_fault` goes on."""
        assert self._fault is not None
        path, before, text = self._fault
        self._write(path, before)
        try:
            yield
        finally:
            self._write(path, text)

    def _write(self, path: Path, text: str, changed: float | None = None) -> None:
        """Write a file with a date of its own: Python knows what it compiled by date and size."""
        path.write_text(text)
        changed = A_DATE + next(self._changes) if changed is None else changed
        os.utime(path, (changed, changed))

    def check(self) -> None:
        """See that the program that runs here is the copy; raises `RuntimeError`."""
        ask = f"import {', '.join(PACKAGES)}; print(*(m.__file__ for m in ({', '.join(PACKAGES)})))"
        said = subprocess.run(
            [sys.executable, "-c", ask],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        strangers = [file for file in said.stdout.split() if self.root not in Path(file).parents]
        if strangers:
            raise RuntimeError(f"another program than the copy would run: {', '.join(strangers)}")


@contextlib.contextmanager
def copied(root: Path) -> Iterator[Tree]:
    """Copy what git knows of a working tree, and what it does not know yet; it goes at the end."""
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
        yield Tree(Path(folder))
