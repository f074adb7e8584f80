"""Callers with terminals at the Vegas table: keys, screens, and their view of each other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from door.call.scene import Area
from door.games.blackjack.round import BlackjackRound
from door.games.blackjack.rules import MOST_SEATS
from door.tables.vegas.felt import layout_of
from door.tables.vegas.table_round import VegasRound
from tests.door.playing import PAST_HEADER, with_keys
from tests.door.vegas import table_of
from tests.door.visiting import AT_TABLE, MENU, Guest, sysop_toml
from tests.terminal import MODERN, Profile
from tests.world import World, world

USUAL = Area(0, 79, 19)  # of 80 columns and 24 rows
YOUR_TURN = "You have"


class Player(Guest):
    """A caller who plays Vegas."""

    async def sits_down(self) -> None:
        await self.presses(f"v{PAST_HEADER}").is_asked(AT_TABLE)

    async def says_bet(self, coins: int | str = "") -> None:
        """Bet; "" is Enter alone."""
        await self.presses("b").is_asked("Coins to bet")
        self.presses(f"{coins}\r")

    async def is_ready(self, coins: int = 1) -> None:
        """Bet, which is being ready, and wait until the table has it."""
        await self.says_bet(coins)
        await self.terminal.wait_for(
            lambda _: self._is_at(AT_TABLE) and "<B>et" not in self.prompt, "the bet placed"
        )

    async def has_the_turn(self) -> None:
        await self.is_asked(YOUR_TURN)

    async def stands(self) -> None:
        await self.has_the_turn()
        self.presses("s")
        await self.terminal.wait_for(
            lambda _: self._is_at(AT_TABLE) and YOUR_TURN not in self.prompt, "the turn passed on"
        )

    async def gets_up(self) -> None:
        await self.presses("q").is_asked(MENU)

    async def comes_back(self, profile: Profile = MODERN) -> None:
        """Call again; the round that they left is still on the table."""
        await self.calls(profile)
        await self.goes_on_to(AT_TABLE)

    @property
    def on_the_table(self) -> VegasRound:
        hand = table_of(self.board.server.board).state.hand
        assert hand is not None
        return hand

    @property
    def round(self) -> BlackjackRound:
        return self.on_the_table.round

    def block(self, chair: int) -> str:
        """The text at a chair of the painted table of 80 columns and 24 rows, as one line."""
        seats = table_of(self.board.server.board).state.seats
        own = next(seat.chair for seat in seats.values() if seat.name == self.name)
        layout = layout_of(USUAL, len(seats) - 1)
        at = layout.places_of(own, MOST_SEATS, seats)[chair]
        end = at.column + layout.seat_columns
        rows = self.terminal.lines[at.row : at.row + at.rows]
        return " ".join(" ".join(row[at.column : end] for row in rows).split())

    async def sees_at(self, chair: int, text: str) -> None:
        await self.terminal.wait_for(
            lambda _: text in self.block(chair), f"{text!r} at chair {chair}"
        )


async def player(board: World, name: str, profile: Profile = MODERN) -> Player:
    """Register a caller and seat them at the Vegas table."""
    board.enter(name)
    guest = Player(board, name)
    await guest.visits(profile)
    await guest.sits_down()
    return guest


def table_toml(
    *, events: str | None = "", timebank: str = "", minutes: int = 60, **keys: object
) -> str:
    """Return the settings of a board with these keys of the Vegas table and minutes a day."""
    board = sysop_toml(events=events, timebank=timebank, minutes_per_day=minutes)
    return with_keys(board, "vegas", keys)


@asynccontextmanager
async def vegas_callers(
    folder: Path, *names: str, seed: bytes | None = None, toml: str = ""
) -> AsyncIterator[list[Player]]:
    """These callers at the table, with sixty minutes each; the shoe comes from `seed`."""
    async with world(folder, toml=toml or table_toml()) as board:
        if seed is not None:
            board.seeds = [seed]
        yield [await player(board, name) for name in names]
