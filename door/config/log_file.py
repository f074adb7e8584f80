"""The log in the data folder, for a server that a door has started and for doors in trouble."""

from __future__ import annotations

import contextlib
import copy
import json
import logging
import os
import syslog
import tomllib
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
    """Writes each record as a JSON object, for programs that gather logs.

    Its `at` is ISO 8601 with the offset from UTC.
    """

    def __init__(self, zone: tzinfo) -> None:
        super().__init__("%(message)s", zone)

    def format(self, record: logging.LogRecord) -> str:
        alone = copy.copy(record)  # without its traceback, which has its own key
        alone.exc_info = alone.exc_text = alone.stack_info = None
        fields: dict[str, object] = {
            "at": self.formatTime(record).replace(" ", "T"),
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            "message": super().format(alone),
        }
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=False)


class LogFile(logging.StreamHandler[TextIO]):
    """A log file on a disk that may fill up, without output on the caller's screen.

    `logging` would write a traceback to standard error, and write the rest of the file's buffer at
    the end of the process.
    """

    def __init__(self, place: Path) -> None:
        """Name the file; the first record opens it, unless `open` has."""
        super().__init__(StringIO())
        self.stream.close()
        self.place = place

    def open(self) -> None:
        """Open the file, readable by its owner alone because it says who played when. Follows no
        link, which could lead to any of our files. Raises `OSError`."""
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
        """Send the record to the system's log instead, and close the file for now."""
        with contextlib.suppress(OSError):
            self.stream.close()
        if record.levelno >= logging.WARNING:
            SystemLog().handle(record)


def wants_json(path: Path) -> bool:
    """Return whether sysop.toml asks for a log in JSON, whatever else is wrong with it."""
    try:
        server = tomllib.loads(path.read_text("utf-8-sig"))["server"]
        return bool(server["log_format"] == "json")
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return False


def formatter(config: Config, form: str = FORM) -> logging.Formatter:
    """Return the formatter of a log, by the board's clock."""
    zone = config.bank.schedule.zone
    if config.server.log_format == "json":
        return JsonFormatter(zone)
    return EnglishFormatter(form, zone)


class ForJournal(logging.StreamHandler[TextIO]):
    """Gives each line its priority for the journal (sd-daemon(3)), for `journalctl -p warning`."""

    def format(self, record: logging.LogRecord) -> str:
        levels = ((logging.ERROR, syslog.LOG_ERR), (logging.WARNING, syslog.LOG_WARNING))
        number = next((each for level, each in levels if record.levelno >= level), syslog.LOG_INFO)
        return "\n".join(f"<{number}>{line}" for line in super().format(record).splitlines())


def to_stderr(stream: TextIO) -> logging.StreamHandler[TextIO]:
    """Return a handler for standard error, which the journal may read."""
    with contextlib.suppress(OSError):
        place = os.fstat(stream.fileno())
        if os.environ.get("JOURNAL_STREAM") == f"{place.st_dev}:{place.st_ino}":
            return ForJournal(stream)
    return logging.StreamHandler(stream)


def begin(config: Config | None) -> None:
    """Log into the data folder, or log warnings to the system's log if that fails.

    `config` is None if the settings could not be read.
    """
    handlers = [] if config is None else opened(config)
    handlers = handlers or [SystemLog(logging.WARNING)]
    logging.basicConfig(level=logging.INFO, handlers=handlers, force=True)


def opened(config: Config) -> list[logging.Handler]:
    """Open the log in the data folder; return no handler if that is not possible.

    Only the folder's owner creates the file: the server could not write into a host user's file.
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
