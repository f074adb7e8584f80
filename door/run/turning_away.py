"""The end of a call that nobody serves: the caller reads why, and the log says what to do."""

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
    """Tell a caller `words`, and the log and standard error `why`; "" for nothing.

    `path` is sysop.toml, "" where the log of a server has it already. A host may give the door its
    caller's terminal as standard error: then nothing is written there.
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
    """Log `why`, or what is wrong with the settings; return what was logged."""
    config = None
    try:
        config = settings.load(Path(path))
    except SettingsError as error:
        why = str(error)
    log_file.begin(config)
    log.error("%s", why)
    return why


def _is_apart(descriptor: int) -> bool:
    """Return whether a descriptor leads elsewhere than standard input and output do."""
    where = _identity(descriptor)
    return where is not None and where not in (_identity(0), _identity(1))


def _identity(descriptor: int) -> tuple[int, int, int] | None:
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_rdev


def why_no_line(descriptors: Sequence[int]) -> str:
    """Say why the caller cannot be on a socket, or on standard input and output; "" if they can."""
    try:
        if len(descriptors) == 1:
            socket.checked(descriptors[0])
        else:
            stdio.check(0, "input")
            stdio.check(1, "output")
    except NoHostLine as nobody:
        return str(nobody)
    return ""
