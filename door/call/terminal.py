"""Questions that a terminal answers with its cursor's position: its size and its charset."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ansi.charset import Charset
from door.call.screen import Look, Paint
from door.lines.line import MIN_COLUMNS, MIN_ROWS, bounded_size

if TYPE_CHECKING:
    from door.call.console import Console
    from door.lines.line import Line

# Moves the cursor to the far corner, as far as the screen reaches, asks for its position, and moves
# it back. SyncTERM knows these codes, and so does every ANSI terminal.
ASK_SIZE = b"\x1b[s\x1b[255;255H\x1b[6n\x1b[u"
# This letter of UTF-8 is three letters in any other charset, so the cursor's column tells which.
ASK_LETTERS = b"\r" + "─".encode() + b"\x1b[6n\r   \r"


def ask_size(console: Console) -> None:
    """Ask the terminal for its size if that is unknown; the answer resizes the screen."""
    look = console.screen.look
    if look.paint is not Paint.LINES and not look.charset.is_of_home_computer:
        _ask_size(console)


def _ask_size(console: Console) -> None:
    if not console.line.size_is_known:
        console.keyboard.ask_position(ASK_SIZE, partial(_take_corner, console.line))


def _take_corner(line: Line, row: int, column: int) -> None:
    """Take the far corner as the size, unless it is too small: then it was another key's code."""
    if row >= MIN_ROWS // 2 and column >= MIN_COLUMNS // 2:
        line.resize(*bounded_size(column, row))


async def probe(console: Console, seconds: float) -> Look | None:
    """Find out the look of an unknown terminal; return None if it does not answer in `seconds`.

    A terminal that reports its cursor's position understands ANSI, and is asked for its size too.
    On a terminal without ANSI a few odd characters remain on one line.
    """
    answers: list[Look] = []

    def take(_row: int, column: int) -> None:
        charset = Charset.UTF8 if column == 2 else Charset.CP437
        answers.append(Look(charset, Paint.COLOUR))
        console.keyboard.nudge()

    console.keyboard.ask_position(ASK_LETTERS, take)
    _ask_size(console)
    await console.keyboard.pause(seconds)
    return answers[0] if answers else None
