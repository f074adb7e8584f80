"""A caller at the teletype of UNIX bj: the letters that came over their line, and their books."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.door.playing import with_keys
from tests.door.visiting import MENU, Guest
from tests.terminal import MODERN, Profile
from tests.world import BOARD, World, world
from timebank.wagers import play_money

PLAY = "<P>lay"
ANY_KEY = "Press any key"
QUESTIONS = ("Insurance? ", "Split pair? ", "Double down? ", "Hit? ", "\n?")

_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -Z\\-~])")


def teletype_toml(**keys: object) -> str:
    """Return the settings of a board with these keys of UNIX bj."""
    return with_keys(BOARD, "unix-bj", keys)


class Player(Guest):
    """A caller who plays bj."""

    _begun = 0

    # Actions

    async def goes_to_the_teletype(self) -> None:
        await self.presses("u").is_asked(PLAY)

    async def starts(self, seed: bytes) -> None:
        """Start the program, and read on to its first question or to its end."""
        self.board.seeds = [seed]
        self._begun = len(self.terminal.transcript)
        self.presses("p")
        await self.reads_on(0)

    async def types(self, *lines: str) -> None:
        """Answer so many questions, each when it is asked."""
        for line in lines:
            await self.strikes(f"{line}\r")

    async def strikes(self, keys: str | bytes) -> None:
        """Press keys and read on to the next question."""
        before = len(self.raw)
        self.terminal.send(keys)
        await self.reads_on(before)

    async def reads_on(self, before: int) -> None:
        await self.terminal.wait_for(
            lambda _: len(self.raw) > before and self._is_asked_something(), "a question"
        )

    async def comes_back(self, profile: Profile = MODERN) -> None:
        """Call again; a hand that was left is on the paper."""
        self._begun = 0
        await self.calls(profile)
        await self.terminal.wait_for(
            lambda _: ANY_KEY in self.prompt or self.letters.endswith(QUESTIONS),
            "the news or the hand",
        )
        if ANY_KEY in self.prompt:
            self.presses(" ")
        await self.terminal.wait_for(lambda _: self.letters.endswith(QUESTIONS), "the hand")

    # The screen

    @property
    def raw(self) -> str:
        """All that came since the program was started, as it came."""
        return self.terminal.transcript[self._begun :]

    @property
    def plain(self) -> str:
        """The same without escape sequences, lines ended by a newline alone."""
        return _ESCAPE_SEQUENCE.sub("", self.raw).replace("\r\n", "\n")

    @property
    def letters(self) -> str:
        """The printed text from the program's name on, with the typed answers."""
        name = self.plain.rfind("Black Jack\n")
        if name < 0:
            return ""
        return self.plain[name:].split("Seed ")[0]

    @property
    def seal(self) -> str:
        """The line right before the first letter."""
        before = self.plain[: self.plain.rfind("Black Jack\n")]
        return before[before.rindex("Seal ") :].rstrip("\n")

    @property
    def seed(self) -> str:
        """The line after the last one."""
        return "Seed " + self.plain.split("Seed ")[-1].split("\n")[0]

    def _is_asked_something(self) -> bool:
        return self.plain.endswith(QUESTIONS) or ANY_KEY in self.prompt

    # The books

    def rounds(self) -> list[tuple[int, int, int, int]]:
        """Their rounds in order: bet, lost, won (smallest unit), where in the stream they began."""
        with self.board.books() as desk:
            rows = desk.connection.exec_driver_sql(
                "SELECT r.bet, r.lost, r.won, r.start_position FROM rounds r"
                " JOIN callers c ON c.id = r.caller_id WHERE c.name = ? ORDER BY r.id",
                (self.name,),
            )
            return [tuple(row) for row in rows]

    def journal(self) -> list[str]:
        """The actions of their last round, the bet first."""
        with self.board.books() as desk:
            rows = desk.connection.exec_driver_sql(
                "SELECT json_extract(action, '$.action') FROM actions"
                " WHERE round_id = (SELECT max(id) FROM rounds) ORDER BY sequence"
            )
            return list(rows.scalars())

    def tally(self, unit: Any = "usd-cent") -> tuple[int, int]:
        """Action and standing by the books."""
        with self.board.books() as desk:
            number = desk.connection.exec_driver_sql(
                "SELECT id FROM callers WHERE name = ?", (self.name,)
            ).scalar_one()
            score = play_money.tally(desk, number, "unix-bj", unit)
            return score.action, score.net


@asynccontextmanager
async def at_the_teletype(
    folder: Path, *, profile: Profile = MODERN, **how: Any
) -> AsyncIterator[Player]:
    """Open a board with Ada at the teletype with sixty minutes; `how` goes to `world`."""
    async with world(folder, **how) as board:
        ada = await player(board, "Ada", profile)
        await ada.goes_to_the_teletype()
        yield ada


async def player(board: World, name: str, profile: Profile = MODERN) -> Player:
    """Register a caller and bring them to the main menu on their first call of the day."""
    board.enter(name)
    guest = Player(board, name)
    await guest.calls(profile)
    await guest.goes_on_to(MENU)
    return guest
