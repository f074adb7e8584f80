"""What differs in a server that a door has started.

It opens no ports, ends when nobody has been on for a while, and makes room for a server that the
sysop starts.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from door.errors import NoAnswer
from door.server import control_client
from door.server.board_commands import COMMAND
from timebank.words import MINUTE, span

if TYPE_CHECKING:
    from pathlib import Path

    from door.clock import Clock, Timer
    from door.config.config import Config
    from timebank.serving import Lock

GIVE_WAY = "give way"  # the command, of a server to others in its folder

log = logging.getLogger("door.server")


class ForDoors:
    """What such a server does that another does not."""

    def __init__(self, lock: Lock) -> None:
        """`lock` is that of the books, which the door has taken and handed down."""
        self.lock = lock
        self._serves = False
        self._clock: Clock
        self._minutes: Callable[[], int]
        self._is_empty: Callable[[], bool]
        self._end: Callable[[], None]
        self._timer: Timer | None = None
        self._seen: os.stat_result | None = None

    def adapt(self, config: Config) -> Config:
        """Return settings that were read as they are for this server."""
        return replace(config, listeners=(), server=replace(config.server, health=None))

    def serves(
        self,
        clock: Clock,
        minutes: Callable[[], int],
        is_empty: Callable[[], bool],
        end: Callable[[], None],
    ) -> None:
        """Call `end` once nobody has been on for so many minutes, from now on."""
        self._clock, self._minutes, self._is_empty, self._end = clock, minutes, is_empty, end
        self._serves = True
        self.look()

    def look(self) -> None:
        """Begin to count the minutes, or stop, after somebody has come or gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._serves and self._is_empty():
            self._timer = self._clock.call_later(self._minutes() * MINUTE, self._is_over)

    def _is_over(self) -> None:
        self._timer = None
        if not self._is_empty():  # somebody is on, or a command was given just now
            self._timer = self._clock.call_later(self._minutes() * MINUTE, self._is_over)
            return
        log.info("nobody has been on for %s", span(self._minutes() * MINUTE))
        self._end()

    def has_other_settings(self, config: Config) -> bool:
        """Return whether sysop.toml has changed since it was read, once for each change.

        No sysop tells such a server to read it.
        """
        try:
            found = config.path.stat()
        except OSError:
            return False
        read = [each for each in (config.found, self._seen) if each is not None]
        self._seen = found
        return all(_version_of(found) != _version_of(each) for each in read)


def _version_of(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def make_way(folder: Path) -> bool:
    """Have a server that a door has started in a data folder end; return whether one does."""
    try:
        answer = control_client.ask(folder, {COMMAND: GIVE_WAY})
    except NoAnswer:
        return False
    if not answer.get("gives_way"):
        return False
    log.info("a server that a door has started makes room for this one")
    return True
