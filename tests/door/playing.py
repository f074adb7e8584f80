"""A caller at the black jack table: their screen read as a person reads it, their minutes as the
ledger has them, and hands that are found to order."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from door.games.blackjack.round import BlackjackAction, BlackjackPhase, BlackjackRound, start
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, BlackjackRules
from door.games.engine import shuffle
from door.games.engine.errors import IllegalAction
from door.tables.words import count_words
from tests.terminal import MODERN, Profile, Terminal
from tests.world import BOARD, World, cut_with, log_on, logged_on, seed_of, world
from timebank.reports import extracts
from timebank.reports.ledger_pages import Sought

MINUTE = 60
PLACE_BET = "<B>et"
AT_THE_TABLE = "<R>ules"
BETWEEN_HANDS = "<T>ime bank"  # at the table, where no bet is offered too
PAST_HEADER = " "  # skips the header on the way to a table, where one is shown
KEYS = {
    "insurance": "i",
    "no-insurance": "n",
    "double": "d",
    "hit": "h",
    "stay": "s",
}

_CARD = re.compile(r"│(?:(10|[A2-9JQK])([♥♠♦♣])|░▒▓▒░│)")
_SUITS = {"♥": "H", "♠": "S", "♦": "D", "♣": "C"}
_PANEL = 54  # the first column of the figures next to the cards


def house(**keys: object) -> str:
    """Return the settings of a board with these keys of the game."""
    return with_keys(BOARD, "black-jack-for-time", keys)


def with_keys(board: str, game: str, keys: Mapping[str, object]) -> str:
    """Return the settings of a board with these keys of a game."""
    lines = (f"{key} = {json.dumps(value)}" for key, value in keys.items())
    return "\n".join((board, f"[games.{game}]", *lines, ""))


def hand(*actions: str, ends: str = "", cut: str = "", holding: int | None = None) -> bytes:
    """Return a seed of the default game whose hand takes `actions` and ends as `ends`.

    Without `ends` the hand is still in play. Its count is `holding`, if given.
    """
    return seed_of(lambda dealt: _goes(dealt, actions, ends, holding), cut)


def _goes(round_: BlackjackRound, actions: tuple[str, ...], ends: str, holding: int | None) -> bool:
    for action in actions:
        try:
            round_, _ = round_.apply(BlackjackAction(action))
        except IllegalAction:
            return False
    if round_.outcomes != (ends,) if ends else round_.hand is None:
        return False
    return holding is None or round_.seats[0].hands[0].count.total == holding


def moves(board: World) -> list[str]:
    """Return all moves of all hands, the first bet first."""
    with board.books() as desk:
        query = "SELECT action FROM actions ORDER BY round_id, sequence"
        rows = desk.connection.exec_driver_sql(query)
        return [json.loads(action)["action"] for (action,) in rows]


def insurance_is_offered(dealt: BlackjackRound) -> bool:
    return dealt.phase is BlackjackPhase.INSURANCE


class Table:
    """One caller at the table. `round` is the hand as it must be by its seed."""

    def __init__(self, board: World, terminal: Terminal, name: str) -> None:
        self.board = board
        self.terminal = terminal
        self.name = name
        self.round: BlackjackRound

    # Actions.

    async def asks_to_bet(self) -> None:
        self.terminal.send("b")
        await self.prompt("Coins to bet")

    async def bets(self, coins: int | str, seed: bytes, **how: Any) -> None:
        """Place a bet from the game menu; the cards must come from `seed`."""
        self.board.seeds = [seed]
        await self.asks_to_bet()
        await self.types_bet(coins, seed, **how)

    async def types_bet(
        self,
        coins: int | str,
        seed: bytes,
        *,
        cut: str = "",
        rules: BlackjackRules = BLACK_JACK_FOR_TIME,
        position: int = 0,
        unasked: tuple[str, ...] = (),
    ) -> None:
        """Answer the bet prompt, "" is Enter alone; `unasked` is done without a question."""
        self.terminal.send(f"{coins}\r")
        cards = shuffle.shuffle(seed, cut_with(cut), rules.decks)[position:]
        self.round, _ = start(rules, cards, [2])
        await self.sees_done(*unasked)

    async def does(self, *actions: str) -> None:
        """Press the keys of these actions, each when the screen has followed the last one."""
        for action in actions:
            self.terminal.send(KEYS[action])
            await self.sees_done(action)

    async def stands(self) -> None:
        """Decline insurance and stay, whatever the cards."""
        while not self.round.over:
            await self.does(
                "no-insurance" if self.round.phase is BlackjackPhase.INSURANCE else "stay"
            )

    async def sees_done(self, *actions: str) -> None:
        """Wait until the screen shows the hand after `actions` of any player."""
        for action in actions:
            self.round, _ = self.round.apply(BlackjackAction(action))
        await self.sees_hand()

    async def gets_up(self) -> None:
        self.terminal.send("q")
        await self.prompt("oodbye")

    async def logs_off(self) -> None:
        await self.gets_up()
        self.terminal.send("g")
        await self.prompt("Bank your")
        self.terminal.send("n")
        await self.terminal.until_closed()

    async def is_gone(self) -> None:
        """Wait until the board has closed their call."""
        for caller in self.board.server.board.callers():
            if caller.record.name == self.name:
                await caller.ended.wait()

    async def returns(self) -> None:
        """Log on again, on a day that was begun, and sit down."""
        self.terminal = await self.board.call()
        await log_on(self.terminal, self.name)
        await self.terminal.wait_for(
            lambda _: "oodbye" in self.prompt_row or "Press any key" in self.prompt_row,
            "the menu or the news",
        )
        if "oodbye" not in self.prompt_row:
            self.terminal.send(" ")
            await self.prompt("oodbye")
        self.terminal.send("b")
        await self.prompt(PLACE_BET)

    async def calls_back(self) -> None:
        """Log on again; the hand that was left is on the table."""
        self.terminal = await self.board.call()
        await log_on(self.terminal, self.name)
        await self.sees_hand()

    async def calls_back_on_a_new_day(self) -> None:
        """Log on and read the new day's news; the open hand is on the table."""
        self.terminal = await self.board.call()
        await log_on(self.terminal, self.name)
        await self.prompt("Press any key")
        self.terminal.send(" ")
        await self.sees_hand()

    # The screen.

    async def prompt(self, text: str) -> None:
        """Wait until the prompt row shows `text`."""
        await self.terminal.wait_for(lambda _: text in self.prompt_row, f"the prompt {text!r}")

    async def message(self, text: str) -> None:
        """Wait until the messages below the table hold `text`."""
        await self.terminal.wait_for(lambda _: text in self.messages, f"the message {text!r}")

    async def sees_hand(self) -> None:
        """Wait until cards, counts and prompt match the expected hand."""
        await self.terminal.wait_for(lambda _: self._shows_hand(), f"the hand {self.round}")

    def _shows_hand(self) -> bool:
        over, phase = self.round.over, self.round.phase
        asked = (
            BETWEEN_HANDS
            if over
            else "Insurance for"
            if phase is BlackjackPhase.INSURANCE
            else "<H>it"
        )
        mine = self.round.seats[0].hands[0]
        return (
            asked in self.prompt_row
            and self.cards("Your hand") == mine.cards
            and self.cards("Dealer") == self.round.dealer
            and f"Your hand  {count_words(mine.cards)} " in self.terminal.picture
        )

    def cards(self, whose: str) -> tuple[str | None, ...]:
        """The cards under `whose` ("Dealer" or "Your hand"); None is face down."""
        rows = self.terminal.lines
        title = next((number for number, row in enumerate(rows) if row[1:].startswith(whose)), 0)
        cards = _CARD.findall(rows[title + 2][:_PANEL]) if title else []
        return tuple(
            ("T" if rank == "10" else rank) + _SUITS[suit] if rank else None for rank, suit in cards
        )

    @property
    def prompt_row(self) -> str:
        """The last row of the question; the typed text may be alone below it."""
        return self.terminal.row(22) or self.terminal.row(21)

    @property
    def messages(self) -> str:
        """The three rows of messages, as one text."""
        return " ".join(self.terminal.row(row).strip() for row in (19, 20, 21))

    def figure(self, name: str) -> str:
        """A figure of the panel next to the cards: Pot, Bet, Insured, Sitting, W-L-push."""
        match = re.search(rf"│ {name} +(.*?) *│", self.terminal.picture)
        return match[1] if match else ""

    async def looks_at_fairness(self) -> dict[str, str]:
        """Read the page behind <F>airness, and come back: each field by its name."""
        await self.terminal.send("f").until("When a shoe is done you see")
        rows = [row.strip() for row in self.terminal.lines]
        await self.terminal.send("q").until("A coin ")
        names = ("Seal of", "Seed of", "Cut with")
        return {
            row: below for row, below in itertools.pairwise(rows) if row.startswith(names) and below
        }

    async def seal(self) -> str:
        """The seal of the shoe that was dealt from last."""
        page = await self.looks_at_fairness()
        return page.get("Seal of the last shoe") or page.get("Seal of this shoe", "")

    async def seed(self) -> str:
        page = await self.looks_at_fairness()
        return page.get("Seed of the last shoe") or page.get("Seed of this shoe", "")

    @property
    def time_left(self) -> int:
        """The seconds of time left that the status line shows."""
        match = re.search(r"Time left ([\d:]+)", self.terminal.row(23))
        assert match is not None, self.terminal.picture
        seconds = 0
        for part in match[1].split(":"):
            seconds = seconds * 60 + int(part)
        return seconds

    # The books.

    @property
    def online(self) -> int:
        return self.board.balances(self.name)["online"]

    def moved(self) -> list[tuple[str, int]]:
        """The movements of the last hand in order: (kind, seconds)."""
        with self.board.books() as desk:
            number = desk.connection.exec_driver_sql("SELECT max(id) FROM rounds").scalar_one()
            rows = extracts.chosen(desk, Sought(hand=number))
        return [(row.kind, row.amount) for row in rows]

    def journal(self) -> list[str]:
        """The actions of the last hand, the bet first."""
        with self.board.books() as desk:
            rows = desk.connection.exec_driver_sql(
                "SELECT action FROM actions"
                " WHERE round_id = (SELECT max(id) FROM rounds) ORDER BY sequence"
            )
            return [json.loads(action)["action"] for action in rows.scalars()]

    @property
    def hands_dealt(self) -> int:
        with self.board.books() as desk:
            count: int = desk.connection.exec_driver_sql("SELECT count(*) FROM rounds").scalar_one()
            return count


@asynccontextmanager
async def at_the_table(folder: Path, **how: Any) -> AsyncIterator[Table]:
    """Seat a caller with sixty minutes; `how` goes to `world`."""
    async with world(folder, **how) as board:
        yield await sit_down(board, "Ada")


async def sit_down(board: World, name: str, profile: Profile = MODERN) -> Table:
    """Enter a caller in the books and lead them to the table."""
    board.enter(name)
    terminal = await logged_on(board, name, profile)
    table = Table(board, terminal, name)
    await table.prompt("Press any key")
    terminal.send(" ")
    await table.prompt("oodbye")
    terminal.send(f"b{PAST_HEADER}")
    await table.prompt(AT_THE_TABLE)
    return table
