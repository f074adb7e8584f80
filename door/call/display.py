"""What a caller sees: the same words as a painted screen or as plain lines.

Rooms and tables speak to a `Display` and never ask which one it is. A painted screen keeps a
canvas and sends the smallest change; plain lines are for terminals without ANSI, for windows
smaller than 80x24, and for the log-on, when nothing is known yet. Texts may hold pipe codes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, field
from functools import lru_cache
from typing import Protocol

from ansi.canvas import Canvas
from ansi.style import from_pipe, sgr
from ansi.width import character_width, text_width

STATUS_ROWS = 1
PROMPT_ROWS = 1
MESSAGE_ROWS = 3
LAYOUT_COLUMNS = 79  # what every layout is drawn for: 80 columns less the one that wraps

PIPE_CODE = re.compile(r"\|(?:[01][0-9]|2[0-3])")

Send = Callable[[str], None]
Soon = Callable[[Callable[[], None]], object]  # calls later, in the event loop's next step


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


def plain(text: str) -> str:
    return PIPE_CODE.sub("", text) if "|" in text else text


def literal(text: str) -> str:
    """Return text that another person wrote, so that nothing in it is a pipe code.

    >>> literal("a|15b")
    'a│15b'
    """
    return text.replace("|", "\N{BOX DRAWINGS LIGHT VERTICAL}")


@lru_cache(maxsize=512)
def wrap(text: str, width: int) -> tuple[str, ...]:
    """Break `text` at spaces into lines that take at most `width` cells.

    Pipe codes take no room, and the last one of a line goes on in the next; a word longer than a
    line is cut, and is all in one colour.

    >>> wrap("What a loooooong word", 6)
    ('What a', 'looooo', 'ong', 'word')
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line, used = "", -1
        for word in paragraph.split(" "):
            length = text_width(plain(word))
            if used + 1 + length <= width:
                line, used = word if used < 0 else f"{line} {word}", used + 1 + length
                continue
            if used >= 0:
                lines.append(line)
            *full, rest = _cut(word, width) if length > width else [word]
            colour = "".join(PIPE_CODE.findall(f"{line}{word}" if full else line)[-1:])
            lines += [colour + part for part in full]
            line, used = colour + rest, text_width(plain(rest))
        lines.append(line)
    return tuple(lines)


def _cut(word: str, width: int) -> list[str]:
    """Cut a word, without its pipe codes, into parts that take at most `width` cells."""
    parts, used = [""], 0
    for letter in plain(word):
        used += character_width(letter)
        if used > width:
            parts.append("")
            used = character_width(letter)
        parts[-1] += letter
    return parts


class LinesDisplay:
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
        self._width = columns - 1

    def stage(self, scene: Scene) -> None:
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
        self._prompt = ""
        self._send("\r\n")

    def status(self, text: str) -> None:
        """Do nothing: a status line has no place among lines that scroll."""

    def view(self) -> View:
        return View(self._scene, (), self._prompt, self._typed)

    def flush(self) -> None:
        """Do nothing: every line was sent as it was told."""

    def close(self) -> None:
        """Leave the line of a prompt that nobody has answered."""
        if self._prompt:
            self._send("\r\n")

    def _styled(self, text: str) -> str:
        if not self._colour:
            return plain(text)
        parts = "".join(f"{sgr(style)}{part}" for style, part in from_pipe(text))
        return f"{parts}\x1b[0m" if "|" in text else text


# What has to be painted before the next update.
_SCENE, _MESSAGES, _PROMPT, _STATUS = 1, 2, 4, 8


