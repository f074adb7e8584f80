"""What a caller looks at: a scene, and the part of the screen that is a scene's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from ansi.canvas import Canvas

LAYOUT_COLUMNS = 79  # of the usual screen: 80 columns less the one that wraps
MOST_BELOW_ROWS = 9  # below a scene: what was said, and the prompt


class Area(NamedTuple):
    """The part of a canvas that is a scene's: `columns` cells from `left` on, in rows 0 to `rows`
    - 1. At least 39 by 15; 79 by 19 on the usual screen."""

    left: int
    columns: int
    rows: int

    @property
    def is_narrow(self) -> bool:
        return self.columns < LAYOUT_COLUMNS

    def centred(self, columns: int = LAYOUT_COLUMNS) -> int:
        """Return the column from which something so wide stands in the middle."""
        return self.left + max(0, (self.columns - columns) // 2)


class Scene(Protocol):
    """Something to look at: painted on a canvas, or told in lines."""

    def paint(self, canvas: Canvas, area: Area) -> None:
        """Paint the area; a bar across the screen may go beyond its sides."""

    def lines(self) -> Sequence[str]:
        """Return the same in lines of text, pipe codes allowed."""


class Clocked(Scene, Protocol):
    """A scene with a clock on it, which can be painted without all the rest."""

    def paint_clock(self, canvas: Canvas, area: Area) -> None:
        """Paint the clock on an area that shows the scene already."""


@runtime_checkable
class Explained(Protocol):
    """A scene that says what is to be seen on it."""

    def explain(self) -> Sequence[str]:
        """Return what each field means, a paragraph each, pipe codes allowed."""


@runtime_checkable
class ExplainedInLines(Protocol):
    """A scene that shows less, or something else, where it is told in lines."""

    def explain_lines(self) -> Sequence[str]:
        """Return what is explained of it there, as `Explained.explain` does."""


class WholeWidth:
    """A scene that has the width of the screen to itself: nothing that was said stands beside."""


class WholeScreen(WholeWidth):
    """A scene that has all rows above the prompt as well. What is said covers its lowest ones."""


class WholeNarrow(WholeWidth):
    """A scene that has all rows above the prompt on a narrow screen, and takes no more of them than
    `page_rows`, so that sentences of two rows cover nothing."""


@dataclass(frozen=True)
class View:
    """What stands on a display, for another one to go on with when the window has changed."""

    scene: Scene | None
    said: Sequence[str]  # what can still be seen of it, in whole texts
    prompt: str
    typed: str
    room: int = 0
    earlier: Sequence[str] = ()
