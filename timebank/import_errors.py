"""The .ERR file beside one that is taken over: which lines were not applied, and why.

A refused line is noted in the books together with the position behind it, then written here, then
marked as told. Whoever finds a line that is not marked, under the lock of the file, looks for it
here before it is written: its writer died in between.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from timebank import files
from timebank.database import Desk
from timebank.exchange import LINE_END
from timebank.import_books import Refusal, mark_told, untold
from timebank.import_lines import LONGEST_LINE, NOWHERE, LineReader

AT_ONCE = 100  # lines that are looked for together


class ErrorFile:
    """The .ERR file of one path; everything is done under the lock of that path."""

    def __init__(self, place: Path, desk: Callable[[], AbstractContextManager[Desk]]) -> None:
        """Name the file and how to get at the books; nothing is touched yet."""
        self._place = place
        self._path = place.with_name(f"{place.name}.ERR")
        self._desk = desk

    def finish(self) -> None:
        """Write what an earlier round has left unwritten; raises `OSError`."""
        while True:
            with self._desk() as desk:
                refusals = untold(desk, self._place, AT_ONCE)
            if not refusals:
                return
            missing = {self._line(refusal): refusal for refusal in refusals}
            if self._path.exists():
                with files.opened(self._path, os.O_RDONLY) as file:
                    for line in LineReader(file, NOWHERE):
                        missing.pop(line.content or b"", None)
            self._append(list(missing.values()))
            self._mark(refusals)

    def write(self, refusals: Sequence[Refusal]) -> None:
        """Write lines that were refused just now; raises `OSError`."""
        if refusals:
            self._append(refusals)
            self._mark(refusals)

    def _line(self, refusal: Refusal) -> bytes:
        said = (
            f"import {refusal.import_id}, line {refusal.line} (byte {refusal.start}):"
            f" {refusal.reason}: {refusal.text}"
        )
        # Short enough to be found again by the reader of lines.
        return said.encode()[: LONGEST_LINE // 2]

    def _append(self, refusals: Sequence[Refusal]) -> None:
        lines = [self._line(refusal) for refusal in refusals]
        with files.opened(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND) as file:
            torn = _unended(file)
            if torn and any(line.startswith(torn.rstrip(b"\r")) for line in lines):
                os.ftruncate(file, os.fstat(file).st_size - len(torn))
            elif torn:
                files.write_all(file, LINE_END)
            files.write_all(file, b"".join(line + LINE_END for line in lines))
            os.fsync(file)

    def _mark(self, refusals: Sequence[Refusal]) -> None:
        with self._desk() as desk:
            mark_told(desk, refusals)


def _unended(file: int) -> bytes:
    """Give what stands behind the last end of a line: a piece of a line that was being written."""
    size = os.fstat(file).st_size
    start = max(0, size - LONGEST_LINE)
    return os.pread(file, size - start, start).rpartition(b"\n")[2]
