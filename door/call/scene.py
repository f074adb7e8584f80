"""Scenes, which callers look at, and the area of the screen that a scene has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from ansi.canvas import Canvas

LAYOUT_COLUMNS = 79  # of the usual screen: 80 columns less the one that wraps
MOST_BELOW_ROWS = 9  # below a scene, for messages and prompt


class Area(NamedTuple):
    """The part of a canvas that a scene has: `columns` from `left` on, and rows 0 to `rows` - 1.

    It is at least 39 by 15, and 79 by 19 on the usual screen.
    """

    left: int
    columns: int
    rows: int

    @property
    def is_narrow(self) -> bool:
        return self.columns < LAYOUT_COLUMNS

    def centred(self, columns: int = LAYOUT_COLUMNS) -> int:
        """Return the first column for content of `columns` that is to be centred."""
        return self.left + max(0, (self.columns - columns) // 2)


class Scene(Protocol):
    """A view that can be painted on a canvas or written in lines."""

    def paint(self, canvas: Canvas, area: Area) -> None:
        """Paint the area; a bar across the screen may go beyond its sides."""

    def lines(self) -> Sequence[str]:
        """Return the same in lines of text, pipe codes allowed."""


class Clocked(Scene, Protocol):
    """A scene with a clock that can be painted alone."""

    def paint_clock(self, canvas: Canvas, area: Area) -> None:
        """Paint the clock on an area that has the scene already."""


@runtime_checkable
class Explained(Protocol):
    """A scene that explains its fields."""

    def explain(self, *, in_lines: bool = False) -> Sequence[str]:
        """Return what each field means, a paragraph each, pipe codes allowed.

        `in_lines` is for plain lines, which may have other fields.
        """


class WholeWidth:
    """A scene that has the whole width: no column of earlier messages is next to it."""


class WholeScreen(WholeWidth):
    """A scene that also has all rows above the prompt. Messages cover its lowest rows."""


class WholeNarrow(WholeWidth):
    """A scene that has all rows above the prompt on a narrow screen.

    It uses at most `page_rows` of them, so that a message of two rows covers nothing.
    """


@dataclass(frozen=True)
class View:
    """The content of a display, for the next one when the window has changed."""

    scene: Scene | None
    messages: Sequence[str]  # still visible, each whole
    prompt: str
    typed: str
    room: int = 0
    earlier: Sequence[str] = ()
    brief: str = ""  # what plain lines say in place of the prompt
