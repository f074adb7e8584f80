"""A caller at the Red Dog table: the screen read as a person reads it, and hands found to order."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from door.games.engine import shuffle
from door.games.red_dog.round import RedDogAction, RedDogRound, start
from door.games.red_dog.rules import RED_DOG
from tests.door.playing import PAST_HEADER, PLACE_BET, Table, with_keys
from tests.terminal import MODERN, Profile
from tests.world import BOARD, World, cut_with, log_on, logged_on, world

_CARD = re.compile(r"│(10|[A2-9JQK])([♥♠♦♣])")
_SUITS = {"♥": "H", "♠": "S", "♦": "D", "♣": "C"}


def house(**keys: object) -> str:
    """Return the settings of a board with these keys of the game."""
    return with_keys(BOARD, "red-dog", keys)


def seed_where(wanted: Callable[[RedDogRound], bool], cut: str = "") -> bytes:
    """Return a seed whose first hand is as `wanted`."""
    for number in range(1, 100_000):
        seed = number.to_bytes(shuffle.SEED_BYTES, "big")
        if wanted(start(RED_DOG, shuffle.shuffle(seed, cut_with(cut), 1), 1)[0]):
            return seed
    raise AssertionError("no seed deals that hand")


def ends(outcome: str, spread: int | None = None, *, cut: str = "") -> bytes:
    """Return a seed whose hand ends so with that spread, with or without a decision."""

    def wanted(dealt: RedDogRound) -> bool:
        fits = (spread is None and dealt.spread > 0) or dealt.spread == spread
        over = dealt if dealt.over else dealt.apply(RedDogAction.STAY)[0]
        return fits and over.outcome == outcome

    return seed_where(wanted, cut)


class RedDog(Table):
    """One caller at this table; `round` is the hand as it must be by its seed."""

    round: RedDogRound  # type: ignore[assignment] # of this game

    async def bets(self, coins: int | str, seed: bytes, **how: Any) -> None:
        self.board.seeds = [seed]
        await self.asks_to_bet()
        await self.types_bet(coins, seed, **how)

    async def types_bet(  # type: ignore[override]
        self, coins: int | str, seed: bytes, *, cut: str = "", position: int = 0
    ) -> None:
        self.terminal.send(f"{coins}\r")
        self.round, _ = start(RED_DOG, shuffle.shuffle(seed, cut_with(cut), 1)[position:], 1)
        await self.sees_hand()

    async def does(self, *actions: str) -> None:
        for action in actions:
            self.terminal.send({"raise": "a", "stay": "s"}[action])
            await self.sees_done(action)

    async def sees_done(self, *actions: str) -> None:
        for action in actions:
            self.round, _ = self.round.apply(RedDogAction(action))
        await self.sees_hand()

    def _shows_hand(self) -> bool:
        asked = PLACE_BET if self.round.over else "R<a>ise"
        return asked in self.prompt_row and self.on_the_table == self.round.cards

    @property
    def on_the_table(self) -> tuple[str, ...]:
        """The cards on the table in dealing order; the third one is in the middle."""
        matches = _CARD.findall(self.terminal.lines[4][:54])
        cards = tuple(("T" if rank == "10" else rank) + _SUITS[suit] for rank, suit in matches)
        return (cards[0], cards[2], cards[1]) if len(cards) == 3 else cards

    async def returns(self) -> None:
        self.terminal = await self.board.call()
        await log_on(self.terminal, self.name)
        await self.prompt("oodbye")
        self.terminal.send(f"r{PAST_HEADER}")
        await self.prompt(PLACE_BET)


@asynccontextmanager
async def at_red_dog(folder: Path, profile: Profile = MODERN, **how: Any) -> AsyncIterator[RedDog]:
    """Seat a caller with sixty minutes; `how` goes to `world`."""
    async with world(folder, **how) as board:
        yield await sit_down(board, "Ada", profile)


async def sit_down(board: World, name: str, profile: Profile = MODERN) -> RedDog:
    """Enter a caller in the books and lead them to the table."""
    board.enter(name)
    terminal = await logged_on(board, name, profile)
    table = RedDog(board, terminal, name)
    await table.terminal.until("Press any key")
    terminal.send(" ")
    await table.terminal.until("oodbye")
    terminal.send(f"r{PAST_HEADER}")
    await table.terminal.until("<B>et")
    return table
