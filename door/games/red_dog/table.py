"""Red Dog as a caller meets it: the table for time, with a raise before the third card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from door.games.red_dog import settings, words
from door.games.red_dog.events import RedDogOutcome
from door.games.red_dog.kind import RED_DOG_KIND
from door.games.red_dog.round import RedDogAction, RedDogRound
from door.games.red_dog.rules import BEST_ODDS, rules_to_mapping
from door.games.red_dog.scene import RedDogScene
from door.games.tables import menu
from door.games.tables.alone import Ending, TableForTime

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.games.tables.play import Step


class RedDogTable(TableForTime):
    """One caller's visit to the table."""

    action_keys: Mapping[RedDogAction, tuple[str, str]] = {
        RedDogAction.RAISE: ("R", "Raise"),
        RedDogAction.STAY: ("S", "Stay"),
    }
    time_up_words = "Your time is up: you stay."

    def __init__(self, caller: Caller) -> None:
        """Lay the table for `caller`, under the settings of the call."""
        self.settings = settings.of(caller.config)
        super().__init__(caller, RED_DOG_KIND, self.settings, RedDogScene, BEST_ODDS)

    def rules(self) -> Mapping[str, object]:
        """Return the rules of the next hand, as a journal keeps them."""
        return rules_to_mapping(self.settings.rules)

    def shoe_runs_on(self) -> bool:
        """Return whether the house deals from a shoe."""
        return self.settings.rules.shuffle == "shoe"

    async def read_rules(self) -> None:
        """Show the rules of this table."""
        await words.read_rules(self.console, self.settings)

    def sentences(self, step: Step) -> list[str]:
        """Return what is said of a step."""
        return words.sentences(step.events, self.coin)

    def ending(self, round_: RedDogRound) -> Ending:
        """Return how a round that is over ended for the caller."""
        if round_.outcome is RedDogOutcome.PUSH:
            return "push"
        return "lost" if round_.outcome is RedDogOutcome.LOSE else "won"

    def stake_kind(self, action: RedDogAction) -> str:
        """Return what the ledger calls a stake that `action` adds."""
        return "double"

    def forced(self, actions: Sequence[RedDogAction]) -> tuple[RedDogAction, str] | None:
        """Return the action that is taken unasked, and why, if nothing else can be paid."""
        if actions != [RedDogAction.STAY]:
            return None
        return RedDogAction.STAY, "A raise would take your last coin: you stay."


def sit_down(board: Board, caller: Caller) -> RedDogTable:
    """Return a visit to the table."""
    return RedDogTable(caller)


async def menu_words(board: Board, caller: Caller) -> str:
    """Return what a caller should know before sitting down, in a few words."""
    return menu.turns_and_bets(caller, RED_DOG_KIND.name, settings.of(board.config))
