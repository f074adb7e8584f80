"""The sysop's own screens: .ans and .asc files in the texts folder, shown instead of ours.

`welcome` greets whoever connects, `goodbye` sees callers off. A terminal that paints gets the .ans
file when there is one, every other the .asc file.
"""

from __future__ import annotations

import logging
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ansi import art
from ansi.canvas import Canvas
from door.call.console import Paint
from door.call.display import LAYOUT_COLUMNS, literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from ansi.art import Art
    from door.call.console import Console

LARGEST = 256 * 1024  # bytes; more is no screen

_SEQUENCE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")  # all that `art.read` leaves, and more

log = logging.getLogger("door.texts")


def show(console: Console, folder: Path, name: str) -> bool:
    """Show the sysop's screen of that name on scrolling lines; `False` when there is none."""
    picture = find(console, folder, name)
    if picture is None:
        return False
    if console.can_paint:
        paint_once(console, partial(art.paint, art=picture, row=0, column=0))
    else:
        for line in lines(picture):
            console.say(line)
    return True


def find(console: Console, folder: Path, name: str) -> Art | None:
    """Return the sysop's screen of that name for this terminal, `None` when there is none."""
    for ending in (".ans", ".asc") if console.can_paint else (".asc",):
        data = _read(folder / f"{name}{ending}")
        if data is not None:
            return art.read(data)
    return None


def lines(picture: Art) -> list[str]:
    """No escape sequence is left: colours and jumps go, moves to the right become spaces."""
    return [literal(line) for line in _SEQUENCE.sub(_unpainted, picture.text).splitlines()]


def paint_once(console: Console, paint: Callable[[Canvas], None]) -> None:
    """Paint a picture on a cleared screen and go on with lines below it."""
    canvas = Canvas(
        console.line.columns, console.line.rows, colour=console.look.paint is Paint.COLOUR
    )
    paint(canvas)
    used = max((row + 1 for row in range(console.line.rows) if canvas.text(row).strip()), default=0)
    below = min(used + 2, console.line.rows)
    console.send(f"\x1b[2J{canvas.render()}\x1b[0m\x1b[{below};1H\x1b[?25h")


def _unpainted(sequence: re.Match[str]) -> str:
    """Return spaces for a move to the right, nothing for any other sequence."""
    steps, final = sequence.groups()
    first = int(steps.partition(";")[0][:4] or 1)
    return " " * min(max(first, 1), LAYOUT_COLUMNS) if final == "C" else ""


def _read(path: Path) -> bytes | None:
    """Return a screen's bytes; one that cannot be read is named in the log, once a call."""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        log.warning("%s cannot be read: %s", path, error.strerror)
        return None
