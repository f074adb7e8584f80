"""The caller's line, for the few words that a door says itself while a server is started.

The server finds the line in the drop files. A door looks for it in the options and in DOOR32.SYS
alone. Light, as the relay.
"""

from __future__ import annotations

import os
import select

from door.lines import hand_over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from door.lines.hand_over import HostFile

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
    said: Mapping[str, str], files: Sequence[HostFile], call_back: Callable[[str, int], int]
) -> CallerLine | None:
    """Find the line of a call by its options and its drop files; None where it has none.

    `call_back` connects to the host.
    """
    try:
        if "connect" in said:
            host, _, port = said["connect"].rpartition(":")
            called_back = call_back(host.strip("[]"), int(port))
            return CallerLine(called_back, called_back)
        if "socket" in said or not ("stdio" in said or "local" in said):
            end = int(said["socket"]) if "socket" in said else _named(files)
            if end is not None and hand_over.is_socket(end):
                return CallerLine(end, end)
            if "socket" in said:
                return None
        return CallerLine(0, 1) if hand_over.flows(0) and hand_over.flows(1) else None
    except (OSError, ValueError, OverflowError):
        return None


def _named(files: Sequence[HostFile]) -> int | None:
    """Return the socket that DOOR32.SYS names, unless it is older than another drop file."""
    drop_files = [file for file in files if file[0].casefold() not in BESIDE]
    newest = max((written for _, written, *_ in drop_files), default=0)
    for name, written, error, content in drop_files:
        if name.casefold() == DOOR32 and not error and newest - written <= SAME_CALL_NANOSECONDS:
            kind, number, *_ = [*content[:LONGEST].split(b"\n"), b""]
            return int(number) if kind.strip() == SOCKET else None
    return None
