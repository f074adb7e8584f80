"""The disk below SQLite: `platter.c`, compiled at first use and loaded before libc.

It works in a process started with it (`started_with`, LD_PRELOAD). Then all writes of SQLite and
Python below one folder pass through it, however `sqlite3` is linked.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

SOURCE = Path(__file__).with_name("platter.c")
PRELOAD = "LD_PRELOAD"


class CannotBeBuilt(Exception):
    """This machine cannot have such a disk; `str()` gives the reason."""


class Control(ctypes.Structure):
    """The shared state of `platter.c`: its `struct control`, number by number."""

    frozen: int
    dies_in: int
    has_died: int
    durable: int
    writes_fail: int
    write_errno: int
    syncs_fail: int
    sync_fails_in: int
    dies_later: int
    syncs_lie: int
    folders_lie: int
    lied: int
    adrift: int
    operations: int
    writes: int
    syncs: int
    failed_writes: int
    failed_syncs: int
    lies: int
    losses: int
    torn: int

    _fields_ = [(name, ctypes.c_int64) for name in __annotations__]


class Platter:
    """The library, in a process that was started with it."""

    def __init__(self) -> None:
        """Find it; raises `CannotBeBuilt` in a process that was started without it."""
        self._library = ctypes.CDLL(None)
        try:
            self.control = Control.in_dll(self._library, "platter_control")
        except ValueError as error:
            raise CannotBeBuilt("This process was started without the disk.") from error
        self._library.platter_begin.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64)
        self._library.platter_pages.restype = ctypes.c_uint64

    def begin(self, folder: Path, database: Path, seed: int) -> None:
        """Watch a folder, which counts as durable; `seed` is the source of chance."""
        self._library.platter_begin(os.fsencode(folder), os.fsencode(database), seed)

    def end(self) -> None:
        """Stop watching."""
        self._library.platter_end()

    def lose_power(self, *, in_order: bool) -> None:
        """Leave the disk's content in the folder, where no file may be open.

        After a lie, `in_order` loses everything after some moment.
        """
        self._library.platter_lose_power(int(in_order))

    def evict(self) -> None:
        """Drop from the cache the pages that a failed fsync has called clean."""
        self._library.platter_evict()

    @property
    def pages(self) -> int:
        """Return how many pages of 4096 bytes are in memory."""
        return int(self._library.platter_pages())

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Block changes of the folder: the process at work is dead."""
        before, self.control.frozen = self.control.frozen, 1
        try:
            yield
        finally:
            self.control.frozen = before

    @contextmanager
    def durable(self, level: int) -> Iterator[None]:
        """Make writes durable at once.

        Level 0: none, for the board. Level 1: those outside the books, for the programs next to
        it. Level 2: all.
        """
        before, self.control.durable = self.control.durable, level
        try:
            yield
        finally:
            self.control.durable = before


def started_with(library: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment that starts a process with the library."""
    before = environment.get(PRELOAD)
    return {**environment, PRELOAD: f"{library}:{before}" if before else str(library)}


def forget_preload() -> None:
    """Start further processes of this one without the library."""
    _, _, before = os.environ.pop(PRELOAD, "").partition(":")
    if before:
        os.environ[PRELOAD] = before


def built() -> Path:
    """Return the compiled library. Raises `CannotBeBuilt`."""
    if sys.platform != "linux":
        raise CannotBeBuilt("A library is loaded before libc in this way on Linux alone.")
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise CannotBeBuilt("There is no C compiler here (gcc or cc).")
    name = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bjft-simulate"
    library = folder / f"platter-{name}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _compile(compiler, library)
    return library


def _compile(compiler: str, library: Path) -> None:
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        made = Path(folder) / "platter.so"
        command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(made), str(SOURCE), "-ldl"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            raise CannotBeBuilt(f"{compiler} cannot compile {SOURCE.name}: {run.stderr}")
        made.replace(library)


def sees_sqlite(platter: Platter) -> bool:
    """Return whether SQLite's writes in this process pass through the library."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "probe.db"
        platter.begin(Path(folder), file, 1)
        try:
            connection = sqlite3.connect(file, isolation_level=None)
            connection.execute("CREATE TABLE probe (a)")
            connection.close()
            return bool(platter.control.writes and platter.control.syncs)
        finally:
            platter.end()
