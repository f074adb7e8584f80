"""A terminal for the tests: pyte, watching that its last column stays empty."""

from typing import Any

import pyte

from ansi.canvas import Canvas


class Terminal(pyte.Screen):
    """An xterm (it waits at the margin) that fails the test when the last column is drawn."""

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__(columns, rows)
        self._stream = pyte.Stream(self)

    def draw(self, data: str) -> None:
        for character in data:
            super().draw(character)
            assert self.cursor.x <= self.columns - 1, f"{character!r} filled the last column"

    def read(self, text: str) -> "Terminal":
        self._stream.feed(text)
        return self

    def picture(self) -> list[list[Any]]:
        """Every cell with all its attributes."""
        return [[self.buffer[y][x] for x in range(self.columns)] for y in range(self.lines)]

    def stand(self) -> tuple[int, int] | None:
        """Row and column of a cursor that can be seen."""
        return None if self.cursor.hidden else (self.cursor.y, self.cursor.x)


def shown(canvas: Canvas) -> Terminal:
    """A fresh terminal that was sent the whole canvas."""
    return Terminal(canvas.columns, canvas.rows).read(canvas.render())
