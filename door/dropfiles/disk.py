"""Where drop files are read: on the disk of this process, or from the descriptors of another one.

A server may not see the folder of a host, or may see another one there. So `door run` opens the
files as its own user and passes them on (`door.lines.handed`); what is read of them is the same.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from io import FileIO
from pathlib import Path
from typing import Protocol

from timebank import files


class FolderEntry(Protocol):
    """A file in a folder."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    def stat(self) -> os.stat_result: ...


class Disk:
    """The files as this process sees them. All but `is_folder` raise `OSError`."""

    def is_folder(self, path: Path) -> bool:
        try:
            return path.is_dir()
        except OSError:
            return False  # what is wrong with it is said when it is looked for as a file

    def exists(self, path: Path) -> bool:
        return path.exists()

    def stat(self, path: Path) -> os.stat_result:
        return path.stat()

    def entries(self, folder: Path) -> AbstractContextManager[Iterable[FolderEntry]]:
        return os.scandir(folder)

    def opened(self, path: Path) -> AbstractContextManager[int]:
        """Open a plain file until the block is left."""
        return files.opened(path, os.O_RDONLY)


DISK = Disk()


class _HandedFile:
    """One file as the door has found it, with its descriptor or the reason why it has none."""

    def __init__(self, folder: Path, name: str, said: str, left: list[FileIO]) -> None:
        """Take the descriptor of the file from those that are `left`; `ValueError`."""
        written, mode, user, names, number = map(int, said.split(":"))
        self.name, self.path = name, str(folder / name)
        seconds = written / 1_000_000_000
        self._status = os.stat_result(
            (mode, 0, 0, names, user, 0, 0, 0, int(seconds), 0, 0.0, seconds, 0.0)
        )
        self.error = number
        self.file = None if number else left.pop(0)

    def stat(self) -> os.stat_result:
        return self._status


class HandedFiles(Disk):
    """The files of one folder, by the word and the descriptors of the door that has opened them.

    The descriptors are closed with this object, or by `close`.
    """

    def __init__(self, said: Mapping[str, str], names: Mapping[str, str], ends: list[FileIO]):
        """`said` and `names` are those of a message (`handed.files_at`).

        Raises `KeyError`, `ValueError`, and `IndexError` where descriptors are missing.
        """
        self._ends = ends
        left = list(ends)
        self._folder = Path(said["folder"])
        self._is_named = said["named"] == "1"
        self._error = int(said["unread"])
        self._user = int(said["user"])
        mode, owner = int(said["folder_mode"]), int(said["folder_user"])
        self._about = os.stat_result((mode, 0, 0, 1, owner, 0, 0, 0, 0, 0))
        self._files = {
            name: _HandedFile(self._folder, name, text, left) for name, text in names.items()
        }

    def close(self) -> None:
        for end in self._ends:
            end.close()

    def is_folder(self, path: Path) -> bool:
        return path == self._folder and not self._is_named

    def exists(self, path: Path) -> bool:
        return path.parent == self._folder and path.name in self._files

    def stat(self, path: Path) -> os.stat_result:
        return self._found(path).stat()

    def entries(self, folder: Path) -> AbstractContextManager[Iterable[FolderEntry]]:
        if folder != self._folder or self._error:
            number = self._error or 2
            raise OSError(number, os.strerror(number), str(folder))
        return contextlib.nullcontext(self._files.values())

    @contextmanager
    def opened(self, path: Path) -> Iterator[int]:
        found = self._found(path)
        if found.file is None:
            raise files.unopened(found.error, path)
        files.refuse_unexpected(found.stat(), self._about, path, self._user)
        if not stat.S_ISREG(os.fstat(found.file.fileno()).st_mode):
            raise OSError("it is another file than its door says")
        yield found.file.fileno()

    def _found(self, path: Path) -> _HandedFile:
        if not self.exists(path):
            raise FileNotFoundError(2, os.strerror(2), str(path))
        return self._files[path.name]
