"""Errors of the rules of games, a branch of the tree in door/errors.py."""

from __future__ import annotations

from typing import NamedTuple

from door.errors import DoorError


class GameError(DoorError):
    """A request against the rules of a game."""


class IllegalAction(GameError):
    """The action is not open now; the text names the open ones."""


class ShoeTooShort(GameError):
    """The round needs more cards than the shoe has."""


class RoundRefused(GameError, ValueError):
    """The input is no round of this game; the text says what is wrong."""


class ReplayError(GameError, ValueError):
    """The input is no hand of this game; the text says which hand and what is wrong."""


class RuleProblem(NamedTuple):
    """The key of a wrong rule, and the rest of the sentence that begins with the key."""

    key: str
    reason: str


class RulesRefused(GameError, ValueError):
    """All wrong keys of a mapping."""

    def __init__(self, problems: tuple[RuleProblem, ...]) -> None:
        super().__init__("; ".join(f"{key}: {reason}" for key, reason in problems) + ".")
        self.problems = problems
