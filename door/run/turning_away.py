"""The end of a call that nobody serves: the caller reads why, and the log says what to do."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from door.config import config as settings
from door.errors import NoLine
from door.lines.host import socket, stdio
from door.run import log as logs
from timebank.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from door.run.caller_line import CallerLine

APOLOGY_SECONDS = 8.0  # a host clears the screen when the door ends

log = logging.getLogger("door.run")


def turn_away(path: str, line: CallerLine | None, words: str, why: str) -> None:
    """Tell a caller `words`, and the log `why`; "" for nothing.

    `path` is sysop.toml, "" where the log of a server has it already: then it goes to standard
    error alone, unless that is the caller's.
    """
    if line is not None and words:
        line.say(f"\r\n{words}")
    if why and path:
        _log(path, why)
    elif why and logs.is_apart(sys.stderr.fileno()):
        print(why, file=sys.stderr)
    if line is not None and words:
        line.pause(APOLOGY_SECONDS)


def _log(path: str, why: str) -> None:
    config = None
    try:
        config = settings.load(Path(path))
    except SettingsError as error:
        why = str(error)
    logs.begin(config)
    log.error("%s", why)


def why_no_line(descriptors: Sequence[int]) -> str:
    """Say why the caller cannot be on a socket, or on standard input and output; "" if they can."""
    try:
        if len(descriptors) == 1:
            socket.checked(descriptors[0])
        else:
            stdio.check(0, "input")
            stdio.check(1, "output")
    except NoLine as nobody:
        return str(nobody)
    return ""
