"""Where a door that serves nobody says why: never on the caller's screen.

That is the log in the data folder, or the system's log where that cannot be opened. A host may give
the door its caller's terminal as standard error: warnings go there too only where it is not that.
"""

from __future__ import annotations

import logging
import os
import sys
from datetime import UTC
from typing import TYPE_CHECKING

from door.config.log_file import FORM, SystemLog, formatter, opened
from timebank.language import EnglishFormatter

if TYPE_CHECKING:
    from door.config.config import Config


def begin(config: Config | None) -> None:
    """Send the log where it belongs; `config` is None where no settings could be read."""
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    handlers: list[logging.Handler] = []
    if config is not None:
        handlers += opened(config)
    if is_apart(sys.stderr.fileno()):
        shown = logging.StreamHandler()
        shown.setLevel(logging.WARNING)
        shown.setFormatter(EnglishFormatter(FORM, UTC) if config is None else formatter(config))
        handlers.append(shown)
    root.handlers = handlers or [SystemLog(logging.WARNING)]


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
