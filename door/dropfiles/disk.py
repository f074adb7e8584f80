"""The drop files of a folder, as they were read at one moment.

A server may not see the folder of a host, may see another one there, or could wait for its disk for
ever. So `door run` reads the files as its own user and sends their bytes (`door.lines.hand_over`).
`door doctor` reads the files of this machine in the same way.
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
    """What was read of one folder, or of that of a file that was named."""

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
        """Return the files, those excepted that are none; raises `OSError`."""
        if self._error:
            raise OSError(self._error, os.strerror(self._error), str(self.folder))
        return [path for path, file in self._files.items() if file[2] != hand_over.NO_FILE]

    def written(self, path: Path) -> float:
        """Return when a file was written, in seconds since 1970."""
        return self._files[path][1] / 1_000_000_000

    def content(self, path: Path) -> bytes:
        """Return what is in a file, or a byte more than is read of one; raises `OSError`."""
        if path not in self._files:
            raise FileNotFoundError(path)
        _, _, number, content = self._files[path]
        if number == hand_over.UNEXPECTED:
            raise NotPlain(number, content.decode(errors="replace"), str(path))
        if number:
            raise files.unopened(number, path)
        return content
