"""The gate of a port, which decides on a call before a byte is read or written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from door.lines.blame import Blame


class Gate(Protocol):
    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        """Let a call in, and return a function to call once when it is over; raise `CallRefused`.

        `cut` ends the call at once, to make room for a better one.
        """

    def malformed(self, address: str, what: str) -> None:
        """Note that a front end at `address` has sent a header that no front end sends."""

    def cut_off(self, address: str, blame: Blame) -> None:
        """Note that a caller at `address` was cut off; called once, at the end of the call."""


class OpenGate:
    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        return lambda: None

    def malformed(self, address: str, what: str) -> None: ...

    def cut_off(self, address: str, blame: Blame) -> None: ...
