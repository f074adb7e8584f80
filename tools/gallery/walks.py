"""What callers do so that every screen is seen: each walk is an evening of one caller.

A walk is the same on every terminal. It presses keys, each when the board waits for one, whatever
the screens say: that is compared as a whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from tests.door.playing import hand
from tests.terminal import Profile, Terminal
from tests.world import BOARD, PASSWORD, World, log_on, world

MINUTE = 60
# Rounds of the event loop in which nothing has come before a screen is taken for finished.
QUIET_ROUNDS = 30
STEADY = BOARD.replace('name = "The Test Board"', 'name = "The Midnight Oil"\nsysop = "Moth"')
SHORT_DAY = f"{STEADY}\n[calls]\nminutes_per_day = 1\n"
RECOVERY_CODE = "CARDS-CHIPS-CL0CK-GREEN-FELT5"  # where every caller has another one


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
        return "lines" in str(self.looks)

    async def dials(self) -> None:
        self.terminal = await self.board.call(self.profile)
        self._told = 0
        await self.terminal.until("Name:")

    async def visits(self, name: str, *, saved: int = 0) -> None:
        """Come to the main menu as somebody whom the board knows."""
        self.board.enter(name, saved=saved, looks=self.looks)
        self.terminal = await self.board.call(self.profile)
        await log_on(self.terminal, name)
        await self.settles()
        await self.press(" ")
        self._told = len(self.terminal.transcript)

    async def settles(self) -> None:
        """Wait until the board asks for a key, or has hung up, and all of it is on the screen."""
        quiet = seen = 0
        while quiet < QUIET_ROUNDS:
            await self.board.at_rest()
            await asyncio.sleep(0)
            came = len(self.terminal.wire)
            still = came == seen and (self.terminal.closed or self._is_asked())
            quiet, seen = (quiet + 1 if still else 0), came

    def _is_asked(self) -> bool:
        consoles = self.board.server.board.consoles
        return bool(consoles) and all(each.is_waiting for each in consoles)

    async def press(self, *keys: str) -> None:
        """Press these, each when what the one before it brought is on the screen."""
        for each in keys:
            self.terminal.send(each)
            await self.settles()

    async def take(self, name: str, *keys: str) -> None:
        """Press keys, and keep the screen; of lines that scroll, what came since the last was."""
        await self.press(*keys)
        heard = self.terminal.transcript[self._told :].replace("\r", "")
        self._told = len(self.terminal.transcript)
        text = heard if self.scrolls else self.terminal.picture
        lines = [line.rstrip() for line in text.split("\n")]
        self._keep(Shot(name, "\n".join(lines).strip("\n") + "\n", self.terminal))


async def first_call(here: Evening) -> None:
    await here.dials()
    await here.settles()
    await here.take("welcome")
    await here.take("new-name", "new\r")
    await here.take("new-password", "Ada\r")
    await here.take("recovery-code", f"{PASSWORD}\r", f"{PASSWORD}\r")
    await here.take("look", " ")


async def lobby(here: Evening) -> None:
    await here.visits("Ada", saved=30 * MINUTE)
    await here.take("menu")
    await here.take("help", "?")
    await here.press("q")
    await here.take("who-is-on", "w")
    await here.take("bulletin", "q", "n")
    await here.take("settings", "q", "y")
    await here.take("bank", "q", "t")
    await here.take("bank-deposit", "d")
    await here.take("bank-deposited", "5\r", "y")
    await here.take("goodbye", "q", "g", "y")


async def time_up(here: Evening) -> None:
    await here.visits("Ada")
    await here.board.pass_time(MINUTE + 2)
    await here.settles()
    await here.take("time-up")


async def black_jack_for_time(here: Evening) -> None:
    await here.visits("Ada", saved=60 * MINUTE)
    await here.take("bjft", "b")
    await here.take("bjft-help", "?")
    await here.take("bjft-rules", "q", "r")
    await here.take("bjft-fairness", "q", "f")
    await here.press("q")
    here.board.seeds = [hand("hit", "stay", ends="win")]
    await here.take("bjft-bet", "b")
    await here.take("bjft-hand", "5\r")
    await here.take("bjft-card", "h")
    await here.take("bjft-win", "s")
    here.board.seeds = [hand("hit", ends="bust")]
    await here.take("bjft-bust", "b", "5\r", "h")
    here.board.seeds = [hand(ends="natural")]
    await here.take("bjft-natural", "b", "5\r")


async def red_dog(here: Evening) -> None:
    await here.visits("Ada", saved=60 * MINUTE)
    await here.take("red-dog", "r")
    await here.take("red-dog-rules", "r")
    await here.take("red-dog-hand", "q", "b", "5\r")


async def vegas(here: Evening) -> None:
    await here.visits("Ada", saved=60 * MINUTE)
    await here.take("vegas", "v")
    await here.take("vegas-rules", "r")
    await here.take("vegas-bet", "q", "b", "5\r")
    await here.take("vegas-end", "s")


async def baccarat(here: Evening) -> None:
    await here.visits("Ada", saved=60 * MINUTE)
    await here.take("baccarat-mode", "c")
    await here.take("baccarat", "t")
    await here.take("baccarat-rules", "r")
    await here.take("baccarat-bet", "q", "\r")


async def unix_bj(here: Evening) -> None:
    await here.visits("Ada")
    await here.take("unix-bj", "u")
    await here.take("unix-bj-manual", "m")
    await here.take("unix-bj-hand", "q", "p")


WALKS: dict[str, Callable[[Evening], Awaitable[None]]] = {
    "first-call": first_call,
    "lobby": lobby,
    "time-up": time_up,
    "black-jack-for-time": black_jack_for_time,
    "red-dog": red_dog,
    "vegas": vegas,
    "baccarat": baccarat,
    "unix-bj": unix_bj,
}


async def walk(
    name: str,
    folder: Path,
    profile: Profile,
    looks: dict[str, object],
    keep: Callable[[Shot], None],
) -> None:
    """Let one caller have this evening on a board of its own."""
    toml = SHORT_DAY if name == "time-up" else STEADY
    with mock.patch("door.session.recovery.new_code", return_value=RECOVERY_CODE):
        async with world(folder, toml=toml) as board:
            await WALKS[name](Evening(board, profile, looks, keep))
