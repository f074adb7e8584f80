"""Where a door process writes its log: a file beside the books, and never the caller's screen.

A host may give the door its caller's terminal as standard error too. Warnings go there only where
it is not that; where there is no file either, to the system's log.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import syslog
from pathlib import Path

from timebank.language import EnglishFormatter

FILE = "door.log"
_FORM = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


def begin(data: Path | None, *, verbose: bool) -> None:
    """Send the log to `data`/door.log, and warnings to standard error besides.

    `data` is None where no settings say it. `verbose` sends everything to standard error.
    """
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    handlers: list[logging.Handler] = []
    if data is not None:
        handlers += _file(data)
    if is_apart(sys.stderr.fileno()):
        shown = logging.StreamHandler()
        shown.setLevel(logging.INFO if verbose else logging.WARNING)
        handlers.append(shown)
    root.handlers = handlers or [SystemLog(logging.WARNING)]


class SystemLog(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        syslog.syslog(syslog.LOG_ERR, f"door: {record.getMessage()}")


class LogFile(logging.FileHandler):
    """A file that may be full suddenly, without a word on the caller's screen.

    `logging` would write a traceback to standard error, and at the end of the process what is left
    in the file's buffer.
    """

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except OSError:
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:
        """Tell the system's log instead, and leave the file for now."""
        stream, self.stream = self.stream, None
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
        if record.levelno >= logging.WARNING:
            SystemLog().handle(record)


def is_apart(descriptor: int) -> bool:
    """Whether a descriptor leads somewhere else than standard input and output do."""
    where = _identity(descriptor)
    return where is not None and where not in (_identity(0), _identity(1))


def _identity(descriptor: int) -> tuple[int, int, int] | None:
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_rdev


def _file(data: Path) -> list[logging.Handler]:
    try:
        data.mkdir(0o700, parents=True, exist_ok=True)
        # Only its owner may read it: it says who played when.
        os.close(os.open(data / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600))
        file = LogFile(data / FILE, encoding="utf-8", errors="backslashreplace")
    except OSError:
        return []
    file.setFormatter(EnglishFormatter(_FORM))
    return [file]
