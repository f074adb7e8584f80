"""How a server that a door has started differs from one that the sysop has started.

It opens no ports, ends when no caller has been online for a while, and ends when the sysop starts a
server.
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

GIVE_WAY = "give way"  # the command that a starting server sends to the one in its folder

log = logging.getLogger("door.server")


class ForDoors:
    """The behaviour that only a server started by a door has."""

    def __init__(self, lock: Lock) -> None:
        """`lock` is the lock of the books, which the door has taken and passed on."""
        self.lock = lock
        self._serves = False
        self._clock: Clock
        self._minutes: Callable[[], int]
        self._is_empty: Callable[[], bool]
        self._end: Callable[[], None]
        self._timer: Timer | None = None
        self._reported: os.stat_result | None = None

    def adapt(self, config: Config) -> Config:
        """Return the settings of sysop.toml as this server uses them."""
        return replace(config, listeners=(), server=replace(config.server, health=None))

    def serves(
        self,
        clock: Clock,
        minutes: Callable[[], int],
        is_empty: Callable[[], bool],
        end: Callable[[], None],
    ) -> None:
        """Call `end` once no caller has been online for `minutes()` minutes, from now on."""
        self._clock, self._minutes, self._is_empty, self._end = clock, minutes, is_empty, end
        self._serves = True
        self.look()

    def look(self) -> None:
        """Start or stop the countdown after a caller has come or gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._serves and self._is_empty():
            self._timer = self._clock.call_later(self._minutes() * MINUTE, self._is_over)

    def _is_over(self) -> None:
        self._timer = None
        if not self._is_empty():  # a caller is online, or the sysop has just sent a command
            self._timer = self._clock.call_later(self._minutes() * MINUTE, self._is_over)
            return
        log.info("no caller has been online for %s", span(self._minutes() * MINUTE))
        self._end()

    def has_other_settings(self, config: Config) -> bool:
        """Return whether sysop.toml has changed since it was read, once for each change.

        The sysop does not tell such a server to reload its settings.
        """
        try:
            current = config.path.stat()
        except OSError:
            return False
        read = [each for each in (config.file_status, self._reported) if each is not None]
        self._reported = current
        return all(_version_of(current) != _version_of(each) for each in read)


def _version_of(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def make_way(folder: Path) -> bool:
    """End the server that a door has started in a data folder; return whether there was one."""
    try:
        answer = control_client.ask(folder, {COMMAND: GIVE_WAY})
    except NoAnswer:
        return False
    if not answer.get("gives_way"):
        return False
    log.info("a server that a door has started ends for this one")
    return True
