"""Computations for callers that take seconds: strategy cards and luck."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from door.call.keyboard import COMMAND
from door.call.page import Page
from door.call.shared import Shared
from door.games.solver.cache import card_at
from door.games.solver.played_hand import for_the_bank
from door.helper import Helper
from timebank.language import _
from timebank.reports.house import lucks_of

if TYPE_CHECKING:
    from door.call.console import Console
    from door.games.solver.strategy_card import StrategyCard
    from timebank.reports.house import FinishedHand, Luck

ANSWER_SECONDS = 120.0  # enough on a machine that is busy with other work


class Sums(Shared):
    """The process that computes for the callers of a board, one request after another."""

    def __init__(self) -> None:
        self._helper = Helper("the process for cards and luck", ANSWER_SECONDS)
        self._cards: dict[tuple[str, str], asyncio.Future[StrategyCard]] = {}

    def card(self, game: str, rules: Any) -> asyncio.Future[StrategyCard]:
        """Return a future of the strategy card for a game's rules; each is computed once."""
        key = game, repr(rules)
        card = self._cards.get(key)
        if card is None or (card.done() and (card.cancelled() or card.exception())):
            card = self._cards[key] = self._helper.ask(card_at, game, rules)
        return card

    def lucks(self, hands: Iterable[FinishedHand]) -> asyncio.Future[list[Luck]]:
        """Return a future of the luck of these hands, by table; cancelling it saves the work."""
        return self._helper.ask(lucks_of, list(hands), for_the_bank)

    async def close(self) -> None:
        await self._helper.close()


async def wait_for_answer(console: Console, title: str, answer: asyncio.Future[Any]) -> bool:
    """Wait for an answer below `title`; return False if the caller presses a key before it."""
    keyboard = console.keyboard

    def wake(_answer: object) -> None:
        keyboard.nudge()

    if answer.done():
        return True
    answer.add_done_callback(wake)
    try:
        words = _("Working it out: this can take half a minute. Don't want to wait?")
        console.display.stage(Page(title, [console.pager.press(words)]))
        console.screen.offer("any")
        console.screen.show_offer()
        while not answer.done():
            await keyboard.pause(ANSWER_SECONDS)
            if keyboard.next_key() is None and keyboard.interruption is None:
                continue
            key = await keyboard.key(takes_slash=True)
            if key != COMMAND or not await keyboard.command(COMMAND):
                return False
    finally:
        answer.remove_done_callback(wake)
    return True
