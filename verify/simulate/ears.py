"""Checks the program's log."""

from __future__ import annotations

import logging
from collections.abc import Callable

# Problems that the program can only report.
EXPECTED = ("only the sysop can tell", "may or may not have arrived")


class Ears(logging.Handler):
    """Records the program's log messages."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        super().__init__(logging.WARNING)
        self._monotonic = monotonic
        self.failures: list[str] = []  # messages that it did not expect itself
        self.errors: list[tuple[float, str]] = []  # expected ones, and when (monotonic)
        self.is_listening = True

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if not self.is_listening or any(words in message for words in EXPECTED):
            return
        if record.exc_info:
            text = logging.Formatter().formatException(record.exc_info)
            self.failures.append(f"{message}\n{text}")
        elif record.levelno >= logging.ERROR:
            self.errors.append((self._monotonic(), message))

    def forget(self) -> None:
        self.failures.clear()
        self.errors.clear()
