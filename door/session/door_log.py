"""The log of door processes, and of callers whom they hand over: a file beside the books."""

from __future__ import annotations

import contextlib
import logging
import os
import syslog
from datetime import tzinfo
from pathlib import Path

from timebank.language import EnglishFormatter

FILE = "door.log"
_FORM = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


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


def opened(data: Path, zone: tzinfo, name: str = FILE) -> list[logging.Handler]:
    """Open the log in a data folder, by the clock of a zone; nothing where there can be none."""
    try:
        data.mkdir(0o700, parents=True, exist_ok=True)
        # Only its owner may read it: it says who played when.
        os.close(os.open(data / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600))
        file = LogFile(data / name, encoding="utf-8", errors="backslashreplace")
    except OSError:
        return []
    file.setFormatter(EnglishFormatter(_FORM, zone))
    return [file]
