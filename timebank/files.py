"""What reading and writing THEBANK.EXT share: a lock between processes, and writes that last."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

LOCK_SECONDS = 5.0  # how long another process may keep a file to itself
LOCK_POLL_SECONDS = 0.02


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep a file from every other process of ours; the lock dies with its holder.

    It is an exclusive flock on the file beside it that has `.lock` added to its name. Raises
    `OSError` when another process does not let go of it in LOCK_SECONDS.
    """
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        patience = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= patience:
                    reason = "another process has it locked"
                    raise OSError(errno.EAGAIN, reason) from None
                time.sleep(LOCK_POLL_SECONDS)  # flock knows no time-out
        yield
    finally:
        os.close(lock)


@contextlib.contextmanager
def opened(path: Path, flags: int) -> Iterator[int]:
    """Open a file; one that is made here is on the disk before it is used.

    Raises `OSError`, also for what is there and is no file: a folder, a pipe.
    """
    new = not path.exists()
    # Opening a pipe would otherwise wait for somebody at its other end.
    file = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "it is not a file")
        if new:
            sync_folder(path.parent)
        yield file
    finally:
        os.close(file)


def write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def write(path: Path, data: bytes) -> None:
    """Write a file for its owner's eyes alone, and wait until it is on the disk."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        write_all(file, data)
        os.fsync(file)
    finally:
        os.close(file)


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make a folder, and those above it, unless they are there; new ones are on the disk then.

    `mode` is for the folder itself, less the umask. Raises `OSError`.
    """
    if not folder.is_dir():
        make_folder(folder.parent)
        try:
            folder.mkdir(mode, exist_ok=True)
        except FileExistsError as error:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from error
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    sync(folder)


def sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk; raises `OSError`."""
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
