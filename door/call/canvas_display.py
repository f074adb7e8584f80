"""A painted screen: it keeps a canvas and sends the smallest change. Texts may have pipe codes."""

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
# Rows for messages and, in the last of them, the prompt. A longer prompt takes rows of messages.
BELOW_ROWS = 4
NARROW_BELOW_ROWS = 6  # sentences take more rows on a narrow screen
NARROW_PAGE_BELOW_ROWS = 3  # below a page on a narrow screen: its prompt and a short message
# The column of earlier messages next to the scene, on a wide screen.
LEAST_SIDE_COLUMNS, MOST_SIDE_COLUMNS = 28, 52
MOST_EARLIER = 60  # messages
_STATUS_STYLE = Style(background=Colour.BLUE)
CLOCK = "\0"  # the place of the clock, which changes every second, among the pieces of a line

Soon = Callable[[Callable[[], None]], object]  # calls a function in the event loop's next step

# Parts that must be painted before the next update.
_SCENE, _MESSAGES, _PROMPT, _STATUS, _CLOCK, _SCENE_CLOCK = 1, 2, 4, 8, 16, 32


@dataclass(slots=True, eq=False)
class CanvasDisplay:
    """A painted screen: changes are noted, then painted and sent as one update at `flush`.

    From the top it has the scene, messages, the prompt and the status line. A wide screen has a
    column next to the scene: the meanings of its fields, and below them earlier messages.
    """

    _send: Callable[[str], None]
    _soon: Soon
    _viewer: Viewer
    columns: InitVar[int]
    rows: InitVar[int]
    colour: InitVar[bool]
    area: Area = field(init=False)  # of the scene
    _canvas: Canvas = field(init=False)
    _below: int = field(init=False)  # rows for messages and prompt
    _scene: Scene | None = None
    _messages: list[str] = field(default_factory=list)  # below the scene now
    _company: list[str] = field(default_factory=list)  # messages that give way to others
    _earlier: tuple[str, ...] = ()  # the latest last
    _hint: str = ""  # the message about the open question
    _prompt: str = ""
    _prompt_lines: tuple[str, ...] = ("",)
    _typed: str = ""
    _room: int = 0
    _status: Sequence[str] = ()
    _clock: str = ""
    _clock_column: int = 0
    _stale: int = 0
    _covered: int = 0  # rows of the scene under a message that has no room below it
    _flush_is_due: bool = False
    _unshown: int = 0  # lines of messages since the last update
    indent: int = 0  # always 0; `LinesDisplay` uses it
    is_still: bool = False  # whether clocks wait for a change of anything but typing

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
        """How many rows a `WholeNarrow` scene may take, however long its prompt is."""
        if self._canvas.width >= LAYOUT_COLUMNS:
            return self.area.rows
        return self._canvas.rows - STATUS_ROWS - NARROW_PAGE_BELOW_ROWS

    def _has_all_rows(self) -> bool:
        is_narrow = self._canvas.width < LAYOUT_COLUMNS
        return isinstance(self._scene, (WholeScreen, WholeNarrow) if is_narrow else WholeScreen)

    def stage(self, scene: Scene, _known: object = ()) -> None:
        """Show a new scene without the messages of the last one."""
        self._scene = scene
        self.remember(self._messages)
        self._messages, self._company = [], []
        self._prompt, self._prompt_lines, self._typed = "", ("",), ""
        self._note(_SCENE | _MESSAGES | _PROMPT)

    def refresh(self) -> None:
        """Paint the scene again."""
        self._note(_SCENE)

    def refresh_clock(self, scene: Clocked) -> None:
        """Paint the clock of `scene` again if that scene is shown."""
        if scene is self._scene:
            self._note(_SCENE if self._covered else _SCENE_CLOCK)

    def say(self, text: str) -> None:
        """Add a message below the scene; the oldest goes, but never before it was shown."""
        lines = wrap(text, self._canvas.width - 2)
        room = self._below - len(self._prompt_lines)
        if self._unshown and self._unshown + len(lines) > room:
            self._update()
        self._unshown += len(lines)
        if self._company and not self._have_room((*self._messages, text)):
            self.remember(self._company)
            self._messages = [each for each in self._messages if each not in self._company]
            self._company = []
        self._messages.append(text)
        fitting = len(self._latest(self._below - 1))
        self.remember(self._messages[:-fitting])
        del self._messages[:-fitting]
        self._note(_MESSAGES)

    def say_more(self, text: str) -> None:
        """Add words to the last message if its rows have room for them, else as a new message."""
        last = self._messages[-1] if self._messages else ""
        longer = f"{last} {text}"
        width = self._canvas.width - 2
        if last in ("", self._hint, *self._company) or len(wrap(longer, width)) > len(
            wrap(last, width)
        ):
            self.say(text)
        else:
            self._messages[-1] = longer
            self._note(_MESSAGES)

    def say_beside(self, text: str) -> bool:
        """Add a line of company, unless it would push out other messages; return whether it came.

        It gives way to any later message.
        """
        others = [each for each in self._messages if each not in self._company]
        if others and not self._have_room((*others, text)):
            return False
        self.say(text)
        self._company.append(text)
        return True

    def _have_room(self, messages: Sequence[str]) -> bool:
        rows = sum(len(wrap(each, self._canvas.width - 2)) for each in messages)
        return rows <= self._below - len(self._prompt_lines)

    def _latest(self, rows: int) -> list[tuple[str, ...]]:
        """Return the latest messages in lines, as many whole ones as fit into `rows`.

        The latest is always among them, even if it alone is too long.
        """
        latest: list[tuple[str, ...]] = []
        for text in reversed(self._messages):
            lines = wrap(text, self._canvas.width - 2)
            rows -= len(lines)
            if latest and rows < 0:
                break
            latest.insert(0, lines)
        return latest

    def prompt(self, text: str, room: int = 0, brief: str = "") -> None:
        """Ask a question, with `room` cells for the answer if the screen has as many."""
        rows = len(self._prompt_lines)
        self._prompt, self._typed, self._room = text, "", room
        lines = wrap_question(text, self._canvas.width - 2, max(room, 1))
        self._prompt_lines = lines[-self._below :]
        self._note(_PROMPT if len(self._prompt_lines) == rows else _PROMPT | _MESSAGES)

    def typed(self, text: str) -> None:
        """Show the typed text after the prompt; only its end if it is too long."""
        self._typed = text
        self._note(_PROMPT)

    def hint(self, text: str) -> None:
        """Add a message that goes away with the open question, or at the next one like it."""
        self.unsay(self._hint)
        self.say(text)
        self._hint = text

    def unsay(self, text: str) -> None:
        """Take a message away."""
        if text in self._messages:
            self._messages.remove(text)
            self._note(_MESSAGES)

    def answered(self) -> None:
        self.unsay(self._hint)
        self._hint = ""
        self.prompt("")

    def status(self, pieces: Sequence[str], clock: str = "") -> None:
        """Show a status line of these pieces, each with its own colour codes.

        `clock` replaces the piece `CLOCK`. If only the clock has changed, only it is painted.
        """
        if pieces != self._status or len(clock) != len(self._clock):
            self._note(_STATUS)
        elif clock != self._clock:
            self._note(_CLOCK)
        self._status, self._clock = pieces, clock

    def view(self) -> View:
        messages = tuple(self._messages)
        return View(self._scene, messages, self._prompt, self._typed, self._room, self._earlier)

    def visible_rows(self) -> list[str]:
        """Return the rows that the terminal shows, with their styles (SGR)."""
        return self._canvas.sent_rows()

    def take_back(self, messages: Sequence[str]) -> None:
        """Drop these latest messages from the earlier ones; the caller of this shows them again."""
        for text in reversed(messages):
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
        """Add earlier messages, of this display or of the one before it."""
        self._earlier = (*self._earlier, *earlier)[-MOST_EARLIER:]

    def forget(self) -> None:
        """Clear all messages, except those that have not been shown yet."""
        self._earlier = ()
        unshown = len(self._latest(self._unshown)) if self._unshown else 0
        del self._messages[: len(self._messages) - unshown]
        self._note(_MESSAGES)

    def _note(self, stale: int) -> None:
        self._stale |= stale
        if not self._flush_is_due:
            self._flush_is_due = True
            self._soon(self.flush)

    def _update(self) -> None:
        self._unshown = 0
        waits = self.is_still and not self._stale & (_SCENE | _MESSAGES | _STATUS)
        held = self._stale & (_CLOCK | _SCENE_CLOCK) if waits else 0
        stale, self._stale = self._stale ^ held, held
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
            rows = self._canvas.rows - STATUS_ROWS - len(self._prompt_lines)
            area = Area(0, self._canvas.width, rows)
        elif isinstance(scene, WholeWidth):
            area = self.whole_area
        self._canvas.links = ()  # the scene sets its own
        self._canvas.blank(0, 0, self._canvas.width, area.rows)
        if scene is not None:
            scene.paint(self._canvas, area)

    def _paint_messages(self) -> None:
        rows = self._below - len(self._prompt_lines)
        latest = self._latest(rows) if rows else []
        lines, first = [line for each in latest for line in each], self.area.rows
        # The latest message is shown whole, even if it must cover the end of the scene.
        self._covered = min(max(0, len(lines) - rows), first)
        rows, first = rows + self._covered, first - self._covered
        lines = lines[:rows]
        if self._has_all_rows():
            rows, first = len(lines), first + rows - len(lines)
        self._canvas.blank(first, 0, self._canvas.width, rows)
        for row, line in enumerate(lines, first):
            self._canvas.put_pipe(row, 1, line)

    def _paint_earlier(self) -> None:
        """Paint the side column below the title: the fields explained, then earlier messages.

        The latest message is at the end. Fields are explained as far as there is room.
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
        """Explain the fields of the scene in at most `rows` rows, none of them in part."""
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
        first = canvas.rows - STATUS_ROWS - len(self._prompt_lines)
        canvas.blank(first, 0, canvas.width, len(self._prompt_lines))
        canvas.cursor = None
        if self._prompt:
            column = 1
            for row, line in enumerate(self._prompt_lines, first):
                column = canvas.put_pipe(row, 1, line) + (1 if line else 0)
            room = max(0, canvas.width - 1 - column)
            shown = beginning(self._typed[::-1], room)[::-1]
            row = first + len(self._prompt_lines) - 1
            canvas.cursor = (row, canvas.put(row, column, shown))

    def _paint_status(self) -> None:
        canvas, pieces = self._canvas, self._status
        row, at = canvas.rows - STATUS_ROWS, pieces.index(CLOCK) if CLOCK in pieces else len(pieces)
        canvas.blank(row, 0, canvas.width, 1, _STATUS_STYLE)
        self._clock_column = canvas.put_pieces(row, 1, pieces[:at], _STATUS_STYLE)
        rest = (self._clock, *pieces[at + 1 :])
        canvas.put_pieces(row, self._clock_column, rest, _STATUS_STYLE)
