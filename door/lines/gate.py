"""Who may come in through a port: asked before anything is read from him or written to him."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Refused(Exception):
    """A call is not taken; the text, of printable ASCII or empty, is for the caller."""


class Gate(Protocol):
    """Whoever decides about calls."""

    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        """Let a call in and return what is to be called, once, when it is over.

        `cut` ends the call at once, for a better one. Raises `Refused`.
        """

    def malformed(self, address: str, what: str) -> None:
        """Learn that a front end at `address` has said something that no front end says."""


class OpenGate:
    """A gate that lets everybody in."""

    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        """Let a call in."""
        return _nothing

    def malformed(self, address: str, what: str) -> None:
        """Leave it at that."""


def _nothing() -> None:
    """Be what is done when a call is over of which nobody keeps count."""
