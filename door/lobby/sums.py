"""Sums that take seconds, for callers: strategy cards, and how lucky they were."""

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
    from timebank.reports.house import FinishedHand, TableLuck

PATIENCE = 120.0  # seconds for an answer, on a machine that has much else to do


class Sums(Shared):
    """A process that works out sums for the callers of a board, one after the other."""

    def __init__(self) -> None:
        self._helper = Helper("the process for cards and luck", PATIENCE)
        self._cards: dict[tuple[str, str], asyncio.Future[StrategyCard]] = {}

    def card(self, game: str, rules: Any) -> asyncio.Future[StrategyCard]:
        """Give what will be the strategy card of a table, worked out once for its rules."""
        which = game, repr(rules)
        found = self._cards.get(which)
        if found is None or (found.done() and (found.cancelled() or found.exception())):
            found = self._cards[which] = self._helper.ask(card_at, game, rules)
        return found

    def lucks(self, hands: Iterable[FinishedHand]) -> asyncio.Future[list[TableLuck]]:
        """Give what will be the luck of these hands, by table; who cancels it needs none."""
        return self._helper.ask(lucks_of, list(hands), for_the_bank)

    async def close(self) -> None:
        await self._helper.close()


async def is_awaited(console: Console, title: str, asked: asyncio.Future[Any]) -> bool:
    """Wait for an answer; `False` when the caller presses a key before it comes, and goes back."""
    keyboard = console.keyboard

    def wake(_asked: object) -> None:
        keyboard.nudge()

    if asked.done():
        return True
    asked.add_done_callback(wake)
    try:
        console.display.stage(Page(title, [f"|07{_('Working it out. Any key goes back.')}"]))
        console.screen.offer("any")
        console.screen.show_offer()
        while not asked.done():
            await keyboard.pause(PATIENCE)
            if keyboard.next_key() is None and keyboard.interruption is None:
                continue
            key = await keyboard.key(takes_slash=True)
            if key != COMMAND or not await keyboard.command(COMMAND):
                return False
    finally:
        asked.remove_done_callback(wake)
    return True
