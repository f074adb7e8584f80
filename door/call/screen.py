"""A caller's screen: the same words as a painted screen or as plain lines.

Its display changes with the window and with the look that the caller chooses. Rooms and tables
speak to the display of the moment, and seldom ask which one it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from ansi.charset import READ_ALOUD, Charset, encode, spelling
from door.call.canvas_display import CanvasDisplay
from door.call.lines_display import LinesDisplay
from door.call.markup import plain
from door.call.page import page_columns
from door.call.scene import LAYOUT_COLUMNS, View
from door.lines.line import Ask, Line, OpenKeys
from timebank.language import Viewer, speaking_to

SERVED_WITHIN = 0.05  # seconds; a key that takes longer to serve is echoed before
MOST_KEPT = 4096  # characters that are told in lines below a cover, and shown after it
CANVAS_COLUMNS, CANVAS_ROWS = 40, 22  # the smallest screen that is painted
ANY = OpenKeys("any")
UNDER_COVER = OpenKeys("text")  # whatever is typed goes to what covers the screen

Display = LinesDisplay | CanvasDisplay


class Paint(Enum):
    COLOUR = "colour"
    MONO = "mono"  # positions and cleared screens, no colours
    LINES = "lines"  # text alone: not a single escape sequence


@dataclass(frozen=True)
class Look:
    charset: Charset
    paint: Paint

    @property
    def has_shapes(self) -> bool:
        """Whether lines, blocks and suits can be drawn: never where the text is read aloud."""
        return self.charset.has_shapes and self.paint is not Paint.LINES

    def encode(self, text: str) -> bytes:
        is_drawn = text.isascii() or self.paint is not Paint.LINES
        return encode(text if is_drawn else text.translate(READ_ALOUD), self.charset)


class Cover(Protocol):
    """What lies over a caller's screen for a while, and takes their keys: the sysop's chat."""

    display: Display

    def typed(self, keys: Sequence[str]) -> None:
        """Take keys that the room below does not get."""

    def said(self, text: str) -> None:
        """Hear what the room below says meanwhile."""

    def fit(self) -> None:
        """Follow a window that has another size."""

    def lifted(self) -> None:
        """Know that it lies there no more."""


@dataclass(slots=True, eq=False)
class Screen:
    """Plain lines, until `paint_screens`."""

    _line: Line
    look: Look
    viewer: Viewer
    display: Display = field(init=False)
    cover: Cover | None = None
    awaits_key: bool = False  # whether the caller is waited for
    echo: asyncio.TimerHandle | None = None  # sends what a slow answer keeps back
    on_clear: str = ""  # what the next painted screen, or the end, takes back
    on_redraw: Callable[[], None] | None = None
    # Lays the text that is read out anew, in place of the view that it was shown in.
    reader: Callable[[View], View] | None = None
    offered: OpenKeys = ANY  # what can be pressed now or at the next wait for a key
    onlookers: tuple[Callable[[str], None], ...] = ()  # hear all text that is sent
    _kept: str = ""  # lines that were told below a cover
    _paints: bool = False  # whether the terminal gets painted screens where it is large enough
    _fit_is_due: bool = False
    # Where the other end shows what can be pressed now: what that is, once it is not shown yet.
    _shows_offers: Callable[[OpenKeys, str], None] | None = field(init=False)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def __post_init__(self) -> None:
        self._shows_offers = getattr(self._line, "offers", None)
        self.display = self._new_display()

    # What is shown.

    def say(self, text: str) -> None:
        self.display.say(text)
        if self.cover is not None:
            self.cover.said(text)

    def bell(self) -> None:
        self.display.flush()
        self._line.write(b"\a")

    def send(self, text: str) -> None:
        self.display.flush()
        if self.cover is None:
            self.send_now(text)
        elif isinstance(self.display, LinesDisplay):
            self._kept = (self._kept + text)[-MOST_KEPT:]

    def send_now(self, text: str) -> None:
        """Send text whatever covers the screen; nobody but what covers it needs this."""
        self._line.write(self.look.encode(text))
        for hear in self.onlookers:
            hear(text)

    def show(self) -> None:
        """Send all that the caller has been told before they are waited for."""
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
    ) -> None:
        """Note what can be pressed now, or at the next wait for a key, for lines that show it;
        `typed` is what a key types in place of itself."""
        if self._shows_offers is not None:
            keys = ((letter, plain(label)) for letter, label in (choices or {}).items())
            types = tuple((typed or {}).items())
            self.offered = OpenKeys(ask, tuple(keys), default or "", types)
            if self.awaits_key:
                self.show_offer()

    def show_offer(self) -> None:
        """Show what can be pressed now, without a wait for a key. The line shows an offer once, and
        again after each of its keys that was pressed."""
        if self._shows_offers is not None:
            offered = self.offered if self.cover is None else UNDER_COVER
            self._shows_offers(offered, self.viewer.language)

    # How it is shown.

    def paint_screens(self) -> None:
        """Use painted screens where the terminal can show them, lines where it cannot."""
        self._paints = True
        self.display = self._new_display()

    def scroll_lines(self) -> None:
        self.display.close()
        self._paints = False
        self.display = self._new_display()

    def use_look(self, look: Look) -> None:
        self.display.close()
        self.look = look
        self.viewer.spelling = spelling(look.charset)
        self.display = self._new_display()

    @property
    def can_paint(self) -> bool:
        large = self._line.columns >= CANVAS_COLUMNS and self._line.rows >= CANVAS_ROWS
        return large and self.look.paint is not Paint.LINES

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
        """The screen follows in the loop's next step: a packet has room for hundreds of sizes, and
        every one of them would be a whole screen."""
        if not self._fit_is_due:
            self._fit_is_due = True
            self._loop.call_soon(self._fit)

    def _fit(self) -> None:
        self._fit_is_due = False
        before = self.display
        if isinstance(before, LinesDisplay) and not (self._paints and self.can_paint):
            before.fit(self._line.columns)
        else:
            before.close()
            self.lay_out_anew()
        if self.cover is not None:
            self.cover.fit()

    def lay_out_anew(self) -> None:
        """Show what is seen once more, on a display of the size that the window has now."""
        view, self.display = self.display.view(), self._new_display()
        display = self.display
        with speaking_to(self.viewer):
            if self.reader is not None:
                view = self.reader(view)
            if isinstance(display, CanvasDisplay):
                display.remember(view.earlier)
            if view.scene is not None:
                display.stage(view.scene)
            for text in view.said:
                display.say(text)
            if view.prompt:
                display.prompt(view.prompt, view.room)
                display.typed(view.typed)
            if self.on_redraw is not None:
                self.on_redraw()

    def _new_display(self) -> Display:
        colour = self.look.paint is Paint.COLOUR
        if self._paints:
            self._take_back()
            if self.can_paint:
                columns, rows = self._line.columns, self._line.rows
                return CanvasDisplay(
                    self.send, self._soon, self.viewer, columns, rows, colour=colour
                )
        return LinesDisplay(self.send, self._line.columns, colour=colour)

    def _take_back(self) -> None:
        if self.on_clear:
            self._line.write(self.on_clear.encode("ascii"))
            self.on_clear = ""

    def _soon(self, flush: Callable[[], None]) -> None:
        """Flush in the loop's next step, or a moment later while the caller is being served.

        The wait for the next key flushes in any case; so the echo of a key goes out together with
        what it brings, unless that takes its time.
        """
        if self.awaits_key:
            self._loop.call_soon(flush)
        elif self.echo is None:
            self.echo = self._loop.call_later(SERVED_WITHIN, self._send_echo)

    def _send_echo(self) -> None:
        self.echo = None
        self.display.flush()

    # What covers it, and its end.

    def put_on(self, cover: Cover) -> None:
        """Cover the screen until `uncover`, or until something ends the wait for a key.

        The room goes on below and notices nothing: its screen is shown again as it is by then.
        """
        self.show()
        self.cover, self._kept = cover, ""
        self.show_offer()

    def uncover(self) -> None:
        cover, display = self.cover, self.display
        if cover is None:
            return
        cover.lifted()
        display.flush()  # what was told below it goes nowhere
        self.cover, kept = None, self._kept
        if isinstance(display, LinesDisplay):
            view = display.view()
            self.send_now(f"\r\n{kept}")
            if view.prompt and not kept:
                display.prompt(view.prompt, view.room)
                display.typed(view.typed)
        else:
            self.lay_out_anew()
        self.show_offer()

    def close(self) -> None:
        """Send the last words; what is said later goes nowhere. A display and a callback that
        are left would hold the screen until the collector looks at what is so old."""
        self.uncover()
        self.display.flush()
        self._take_back()
        self.on_redraw = None
        self.display = LinesDisplay(lambda _text: None, self._line.columns, colour=False)
