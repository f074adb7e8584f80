"""The drop files of a folder, as read at one moment.

The server may not see a host's folder, may see another folder at its path, or could wait forever
for its disk. So `door run` reads the files as its own user and sends their bytes
(`door.lines.hand_over`). `door doctor` reads the files of this machine in the same way.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from door.lines import hand_over
from timebank import files
from timebank.errors import NotPlain

if TYPE_CHECKING:
    from door.lines.hand_over import HostFile


class HostFiles:
    """The files read from a folder, or from the folder of a named file."""

    def __init__(self, folder: str, is_named: bool, error: int, files: list[HostFile]) -> None:
        self.folder, self.is_named = Path(folder), is_named
        self._error = error
        self._files = {self.folder / file[0]: file for file in files}

    @classmethod
    def at(cls, place: Path) -> HostFiles:
        return cls(*hand_over.files_at(str(place)))

    def __contains__(self, path: Path) -> bool:
        return path in self._files

    def paths(self) -> list[Path]:
        """Return the paths of the regular files; raise `OSError` if the folder was not read."""
        if self._error:
            raise OSError(self._error, os.strerror(self._error), str(self.folder))
        return [path for path, file in self._files.items() if file[2] != hand_over.NO_FILE]

    def written(self, path: Path) -> float:
        """Return when a file was written, in seconds since 1970."""
        return self._files[path][1] / 1_000_000_000

    def content(self, path: Path) -> bytes:
        """Return the bytes of a file, at most one more than the limit; raise `OSError`."""
        if path not in self._files:
            raise FileNotFoundError(path)
        _, _, number, content = self._files[path]
        if number == hand_over.UNEXPECTED:
            raise NotPlain(number, content.decode(errors="replace"), str(path))
        if number:
            raise files.unopened(number, path)
        return content
