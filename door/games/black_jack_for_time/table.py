"""Black Jack For Time as a caller meets it: the table for time, with insurance and a tutor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from door import wording
from door.games.black_jack_for_time.game import BlackJackForTimeSettings
from door.games.black_jack_for_time.kind import BLACK_JACK_FOR_TIME_KIND
from door.games.black_jack_for_time.scene import BlackJackScene
from door.games.black_jack_for_time.words import rules_text, sentences
from door.games.blackjack.events import BlackjackOutcome
from door.games.blackjack.round import BlackjackAction, BlackjackPhase, BlackjackRound
from door.games.blackjack.rules import rules_to_mapping
from door.games.blackjack.tutor.beside import Tutor
from door.games.blackjack.tutor.thinking import thinking_of
from door.games.tables.alone import TableForTime
from door.games.tables.scene import Ending
from door.games.tables.words import turns_and_bets

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.games.blackjack.tutor.thinking import Thinking
    from door.games.tables.play import Step

GAME = BLACK_JACK_FOR_TIME_KIND.name
TUTOR_ON = (
    "|07From now on the tutor says what the book would do, and after a worse move what it would "
    "have done."
)
TUTOR_OFF = "|07From now on the tutor is silent."


class BlackJackForTimeTable(TableForTime):
    action_keys: Mapping[BlackjackAction, tuple[str, str]] = {
        BlackjackAction.INSURANCE: ("I", "Insurance"),
        BlackjackAction.NO_INSURANCE: ("N", "No insurance"),
        BlackjackAction.DOUBLE: ("D", "Double down"),
        BlackjackAction.HIT: ("H", "Hit"),
        BlackjackAction.STAY: ("S", "Stay"),
    }
    time_up_words = "Your time is up: the hand is stood."

    tutor: Tutor  # while the visit lasts: it looks at the table that it belongs to

    def __init__(self, caller: Caller, thinking: Thinking) -> None:
        self.settings = BlackJackForTimeSettings.of(caller.config.games)
        self.shoe_runs_on = self.settings.rules.shuffle == "shoe"
        self.thinking = thinking
        super().__init__(
            caller,
            BLACK_JACK_FOR_TIME_KIND,
            self.settings,
            BlackJackScene,
            self.settings.rules.best_odds(),
        )
        rules = replace(self.settings.rules, insurance_unit=self.betting.coin)
        self._next_rules = rules_to_mapping(rules)

    async def visit(self) -> None:
        self.tutor = Tutor(self.thinking, self.console.say, lambda: self.round)
        try:
            await super().visit()
        finally:
            self.tutor.leave()
            del self.tutor

    def _rules(self) -> Mapping[str, object]:
        return self._next_rules

    async def _read_rules(self) -> None:
        await self.console.read("The rules of Black Jack For Time", rules_text(self.settings))

    def _sentences(self, step: Step) -> list[str]:
        said = sentences(step.events, self.coin)
        after: BlackjackRound = step.after
        if not self.console.is_painted and not after.over:
            said.append(f"|07You have |15{after.seats[0].hands[0].count}|07.")
        return said

    def _ending(self, round_: BlackjackRound) -> Ending:
        if round_.outcomes[0] is BlackjackOutcome.PUSH:
            return "push"
        hand = round_.seats[0].hands[0].settled
        return "won" if hand is not None and hand.won else "lost"

    def _stake_kind(self, action: BlackjackAction) -> str:
        return "insurance" if action is BlackjackAction.INSURANCE else "double"

    def _question(self, round_: BlackjackRound) -> str:
        if round_.phase is not BlackjackPhase.INSURANCE:
            return ""
        price = wording.coins_of(round_.amount(BlackjackAction.INSURANCE), self.coin)
        return f"The dealer shows an ace. Insurance for {price}?"

    def _forced(self, actions: Sequence[BlackjackAction]) -> tuple[BlackjackAction, str] | None:
        if actions != [BlackjackAction.NO_INSURANCE]:
            return None
        return BlackjackAction.NO_INSURANCE, "Insurance would take your last coin: declined."

    def _watch(self, round_: BlackjackRound, actions: Sequence[BlackjackAction]) -> None:
        if self.caller.prefers("tutor"):
            self.tutor.watch(round_, actions)

    def _judge(self, action: BlackjackAction) -> None:
        self.tutor.judge(action)

    def _switches(self) -> Mapping[str, tuple[str, str, str, str]]:
        return {**super()._switches(), "U": ("tutor", "Tutor", TUTOR_ON, TUTOR_OFF)}


def sit_down(board: Board, caller: Caller) -> BlackJackForTimeTable:
    return BlackJackForTimeTable(caller, thinking_of(board))


async def menu_words(board: Board, caller: Caller) -> str:
    return turns_and_bets(caller, GAME, BlackJackForTimeSettings.of(board.config.games))
