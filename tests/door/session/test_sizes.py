"""Terminals without a size, or with a strange one: a whole scene, or plain lines."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from door.call.markup import plain
from door.call.screen import CANVAS_COLUMNS, CANVAS_ROWS
from door.lines.line import bounded_size
from tests.door.visiting import Guest, known, sysop_toml
from tests.terminal import IAC, MODERN, NAWS, SB, SE, SYNCTERM, Profile
from tests.world import World

TOML = sysop_toml(events="")
ARE_YOU_THERE = bytes((IAC, 246))
# Most are shown by one window or another; the last three can be no window.
SIZES = (
    *((80, 20), (80, 21), (80, 22), (80, 23), (40, 22), (39, 22), (41, 23), (64, 16), (60, 60)),
    *((132, 22), (160, 60), (300, 100), (40, 60), (20, 10), (81, 25), (0, 0), (1, 1), (0, 24)),
)
# How a scene is reached from the menu.
SCENES = {
    "menu": "",
    "bank": "t",
    "who is on": "w",
    "news": "n",
    "messages": "m",
    "statistics": "s",
    "daily deal": "d",
    "hall of fame": "h",
    "settings": "y",
    "tour": "yv",
    "black jack": "b",
    "a bet": "bb",
    "rules": "br",
    "help": "b?",
    "fairness": "bf",
    "baccarat": "c",
    "red dog": "r",
    "vegas": "v",
    "unix bj": "u",
}


class Watch:
    """What a terminal shows of painted screens, and how often one of them scrolled."""

    def __init__(self, guest: Guest) -> None:
        self._guest = guest
        self.scrolled = 0
        screen = guest.terminal.screen
        index = screen.index

        def counted() -> None:
            if guest.caller.console.screen.is_painted and screen.cursor.y == screen.lines - 1:
                self.scrolled += 1
            index()

        screen.index = counted

    async def resize(self, columns: int, rows: int) -> None:
        """Give the window a size, and wait until the board has shown its screen in it."""
        guest, line = self._guest, self._guest.caller.console.line
        wanted = bounded_size(columns, rows)
        told = struct.pack("!HH", columns, rows)
        guest.terminal.screen.resize(
            *reversed(wanted if min(columns, rows) < 8 else (columns, rows))
        )
        guest.terminal.send(
            bytes((IAC, SB, NAWS)) + told.replace(b"\xff", b"\xff\xff") + bytes((IAC, SE))
        )
        await self.answered()  # the size comes before the question
        assert (line.columns, line.rows) == wanted
        await self.shown()

    async def shown(self) -> None:
        """Wait until the caller's screen is shown and a key is awaited."""
        while True:
            await self._guest.board.settled()
            await self.answered()
            if self._guest.caller.console.screen.awaits_key:
                await self.answered()
                return

    async def answered(self) -> None:
        """Wait for all output so far."""
        terminal = self._guest.terminal
        bells = terminal.received.count(b"\a")
        terminal.send(ARE_YOU_THERE)
        await terminal.wait_for(lambda _: terminal.received.count(b"\a") > bells, "the bell")

    def faults(self, columns: int, rows: int) -> list[str]:
        guest = self._guest
        screen, terminal = guest.caller.console.screen, guest.terminal
        wide, tall = bounded_size(columns, rows)
        found = []
        if screen.is_painted != (wide >= CANVAS_COLUMNS and tall >= CANVAS_ROWS):
            found.append("painted" if screen.is_painted else "not painted")
        if self.scrolled:
            found.append("scrolled")
        if screen.is_painted and (terminal.screen.columns, terminal.screen.lines) == (wide, tall):
            if any(row[-1:].strip() for row in terminal.lines if len(row) == wide):
                found.append("the last column is used")
            if not terminal.lines[-1].strip():
                found.append("no status line")
        y = terminal.screen.cursor.y
        rows_of_prompt = f"{terminal.row(max(0, y - 1))} {terminal.row(y)}"
        words = plain(screen.display.view().prompt).split()[-1:] if screen.is_painted else []
        if not rows_of_prompt.strip() or not all(word in rows_of_prompt for word in words):
            found.append("no prompt")
        return found


async def tour_of_sizes(board: World, profile: Profile, keys: str) -> list[str]:
    ada = known(board, "Ada", saved=600)
    await ada.visits(profile)
    watch = Watch(ada)
    for key in keys:
        ada.presses(key)
        await watch.shown()
    found = []
    for columns, rows in SIZES:
        await watch.resize(columns, rows)
        found += [f"{columns}x{rows}: {fault}" for fault in watch.faults(columns, rows)]
        watch.scrolled = 0
    return found


@pytest.mark.parametrize("profile", [SYNCTERM, MODERN], ids=["cp437", "utf-8"])
@pytest.mark.parametrize("keys", SCENES.values(), ids=SCENES)
async def test_every_size_shows_a_whole_scene_or_plain_lines(
    board: World, keys: str, profile: Profile
) -> None:
    assert await tour_of_sizes(board, profile, keys) == []


@pytest.mark.parametrize(("columns", "rows"), [(64, 16), (40, 16), (80, 20), (80, 21)])
async def test_a_page_of_plain_lines_is_no_taller_than_its_window(
    board: World, columns: int, rows: int
) -> None:
    ada = known(board, "Ada")
    await ada.visits(replace(MODERN, columns=columns, rows=rows))
    await ada.presses("br").is_asked("<N>ext")
    assert "The rules of Black Jack For Time" in ada.screen
    await ada.presses("n").terminal.until_heard("2")
    await ada.is_asked("<P>revious")
    assert "(2 of" in ada.screen or "2/" in ada.screen
