"""A caller's screen: the same content painted or in plain lines.

Its display changes with the window and with the look that the caller chooses. Rooms and tables use
the current display, and seldom ask which kind it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from ansi.charset import READ_ALOUD, Charset, encode, spelling
from ansi.home_computer import COMPUTERS
from ansi.home_screen import HomeScreen
from ansi.keys import PASTES_OFF, PASTES_ON
from door.call.canvas_display import CanvasDisplay
from door.call.lines_display import LinesDisplay
from door.call.markup import plain
from door.call.page import page_columns
from door.call.scene import LAYOUT_COLUMNS, View
from door.lines.line import Ask, Line, OpenKeys
from timebank.language import Viewer, speaking_to

ECHO_SECONDS = 0.05  # a key that takes longer to serve is echoed first
MOST_HELD_BACK = 4096  # characters of plain lines under a cover, shown after it
# A home computer's whole screen takes some milliseconds to work out, a hundred times a terminal's.
HOME_FIT_SECONDS = 0.25
CANVAS_COLUMNS, CANVAS_ROWS = 40, 22  # the smallest screen that is painted
ANY = OpenKeys("any")
UNDER_COVER = OpenKeys("text")  # all keys go to the cover

Display = LinesDisplay | CanvasDisplay


class Paint(Enum):
    COLOUR = "colour"
    MONO = "mono"  # cursor positions and cleared screens, but no colours
    LINES = "lines"  # text without escape sequences


@dataclass(frozen=True)
class Look:
    charset: Charset
    paint: Paint

    def encode(self, text: str) -> bytes:
        is_drawn = text.isascii() or self.paint is not Paint.LINES
        return encode(text if is_drawn else text.translate(READ_ALOUD), self.charset)


class Cover(Protocol):
    """Covers a caller's screen for a while and takes their keys, as the sysop's chat does."""

    display: Display

    def on_keys(self, keys: Sequence[str]) -> None:
        """Called with the caller's keys, which the room below does not get."""

    def on_message(self, text: str) -> None:
        """Called with each message of the room below."""

    def fit(self) -> None:
        """Called when the window has another size."""

    def on_removed(self) -> None:
        """Called when the cover is removed."""


