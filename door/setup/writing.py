"""Writes files next to a sysop's own: whole or not at all, and never over another file.

A file is written under a temporary name, flushed to the disk, and then renamed. So a disk that
fills up or fails leaves the old file as it was.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from timebank import files


class Fate(Enum):
    """What happened to a file, as a sentence."""

    WRITTEN = "Wrote {path}."
    SAME = "{path} is there already, as it would be written now."
    AS_NEW = (
        "{path} is there already and stays. Put {new} in its place, unless you have changed it."
    )

    def sentence(self, path: Path) -> str:
        return self.value.format(path=path, new=new_name(path).name)


def put(path: Path, text: str, mode: int) -> Fate:
    """Write a file and the folders above it, unless a file of its name exists. Raises `OSError`."""
    files.make_folder(path.parent)
    data = text.encode()
    with _written(path.parent, data, mode) as new:
        if _takes_place(new, path):
            return Fate.WRITTEN
        if _holds(path, data):
            return Fate.SAME
        os.replace(new, new_name(path))
        files.sync_folder(path.parent)
        return Fate.AS_NEW


def new_name(path: Path) -> Path:
    """Return the name for our file if another is at `path`."""
    return path.with_name(f"{path.name}.new")


def replace(path: Path, text: str) -> None:
    """Replace a file, keeping its owner and mode; follow a link to the file that it names. Raises
    `OSError`."""
    path = path.resolve()
    status = path.stat()
    with _written(path.parent, text.encode(), stat.S_IMODE(status.st_mode)) as new:
        if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
            os.chown(new, status.st_uid, status.st_gid)
            os.chmod(new, stat.S_IMODE(status.st_mode))
        os.replace(new, path)
        files.sync_folder(path.parent)


@contextlib.contextmanager
def _written(folder: Path, data: bytes, mode: int) -> Iterator[str]:
    """Yield a new file that is on the disk; remove it at the end if it was not renamed."""
    file, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=folder)
    try:
        try:
            files.write_all(file, data)
            os.fchmod(file, mode)
            os.fsync(file)
        finally:
            os.close(file)
        yield name
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def _takes_place(new: str, path: Path) -> bool:
    """Give a new file its name, unless that is taken; return whether it was free."""
    try:
        os.link(new, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            return False
        os.rename(new, path)
    files.sync_folder(path.parent)
    return True


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False
