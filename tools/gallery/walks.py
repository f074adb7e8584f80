"""What callers do so that every screen is seen: each walk is an evening of one caller.

A walk is the same on every terminal. It waits for words that stand on all of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from tests.terminal import Profile, Terminal
from tests.world import PASSWORD, World, log_on, seed_of, world

HOUR = 3600


class Shot(NamedTuple):
    name: str
    text: str
    terminal: Terminal


class Evening:
    """One caller on one terminal, and the screens that were kept of what they saw."""

    def __init__(
        self, board: World, profile: Profile, looks: dict[str, object], keep: Callable[[Shot], None]
    ) -> None:
        self.board = board
        self.profile = profile
        self.looks = looks
        self.terminal: Terminal
        self._keep = keep
        self._told = 0

    @property
    def scrolls(self) -> bool:
        return any(dict(each)["paint"] == "lines" for each in self.looks.values())

    async def dials(self) -> None:
        self.terminal = await self.board.call(self.profile)
        self._told = 0

    async def visits(self, name: str, *, saved: int = 0) -> None:
        """Come to the main menu as somebody whom the board knows."""
        self.board.enter(name, saved=saved, looks=self.looks)
        await self.dials()
        await log_on(self.terminal, name)
        await self.terminal.until("any key")
        await self.press(" ", "ood-bye")

    async def press(self, keys: str, until: str) -> None:
        self.terminal.send(keys)
        await self.terminal.until_heard(until)
        await self.board.at_rest()

    async def take(self, name: str) -> None:
        """Keep the screen as it is; of lines that scroll, what came since the last was kept."""
        await self.board.at_rest()
        heard = self.terminal.transcript[self._told :].replace("\r", "")
        self._told = len(self.terminal.transcript)
        text = heard if self.scrolls else self.terminal.picture
        lines = [line.rstrip() for line in text.split("\n")]
        self._keep(Shot(name, "\n".join(lines).strip("\n") + "\n", self.terminal))


Walk = Callable[[Evening], Awaitable[None]]


async def first_call(here: Evening) -> None:
    await here.dials()
    await here.terminal.until("Name:")
    await here.take("welcome")
    await here.press("new\r", "name you want")
    await here.press("Ada\r", "A password")
    await here.press(f"{PASSWORD}\r", "once more:")
    await here.press(f"{PASSWORD}\r", "any key")
    await here.take("recovery-code")


async def black_jack_for_time(here: Evening) -> None:
    await here.visits("Ada", saved=HOUR)
    await here.take("menu")
    await here.press("b", "uit")
    await here.take("black-jack-for-time")
    await here.press("p", "bet")
    await here.take("black-jack-for-time-bet")
    here.board.seeds = [seed_of(lambda dealt: not dealt.over)]
    await here.press("5\r", "tay")
    await here.take("black-jack-for-time-hand")


WALKS: dict[str, Walk] = {
    "first-call": first_call,
    "black-jack-for-time": black_jack_for_time,
}


@asynccontextmanager
async def board_for_walks(folder: Path) -> AsyncIterator[World]:
    async with world(folder) as board:
        yield board