@dataclass(slots=True, eq=False)
class Screen:
    """The screen of one call: plain lines until `paint_screens`."""

    _line: Line
    look: Look
    viewer: Viewer
    display: Display = field(init=False)
    _encode: Callable[[str], bytes] = field(init=False)
    cover: Cover | None = None
    awaits_key: bool = False
    echo: asyncio.TimerHandle | None = None  # sends the echo of a key that is served slowly
    on_clear: str = ""  # codes that undo a terminal mode at the next painted screen or the end
    on_redraw: Callable[[], None] | None = None
    # Set while a text is read: returns its view for a new size of screen.
    reader: Callable[[View], View] | None = None
    offered: OpenKeys = ANY  # the keys of the current or the next wait
    onlookers: tuple[Callable[[str], None], ...] = ()  # called with all text that is sent
    _held_back: str = ""  # plain lines sent under a cover
    _is_still: bool = False  # whether clocks wait for another change
    _paints: bool = False  # whether to paint if the terminal is large enough
    _fit_is_due: bool = False
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def __post_init__(self) -> None:
        self.suit_look()
        self.display = self._new_display()

    # What is shown.

    def say(self, text: str) -> None:
        self.display.say(text)
        if self.cover is not None:
            self.cover.on_message(text)

    def say_more(self, text: str) -> None:
        """Show words after the last message, in its row if they fit."""
        self.display.say_more(text)
        if self.cover is not None:
            self.cover.on_message(text)

    def say_beside(self, text: str) -> bool:
        """Show a line of company unless it would push out other messages; return if it came."""
        came = self.display.say_beside(text)
        if came and self.cover is not None:
            self.cover.on_message(text)
        return came

    def bell(self) -> None:
        self.display.flush()
        self._line.write(self._encode("\a"))

    def send(self, text: str) -> None:
        self.display.flush()
        if self.cover is None:
            self.send_now(text)
        elif isinstance(self.display, LinesDisplay):
            self._held_back = (self._held_back + text)[-MOST_HELD_BACK:]

    def send_now(self, text: str) -> None:
        """Send text even under a cover; only the cover itself may use this."""
        self._line.write(self._encode(text))
        for on_text in self.onlookers:
            on_text(text)

    def show(self) -> None:
        """Send all pending output, before a wait for a key."""
        if self.echo is not None:
            self.echo.cancel()
            self.echo = None
        self.display.flush()

    def offer(
        self,
        ask: Ask,
        choices: Mapping[str, str] | None = None,
        default: str | None = None,
        typed: Mapping[str, str] | None = None,
        fills: str = "",
    ) -> None:
        """Set the keys of the current or next wait, for lines that show them.

        `typed` maps a key to the text it types in place of itself. `fills` is as in `OpenKeys`.
        """
        keys = ((letter, plain(label)) for letter, label in (choices or {}).items())
        types = tuple((typed or {}).items())
        self.offered = OpenKeys(ask, tuple(keys), default or "", types, fills)
        if self.awaits_key:
            self.show_offer()

    def show_offer(self) -> None:
        """Show the open keys without a wait for a key."""
        offered = self.offered if self.cover is None else UNDER_COVER
        self._line.show_keys(offered, self.viewer.language)

    # How it is shown.

    def paint_screens(self) -> None:
        """Use painted screens from now on, as far as the terminal can show them."""
        self._paints = True
        self.display = self._new_display()

    def scroll_lines(self) -> None:
        self.display.close()
        self._paints = False
        self.display = self._new_display()

    def use_look(self, look: Look) -> None:
        self.display.close()
        self.look = look
        self.suit_look()
        self.display = self._new_display()

    def suit_look(self) -> None:
        """Write and spell for the look from now on; a home computer's screen is cleared."""
        charset = self.look.charset
        self.viewer.spelling = spelling(charset)
        self._encode = self.look.encode
        computer = COMPUTERS.get(charset)
        self.viewer.escape = computer.escape if computer else ""
        if computer is not None:
            if not self._line.size_is_known:
                self._line.assume(computer.columns, computer.rows)
                self._fit_is_due = False  # a new display follows anyway
            self._encode = HomeScreen(charset, self._line.columns, self._line.rows).feed

    def hold_clocks(self, *, is_still: bool) -> None:
        """Send clocks only together with another change from now on, or each second again."""
        self._is_still = is_still
        if isinstance(self.display, CanvasDisplay):
            self.display.is_still = is_still

    @property
    def is_large(self) -> bool:
        """Whether the terminal is large enough to be painted."""
        return self._line.columns >= CANVAS_COLUMNS and self._line.rows >= CANVAS_ROWS

    @property
    def can_paint(self) -> bool:
        return self.is_large and self.look.paint is not Paint.LINES

    @property
    def is_painted(self) -> bool:
        return isinstance(self.display, CanvasDisplay)

    @property
    def page_rows(self) -> int:
        display = self.display
        return display.page_rows if isinstance(display, CanvasDisplay) else self._line.rows - 4

    @property
    def page_columns(self) -> int:
        display = self.display
        if isinstance(display, CanvasDisplay):
            return page_columns(display.whole_area.columns)
        return min(self._line.columns - 1, LAYOUT_COLUMNS)

    def resized(self) -> None:
        """Fit the screen to the window soon, once for a flood of sizes.

        One packet can carry hundreds of sizes, and each would cost a whole screen.
        """
        if not self._fit_is_due:
            self._fit_is_due = True
            is_slow = self.look.charset.is_of_home_computer
            self._loop.call_later(HOME_FIT_SECONDS if is_slow else 0.0, self._fit)

    def _fit(self) -> None:
        if not self._fit_is_due:
            return
        self._fit_is_due = False
        before, is_cleared = self.display, self.look.charset.is_of_home_computer
        if is_cleared:
            self.suit_look()
        paints = self._paints and self.can_paint
        if isinstance(before, LinesDisplay) and not (paints or is_cleared):
            before.fit(self._line.columns)
        else:
            before.close()
            self.lay_out_again()
        if self.cover is not None:
            self.cover.fit()

    def lay_out_again(self, view: View | None = None) -> None:
        """Show the current view again, or `view`, on a new display for the window's size."""
        view, self.display = view or self.display.view(), self._new_display()
        display = self.display
        with speaking_to(self.viewer):
            if self.reader is not None:
                view = self.reader(view)
            if isinstance(display, CanvasDisplay):
                display.remember(view.earlier)
            if view.scene is not None:
                display.stage(view.scene)
            for text in view.messages:
                display.say(text)
            if view.prompt:
                display.prompt(view.prompt, view.room)
                display.typed(view.typed)
            if self.on_redraw is not None:
                self.on_redraw()

    def reread(self) -> bool:
        """Show scene, last message and question again; return False without a question."""
        display, view = self.display, self.display.view()
        if view.scene is None or not view.prompt:
            return False
        if isinstance(display, CanvasDisplay):
            self.lay_out_again()
            return True
        display.answered()
        display.stage(view.scene)
        for text in view.messages[-1:]:
            display.say(text)
        display.prompt(view.prompt, view.room)
        display.typed(view.typed)
        return True

    def _new_display(self) -> Display:
        colour = self.look.paint is Paint.COLOUR
        if self._paints:
            self._take_back()
            if self.can_paint:
                columns, rows = self._line.columns, self._line.rows
                self._line.write(self._encode(PASTES_ON))
                self.on_clear = PASTES_OFF
                return CanvasDisplay(
                    *(self.send, self._soon, self.viewer, columns, rows),
                    colour=colour,
                    is_still=self._is_still,
                )
        is_read_out = self.look.paint is Paint.LINES
        echoes = not self._line.hints.works_by_lines
        return LinesDisplay(
            self.send, self._line.columns, colour=colour, is_read_out=is_read_out, echoes=echoes
        )

    def _take_back(self) -> None:
        if self.on_clear:
            self._line.write(self._encode(self.on_clear))
            self.on_clear = ""

    def _soon(self, flush: Callable[[], None]) -> None:
        """Flush in the event loop's next step, or after `ECHO_SECONDS` while a key is being served.

        The wait for the next key flushes too, so a key's echo is sent together with its answer,
        unless that takes long.
        """
        if self.awaits_key:
            self._loop.call_soon(flush)
        elif self.echo is None:
            self.echo = self._loop.call_later(ECHO_SECONDS, self._send_echo)

    def _send_echo(self) -> None:
        self.echo = None
        self.display.flush()

    # Covers.

    def put_on(self, cover: Cover) -> None:
        """Cover the screen until `uncover`, or until an interruption of the wait for a key.

        The room below goes on without noticing; its screen is shown again afterwards.
        """
        self.show()
        self.cover, self._held_back = cover, ""
        self.show_offer()

    def uncover(self) -> None:
        cover, display = self.cover, self.display
        if cover is None:
            return
        cover.on_removed()
        display.flush()  # while still covered, so that nothing is sent
        self.cover, held_back = None, self._held_back
        if isinstance(display, LinesDisplay):
            view = display.view()
            if view.prompt and not held_back:
                display.answered()
                display.prompt(view.prompt, view.room, view.brief)
                display.typed(view.typed)
            else:
                self.send_now(f"\r\n{held_back}")
        else:
            self.lay_out_again()
        self.show_offer()

    def close(self) -> None:
        """Send pending output and drop any later one.

        Display and callback are replaced: they would keep the screen in memory until the
        collector looks at old objects.
        """
        self.uncover()
        self.show()
        self._take_back()
        self._paints = self._fit_is_due = False
        self.on_redraw = None
        self.display = LinesDisplay(lambda _text: None, self._line.columns, colour=False)
