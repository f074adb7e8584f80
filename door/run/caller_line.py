"""The caller's line, for the few words that a door has to say itself.

Which line that is the server finds in the drop files; here it is looked for in the options and in
DOOR32.SYS alone, so that a caller reads something while a server is started. Light, as the relay.
"""

from __future__ import annotations

import os
import select

from door.lines import handed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DOOR32 = "door32.sys"
SOCKET = b"2"  # its first line, for a socket that the second line names
SAME_CALL_NANOSECONDS = 5_000_000_000  # files that are so much older are another call's
LONGEST = 128  # bytes of the two lines
BESIDE = ("events.ra", "terminal.ini")  # files that are no drop files


class CallerLine:
    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = reading, writing

    def say(self, words: str) -> None:
        """Write a line of ASCII; a caller who has gone does not get it."""
        try:
            os.write(self._writing, f"{words}\r\n".encode("ascii", "replace"))
        except OSError:
            return

    def pause(self, seconds: float) -> None:
        """Let the caller read for so long, or until they press a key."""
        try:
            if select.select([self._reading], [], [], seconds)[0]:
                os.read(self._reading, LONGEST)
        except (OSError, ValueError):
            return


def line_of(
    said: Mapping[str, str], place: str, call_back: Callable[[str, int], int]
) -> CallerLine | None:
    """Find the line of a call by its options and the folder or file of its drop files.

    None where nobody can be reached. `call_back` connects to the host.
    """
    try:
        if "connect" in said:
            host, _, port = said["connect"].rpartition(":")
            called_back = call_back(host.strip("[]"), int(port))
            return CallerLine(called_back, called_back)
        if "socket" in said or not ("stdio" in said or "local" in said):
            end = int(said["socket"]) if "socket" in said else _named(place)
            if end is not None and handed.is_socket(end):
                return CallerLine(end, end)
            if "socket" in said:
                return None
        return CallerLine(0, 1) if handed.flows(0) and handed.flows(1) else None
    except (OSError, ValueError, OverflowError):
        return None


def _named(place: str) -> int | None:
    """Return the socket that DOOR32.SYS names, unless it is older than another drop file."""
    _, texts, ends = handed.files_at(place)
    left, newest, found = list(ends), 0, None
    try:
        for text in texts:
            name, _, value = text.rpartition("=")
            if not name.startswith("#"):
                continue
            written, *_, error = map(int, value.split(":"))
            file = None if error else left.pop(0)
            kind = name[1:].casefold()
            if kind == DOOR32 and file is not None:
                found = written, os.pread(file, LONGEST, 0).split(b"\n")
            if kind not in BESIDE:
                newest = max(newest, written)
    finally:
        for end in ends:
            os.close(end)
    if found is None or newest - found[0] > SAME_CALL_NANOSECONDS:
        return None
    lines = found[1]
    return int(lines[1]) if len(lines) > 1 and lines[0].strip() == SOCKET else None
