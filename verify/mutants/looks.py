"""The suite of a tree with a fault in it, quick tests first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from verify.mutants.mutant import Mutant
from verify.mutants.tree import Tree
from verify.mutants.watch import HEARD

POLL_SECONDS = 0.1
GRACE_SECONDS = 10.0  # that pytest has to clean up, before it is killed
# What the suite says of itself when nothing was chosen from it.
NO_TESTS = 5
# Its tests of the mutants themselves: each of these would see that a text has changed.
OURS = "tests/verify/mutants"
LONG_TOOLS = "tests/verify"


class GivenUp(Exception):
    """Nobody waits for what a look comes to."""


@dataclass(frozen=True)
class Look:
    """What one look came to: `caught` says by what, "" when nothing was seen.

    `after` is the number of tests that had ended by then; `seconds` are those of the processors,
    all processes together.
    """

    caught: str
    after: int
    seconds: float
    # Whether there was an end of waiting, and no test that failed.
    is_time_out: bool = False
    # Whether more tests could have been asked, and nothing is known of them.
    is_partial: bool = False


@dataclass(frozen=True)
class Bounds:
    """How long is waited: without a sign of life, and for one look at one mutant altogether."""

    silence: float = 120.0
    whole: float = 3600.0
    workers: int = 2
    # Whether the suite is asked only for the tests of the mutant's own room.
    is_near: bool = False
    # Tests that are asked before all others.
    first: tuple[str, ...] = ()


@dataclass
class _Ran:
    """A process that has ended, or was ended."""

    status: int
    seconds: float
    output: str
    is_time_out: bool


def _run(command: list[str], tree: Tree, bounds: Bounds, until: float, heard: Path) -> _Ran:
    """Run a process in a tree, ended when it says nothing for too long."""
    environment = {**tree.environment, HEARD: str(heard)}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            cwd=tree.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        signs, is_time_out = (heard, output.fileno()), False
        last, told = time.monotonic(), _size(*signs)
        while True:
            number, status, used = os.wait4(process.pid, os.WNOHANG)
            if number:
                break
            if tree.is_given_up.is_set():
                _signal(process.pid, signal.SIGKILL)
            now, size = time.monotonic(), _size(*signs)
            if size != told:
                last, told = now, size
            if not is_time_out and (now - last > bounds.silence or now > until):
                is_time_out, last = True, now
                _signal(process.pid, signal.SIGINT)
            elif is_time_out and now - last > GRACE_SECONDS:
                _signal(process.pid, signal.SIGKILL)
            time.sleep(POLL_SECONDS)
        process.returncode = os.waitstatus_to_exitcode(status)
        _signal(process.pid, signal.SIGKILL)  # what it may have left behind
        if tree.is_given_up.is_set():
            raise GivenUp
        output.seek(0)
        said = output.read().decode(errors="replace")
    return _Ran(process.returncode, used.ru_utime + used.ru_stime, said, is_time_out)


def _size(heard: Path, output: int) -> int:
    listened = heard.stat().st_size if heard.exists() else 0
    return listened + os.fstat(output).st_size


def _signal(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return


@dataclass
class Suite:
    """The suite of a tree. Tests that fail without any fault are left out, and named at the end."""

    tree: Tree
    bounds: Bounds
    unsound: set[str] = field(default_factory=set)

    def look(self, mutant: Mutant) -> Look:
        """Run the tests of the mutant's room first, then the rest, until one fails."""
        until = time.monotonic() + self.bounds.whole
        tests, seconds = 0, 0.0
        first = [[test, "-n", "0"] for test in self.bounds.first]
        for stage in [*first, *stages(mutant.file, self.tree.root, self.bounds.is_near)]:
            while True:
                found = self._run(stage, until)
                tests, seconds = tests + found.after, seconds + found.seconds
                if not found.caught or found.is_time_out or self._is_sound(found.caught):
                    break
                self.unsound.add(found.caught)
            if found.caught:
                return Look(found.caught, tests, seconds, found.is_time_out)
        return Look("", tests, seconds, is_partial=self.bounds.is_near)

    def _run(self, stage: list[str], until: float) -> Look:
        with tempfile.TemporaryDirectory() as folder:
            heard = Path(folder, "heard")
            command = [*(sys.executable, "-m", "pytest", "-x", "-q", "--tb=line")]
            command += ["-p", "verify.mutants.watch", "-p", "no:cacheprovider"]
            command += ["-n", str(self.bounds.workers), f"--ignore={OURS}", *stage]
            command += [f"--deselect={test}" for test in sorted(self.unsound)]
            ran = _run(command, self.tree, self.bounds, until, heard)
            lines = heard.read_text().splitlines() if heard.exists() else []
        failed = [line.partition(" ")[2] for line in lines if line.startswith("failed ")]
        ended = {line.partition(" ")[2] for line in lines if line.startswith("ended ")}
        begun = [line.partition(" ")[2] for line in lines if line.startswith("begins ")]
        if failed:
            return Look(failed[0], len(ended), ran.seconds)
        if ran.is_time_out:
            hanging = [test for test in begun if test not in ended]
            said = f"time-out in {' or '.join(hanging) or 'the beginning of the run'}"
            return Look(said, len(ended), ran.seconds, is_time_out=True)
        if ran.status not in (0, NO_TESTS):
            said = (ran.output.strip() or "nothing is said").splitlines()[-1]
            return Look(f"the run itself, status {ran.status}: {said}", len(ended), ran.seconds)
        return Look("", len(ended), ran.seconds)

    def _is_sound(self, test: str) -> bool:
        """Tell whether a test fails again with the fault, and passes without it."""
        if "::" not in test:  # what cannot even be read
            return True
        until = time.monotonic() + self.bounds.whole
        alone = [test, "-n", "0"]
        if not self._run(alone, until).caught:
            return False
        with self.tree.without_fault():
            return not self._run(alone, until).caught


def stages(file: str, root: Path, is_near: bool) -> list[list[str]]:
    """Say in which order tests are asked: what pytest is given for each part of the suite."""
    mirrored, named = _mirrored(file, root), _named(file, root)
    passed = [f"--ignore={folder}" for folder in (LONG_TOOLS, mirrored) if folder is not None]
    # A few files: other processes would cost more than they spare. What is named runs long tests
    # too, unless they are left out.
    room = [[*named, "-n", "0", "-m", "not long"]] if named else []
    if mirrored is not None:
        room.append([mirrored])
    if is_near and room:
        return room
    return [*room, ["tests", *passed], [LONG_TOOLS]]


def _mirrored(file: str, root: Path) -> str | None:
    """Find the folder of tests for a file of the program; None where there is only a package's."""
    rooms = file.split("/")[:-1]
    while rooms:
        folder = "/".join(["tests", *rooms])
        if (root / folder).is_dir() and (len(rooms) > 1 or rooms == ["ansi"]):
            return folder
        rooms.pop()
    return None


def _named(file: str, root: Path) -> list[str]:
    """List the tests named like a file: of its room where there are any, else of its package."""
    same = f"test_{Path(file).stem.rstrip('s')}*.py"
    rooms = (_mirrored(file, root), f"tests/{file.partition('/')[0]}")
    found = ((root / room).rglob(same) for room in rooms if room is not None)
    each = (sorted(str(path.relative_to(root)) for path in paths) for paths in found)
    return next(filter(None, each), [])
