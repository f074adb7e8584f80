"""Black Jack For Time as a caller meets it: the table for time, with insurance and a tutor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from door import wording
from door.games.black_jack_for_time import settings
from door.games.black_jack_for_time.kind import BLACK_JACK_FOR_TIME_KIND
from door.games.black_jack_for_time.scene import BlackJackScene
from door.games.black_jack_for_time.words import read_rules, sentences
from door.games.blackjack.events import BlackjackOutcome
from door.games.blackjack.round import BlackjackAction, BlackjackPhase, BlackjackRound
from door.games.blackjack.rules import rules_to_mapping
from door.games.blackjack.tutor.beside import Tutor
from door.games.blackjack.tutor.thinking import thinking_of
from door.games.tables import menu
from door.games.tables.alone import Ending, TableForTime

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.games.blackjack.tutor.thinking import Thinking
    from door.games.tables.play import Step

GAME = BLACK_JACK_FOR_TIME_KIND.name
TUTOR_WORDS = (
    "the tutor is silent",
    "the tutor says what the book would do, and after a worse move what it would have done",
)


class BlackJackForTimeTable(TableForTime):
    """One caller's visit to the table."""

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
        """Lay the table for `caller`, under the settings of the call; the tutor has `thinking`."""
        self.settings = settings.of(caller.config)
        self.thinking = thinking
        super().__init__(
            caller,
            BLACK_JACK_FOR_TIME_KIND,
            self.settings,
            BlackJackScene,
            self.settings.rules.best_odds(),
        )

    async def visit(self) -> None:
        """Stay until the caller gets up, or something ends the call."""
        self.tutor = Tutor(self.thinking, self.console.say, lambda: self.round)
        try:
            await super().visit()
        finally:
            self.tutor.leave()
            del self.tutor

    def rules(self) -> Mapping[str, object]:
        """Return the rules of the next hand, as a journal keeps them."""
        return rules_to_mapping(replace(self.settings.rules, insurance_unit=self.coin))

    def shoe_runs_on(self) -> bool:
        """Return whether the house deals from a shoe."""
        return self.settings.rules.shuffle == "shoe"

    async def read_rules(self) -> None:
        """Show the rules of this table."""
        await read_rules(self.console, self.settings)

    def sentences(self, step: Step) -> list[str]:
        """Return what is said of a step."""
        said = sentences(step.events, self.coin)
        after: BlackjackRound = step.after
        if not self.console.is_painted and not after.over:
            said.append(f"|07You have |15{after.seats[0].hands[0].count}|07.")
        return said

    def ending(self, round_: BlackjackRound) -> Ending:
        """Return how a round that is over ended for the caller."""
        if round_.outcomes[0] is BlackjackOutcome.PUSH:
            return "push"
        hand = round_.seats[0].hands[0].settled
        return "won" if hand is not None and hand.won else "lost"

    def stake_kind(self, action: BlackjackAction) -> str:
        """Return what the ledger calls a stake that `action` adds."""
        return "insurance" if action is BlackjackAction.INSURANCE else "double"

    def question(self, round_: BlackjackRound) -> str:
        """Return what is asked besides the open actions: whether to insure, and its price."""
        if round_.phase is not BlackjackPhase.INSURANCE:
            return ""
        price = wording.coins_of(round_.amount(BlackjackAction.INSURANCE), self.coin)
        return f"The dealer shows an ace. Insurance for {price}?"

    def forced(self, actions: Sequence[BlackjackAction]) -> tuple[BlackjackAction, str] | None:
        """Return the action that is taken unasked, and why, if nothing else can be paid."""
        if actions != [BlackjackAction.NO_INSURANCE]:
            return None
        return BlackjackAction.NO_INSURANCE, "Insurance would take your last coin: declined."

    def watch(self, round_: BlackjackRound, actions: Sequence[BlackjackAction]) -> None:
        """Let the tutor look at a decision that the caller has to take."""
        if self._has("tutor"):
            self.tutor.watch(round_, actions)

    def judge(self, action: BlackjackAction) -> None:
        """Let the tutor say what it thinks of a decision."""
        self.tutor.judge(action)

    def switches(self) -> Mapping[str, tuple[str, str, tuple[str, str]]]:
        """Return what the caller can turn on and off: besides the cut, the tutor."""
        return {**super().switches(), "U": ("tutor", "Tutor", TUTOR_WORDS)}


def sit_down(board: Board, caller: Caller) -> BlackJackForTimeTable:
    """Return a visit to the table."""
    return BlackJackForTimeTable(caller, thinking_of(board))


async def menu_words(board: Board, caller: Caller) -> str:
    """Return what a caller should know before sitting down, in a few words."""
    return menu.turns_and_bets(caller, GAME, settings.of(board.config))
