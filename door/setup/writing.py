"""Files that are put beside a sysop's own: whole or not at all, and never in the place of another.

A file is written under a name of its own, is on the disk, and only then gets the name it is for. So
a disk that fills, or fails, leaves what was there before.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from enum import Enum, auto
from pathlib import Path

from timebank import files


class Fate(Enum):
    """What has become of a file that was to be written."""

    WRITTEN = auto()
    SAME = auto()  # it was there, and holds the very same
    BESIDE = auto()  # another one is there and stays; ours has ".new" behind its name


def put(path: Path, text: str, mode: int) -> Fate:
    """Write a file unless there is one of its name, which stays. Raises `OSError`.

    Folders above it are made.
    """
    files.make_folder(path.parent)
    data = text.encode()
    with _written(path.parent, data, mode) as new:
        if _takes_place(new, path):
            return Fate.WRITTEN
        if _holds(path, data):
            return Fate.SAME
        os.replace(new, beside(path))
        files.sync_folder(path.parent)
        return Fate.BESIDE


def beside(path: Path) -> Path:
    """Return the name for what would have been written at `path`."""
    return path.with_name(f"{path.name}.new")


def replace(path: Path, text: str) -> None:
    """Write a file in the place of one that is there, for its owner and with its mode; where the
    path is a link, what it leads to. Raises `OSError`."""
    path = path.resolve()
    found = path.stat()
    with _written(path.parent, text.encode(), stat.S_IMODE(found.st_mode)) as new:
        if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
            os.chown(new, found.st_uid, found.st_gid)
            os.chmod(new, stat.S_IMODE(found.st_mode))
        os.replace(new, path)
        files.sync_folder(path.parent)


@contextlib.contextmanager
def _written(folder: Path, data: bytes, mode: int) -> Iterator[str]:
    """Give a new file that is on the disk; at the end its name is free again."""
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
    """Give a new file its name, unless that is taken."""
    try:
        os.link(new, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without links
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
