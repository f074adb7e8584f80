"""Red Dog as a caller meets it: the table for time, with a raise before the third card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from door.games.red_dog import words
from door.games.red_dog.events import RedDogOutcome
from door.games.red_dog.game import RedDogSettings
from door.games.red_dog.kind import RED_DOG_KIND
from door.games.red_dog.round import RedDogAction, RedDogRound
from door.games.red_dog.rules import BEST_ODDS
from door.games.red_dog.scene import RedDogScene
from door.games.tables.alone import TableForTime
from door.games.tables.scene import Ending
from door.games.tables.words import turns_and_bets

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.games.tables.play import Step


class RedDogTable(TableForTime):
    action_keys: Mapping[RedDogAction, tuple[str, str]] = {
        RedDogAction.RAISE: ("R", "Raise"),
        RedDogAction.STAY: ("S", "Stay"),
    }
    time_up_words = "Your time is up: you stay."

    def __init__(self, caller: Caller) -> None:
        self.settings = RedDogSettings.of(caller.config.games)
        self.shoe_runs_on = self.settings.rules.shuffle == "shoe"
        super().__init__(caller, RED_DOG_KIND, self.settings, RedDogScene, BEST_ODDS)

    def _rules(self) -> Mapping[str, object]:
        return asdict(self.settings.rules)

    async def _read_rules(self) -> None:
        await self.console.read("The rules of Red Dog", words.rules_text(self.settings))

    def _sentences(self, step: Step) -> list[str]:
        return words.sentences(step.events, self.coin)

    def _ending(self, round_: RedDogRound) -> Ending:
        if round_.outcome is RedDogOutcome.PUSH:
            return "push"
        return "lost" if round_.outcome is RedDogOutcome.LOSE else "won"

    def _stake_kind(self, action: RedDogAction) -> str:
        return "double"

    def _forced(self, actions: Sequence[RedDogAction]) -> tuple[RedDogAction, str] | None:
        if actions != [RedDogAction.STAY]:
            return None
        return RedDogAction.STAY, "A raise would take your last coin: you stay."


def sit_down(board: Board, caller: Caller) -> RedDogTable:
    return RedDogTable(caller)


async def menu_words(board: Board, caller: Caller) -> str:
    return turns_and_bets(caller, RED_DOG_KIND.name, RedDogSettings.of(board.config.games))
