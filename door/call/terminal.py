"""What a terminal is asked, and tells by the position of its cursor: its size and its letters."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ansi.charset import Charset
from door.call.screen import Look, Paint
from door.lines.line import MIN_COLUMNS, MIN_ROWS, bounded_size

if TYPE_CHECKING:
    from door.call.console import Console
    from door.lines.line import Line

# The cursor goes to the far corner, as far as the terminal lets it, says where that is, and goes
# back. SyncTERM knows these, and so does every terminal that calls itself ANSI.
ASK_SIZE = b"\x1b[s\x1b[255;255H\x1b[6n\x1b[u"
# One letter of UTF-8 is three of any other set, so where the cursor stands behind it tells which.
ASK_LETTERS = b"\r" + "─".encode() + b"\x1b[6n\r   \r"


def ask_size(console: Console) -> None:
    """Have the terminal say its size, unless it has; the answer lays the screen out anew."""
    if console.screen.look.paint is not Paint.LINES:
        _ask_size(console)


def _ask_size(console: Console) -> None:
    if not console.line.size_is_known:
        console.keyboard.ask_position(ASK_SIZE, partial(_take_corner, console.line))


def _take_corner(line: Line, row: int, column: int) -> None:
    """Take the far corner for the size; one that no screen has is a key of some other kind."""
    if row >= MIN_ROWS // 2 and column >= MIN_COLUMNS // 2:
        line.resize(*bounded_size(column, row))


async def probe(console: Console, seconds: float) -> Look | None:
    """Find out what a terminal is of which nothing is known; None where it does not answer.

    One that says where its cursor is takes ANSI, and is then asked for its size too. It is
    waited for until it has answered, for `seconds` at most. What that leaves on a terminal
    without ANSI is a few odd characters on one line.
    """
    found: list[Look] = []

    def take(_row: int, column: int) -> None:
        charset = Charset.UTF8 if column == 2 else Charset.CP437
        found.append(Look(charset, Paint.COLOUR))
        console.keyboard.nudge()

    console.keyboard.ask_position(ASK_LETTERS, take)
    _ask_size(console)
    await console.keyboard.pause(seconds)
    return found[0] if found else None
