"""What a caller sees: the same words as a painted screen or as plain lines.

Rooms and tables speak to a `Display` and never ask which one it is. A painted screen keeps a
canvas and sends the smallest change; plain lines are for terminals without ANSI, for windows
smaller than 80x24, and for the log-on, when nothing is known yet. Texts may hold pipe codes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from ansi.canvas import Canvas
from ansi.style import from_pipe, sgr

STATUS_ROWS = 1
PROMPT_ROWS = 1
MESSAGE_ROWS = 3
LAYOUT_COLUMNS = 79  # what every layout is drawn for: 80 columns less the one that wraps

PIPE_CODE = re.compile(r"\|(?:[01][0-9]|2[0-3])")

Send = Callable[[str], None]


class Scene(Protocol):
    """Something to look at: painted on a canvas, or told in lines."""

    def paint(self, canvas: Canvas, left: int, rows: int) -> None:
        """Paint rows 0 to `rows` - 1 of the canvas, in the 79 columns from `left` on."""

    def lines(self) -> Sequence[str]:
        """Return the same in lines of text, pipe codes allowed."""


@dataclass(frozen=True)
class View:
    """What stands on a display, for another one to go on with when the window has changed."""

    scene: Scene | None
    messages: Sequence[str]
    prompt: str
    typed: str


class Display(Protocol):
    """A caller's screen, whatever it can do."""

    def stage(self, scene: Scene) -> None:
        """Show a new scene, and forget the messages that belonged to the last one."""

    def refresh(self) -> None:
        """Paint the scene again where it is painted; plain lines have already told it."""

    def say(self, text: str) -> None:
        """Give the caller a message."""

    def prompt(self, text: str) -> None:
        """Ask for something; what is typed appears behind the text."""

    def typed(self, text: str) -> None:
        """Show what has been typed so far behind the prompt, in place of what stood there."""

    def answered(self) -> None:
        """Say that the prompt has been answered."""

    def status(self, text: str) -> None:
        """Show the line that is always there; plain lines have none."""

    def view(self) -> View:
        """Return what stands here."""

    def close(self) -> None:
        """Leave the terminal as it was found."""


def resume(display: Display, view: View) -> None:
    """Show on `display` what stood on another one."""
    if view.scene is not None:
        display.stage(view.scene)
    for message in view.messages:
        display.say(message)
    if view.prompt:
        display.prompt(view.prompt)
        display.typed(view.typed)


def plain(text: str) -> str:
    """Return `text` without its pipe codes."""
    return PIPE_CODE.sub("", text) if "|" in text else text


def literal(text: str) -> str:
    """Return text that another person wrote, so that nothing in it is a pipe code.

    >>> literal("a|15b")
    'a│15b'
    """
    return text.replace("|", "\N{BOX DRAWINGS LIGHT VERTICAL}")


