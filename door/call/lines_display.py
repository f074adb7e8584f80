"""A screen of plain lines, each sent at once.

It is for terminals without ANSI, for windows smaller than 40x22, and for the log-on, when the
terminal is unknown. Texts may have pipe codes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Sequence

from ansi.style import from_pipe, sgr
from ansi.width import character_width, text_width
from door.call.markup import beginning, plain, read_out, wrap, wrap_question
from door.call.scene import LAYOUT_COLUMNS, MOST_BELOW_ROWS, Clocked, Scene, View

_GAP = re.compile(r"(?<=[,.?!])  ")


class LinesDisplay:
    def __init__(
        self,
        send: Callable[[str], None],
        columns: int,
        *,
        colour: bool,
        is_read_out: bool = False,
        echoes: bool = True,
    ) -> None:
        """Write through `send`; no line reaches the last of `columns` columns.

        If `is_read_out`, menus are written for screen readers. Typed text is sent if `echoes`.
        """
        self._send = send
        self._echoes = echoes
        self._colour = colour
        self._written = read_out if is_read_out else str
        self._scene: Scene | None = None
        self._prompt = ""
        self._brief = ""  # said in place of the prompt; "" for the prompt itself
        self._typed = ""
        self._wanted = 0  # cells asked for behind the prompt, for the answer
        self._room = 0  # cells available there
        self.indent = 0  # cells before every line
        # Of this scene, in case a painted screen takes over.
        self._messages: deque[str] = deque(maxlen=MOST_BELOW_ROWS)
        self.fit(columns)

    def fit(self, columns: int) -> None:
        self._columns = columns
        self.indent = 0

    @property
    def _width(self) -> int:
        """Cells of a line. Below a picture it is at most as wide as the picture."""
        width = self._columns - 1 - self.indent
        return min(width, LAYOUT_COLUMNS - 1) if self.indent else width

    def stage(self, scene: Scene, known: Collection[str] = ()) -> None:
        """Write a scene, without the lines that are `known` from the caller's last look at it."""
        self._scene = scene
        self._send("\r\n")
        for line in scene.lines():
            if line not in known:
                self.say(line)
        self._messages.clear()

    def go_back_to(self, scene: Scene | None) -> None:
        """Return to a scene that was shown before, without showing it again."""
        self._scene = scene

    def refresh(self) -> None:
        """Do nothing: every change was sent as it happened."""

    def refresh_clock(self, scene: Clocked) -> None:
        """Do nothing: lines have no clock."""

    def say(self, text: str) -> None:
        """Write the message, broken into lines, and repeat a prompt that it interrupts."""
        prompt, brief, typed = self._prompt, self._brief, self._typed
        self._messages.append(text)
        if prompt:
            self.answered()
        for line in wrap(self._written(text), self._width):
            self._send(self._indented(line) + "\r\n")
        if prompt:
            self.prompt(prompt, self._wanted, brief)
            self.typed(typed)

    def say_more(self, text: str) -> None:
        self.say(text)

    def say_beside(self, text: str) -> bool:
        """Say a line of company; return True."""
        self.say(text)
        return True

    def hint(self, text: str) -> None:
        """Say a line about the open question, which `Screen.reread` does not repeat."""
        self.say(text)
        self._messages.pop()

    def unsay(self, text: str) -> None:
        """Do nothing: messages scroll away."""

    def prompt(self, text: str, room: int = 0, brief: str = "") -> None:
        """Ask a question, with `room` cells for the answer if a line has as many.

        `brief` is what a caller hears who has heard `text` before. A question that is open already
        is not asked again.
        """
        if self._prompt:
            if text == self._prompt and not self._typed:
                return
            self.answered()
        self._prompt, self._brief, self._typed, self._wanted = text, brief, "", room
        lines = wrap_question(self._written(brief or text), self._width, room)
        *above, last = (_GAP.sub(" ", line) for line in lines)
        for line in above:
            self._send(self._indented(line) + "\r\n")
        self._send(self._indented(last) + " " if last else " " * self.indent)
        self._room = max(0, self._width - text_width(plain(last)) - 1)

    def typed(self, text: str) -> None:
        """Echo added characters and rub out removed ones, as far as there is room."""
        old, new = beginning(self._typed, self._room), beginning(text, self._room)
        same = 0
        for before, after in zip(old, new, strict=False):
            if before != after:
                break
            same += 1
        if self._echoes:
            self._send("".join(map(_rubbed_out, reversed(old[same:]))) + new[same:])
        self._typed = text

    def answered(self) -> None:
        self._prompt = ""
        self._send("\r\n")

    def status(self, pieces: Sequence[str], clock: str = "") -> None:
        """Do nothing: lines that scroll have no status line."""

    def forget(self) -> None:
        """Do nothing: messages scroll away."""

    def view(self) -> View:
        messages = tuple(self._messages)
        return View(
            *(self._scene, messages, self._prompt, self._typed, self._wanted), brief=self._brief
        )

    def visible_rows(self) -> list[str]:
        """Return the latest output, as far as it is known: scene, messages and prompt."""
        scene = [] if self._scene is None else self._scene.lines()
        texts = [*scene, *self._messages, f"{self._prompt} {self._typed}" if self._prompt else ""]
        return [self._styled(line) for text in texts for line in wrap(text, self._width)]

    def flush(self) -> None:
        """Do nothing: every line was sent at once."""

    def close(self) -> None:
        """End the line of an open prompt."""
        if self._prompt:
            self._send("\r\n")

    def _indented(self, line: str) -> str:
        return " " * self.indent + self._styled(line) if line else ""

    def _styled(self, text: str) -> str:
        if not self._colour:
            return plain(text)
        parts = "".join(f"{sgr(style)}{part}" for style, part in from_pipe(text))
        return f"{parts}\x1b[0m" if "|" in text else text


def _rubbed_out(letter: str) -> str:
    cells = character_width(letter)
    return "\b" * cells + " " * cells + "\b" * cells
