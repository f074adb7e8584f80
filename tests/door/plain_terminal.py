"""A plain terminal: a real pty with a program on it that is its foreground job."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PATIENCE = 120.0  # seconds

TAKE_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class PlainTerminal:
    """One program and its terminal; its output is `text`, with lines ended by a newline alone."""

    def __init__(self, words: Sequence[str | Path], *, change: Callable[[list[Any]], None]) -> None:
        """Run a command on a new terminal with attributes modified by `change`."""
        self._master, self.slave = pty.openpty()
        attributes = termios.tcgetattr(self.slave)
        change(attributes)
        termios.tcsetattr(self.slave, termios.TCSANOW, attributes)
        self.before = termios.tcgetattr(self.slave)
        self.text = ""
        self.process = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, *words],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)
        os.close(self.slave)

    @property
    def attributes(self) -> list[Any]:
        return termios.tcgetattr(self.slave)

    def types(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def shows(self, ending: str) -> None:
        """Wait until this is the last thing shown."""
        self._wait(lambda: self.text.endswith(ending), f"{ending!r} at the end")

    def ends(self) -> int:
        """Wait until the program has ended, read the rest, and return its status."""
        self._wait(lambda: self.process.poll() is not None, "the end")
        while self._readable(0):
            self._read()
        return self.process.wait()

    def has(self, reached: Callable[[list[Any]], bool]) -> None:
        """Wait until the attributes are as `reached` wants them."""
        self._wait(lambda: reached(self.attributes), "other attributes")

    def _wait(self, reached: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not reached():
            assert time.monotonic() < deadline, f"no {what}:\n{self.text}"
            if self._readable(0.02):
                self._read()

    def _readable(self, seconds: float) -> bool:
        return bool(select.select([self._master], [], [], seconds)[0])

    def _read(self) -> None:
        self.text += os.read(self._master, 4096).decode("ascii").replace("\r\n", "\n")
