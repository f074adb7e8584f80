"""The caller's line, for the few words that a door writes itself while a server starts.

A server finds the line in any drop file. A door looks only in the options and in DOOR32.SYS. Like
the relay, this module imports little.
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
TERMINAL = "terminal.ini"  # no drop file
SOCKET = b"2"  # the first line of DOOR32.SYS, if its second line names a socket
SAME_CALL_NANOSECONDS = 5_000_000_000  # a file that is older belongs to another call
MAX_BYTES = 128  # of the two lines


class CallerLine:
    def __init__(self, reading: int, writing: int, charset: str = "") -> None:
        self._reading, self._writing = reading, writing
        self._charset = charset if charset in ("petscii", "atascii") else ""

    def say(self, words: str) -> None:
        """Write a line of ASCII or for a home computer, if the caller is still there."""
        try:
            os.write(self._writing, self._encoded(words))
        except OSError:
            return

    def _encoded(self, words: str) -> bytes:
        if not self._charset:
            return f"{words}\r\n".encode("ascii", "replace")
        from ansi.charset import Charset  # noqa: PLC0415 - as is the next, for few callers
        from ansi.home_screen import notice  # noqa: PLC0415

        return notice(Charset(self._charset), words)

    def pause(self, seconds: float) -> None:
        """Wait for `seconds`, or until the caller presses a key."""
        try:
            if select.select([self._reading], [], [], seconds)[0]:
                os.read(self._reading, MAX_BYTES)
        except (OSError, ValueError):
            return


def find_line(
    options: Mapping[str, str], files: Sequence[HostFile], call_back: Callable[[str, int], int]
) -> CallerLine | None:
    """Return the line that the options of `door run` or the drop files name; None without one.

    `call_back` connects to a host and port, and returns the descriptor.
    """
    charset = options.get("charset", "")
    try:
        if "connect" in options:
            host, _, port = options["connect"].rpartition(":")
            host_end = call_back(host.strip("[]"), int(port))
            return CallerLine(host_end, host_end, charset)
        if "socket" in options or not ("stdio" in options or "local" in options):
            end = int(options["socket"]) if "socket" in options else _named_socket(files)
            if end is not None and hand_over.is_socket(end):
                return CallerLine(end, end, charset)
            if "socket" in options:
                return None
        return CallerLine(0, 1, charset) if hand_over.flows(0) and hand_over.flows(1) else None
    except (OSError, ValueError, OverflowError):
        return None


def _named_socket(files: Sequence[HostFile]) -> int | None:
    """Return the socket that DOOR32.SYS names, unless it is older than another drop file."""
    drop_files = [file for file in files if file[0].casefold() != TERMINAL]
    newest = max((written for _, written, *_ in drop_files), default=0)
    for name, written, error, content in drop_files:
        if name.casefold() == DOOR32 and not error and newest - written <= SAME_CALL_NANOSECONDS:
            kind, number, *_ = [*content[:MAX_BYTES].split(b"\n"), b""]
            return int(number) if kind.strip() == SOCKET else None
    return None
