"""The table of Black Jack For Time: bets of time, with insurance and a tutor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from door import wording
from door.games.black_jack_for_time.game import BLACK_JACK_FOR_TIME_KIND, BlackJackForTimeSettings
from door.games.blackjack import events as happened
from door.games.blackjack.events import BlackjackOutcome, Event
from door.games.blackjack.round import BlackjackAction, BlackjackPhase, BlackjackRound
from door.games.blackjack.rules import rules_to_mapping
from door.tables.black_jack_for_time.scene import BlackJackScene
from door.tables.black_jack_for_time.words import printed, rules_text, sentence
from door.tables.reel import film_alone
from door.tables.scene import Ending
from door.tables.solo_table import TableForTime
from door.tables.strategy import TableCard
from door.tables.tutor.advice import Tutor
from door.tables.tutor.tutor_process import TutorProcess
from door.tables.words import (
    TUTOR,
    TUTOR_OFF,
    TUTOR_ON,
    count_words,
    insurance_rule,
    turns_and_bets,
)
from timebank.language import N_, _

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.tables.play import Step
    from door.tables.reel import Reel, ReplayedHand

GAME = BLACK_JACK_FOR_TIME_KIND.name

# Pauses in seconds.
CARDS = (happened.BlackjackDealt, happened.DealerDealt, happened.BlackjackRevealed)
ADVICE_SECONDS = 3.0  # that plain lines wait for the tutor before the question
DEAL_SECONDS, TURN_SECONDS, DRAW_SECONDS, BUST_SECONDS = 0.25, 0.4, 0.5, 0.4


class BlackJackForTimeTable(TableForTime):
    scene: BlackJackScene
    action_keys: Mapping[BlackjackAction, tuple[str, str, str]] = {
        BlackjackAction.INSURANCE: ("I", N_("Insure"), ""),  # `_meaning` explains it
        BlackjackAction.NO_INSURANCE: ("N", N_("No"), N_("Play on without insurance.")),
        BlackjackAction.DOUBLE: ("D", N_("Double"), N_("Double your bet for one last card.")),
        BlackjackAction.HIT: ("H", N_("Hit"), N_("Take another card.")),
        BlackjackAction.STAY: ("S", N_("Stand"), N_("Take no more cards.")),
    }
    time_up_words = N_("Your time is up: you stand.")

    held = (happened.BlackjackRevealed,)
    tutor: Tutor  # exists during the visit only

    def __init__(self, board: Board, caller: Caller) -> None:
        self.settings = BlackJackForTimeSettings.among(caller.config.games)
        self.strategy = TableCard(board, GAME, self.settings.rules)
        self.shoe_runs_on = self.settings.rules.shuffle == "shoe"
        self.tutor_process = TutorProcess.among(board.shared)
        super().__init__(
            caller,
            BLACK_JACK_FOR_TIME_KIND,
            self.settings,
            BlackJackScene,
            self.settings.rules.best_odds(),
        )
        self.scene.printed = printed(self.settings.rules)
        rules = replace(self.settings.rules, insurance_unit=self.betting.coin)
        self._next_rules = rules_to_mapping(rules)

    async def visit(self) -> None:
        self.tutor = Tutor(self.tutor_process, self._say_advice, lambda: self.round, self._unsay)
        try:
            await super().visit()
        finally:
            self.tutor.leave()
            del self.tutor

    def _rules(self) -> Mapping[str, object]:
        return self._next_rules

    def _meaning(self, action: BlackjackAction) -> str:
        is_insurance = action is BlackjackAction.INSURANCE
        return insurance_rule(self.settings.rules) if is_insurance else super()._meaning(action)

    async def _read_rules(self) -> None:
        await self.console.pager.read(
            _("The rules of Black Jack For Time"), rules_text(self.settings)
        )

    def _sentence(self, event: Event, step: Step) -> str:
        if self.console.screen.is_painted and isinstance(event, CARDS):
            return ""  # a painted card needs no words
        return sentence(event, self.coin, self.scene.mine, self.scene.dealer)

    @staticmethod
    def seconds(event: Event, scene: BlackJackScene) -> float:
        """Return how long the scene waits after an event."""
        match event:
            case happened.DealerDealt() if len(scene.dealer) > 2:
                return DRAW_SECONDS
            case happened.BlackjackDealt() | happened.DealerDealt():
                return DEAL_SECONDS
            case happened.BlackjackRevealed():
                return TURN_SECONDS
            case happened.DealerBusted():
                return BUST_SECONDS
        return 0.0

    @staticmethod
    def banner(event: Event, after: BlackjackRound) -> str:
        """Return the banner for a rare event, "" for none."""
        if not isinstance(event, happened.BlackjackSettled):
            return ""
        if event.outcome is BlackjackOutcome.NATURAL:
            return _("B L A C K J A C K !")
        if event.outcome is BlackjackOutcome.CHARLIE:
            return _("FIVE-CARD CHARLIE!")
        hand = after.seats[event.seat].hands[event.hand]
        if event.outcome is BlackjackOutcome.TWENTY_ONE and hand.doubled:
            return _("21 ON A DOUBLE!")
        return ""

    def _finish_step(self, step: Step) -> None:
        after: BlackjackRound = step.after
        if not self.console.screen.is_painted and not after.over:
            words = _("You have {count}.").format(count=f"|15{count_words(self.scene.mine)}|07")
            self.console.screen.say(f"|07{words}")
        super()._finish_step(step)

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
        return _("Insurance for {price}?").format(price=price)

    def _forced_action(
        self, actions: Sequence[BlackjackAction]
    ) -> tuple[BlackjackAction, str] | None:
        if actions != [BlackjackAction.NO_INSURANCE]:
            return None
        return BlackjackAction.NO_INSURANCE, _("Insurance would take your last coin: declined.")

    def _say_advice(self, text: str) -> None:
        self.console.screen.say(self.book_line(text))
        self.console.keyboard.nudge()

    async def _ask_action(self, round_: BlackjackRound, actions: Sequence[BlackjackAction]) -> str:
        """Ask for an action; on plain lines the tutor speaks before the question."""
        if self.caller.prefers("tutor"):
            self.tutor.watch(round_, actions)
        if round_.phase is BlackjackPhase.INSURANCE:
            self._explain_insurance(round_.rules)
        if self.tutor.is_thinking and not self.console.screen.is_painted:
            await self.console.keyboard.pause(ADVICE_SECONDS)
        return await super()._ask_action(round_, actions)

    def _judge_decision(self, action: BlackjackAction) -> None:
        if self.caller.prefers("tutor"):
            self.tutor.judge(action)
        else:
            self.tutor.leave()

    @property
    def _switches(self) -> Mapping[str, tuple[str, str, str, str]]:
        return {**super()._switches, TUTOR: ("tutor", N_("Tutor"), TUTOR_ON, TUTOR_OFF)}


async def menu_words(board: Board, caller: Caller) -> str:
    return turns_and_bets(caller, GAME, BlackJackForTimeSettings.among(caller.config.games))


def film(reel: Reel, hand: ReplayedHand) -> None:
    coin = hand.stored.coin
    scene = BlackJackScene(coin, None, printed=printed(hand.kind.read_rules(hand.stored.rules)))

    def message_for(event: Event) -> str:
        return "" if isinstance(event, CARDS) else sentence(event, coin, scene.mine, scene.dealer)

    film_alone(reel, hand, BlackJackForTimeTable, scene, message_for)
