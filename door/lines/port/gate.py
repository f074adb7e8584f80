"""Who may come in through a port: asked before anything is read from him or written to him."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Blame:
    """Why a call was cut off, in words for a log: ours, and nothing of what was sent.

    `own_fault` says that no decent program does that, so that whoever goes on may be banned for it.
    """

    why: str
    own_fault: bool = True


class Gate(Protocol):
    """Whoever decides about calls."""

    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        """Let a call in and return what is to be called, once, when it is over.

        `cut` ends the call at once, for a better one. Raises `CallRefused`.
        """

    def malformed(self, address: str, what: str) -> None:
        """Learn that a front end at `address` has said something that no front end says."""

    def cut_off(self, address: str, blame: Blame) -> None:
        """Learn that the call of a caller at `address` was cut off, and why; once, at its end."""


class OpenGate:
    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        return _nothing

    def malformed(self, address: str, what: str) -> None:
        """Leave it at that."""

    def cut_off(self, address: str, blame: Blame) -> None:
        """Leave it at that."""


def _nothing() -> None:
    """Be what is done when a call is over of which nobody keeps count."""
