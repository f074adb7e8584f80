"""A caller at the baccarat table: coups that are found to order, and screens read by a person."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from door.games.baccarat.round import BaccaratAction, BaccaratRound, start
from door.games.baccarat.rules import BACCARAT, BaccaratRules
from door.games.engine import shuffle
from tests.door.playing import PAST_HEADER, with_keys
from tests.door.visiting import MENU, Guest
from tests.terminal import MODERN, Profile
from tests.world import BOARD, LOOKS, World, cut_with, world
from verify.robots.screen import marked

MINUTE = 60
# Here the cards slide.
LIVELY = BOARD.replace('animation = "off"', 'animation = "normal"')
MENUS = ("<S>hoe", "<S>abot")
CARD_ASKED = ("Card?", "Carte ?")
BETS = ("Place your bets", "Faites vos jeux", "Coins to bet", "Jetons")
DECISION = (BaccaratAction.CARD, BaccaratAction.NO_CARD)


def baccarat_toml(**keys: object) -> str:
    """Return the settings of a board with these keys of the game."""
    return with_keys(LIVELY, "baccarat", keys)


def shoe_of(seed: bytes) -> tuple[Any, ...]:
    return shuffle.shuffle(seed, cut_with(), BACCARAT.decks)


def seeds() -> Iterator[bytes]:
    for number in range(50_000, 100_000):
        yield number.to_bytes(shuffle.SEED_BYTES, "big")


def seed_where(*wanted: Callable[[BaccaratRound], bool], rules: BaccaratRules = BACCARAT) -> bytes:
    """Return a seed whose first coups are as wanted, dealt in sequence.

    Only the last of them has a decision.
    """
    for seed in seeds():
        position = 0
        for number, deal in enumerate(wanted):
            coup, _ = start(rules, shoe_of(seed)[position:], 1)
            if not deal(coup) or not (coup.over or number == len(wanted) - 1):
                break
            position += coup.cards_used
        else:
            return seed
    raise AssertionError("no seed deals that coup")


def ends(outcome: str) -> Callable[[BaccaratRound], bool]:
    """Return a predicate for coups that end with the deal in this way."""
    return lambda coup: coup.over and coup.outcome == outcome


def on_5(*actions: BaccaratAction, ends: str = "") -> Callable[[BaccaratRound], bool]:
    """Return a predicate for coups with a player's 5 that end in this way after `actions`."""

    def wanted(coup: BaccaratRound) -> bool:
        if coup.legal() != DECISION:
            return False
        for action in actions:
            coup, _ = coup.apply(action)
        return not ends or coup.outcome == ends

    return wanted


class Punter(Guest):
    """A guest at the baccarat table."""

    async def sits_down_at_baccarat(self, mode: str = "d") -> None:
        """Go from the main menu to the table and, at the first visit, choose the unit."""
        self.presses(f"c{PAST_HEADER}")
        await self.is_asked_any("<D>ollars  <F>rancs", *MENUS)
        if not any(menu in self.prompt for menu in MENUS):
            self.presses(mode)
            await self.is_asked_any(*MENUS)

    async def is_asked_any(self, *prompts: str) -> None:
        await self.terminal.wait_for(
            lambda _: any(prompt in self.prompt for prompt in prompts), f"one of {prompts}"
        )

    async def asks_to_bet(self) -> None:
        self.presses("b")
        await self.is_asked_any(*BETS)

    async def wagers(self, amount: int | str, until: tuple[str, ...] = MENUS) -> None:
        """Place a wager; the blank typed behind it shortens the deal, and answers nothing."""
        await self.asks_to_bet()
        self.presses(f"{amount}\r ")
        await self.is_asked_any(*until)

    async def wagers_on_5(self, amount: int | str) -> None:
        await self.wagers(amount, CARD_ASKED)

    async def answers(self, key: str) -> None:
        """Take a card (y) or none (n), and watch the coup to its end."""
        self.presses(f"{key} ")
        await self.is_asked_any(*MENUS)

    async def comes_back(self, menu: str = MENU) -> None:
        """Hang up, call again on the same day, and sit down; `menu` is how the menu ends."""
        await self.drops_carrier()
        await self.calls()
        await self.goes_on_to(menu)
        await self.sits_down_at_baccarat()

    # The screen.

    @property
    def prompt(self) -> str:
        """The two rows above the cursor and at it: the menu and long questions take two."""
        row = min(self.terminal.screen.cursor.y, len(self.terminal.lines) - 1)
        rows = [self.terminal.row(each) for each in (row - 1, row) if each >= 0]
        return "  ".join(map(marked, rows))

    def figure(self, name: str) -> str:
        """A figure of the panel next to the cards."""
        match = re.search(rf"[│|] {name} +(.*?) [│|]", self.terminal.picture)
        return match[1] if match else ""

    async def named(self, name: str) -> str:
        """Return the hexadecimal digits below a name on the page behind <F>airness."""
        await self.presses("f").is_asked("Press any key")
        match = re.search(rf"^ {name}\n ([0-9a-f]{{64}})$", self.terminal.picture, re.MULTILINE)
        self.presses(" ")
        await self.is_asked_any(*MENUS)
        return match[1] if match else ""

    @property
    def score(self) -> list[str]:
        """The three rows of the scoreboard."""
        return [self.terminal.row(row)[11:55].strip() for row in (13, 14, 15)]

    # The books.

    def play_money(self, unit: str) -> dict[str, int]:
        """Their accounts in a unit of play money, in whole dollars or francs."""
        with self.board.books() as desk:
            rows = desk.connection.exec_driver_sql(
                "SELECT a.kind, a.balance / 100 FROM accounts a JOIN callers c ON c.id ="
                " a.caller_id WHERE c.name = ? AND a.unit = ?",
                (self.name, unit),
            )
            return dict(rows.all())

    def journal(self) -> list[str]:
        """The actions of the last coup, the bet first."""
        with self.board.books() as desk:
            rows = desk.connection.exec_driver_sql(
                "SELECT json_extract(action, '$.action') FROM actions"
                " WHERE round_id = (SELECT max(id) FROM rounds) ORDER BY sequence"
            )
            return list(rows.scalars())

    def preference(self) -> dict[str, Any]:
        """The caller's preference stored by the table."""
        record = self.caller.record.preferences.get("baccarat")
        assert isinstance(record, dict)
        return record


@asynccontextmanager
async def at_baccarat(
    folder: Path,
    *shoes: bytes,
    mode: str = "d",
    toml: str = LIVELY,
    **how: Any,
) -> AsyncIterator[Punter]:
    """Seat a caller with these shoes to come; `how` goes to `world`."""
    async with world(folder, toml=toml, **how) as board:
        punter = await punter_of(board, "Ada")
        board.seeds = list(shoes)
        await punter.sits_down_at_baccarat(mode)
        yield punter


async def punter_of(
    board: World, name: str, profile: Profile = MODERN, looks: Mapping[str, object] = LOOKS
) -> Punter:
    """Register a caller and bring them to the main menu."""
    board.enter(name, looks=looks)
    punter = Punter(board, name)
    await punter.visits(profile)
    return punter
