"""Troubles of the disk under a real board, which pass: no room, a full disk, a lock.

Each is a context manager over a running board. While it lasts, the trouble is real, made by
another process or by the kernel.
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from door.config.config import Config
from tests.door.processes import Served

# Another program that takes the books for itself until its input ends.
RIVAL = (
    "import sqlite3, sys\n"
    "books = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=10)\n"
    "books.execute(sys.argv[2])\n"
    "print('mine', flush=True)\n"
    "sys.stdin.read()\n"
)
DISK_BYTES = 4 * 1024 * 1024


@dataclass
class Started:
    """A server that a door has started."""

    config: Config
    process: HasNumber


class HasNumber(NamedTuple):
    pid: int


Board = Served | Started
Trouble = Callable[[Board], AbstractContextManager[None]]


@contextmanager
def no_room(board: Board) -> Iterator[None]:
    """The server may write no byte more into any file, as under a quota that is used up."""
    pid = board.process.pid
    soft, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, most))
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):  # a server may end during this
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, most))


@contextmanager
def full_disk(board: Board) -> Iterator[None]:
    """Something has filled the disk that the books are on (`small_disk`) to the last byte."""
    junk = board.config.board.data / "junk"
    with junk.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    assert os.statvfs(junk).f_bavail == 0
    try:
        yield
    finally:
        junk.unlink()


@contextmanager
def immediate_lock(board: Board) -> Iterator[None]:
    """Another process has begun to write into the books, and does not come to an end."""
    with _locked(board, "BEGIN IMMEDIATE"):
        yield


@contextmanager
def exclusive_lock(board: Board) -> Iterator[None]:
    """Another process wants the books for itself."""
    with _locked(board, "BEGIN EXCLUSIVE"):
        yield


@contextmanager
def _locked(board: Board, how: str) -> Iterator[None]:
    with subprocess.Popen(
        [sys.executable, "-c", RIVAL, board.config.database, how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as rival:
        assert rival.stdin is not None
        assert rival.stdout is not None
        assert rival.stdout.readline() == b"mine\n"
        try:
            yield
        finally:
            rival.stdin.close()


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Mount a disk of a few megabytes at `folder`; skip the test where that is forbidden."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(words, capture_output=True, check=False, text=True)
    except FileNotFoundError:
        pytest.skip(os.strerror(errno.ENOENT) + ": mount")
    if mounted.returncode:
        pytest.skip(f"a disk to fill cannot be had here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