@dataclass(slots=True, eq=False)
class CanvasDisplay:
    """A painted screen of at least 80x24. What is asked of it is noted, and painted and sent
    together at `flush`: one update for all that an answer brings."""

    _send: Send
    _soon: Soon
    columns: InitVar[int]
    rows: InitVar[int]
    colour: InitVar[bool]
    _canvas: Canvas = field(init=False)
    _left: int = field(init=False)
    _scene: Scene | None = None
    _messages: tuple[str, ...] = ()
    _prompt: str = ""
    _typed: str = ""
    _status: str = ""
    _stale: int = 0
    _flush_is_due: bool = False
    _unshown: int = 0  # lines of messages that were said since the last update

    def __post_init__(self, columns: int, rows: int, colour: bool) -> None:
        self._canvas = Canvas(columns, rows, colour=colour)
        self._left = (columns - 1 - LAYOUT_COLUMNS) // 2

    @property
    def scene_rows(self) -> int:
        return self._canvas.rows - STATUS_ROWS - PROMPT_ROWS - MESSAGE_ROWS

    def stage(self, scene: Scene) -> None:
        """Show a new scene, and forget the messages that belonged to the last one."""
        self._scene = scene
        self._messages = ()
        self._prompt = self._typed = ""
        self._note(_SCENE | _MESSAGES | _PROMPT)

    def refresh(self) -> None:
        """Paint the scene again."""
        self._note(_SCENE)

    def say(self, text: str) -> None:
        """Add the message below the scene; the oldest goes, but none that was never shown."""
        lines = wrap(text, LAYOUT_COLUMNS - 2)
        if self._unshown and self._unshown + len(lines) > MESSAGE_ROWS:
            self._update()
        self._unshown += len(lines)
        self._messages = (*self._messages, *lines)[-MESSAGE_ROWS:]
        self._note(_MESSAGES)

    def prompt(self, text: str) -> None:
        self._prompt, self._typed = text, ""
        self._note(_PROMPT)

    def typed(self, text: str) -> None:
        """Show the typed text behind the prompt, its end when it is too long."""
        self._typed = text
        self._note(_PROMPT)

    def answered(self) -> None:
        self._prompt = self._typed = ""
        self._note(_PROMPT)

    def status(self, text: str) -> None:
        if text != self._status:
            self._status = text
            self._note(_STATUS)

    def view(self) -> View:
        return View(self._scene, self._messages, self._prompt, self._typed)

    def flush(self) -> None:
        self._flush_is_due = False
        self._update()

    def close(self) -> None:
        """Reset colours, show the cursor and clear the screen."""
        self.flush()
        self._send("\x1b[0m\x1b[?25h\x1b[2J\x1b[H")

    def _note(self, stale: int) -> None:
        self._stale |= stale
        if not self._flush_is_due:
            self._flush_is_due = True
            self._soon(self.flush)

    def _update(self) -> None:
        self._unshown = 0
        stale, self._stale = self._stale, 0
        if not stale:
            return
        if stale & _SCENE:
            self._paint_scene()
        if stale & _MESSAGES:
            self._paint_messages()
        if stale & _PROMPT:
            self._paint_prompt()
        if stale & _STATUS:
            self._paint_status()
        change = self._canvas.update()
        if change:
            self._send(change)

    def _paint_scene(self) -> None:
        rows = self.scene_rows
        self._canvas.blank(0, 0, self._canvas.width, rows)
        if self._scene is not None:
            self._scene.paint(self._canvas, self._left, rows)

    def _paint_messages(self) -> None:
        row = self.scene_rows
        self._canvas.blank(row, 0, self._canvas.width, MESSAGE_ROWS)
        for number, line in enumerate(self._messages):
            self._canvas.put_pipe(row + number, self._left + 1, line)

    def _paint_prompt(self) -> None:
        canvas = self._canvas
        row = canvas.rows - STATUS_ROWS - PROMPT_ROWS
        canvas.blank(row, 0, canvas.width, PROMPT_ROWS)
        canvas.cursor = None
        if self._prompt:
            column = canvas.put_pipe(row, self._left + 1, self._prompt) + 1
            room = max(0, canvas.width - 1 - column)
            shown = self._typed[max(0, len(self._typed) - room) :]
            canvas.cursor = (row, canvas.put(row, column, shown))

    def _paint_status(self) -> None:
        row = self._canvas.rows - STATUS_ROWS
        self._canvas.put_pipe(row, 0, "|17" + " " * self._canvas.width)
        self._canvas.put_pipe(row, self._left + 1, self._status)


Display = LinesDisplay | CanvasDisplay


def resume(display: Display, view: View) -> None:
    if view.scene is not None:
        display.stage(view.scene)
    for message in view.messages:
        display.say(message)
    if view.prompt:
        display.prompt(view.prompt)
        display.typed(view.typed)
