"""The log in the data folder: of a server that a door has started, and of doors in trouble."""

from __future__ import annotations

import contextlib
import copy
import json
import logging
import os
import syslog
from io import StringIO
from typing import TYPE_CHECKING, TextIO

from timebank import files
from timebank.language import EnglishFormatter

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

    from door.config.config import Config

FILE = "server.log"
FORM = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


class SystemLog(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        syslog.syslog(syslog.LOG_ERR, f"door: {record.getMessage()}")


class JsonFormatter(EnglishFormatter):
    """Writes each line of the log as a JSON object, for programs that gather logs.

    Its `at` is ISO 8601 with the offset from UTC.
    """

    def __init__(self, zone: tzinfo) -> None:
        super().__init__("%(message)s", zone)

    def format(self, record: logging.LogRecord) -> str:
        alone = copy.copy(record)  # without its traceback, which stands apart
        alone.exc_info = alone.exc_text = alone.stack_info = None
        told: dict[str, object] = {
            "at": self.formatTime(record).replace(" ", "T"),
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            "message": super().format(alone),
        }
        if record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


class LogFile(logging.StreamHandler[TextIO]):
    """A file that may be full suddenly, without a word on the caller's screen.

    `logging` would write a traceback to standard error, and at the end of the process what is left
    in the file's buffer.
    """

    def __init__(self, place: Path) -> None:
        """Name the file; it is opened with the first record, or before that by `open`."""
        super().__init__(StringIO())
        self.stream.close()
        self.place = place

    def open(self) -> None:
        """Open it, for its owner alone to read: it says who played when. A link that others may
        have put there could lead to any file of ours. Raises `OSError`."""
        opened = open(self.place, "a", -1, "utf-8", "backslashreplace", opener=files.plain)  # noqa: SIM115
        self.stream = opened

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if self.stream.closed:
                self.open()
            super().emit(record)
        except OSError:
            self.handleError(record)

    def flush(self) -> None:
        if not self.stream.closed:
            super().flush()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.stream.close()
        super().close()

    def handleError(self, record: logging.LogRecord) -> None:
        """Tell the system's log instead, and leave the file for now."""
        with contextlib.suppress(OSError):
            self.stream.close()
        if record.levelno >= logging.WARNING:
            SystemLog().handle(record)


def formatter(config: Config, form: str = FORM) -> logging.Formatter:
    """Return what writes the lines of a log, by the clock of the board."""
    zone = config.bank.schedule.zone
    if config.server.log_format == "json":
        return JsonFormatter(zone)
    return EnglishFormatter(form, zone)


class ForJournal(logging.StreamHandler[TextIO]):
    """Gives each line its priority, as sd-daemon(3) has it: `journalctl -p warning` finds it."""

    def format(self, record: logging.LogRecord) -> str:
        levels = ((logging.ERROR, syslog.LOG_ERR), (logging.WARNING, syslog.LOG_WARNING))
        number = next((each for level, each in levels if record.levelno >= level), syslog.LOG_INFO)
        return "\n".join(f"<{number}>{line}" for line in super().format(record).splitlines())


def to_stderr(stream: TextIO) -> logging.StreamHandler[TextIO]:
    """Return a handler that writes to standard error, where the journal may read it."""
    with contextlib.suppress(OSError):
        place = os.fstat(stream.fileno())
        if os.environ.get("JOURNAL_STREAM") == f"{place.st_dev}:{place.st_ino}":
            return ForJournal(stream)
    return logging.StreamHandler(stream)


def begin(config: Config | None) -> None:
    """Send the log into the data folder, or what counts into the system's log where that fails.

    `config` is None where no settings could be read.
    """
    handlers = [] if config is None else opened(config)
    handlers = handlers or [SystemLog(logging.WARNING)]
    logging.basicConfig(level=logging.INFO, handlers=handlers, force=True)


def opened(config: Config) -> list[logging.Handler]:
    """Open the log in the data folder; nothing where there can be none.

    Only the folder's owner makes one: in that of a host's user the server could write nothing.
    """
    data = config.board.data
    try:
        data.mkdir(0o700, parents=True, exist_ok=True)
        place = files.own_links_followed(data / FILE)
        if data.stat().st_uid != os.geteuid() and not place.exists():
            return []
        file = LogFile(place)
        file.open()
    except OSError:
        return []
    file.setFormatter(formatter(config))
    return [file]
