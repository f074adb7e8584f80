"""A painted screen: it keeps a canvas and sends the smallest change. Texts may hold pipe codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, field
from typing import cast

from ansi.canvas import Canvas
from ansi.style import Colour, Style
from door.call.markup import beginning, wrap, wrap_question
from door.call.scene import (
    LAYOUT_COLUMNS,
    MOST_BELOW_ROWS,
    Area,
    Clocked,
    Explained,
    Scene,
    View,
    WholeNarrow,
    WholeScreen,
    WholeWidth,
)
from timebank.language import Viewer, speaking_to

USUAL_ROWS = 24
STATUS_ROWS = 1
# Below the scene: what was said, and in the last of these rows the prompt. A prompt that is longer
# takes rows from what was said.
BELOW_ROWS = 4
# A narrow screen breaks sentences more often.
NARROW_BELOW_ROWS = 6
NARROW_PAGE_BELOW_ROWS = 3  # of them, below a page: its prompt, and a short sentence
# Beside the scene, on a wide screen: what was said before.
LEAST_SIDE_COLUMNS, MOST_SIDE_COLUMNS = 28, 52
TEXTS_KEPT = 60
_STATUS_STYLE = Style(background=Colour.BLUE)
CLOCK = "\0"  # where the clock, which changes every second, stands among the pieces of a line

Soon = Callable[[Callable[[], None]], object]  # calls later, in the event loop's next step

# What has to be painted before the next update.
_SCENE, _MESSAGES, _PROMPT, _STATUS, _CLOCK, _SCENE_CLOCK = 1, 2, 4, 8, 16, 32


@dataclass(slots=True, eq=False)
class CanvasDisplay:
    """A painted screen. What is asked of it is noted, and painted and sent together at `flush`: one
    update for all that an answer brings.

    From the top: the scene, what was said, the prompt, the status line. On a wide screen what was
    said earlier stands beside the scene, below what its fields mean.
    """

    _send: Callable[[str], None]
    _soon: Soon
    _viewer: Viewer
    columns: InitVar[int]
    rows: InitVar[int]
    colour: InitVar[bool]
    area: Area = field(init=False)  # the part that is the scene's
    _canvas: Canvas = field(init=False)
    _below: int = field(init=False)  # rows for what was said, and the prompt
    _scene: Scene | None = None
    _said: list[str] = field(default_factory=list)  # and is still shown
    _earlier: tuple[str, ...] = ()  # the latest last
    _prompt: str = ""
    _asked: tuple[str, ...] = ("",)  # the prompt in lines
    _typed: str = ""
    _room: int = 0
    _status: Sequence[str] = ()
    _clock: str = ""
    _clock_column: int = 0
    _stale: int = 0
    _covered: int = 0  # rows of the scene, by a message that has no room below it
    _flush_is_due: bool = False
    _unshown: int = 0  # lines of messages that were said since the last update
    indent: int = 0  # which lines alone have

    def __post_init__(self, columns: int, rows: int, colour: bool) -> None:
        self._canvas = Canvas(columns, rows, colour=colour)
        width = self._canvas.width
        if width < LAYOUT_COLUMNS:
            self._below = NARROW_BELOW_ROWS
        else:
            tall = max(0, rows - USUAL_ROWS) // 3
            self._below = min(BELOW_ROWS + tall, MOST_BELOW_ROWS)
        side = min(width - LAYOUT_COLUMNS, MOST_SIDE_COLUMNS)
        free = width - side if side >= LEAST_SIDE_COLUMNS else width
        self.area = Area(0, free, rows - STATUS_ROWS - self._below)

    @property
    def whole_area(self) -> Area:
        return Area(0, self._canvas.width, self.area.rows)

    @property
    def page_rows(self) -> int:
        """How many rows a `WholeNarrow` scene may take, whatever its prompt."""
        if self._canvas.width >= LAYOUT_COLUMNS:
            return self.area.rows
        return self._canvas.rows - STATUS_ROWS - NARROW_PAGE_BELOW_ROWS

    def _has_all_rows(self) -> bool:
        is_narrow = self._canvas.width < LAYOUT_COLUMNS
        return isinstance(self._scene, (WholeScreen, WholeNarrow) if is_narrow else WholeScreen)

    def stage(self, scene: Scene) -> None:
        """Show a new scene, and forget the messages that belonged to the last one."""
        self._scene = scene
        self.remember(self._said)
        self._said = []
        self._prompt, self._asked, self._typed = "", ("",), ""
        self._note(_SCENE | _MESSAGES | _PROMPT)

    def refresh(self) -> None:
        """Paint the scene again."""
        self._note(_SCENE)

    def refresh_clock(self, scene: Clocked) -> None:
        """Paint the clock of `scene` again, where that is the scene that is shown."""
        if scene is self._scene:
            self._note(_SCENE if self._covered else _SCENE_CLOCK)

    def say(self, text: str) -> None:
        """Add the message below the scene; the oldest goes, but none that was never shown."""
        lines = wrap(text, self._canvas.width - 2)
        room = self._below - len(self._asked)
        if self._unshown and self._unshown + len(lines) > room:
            self._update()
        self._unshown += len(lines)
        self._said.append(text)
        kept = len(self._latest(self._below - 1))
        self.remember(self._said[:-kept])
        del self._said[:-kept]
        self._note(_MESSAGES)

    def _latest(self, rows: int) -> list[tuple[str, ...]]:
        """Return what was said last, as lines, as many whole texts as so many rows hold: none is
        shown without its beginning, unless the latest alone is too long."""
        kept: list[tuple[str, ...]] = []
        for text in reversed(self._said):
            lines = wrap(text, self._canvas.width - 2)
            rows -= len(lines)
            if kept and rows < 0:
                break
            kept.insert(0, lines)
        return kept

    def prompt(self, text: str, room: int = 0) -> None:
        """Ask; behind the question there are `room` cells, if the screen has so many."""
        rows = len(self._asked)
        self._prompt, self._typed, self._room = text, "", room
        asked = wrap_question(text, self._canvas.width - 2, max(room, 1))
        self._asked = asked[-self._below :]
        self._note(_PROMPT if len(self._asked) == rows else _PROMPT | _MESSAGES)

    def typed(self, text: str) -> None:
        """Show the typed text behind the prompt, its end when it is too long."""
        self._typed = text
        self._note(_PROMPT)

    def answered(self) -> None:
        self.prompt("")

    def status(self, pieces: Sequence[str], clock: str = "") -> None:
        """Show a status line of these pieces, each with its own colour codes; `clock` stands in
        place of `CLOCK`. Where it alone has changed, it alone is painted."""
        if pieces != self._status or len(clock) != len(self._clock):
            self._note(_STATUS)
        elif clock != self._clock:
            self._note(_CLOCK)
        self._status, self._clock = pieces, clock

    def view(self) -> View:
        said = tuple(self._said)
        return View(self._scene, said, self._prompt, self._typed, self._room, self._earlier)

    def seen(self) -> list[str]:
        """Return the rows that the terminal shows, with their styles (SGR)."""
        return self._canvas.seen()

    def take_back(self, said: Sequence[str]) -> None:
        """Forget that these texts were said last: they are to be said again."""
        for text in reversed(said):
            if self._earlier and self._earlier[-1] == text:
                self._earlier = self._earlier[:-1]

    def flush(self) -> None:
        self._flush_is_due = False
        self._update()

    def close(self) -> None:
        """Reset colours, show the cursor and clear the screen."""
        self.flush()
        self._send("\x1b[0m\x1b[?25h\x1b[2J\x1b[H")

    def remember(self, earlier: Sequence[str]) -> None:
        """Take over what was said before, here or on another display."""
        self._earlier = (*self._earlier, *earlier)[-TEXTS_KEPT:]

    def forget(self) -> None:
        """Clear what was said, all that has been shown."""
        self._earlier = ()
        if not self._unshown:
            self._said = []
        self._note(_MESSAGES)

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
        if self._has_all_rows() and stale & (_SCENE | _MESSAGES | _PROMPT):
            stale |= _SCENE | _MESSAGES | _PROMPT
        elif self._covered and stale & (_SCENE | _MESSAGES):
            stale |= _SCENE | _MESSAGES
        with speaking_to(self._viewer):
            if stale & _SCENE:
                self._paint_scene()
            elif stale & _SCENE_CLOCK:
                cast("Clocked", self._scene).paint_clock(self._canvas, self.area)
            has_side = self.area.columns < self._canvas.width
            is_whole = isinstance(self._scene, WholeWidth)
            if stale & (_SCENE | _MESSAGES) and has_side and not is_whole:
                self._paint_earlier()
            if stale & _MESSAGES:
                self._paint_messages()
        if stale & _PROMPT:
            self._paint_prompt()
        if stale & _STATUS:
            self._paint_status()
        elif stale & _CLOCK:
            row = self._canvas.rows - STATUS_ROWS
            self._canvas.put_clock(row, self._clock_column, self._clock, _STATUS_STYLE)
        change = self._canvas.update()
        if change:
            self._send(change)

    def _paint_scene(self) -> None:
        scene, area = self._scene, self.area
        if self._has_all_rows():
            rows = self._canvas.rows - STATUS_ROWS - len(self._asked)
            area = Area(0, self._canvas.width, rows)
        elif isinstance(scene, WholeWidth):
            area = self.whole_area
        self._canvas.links = ()  # but for those that the scene has
        self._canvas.blank(0, 0, self._canvas.width, area.rows)
        if scene is not None:
            scene.paint(self._canvas, area)

    def _paint_messages(self) -> None:
        rows = self._below - len(self._asked)
        kept = self._latest(rows) if rows else []
        lines, first = [line for each in kept for line in each], self.area.rows
        # The latest is shown whole, where it has to be over the lower end of the scene.
        self._covered = min(max(0, len(lines) - rows), first)
        rows, first = rows + self._covered, first - self._covered
        lines = lines[:rows]
        if self._has_all_rows():
            rows, first = len(lines), first + rows - len(lines)
        self._canvas.blank(first, 0, self._canvas.width, rows)
        for row, line in enumerate(lines, first):
            self._canvas.put_pipe(row, 1, line)

    def _paint_earlier(self) -> None:
        """Fill the side from its lower end, the latest below; row 0 is the title's.

        What is to be seen on the scene is explained above, as far as there is room.
        """
        canvas, top = self._canvas, 1
        column = self.area.left + self.area.columns
        width, rows = canvas.width - column - 3, self.area.rows - top
        lines: list[str] = []
        for text in reversed(self._earlier):
            lines[:0] = wrap(text, width)
            if len(lines) >= rows:
                break
        lines = lines[-rows:]
        explained = self._explained(width, rows - len(lines) - 1)
        canvas.blank(top, column, canvas.width - column, rows)
        if not (lines or explained):
            return
        for row in range(top, self.area.rows):
            canvas.put_pipe(row, column, "|08\N{BOX DRAWINGS LIGHT VERTICAL}")
        lines = [*explained, *[""] * (rows - len(explained) - len(lines)), *lines]
        for row, line in enumerate(lines, top):
            canvas.put_pipe(row, column + 2, line if "|" in line else f"|07{line}")

    def _explained(self, width: int, rows: int) -> list[str]:
        """Explain the fields of the scene in so many rows, none of them in part."""
        fields: Sequence[str] = self._scene.explain() if isinstance(self._scene, Explained) else ()
        texts = [wrap(text, width) for text in fields]
        spaced = sum(len(text) + 1 for text in texts) <= rows
        lines: list[str] = []
        for text in texts:
            if len(lines) + len(text) > rows:
                break
            lines.extend((*text, "") if spaced else text)
        return lines

    def _paint_prompt(self) -> None:
        canvas = self._canvas
        first = canvas.rows - STATUS_ROWS - len(self._asked)
        canvas.blank(first, 0, canvas.width, len(self._asked))
        canvas.cursor = None
        if self._prompt:
            column = 1
            for row, line in enumerate(self._asked, first):
                column = canvas.put_pipe(row, 1, line) + (1 if line else 0)
            room = max(0, canvas.width - 1 - column)
            shown = beginning(self._typed[::-1], room)[::-1]
            row = first + len(self._asked) - 1
            canvas.cursor = (row, canvas.put(row, column, shown))

    def _paint_status(self) -> None:
        canvas, pieces = self._canvas, self._status
        row, at = canvas.rows - STATUS_ROWS, pieces.index(CLOCK) if CLOCK in pieces else len(pieces)
        canvas.blank(row, 0, canvas.width, 1, _STATUS_STYLE)
        self._clock_column = canvas.put_pieces(row, 1, pieces[:at], _STATUS_STYLE)
        rest = (self._clock, *pieces[at + 1 :])
        canvas.put_pieces(row, self._clock_column, rest, _STATUS_STYLE)
