"""What the rules of games say no with: a branch of the tree in door/errors.py."""

from __future__ import annotations

from typing import NamedTuple

from door.errors import DoorError


class GameError(DoorError):
    """What was asked of a game is against its rules."""


class IllegalAction(GameError):
    """The action is not open now; the text says what is."""


class ShoeTooShort(GameError):
    """The round needs a card that the shoe has not got."""


class RoundRefused(GameError, ValueError):
    """What was given is no round of this game; the text says what is wrong with it."""


class ReplayError(GameError, ValueError):
    """What was given is no hand of this game; the text says which hand and what is wrong."""


class RuleProblem(NamedTuple):
    """A rule that is wrong, and why, in words that continue its key."""

    key: str
    reason: str


class RulesRefused(GameError, ValueError):
    """Every key of a mapping that is wrong, at once."""

    def __init__(self, problems: tuple[RuleProblem, ...]) -> None:
        super().__init__("; ".join(f"{key}: {reason}" for key, reason in problems) + ".")
        self.problems = problems
