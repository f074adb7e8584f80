"""The suite of a tree with a fault in it, quick tests first."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from verify.mutants.mutant import Mutant
from verify.mutants.tree import with_fault

# Seconds for one test: then pytest says where it hangs, and ends.
HANGS = 120
# pytest's codes for success, and for no chosen tests.
GOOD = (0, 5)
# Its tests of the mutants themselves: each of these would see that a text has changed.
OURS = "tests/verify/mutants"
LONG_TOOLS = "tests/verify"


@dataclass
class Suite:
    """The suite of a tree. Tests that fail without any fault are left out, and named at the end."""

    root: Path
    workers: int = 2
    # Whether only the tests of a mutant's own room are asked.
    is_near: bool = False
    unsound: set[str] = field(default_factory=set)

    def look(self, mutant: Mutant) -> str:
        """Return the test that sees a mutant, of its room first; "" where none does."""
        for stage in stages(mutant.file, self.root, self.is_near):
            while failed := self._failed(stage, mutant):
                if self._is_sound(failed, mutant):
                    return failed
                self.unsound.add(failed)
        return ""

    def _is_sound(self, test: str, mutant: Mutant) -> bool:
        """Return whether a test fails again with the fault, and passes without it."""
        if "::" not in test:  # a file that cannot be read, or a run that hangs
            return True
        alone = [test, "-n", "0"]
        return bool(self._failed(alone, mutant)) and not self._failed(alone)

    def _failed(self, tests: list[str], mutant: Mutant | None = None) -> str:
        """Run tests, with a mutant in the program or without; return the first that fails."""
        fault = contextlib.nullcontext() if mutant is None else with_fault(self.root, mutant)
        with fault, tempfile.TemporaryDirectory() as folder:
            command = [*(sys.executable, "-m", "pytest", "-x", "-q", "--tb=line")]
            command += ["-o", f"cache_dir={folder}", "-o", f"faulthandler_timeout={HANGS}"]
            command += ["-o", "faulthandler_exit_on_timeout=true"]
            command += ["-n", str(self.workers), f"--ignore={OURS}", *tests]
            command += [f"--deselect={test}" for test in sorted(self.unsound)]
            ran = subprocess.run(
                command,
                cwd=self.root,
                env={**os.environ, "PYTHONPATH": str(self.root)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            failures = Path(folder, "v/cache/lastfailed")
            failed = list(json.loads(failures.read_text())) if failures.exists() else []
        if ran.returncode in GOOD:
            return ""
        last = (ran.stdout.strip() or "nothing is said").splitlines()[-1]
        return failed[0] if failed else f"the run itself, status {ran.returncode}: {last}"


def stages(file: str, root: Path, is_near: bool) -> list[list[str]]:
    """Return the order of the tests: pytest's arguments for each part of the suite."""
    mirrored, named = _mirrored(file, root), _named(file, root)
    passed = [f"--ignore={folder}" for folder in (LONG_TOOLS, mirrored) if folder is not None]
    # A few files: further processes would cost more than they save. Named tests include long ones
    # unless excluded.
    room = [[*named, "-n", "0", "-m", "not long"]] if named else []
    if mirrored is not None:
        room.append([mirrored])
    if is_near and room:
        return room
    return [*room, ["tests", *passed], [LONG_TOOLS]]


def _mirrored(file: str, root: Path) -> str | None:
    """Return the folder of tests for a file of the program; None if only its package has one."""
    rooms = file.split("/")[:-1]
    while rooms:
        folder = "/".join(["tests", *rooms])
        if (root / folder).is_dir() and (len(rooms) > 1 or rooms == ["ansi"]):
            return folder
        rooms.pop()
    return None


def _named(file: str, root: Path) -> list[str]:
    """List the tests named like a file: of its room if there are any, else of its package."""
    same = f"test_{Path(file).stem.rstrip('s')}*.py"
    rooms = (_mirrored(file, root), f"tests/{file.partition('/')[0]}")
    paths_found = ((root / room).rglob(same) for room in rooms if room is not None)
    each = (sorted(str(path.relative_to(root)) for path in paths) for paths in paths_found)
    return next(filter(None, each), [])
