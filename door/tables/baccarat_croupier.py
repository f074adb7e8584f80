"""The croupier: lets a coup happen before the caller's eyes, one thing after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from door.games.baccarat_events import Dealt, Event, Settled
from door.tables import baccarat_words as words

if TYPE_CHECKING:
    from door.console import Console
    from door.tables.baccarat_scene import BaccaratScene
    from door.tables.baccarat_stakes import Stakes

SLIDE_SECONDS = 0.3  # for a card out of the shoe
CALL_SECONDS = 0.8  # for what is called


class Croupier:
    """Deals on one scene, for one console."""

    def __init__(self, console: Console, scene: BaccaratScene) -> None:
        """Stand by."""
        self.console = console
        self.scene = scene

    async def deal(self, events: Sequence[Event], stakes: Stakes) -> None:
        """Let events happen; on a painted screen a moment passes after each, which a key ends."""
        for event in events:
            self._happen(event, stakes)
            if self.console.is_painted:
                slid = isinstance(event, Dealt)
                await self.console.pause(SLIDE_SECONDS if slid else CALL_SECONDS)

    def deal_at_once(self, events: Sequence[Event], stakes: Stakes) -> None:
        """Let events happen without a pause."""
        for event in events:
            self._happen(event, stakes)

    def _happen(self, event: Event, stakes: Stakes) -> None:
        """Let one thing happen on the table, and say it."""
        said = self.scene.said
        self.scene.follow(event)
        if isinstance(event, Settled):
            stakes.sitting.count(event)
        self.console.display.refresh()
        # A card on a painted table speaks for itself.
        if not (self.console.is_painted and isinstance(event, Dealt)):
            self.console.say(words.sentence(said, event, lambda won: stakes.amount(said, won)))
