"""Who may come in through a port: asked before a byte is read or written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Blame:
    """Why a call was cut off, in words for a log: ours, and nothing of what was sent.

    `own_fault` says that no decent program does that, so that its caller may be banned for it.
    """

    why: str
    own_fault: bool = True


class Gate(Protocol):
    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        """Let a call in and return what is to be called, once, when it is over.

        `cut` ends the call at once, for a better one. Raises `CallRefused`.
        """

    def malformed(self, address: str, what: str) -> None:
        """A front end at `address` has said something that no front end says."""

    def cut_off(self, address: str, blame: Blame) -> None:
        """The call of a caller at `address` was cut off; told once, at its end."""


class OpenGate:
    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        return lambda: None

    def malformed(self, address: str, what: str) -> None: ...

    def cut_off(self, address: str, blame: Blame) -> None: ...
