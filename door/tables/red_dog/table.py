"""The Red Dog table: bets of time, with a raise before the third card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from door.call.scene import LAYOUT_COLUMNS
from door.games.red_dog import events as happened
from door.games.red_dog.events import Event, RedDogDealt, RedDogOutcome
from door.games.red_dog.game import RED_DOG_KIND, RedDogSettings
from door.games.red_dog.round import RedDogAction, RedDogRound
from door.games.red_dog.rules import BEST_ODDS
from door.tables.red_dog import words
from door.tables.red_dog.scene import RedDogScene
from door.tables.red_dog.words import sentence
from door.tables.reel import film_alone
from door.tables.scene import Ending
from door.tables.solo_table import TableForTime
from door.tables.strategy import TableCard
from door.tables.words import turns_and_bets
from timebank.language import N_, _

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.tables.play import Step
    from door.tables.reel import Reel, ReplayedHand


_THREE = RedDogOutcome.THREE_OF_A_KIND
# Pauses in seconds.
DEAL_SECONDS, HOLD_SECONDS, THIRD_SECONDS = 0.3, 0.3, 0.5


class RedDogTable(TableForTime):
    scene: RedDogScene
    action_keys: Mapping[RedDogAction, tuple[str, str, str]] = {
        RedDogAction.RAISE: ("A", N_("Raise"), N_("Double your bet, then see the third card.")),
        RedDogAction.STAY: ("S", N_("Stand"), N_("See the third card without raising.")),
    }
    time_up_words = N_("Your time is up: you stand.")

    def __init__(self, board: Board, caller: Caller) -> None:
        self.settings = RedDogSettings.among(caller.config.games)
        self.strategy = TableCard(board, RED_DOG_KIND.name, self.settings.rules)
        self.shoe_runs_on = self.settings.rules.shuffle == "shoe"
        super().__init__(caller, RED_DOG_KIND, self.settings, RedDogScene, BEST_ODDS)

    def _rules(self) -> Mapping[str, object]:
        return asdict(self.settings.rules)

    async def _read_rules(self) -> None:
        await self.console.pager.read(_("The rules of Red Dog"), words.rules_text(self.settings))

    def _sentence(self, event: Event, step: Step) -> str:
        if self.console.screen.is_painted and isinstance(event, happened.RedDogDealt):
            return ""  # a painted card needs no words
        is_wide = (
            self.console.screen.is_painted and self.console.screen.page_columns >= LAYOUT_COLUMNS
        )
        if is_wide and isinstance(event, happened.Spread):
            return ""  # the felt shows it
        return words.sentence(event, self.coin)

    held = (happened.RedDogDrew,)

    @staticmethod
    def seconds(event: Event, _scene: RedDogScene) -> float:
        """Return how long the scene waits after an event."""
        match event:
            case happened.RedDogDealt():
                return DEAL_SECONDS
            case happened.RedDogRaised() | happened.Stayed():
                return HOLD_SECONDS
            case happened.RedDogDrew():
                return THIRD_SECONDS
        return 0.0

    @staticmethod
    def banner(event: Event, _after: RedDogRound) -> str:
        """Return the banner for a rare event, "" for none."""
        if isinstance(event, happened.RedDogSettled) and event.outcome is _THREE:
            return _("THREE OF A KIND!")
        return ""

    def _ending(self, round_: RedDogRound) -> Ending:
        if round_.outcome is RedDogOutcome.PUSH:
            return "push"
        return "lost" if round_.outcome is RedDogOutcome.LOSE else "won"

    def _stake_kind(self, action: RedDogAction) -> str:
        return "double"

    def _forced_action(self, actions: Sequence[RedDogAction]) -> tuple[RedDogAction, str] | None:
        if actions != [RedDogAction.STAY]:
            return None
        return RedDogAction.STAY, _("A raise would take your last coin: you stand.")


async def menu_words(board: Board, caller: Caller) -> str:
    return turns_and_bets(caller, RED_DOG_KIND.name, RedDogSettings.among(caller.config.games))


def film(reel: Reel, hand: ReplayedHand) -> None:
    coin = hand.stored.coin

    def message_for(event: Event) -> str:
        return "" if isinstance(event, RedDogDealt) else sentence(event, coin)

    film_alone(reel, hand, RedDogTable, RedDogScene(coin, None), message_for)
