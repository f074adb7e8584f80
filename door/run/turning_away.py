"""The end of a call without a server: the caller reads why, and the log says what to do."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from door.config import config as settings
from door.config import log_file
from door.errors import NoHostLine
from door.lines.host import socket, stdio
from timebank.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from door.run.caller_line import CallerLine

APOLOGY_SECONDS = 8.0  # a host clears the screen when the door ends
STDERR = 2

log = logging.getLogger("door.run")


def turn_away(path: str, line: CallerLine | None, words: str, why: str) -> None:
    """Show `words` to a caller, and write `why` to the log and to standard error; "" for nothing.

    `path` is sysop.toml, or "" if a server has logged `why`. Nothing is written to a standard error
    that is the caller's terminal.
    """
    if line is not None and words:
        line.say(f"\r\n{words}")
    if why and path:
        why = _log(path, why)
    if why and _is_apart(STDERR):
        print(why, file=sys.stderr)
    if line is not None and words:
        line.pause(APOLOGY_SECONDS)


def _log(path: str, why: str) -> str:
    """Log `why`, or the fault of the settings; return the logged sentence."""
    config = None
    try:
        config = settings.load(Path(path))
    except SettingsError as error:
        why = str(error)
    log_file.begin(config)
    log.error("%s", why)
    return why


def _is_apart(descriptor: int) -> bool:
    """Return whether a descriptor is another file than standard input and standard output."""
    identity = _identity(descriptor)
    return identity is not None and identity not in (_identity(0), _identity(1))


def _identity(descriptor: int) -> tuple[int, int, int] | None:
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_rdev


def line_problem(descriptors: Sequence[int]) -> str:
    """Return why a socket, or standard input and output, are no caller's line; "" if they are."""
    try:
        if len(descriptors) == 1:
            socket.checked(descriptors[0])
        else:
            stdio.check(0, "input")
            stdio.check(1, "output")
    except NoHostLine as error:
        return str(error)
    return ""
