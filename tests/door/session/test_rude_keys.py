"""A console whose caller types, or resizes the window, faster than a human."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from ansi.canvas import Canvas
from ansi.charset import Charset
from door.call import keyboard
from door.call.console import Console
from door.call.keyboard import KEYS_PER_TURN, KEYS_WAITING
from door.call.scene import Area
from door.call.screen import Look, Paint
from door.clock import SystemClock
from door.lines.line import Hints
from tests.door.wall import Wall

CLEARED = b"\x1b[2J"


class Poster:
    """A scene of one line."""

    def paint(self, canvas: Canvas, area: Area) -> None:
        canvas.put(0, area.left, "A poster")

    def lines(self) -> Sequence[str]:
        return ["A poster"]


def console() -> tuple[Console, Wall]:
    wall = Wall()
    return Console(wall, Look(Charset.UTF8, Paint.COLOUR), SystemClock()), wall


async def turns() -> None:
    for _ in range(4):
        await asyncio.sleep(0)


async def test_a_window_that_is_dragged_far_is_painted_once_for_each_packet() -> None:
    here, wall = console()
    here.screen.paint_screens()
    here.display.stage(Poster())
    await turns()
    wall.written.clear()
    for columns in range(80, 132):
        wall.resize(columns, 30)
    await turns()
    assert wall.written.count(CLEARED) <= 2  # the old screen is left, the new one begun
    assert b"A poster" in wall.written
    wall.written.clear()
    wall.resize(90, 30)
    await turns()
    assert b"A poster" in wall.written, "and again for the next one"


async def test_a_size_of_a_packet_that_is_the_last_one_counts() -> None:
    here, wall = console()
    here.screen.paint_screens()
    assert here.screen.is_painted
    for rows in (50, 30, 21):
        wall.resize(80, rows)
    await turns()
    assert not here.screen.is_painted
    wall.resize(80, 24)
    await turns()
    assert here.screen.is_painted


async def test_a_paste_is_read_with_turns_for_everybody_else() -> None:
    here, wall = console()
    pasted = 4096
    here.received(b"x" * pasted)
    assert wall.paused, f"more than {KEYS_WAITING} keys wait"
    others = 0

    async def another() -> None:
        nonlocal others
        while True:
            await asyncio.sleep(0)
            others += 1

    other = asyncio.create_task(another())
    for _ in range(pasted):
        assert await here.keyboard.key() == "x"
    other.cancel()
    assert others >= pasted // KEYS_PER_TURN - 2
    assert not wall.paused
    here.received(b"y")
    assert await here.keyboard.key() == "y"


async def test_lines_of_a_mud_client_are_read_with_turns_for_everybody_else() -> None:
    """Naming a choice takes as long as ten keys."""
    here, wall = console()
    wall.hints = Hints(terminal_types=("MTTS 13",), sends_lines=True)
    here.received(b"hit\r\n" * 64)
    others = 0

    async def another() -> None:
        nonlocal others
        while True:
            await asyncio.sleep(0)
            others += 1

    other = asyncio.create_task(another())
    for _ in range(64):
        assert await here.keyboard.key(takes_words=True) == "<line>hit"
    other.cancel()
    assert others >= 12


async def test_a_line_of_a_mud_client_may_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program may send its words and their end apart, and the network may part any line."""
    here, wall = console()
    wall.hints = Hints(terminal_types=("MTTS 13",), sends_lines=True)
    for piece in (b"go", b"al", b"s\r\nh", b"it\r\n"):
        here.received(piece)
    for line in ("<line>goals", "<line>hit"):
        assert await here.keyboard.key(takes_words=True) == line
    monkeypatch.setattr(keyboard, "ESCAPE_SECONDS", 0)
    here.received(b"g")
    assert await here.keyboard.key(takes_words=True) == "g"


async def test_a_sign_that_is_a_key_elsewhere_is_a_line_of_a_text() -> None:
    here, wall = console()
    wall.hints = Hints(terminal_types=("MTTS 13",), sends_lines=True)
    here.received(b"=\r\n!\r\n")
    for sign in "=!":
        key = await here.keyboard.key(takes_slash=True, takes_paste=True, takes_words=True)
        assert key == f"<line>{sign}"


async def test_kildclient_sends_words_and_their_end_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names no MTTS: its lines are held back until it has sent a key by itself."""
    here, wall = console()
    wall.hints = Hints(terminal_types=("KildClient",), sends_lines=True)
    for piece in (b"Ada", b"\r\n", b"stand", b"\r\n"):
        here.received(piece)
    for line in ("<line>Ada", "<line>stand"):
        assert await here.keyboard.key(takes_words=True) == line
    assert here.keyboard.sends_only_lines
    monkeypatch.setattr(keyboard, "LINE_SECONDS", 0)
    here.received(b"g")
    assert await here.keyboard.key(takes_words=True) == "g"
    assert not here.keyboard.sends_only_lines
    here.received(b"h")
    assert here.keyboard.next_key() == "h"  # at once
