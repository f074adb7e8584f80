"""Hands that all callers play with the same cards, in a daily deal or a tournament.

A decision is durable before its card is shown, so a caller who hangs up finds the hand unchanged.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from door.call.markup import lit, without_capitals
from door.games.blackjack import duplicate
from door.games.blackjack import events as happened
from door.games.blackjack.duplicate import STAKE, Duplicate, cards_of
from door.games.blackjack.round import BlackjackAction, BlackjackRound, start
from door.tables.black_jack_for_time.scene import ENDINGS, BlackJackScene
from door.tables.black_jack_for_time.table import BlackJackForTimeTable
from door.tables.black_jack_for_time.words import printed, sentence
from door.tables.words import count_words, insurance_rule
from timebank.language import N_, _

if TYPE_CHECKING:
    from door.call.console import Console
    from door.games.blackjack.events import Event
    from door.games.blackjack.rules import BlackjackRules

TITLE = N_("The daily deal")
ACTIONS = BlackJackForTimeTable.action_keys

# Stores a decision after the given ones, with the score if it ends the last hand.
Note = Callable[[tuple[str, ...], str, "int | None"], Awaitable[None]]


@dataclass(slots=True)
class DealScene(BlackJackScene):
    """The table of the deal: it shows no purse, and its coins are play money."""

    title: ClassVar[str] = TITLE

    number: int = 1
    hands: int = duplicate.HANDS
    chips: int = 0  # won so far; negative for lost

    def _figures(self) -> list[tuple[str, str]]:
        return [(_("Hand"), self._turn_words()), *self._bet_figures(), (_("So far"), self._net())]

    def _net(self) -> str:
        return signed(self.chips)

    def _turn_words(self) -> str:
        return _("{turns} of {limit}").format(turns=self.number, limit=self.hands)

    def _turns_short(self) -> str:
        return f"{self.number} / {self.hands}"

    def lines(self) -> Sequence[str]:
        heading = f"|15{_(self.title)}|07 - {self._turn_words()}"
        return [heading, *(self._card_lines() if self.mine else ())]

    def explain(self, *, in_lines: bool = False) -> Sequence[str]:
        return [
            _("Everybody plays these ten hands today, with the same cards."),
            _("You bet 10 coins of play money on each. Nothing here touches your minutes."),
            _("The best decisions win: each is compared with the book."),
        ]


class SharedHands:
    """One caller at hands that all callers play."""

    def __init__(
        self,
        console: Console,
        rules: BlackjackRules,
        seed: bytes,
        scene: DealScene,
        note: Note,
        leaving: str,
    ) -> None:
        """`note` stores a decision; `leaving` explains the key that leaves a hand for later."""
        self._console, self._rules, self._seed, self._scene = console, rules, seed, scene
        self._note, self._leaving = note, leaving

    def game(self, acts: Sequence[str]) -> Duplicate:
        return duplicate.replay(self._rules, self._seed, acts, self._scene.hands)

    async def play_on(self, acts: list[str]) -> None:
        """Play the hands that follow these decisions, or as many as the caller wants to."""
        game, scene = self.game(acts), self._scene
        scene.printed = printed(self._rules)
        last = game.decisions[-1].number if game.decisions else 0
        number = last if last == game.number else last + 1  # hands without a decision are shown too
        met = game.earlier_decisions
        while number <= scene.hands:
            scene.number = number
            scene.chips = sum(
                hand.totals.won - hand.totals.lost for hand in game.over[: number - 1]
            )
            hand = await self._deal_hand(scene, number, acts[met:])
            while not hand.over:
                action = await self._decide(hand)
                if action is None:
                    return
                game = duplicate.decide(self._rules, self._seed, game, action)
                await self._note(tuple(acts), str(action), game.score if game.is_over else None)
                acts.append(str(action))
                hand, events = hand.apply(action)
                await self._show(scene, events)
            met = len(acts)
            await self._tell_end(scene, hand)
            number += 1

    async def _deal_hand(
        self, scene: DealScene, number: int, before: Sequence[str]
    ) -> BlackjackRound:
        """Deal a hand, or lay out one that was left, with the decisions taken `before`."""
        rules = self._rules
        hand, events = start(rules, cards_of(rules, self._seed, number), [STAKE])
        scene.clear()
        scene.bet, scene.is_dealt = STAKE, True
        if not before:
            self._console.display.stage(scene)
            await self._show(scene, events)
            return hand
        for word in before:
            hand, _events = hand.apply(BlackjackAction(word))
        scene.lay(hand)
        scene.invalidate()
        self._console.display.stage(scene)  # with the cards, which plain lines read
        return hand

    async def _decide(self, hand: BlackjackRound) -> BlackjackAction | None:
        """Ask for an action; return None if the caller leaves the hand for later."""
        actions = hand.legal()
        keys: Mapping[str, BlackjackAction] = {ACTIONS[each][0]: each for each in actions}
        labels = {letter: _(ACTIONS[each][1]) for letter, each in keys.items()}
        meanings = {letter: _(ACTIONS[each][2]) for letter, each in keys.items()}
        insures = BlackjackAction.INSURANCE in actions
        if insures:
            meanings = {**meanings, "I": insurance_rule(self._rules)}
            self._console.screen.say(f"|07{meanings['I']}")
        if not self._console.screen.is_painted:
            words = _("You have {count}.").format(count=count_words(hand.seats[0].hands[0].cards))
            self._console.screen.say(f"|07{words}")
        choice = await self._console.prompt.ask(
            {**labels, "Q": _("Quit")},
            question=_("Insurance for 5 coins?") if insures else "",
            menu=lit({**labels, "Q": _("Quit")}),
            cancel="Q",
            meanings={**meanings, "Q": _(self._leaving)},
        )
        return keys.get(choice)

    async def _show(self, scene: DealScene, events: Sequence[Event]) -> None:
        """Show the events one by one; any key shows the last at once."""
        for event in events:
            scene.follow(event)
            scene.invalidate()
            self._console.display.refresh()
            if words := self._sentence(scene, event):
                self._console.screen.say(words)
            if event is not events[-1]:
                await self._console.keyboard.beat(BlackJackForTimeTable.seconds(event, scene))

    def _sentence(self, scene: DealScene, event: Event) -> str:
        is_card = isinstance(
            event, happened.BlackjackDealt | happened.DealerDealt | happened.BlackjackRevealed
        )
        if isinstance(event, happened.BlackjackSettled) or (
            is_card and self._console.screen.is_painted
        ):
            return ""  # the painted table shows cards, and the end has a line of its own
        return sentence(event, scene.coin, scene.mine, scene.dealer)

    async def _tell_end(self, scene: DealScene, hand: BlackjackRound) -> None:
        won = hand.totals.won - hand.totals.lost
        scene.chips += won
        scene.invalidate()
        self._console.display.refresh()
        words = _("Hand {number}: {words} ({coins}). So far: {total}.").format(
            number=scene.number,
            words=_(ENDINGS[hand.outcomes[0]]),
            coins=signed(won),
            total=signed(scene.chips),
        )
        if not self._console.screen.is_painted:
            words = without_capitals(words)
        self._console.screen.say(f"|{'10' if won > 0 else '12' if won < 0 else '14'}{words}")
        await self._console.pager.any_key()


def signed(coins: int) -> str:
    """Write coins with their sign.

    >>> signed(15), signed(-5), signed(0)
    ('+15', '-5', '0')
    """
    return f"{coins:+}" if coins else "0"