@lru_cache(maxsize=512)
def wrap(text: str, width: int) -> tuple[str, ...]:
    """Break `text` at spaces into lines of at most `width` visible characters.

    Pipe codes take no room, and the last one of a line goes on in the next; a word longer than a
    line is cut.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line, *words = paragraph.split(" ")
        used = len(plain(line))
        for word in words:
            length = len(plain(word))
            if used + 1 + length > width:
                lines.append(line)
                line = "".join(PIPE_CODE.findall(line)[-1:]) + word
                used = length
            else:
                line = f"{line} {word}"
                used += 1 + length
        while len(plain(line)) > width:
            line = plain(line)
            lines.append(line[:width])
            line = line[width:]
        lines.append(line)
    return tuple(lines)


class LinesDisplay:
    """Lines that scroll up, with colours or without."""

    def __init__(self, send: Send, columns: int, *, colour: bool) -> None:
        """Write through `send`; no line reaches the last of `columns` columns."""
        self._send = send
        self._colour = colour
        self._scene: Scene | None = None
        self._prompt = ""
        self._typed = ""
        self._room = 0  # cells behind the prompt
        self.fit(columns)

    def fit(self, columns: int) -> None:
        """Break lines for a window of another width from now on."""
        self._width = columns - 1

    def stage(self, scene: Scene) -> None:
        """Tell the scene."""
        self._scene = scene
        self._send("\r\n")
        for line in scene.lines():
            self.say(line)

    def refresh(self) -> None:
        """Do nothing: every change was told as it happened."""

    def say(self, text: str) -> None:
        """Write the message, broken into lines; a prompt that it interrupts is asked again."""
        prompt, typed = self._prompt, self._typed
        if prompt:
            self._send("\r\n")
        for line in wrap(text, self._width):
            self._send(self._styled(line) + "\r\n")
        if prompt:
            self.prompt(prompt)
            self.typed(typed)

    def prompt(self, text: str) -> None:
        """Write the prompt and stay behind it."""
        self._prompt, self._typed = text, ""
        *above, last = wrap(text, self._width)
        for line in above:
            self._send(self._styled(line) + "\r\n")
        self._send(self._styled(last) + " ")
        self._room = max(0, self._width - len(plain(last)) - 1)

    def typed(self, text: str) -> None:
        """Echo what was added, rub out what was taken away; what has no room is not shown."""
        old, new = self._typed[: self._room], text[: self._room]
        same = 0
        for before, after in zip(old, new, strict=False):
            if before != after:
                break
            same += 1
        self._send("\b \b" * (len(old) - same) + new[same:])
        self._typed = text

    def answered(self) -> None:
        """Go on to the next line."""
        self._prompt = ""
        self._send("\r\n")

    def status(self, text: str) -> None:
        """Do nothing: a status line has no place among lines that scroll."""

    def view(self) -> View:
        """Return scene and prompt; messages have scrolled by."""
        return View(self._scene, (), self._prompt, self._typed)

    def close(self) -> None:
        """Do nothing: a line leaves no traces."""

    def _styled(self, text: str) -> str:
        if not self._colour:
            return plain(text)
        parts = "".join(f"{sgr(style)}{part}" for style, part in from_pipe(text))
        return f"{parts}\x1b[0m" if "|" in text else text


class CanvasDisplay:
    """A painted screen of at least 80x24: scene, messages, prompt, status line."""

    def __init__(self, send: Send, columns: int, rows: int, *, colour: bool) -> None:
        """Paint through `send` on a terminal of this size."""
        self._send = send
        self._canvas = Canvas(columns, rows, colour=colour)
        self._left = (columns - 1 - LAYOUT_COLUMNS) // 2
        self._margin = self._left + 1  # where titles, messages and prompts begin
        self._rows = rows
        self._scene: Scene | None = None
        self._messages: deque[str] = deque(maxlen=MESSAGE_ROWS)
        self._prompt = ""
        self._typed = ""
        self._status = ""
        self._typed_at = 0
        self._painted = False

    @property
    def scene_rows(self) -> int:
        """How many rows a scene has."""
        return self._rows - STATUS_ROWS - PROMPT_ROWS - MESSAGE_ROWS

    def stage(self, scene: Scene) -> None:
        """Paint the scene on an empty screen."""
        self._scene = scene
        self._messages.clear()
        self._prompt = self._typed = ""
        self._canvas.cursor = None
        self._canvas.blank(0, 0, self._canvas.columns - 1, self._rows - STATUS_ROWS)
        self.refresh()

    def refresh(self) -> None:
        """Paint the scene again and send what has changed."""
        if self._scene is not None:
            self._canvas.blank(0, 0, self._canvas.columns - 1, self.scene_rows)
            self._scene.paint(self._canvas, self._left, self.scene_rows)
        self._update()

    def repaint(self) -> None:
        """Send the whole screen, for a terminal that has lost it."""
        self._painted = False
        self.refresh()

    def say(self, text: str) -> None:
        """Add the message below the scene; the oldest goes."""
        self._messages.extend(wrap(text, LAYOUT_COLUMNS - 2))
        for number, line in enumerate(self._messages):
            self._line(self.scene_rows + number, line)
        self._update()

    def prompt(self, text: str) -> None:
        """Put the prompt on its row and the cursor behind it."""
        self._prompt, self._typed = text, ""
        row = self._rows - STATUS_ROWS - PROMPT_ROWS
        self._line(row, text)
        self._typed_at = self._margin + len(plain(text)) + 1
        self._canvas.cursor = (row, min(self._typed_at, self._canvas.columns - 2))
        self._update()

    def typed(self, text: str) -> None:
        """Show the typed text behind the prompt, its end when it is too long."""
        row = self._rows - STATUS_ROWS - PROMPT_ROWS
        room = self._canvas.columns - 2 - self._typed_at
        shown = text[-room:] if len(text) > room else text
        gone = min(len(self._typed), room) - len(shown)
        self._canvas.put(row, self._typed_at, shown + " " * gone if gone > 0 else shown)
        self._canvas.cursor = (row, self._typed_at + len(shown))
        self._typed = text
        self._update()

    def answered(self) -> None:
        """Clear the prompt."""
        self._prompt = self._typed = ""
        self._line(self._rows - STATUS_ROWS - PROMPT_ROWS, "")
        self._canvas.cursor = None
        self._update()

    def status(self, text: str) -> None:
        """Show the status line on the last row."""
        if text == self._status and self._painted:
            return
        self._status = text
        width = self._canvas.columns - 1
        row = self._rows - STATUS_ROWS
        self._canvas.put_pipe(row, 0, "|17" + " " * width)
        self._canvas.put_pipe(row, self._margin, text)
        self._update()

    def view(self) -> View:
        """Return all but the status line, which is the caller's to show."""
        return View(self._scene, tuple(self._messages), self._prompt, self._typed)

    def close(self) -> None:
        """Reset colours, show the cursor and clear the screen."""
        self._send("\x1b[0m\x1b[?25h\x1b[2J\x1b[H")

    def _line(self, row: int, text: str) -> None:
        self._canvas.blank(row, 0, self._canvas.columns - 1, 1)
        self._canvas.put_pipe(row, self._margin, text)

    def _update(self) -> None:
        if self._painted:
            change = self._canvas.update()
        else:
            change = self._canvas.render()
            self._painted = True
        if change:
            self._send(change)
