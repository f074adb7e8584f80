"""The sysop's look over a caller's shoulder, and a chat on the caller's screen.

The caller reads when the sysop begins to look and when they stop. A chat covers the caller's
screen, which waits below it. On painted screens it is split, the sysop above and the caller below,
letter by letter; in plain lines each line appears when it is sent. Each interruption of the
caller's wait for a key (time up, an event, a lost line) ends the chat first.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ansi.keys import BACKSPACE, ENTER, RUBOUT
from door.call.bystander import Bystander
from door.call.canvas_display import CanvasDisplay
from door.call.lines_display import LinesDisplay
from door.call.markup import literal, wrap
from door.call.scene import WholeWidth
from door.call.screen import Display, Paint
from timebank.language import Phrase, _, speaking_to
from timebank.words import field

if TYPE_CHECKING:
    from ansi.canvas import Canvas
    from door.call.caller import Caller
    from door.call.scene import Area

LONGEST_LINE = 200  # characters of a line in a chat
MOST_LINES = 60  # of a chat, kept for a resized screen
TAIL = 8192  # characters of plain lines, kept for the sysop's look


class ChatLine(NamedTuple):
    is_callers: bool
    text: str


class Chat:
    """A chat between the sysop and one caller, as a cover of the caller's screen."""

    display: Display

    def __init__(self, caller: Caller, by: str, ended: Callable[[], None]) -> None:
        """Begin the chat; other sysops see `by`, and `ended` is called at its end."""
        self._console = caller.console
        self.by = by
        self.name = caller.record.name
        self._ended = ended
        self._lines: deque[ChatLine] = deque(maxlen=MOST_LINES)
        self._sysop_types = ""
        self._caller_types = ""
        self._console.screen.put_on(self)
        self.fit()
        self._console.screen.bell()
        with speaking_to(self._console.viewer):
            words = _("The sysop wants to talk to you. Type, and press Enter after each line.")
        self._tell(f"|14{words}")
        if caller.chair is not None and caller.chair.is_shared:
            # A shared table does not wait for a caller who chats.
            with speaking_to(self._console.viewer):
                words = _("The table goes on meanwhile, and so does its clock.")
            self._tell(f"|14{words}")

    def end(self) -> None:
        self._console.screen.uncover()

    # What the sysop does.

    def sysop_types(self, text: str) -> None:
        """Show the sysop's unfinished line; plain lines wait for its end."""
        self._sysop_types = _printable(text)
        self.display.refresh()

    def sysop_says(self, text: str) -> None:
        self._sysop_types = ""
        self._say(ChatLine(False, _printable(text)))

    # The cover's part, called by screen and keyboard.

    def on_keys(self, keys: Sequence[str]) -> None:
        for key in keys:
            if key == ENTER:
                self._send()
            elif key in (BACKSPACE, RUBOUT):
                self._caller_types = self._caller_types[:-1]
            elif len(key) == 1 and key.isprintable() and len(self._caller_types) < LONGEST_LINE:
                self._caller_types += key
            else:
                continue
            self.display.typed(self._caller_types)

    def on_message(self, text: str) -> None:
        self._tell(text)

    def fit(self) -> None:
        console, line = self._console, self._console.line
        send = console.screen.send_now
        colour = console.screen.look.paint is Paint.COLOUR
        if isinstance(console.display, CanvasDisplay):
            soon = asyncio.get_running_loop().call_soon
            self.display = CanvasDisplay(
                send, soon, console.viewer, line.columns, line.rows, colour=colour
            )
            self.display.stage(_Split(self))
        else:
            self.display = LinesDisplay(send, line.columns, colour=colour)
            send("\r\n")
        self._ask()

    def on_removed(self) -> None:
        with speaking_to(self._console.viewer):
            words = _("The sysop has left the chat.")
        self._tell(f"|14{words}")
        self.display.close()
        # Plain lines keep these words in sight; the painted screen below needs them once more.
        if isinstance(self._console.display, CanvasDisplay):
            self._console.display.say(f"|14{words}")
        self._ended()

    # Within.

    def halves(self) -> tuple[list[str], list[str]]:
        """Return the lines of the sysop and those of the caller."""
        sysop = [line.text for line in self._lines if not line.is_callers]
        callers = [line.text for line in self._lines if line.is_callers]
        return [*sysop, self._sysop_types], callers

    def _send(self) -> None:
        text, self._caller_types = self._caller_types, ""
        self.display.answered()
        if text.strip():
            self._lines.append(ChatLine(True, text))
        self.display.refresh()
        self._ask()

    def _say(self, line: ChatLine) -> None:
        if line.text.strip():
            self._lines.append(line)
            if isinstance(self.display, LinesDisplay):
                with speaking_to(self._console.viewer):
                    self._tell(f"|14{_('The sysop:')}|07 {literal(line.text)}")
        self.display.refresh()

    def _ask(self) -> None:
        name = field(f"|15{literal(self.name)}", "").rstrip()
        self.display.prompt(f"{name}|07", LONGEST_LINE)
        self.display.typed(self._caller_types)

    def _tell(self, text: str) -> None:
        self.display.say(text)


class _Split(WholeWidth):
    """The chat on a painted screen: the sysop's words above, the caller's below."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def paint(self, canvas: Canvas, area: Area) -> None:
        above, below = self._chat.halves()
        middle = area.rows // 2
        _paint_half(canvas, area, (0, middle), _("The sysop"), above)
        _paint_half(canvas, area, (middle, area.rows), self._chat.name, below)

    def lines(self) -> Sequence[str]:
        return ()


def _paint_half(
    canvas: Canvas, area: Area, rows: tuple[int, int], title: str, texts: Sequence[str]
) -> None:
    """Paint a title and the latest lines that fit, from row `rows[0]` to before `rows[1]`."""
    first, end = rows
    bar = "\N{BOX DRAWINGS LIGHT HORIZONTAL}"
    left = f"|09{bar * 2} |15{title} |09"
    canvas.put_pipe(first, area.left, left + bar * (area.columns - len(title) - 4))
    lines = [line for text in texts for line in wrap(literal(text), area.columns - 2)]
    for row, line in enumerate(lines[-(end - first - 1) :], first + 1):
        canvas.put_pipe(row, area.left + 1, f"|07{line}")


class Shoulder(Bystander):
    """The sysop's look over a caller's shoulder."""

    def __init__(self, caller: Caller, chat_ended: Callable[[], None]) -> None:
        """`chat_ended` is called at the end of each chat."""
        self._caller = caller
        self._chat_ended = chat_ended
        self._tail = ""
        self.chat: Chat | None = None
        super().__init__(
            caller.console,
            Phrase("The sysop is looking over your shoulder."),
            Phrase("The sysop has stopped looking over your shoulder."),
        )

    def end(self) -> None:
        if self.chat is not None:
            self.chat.end()
        super().end()

    def begin_chat(self, by: str) -> str:
        """Begin a chat; return "", or the reason why that is not possible."""
        cover, name = self._console.screen.cover, self._caller.record.name
        if isinstance(cover, Chat):
            return f"{cover.by} talks to {name} now. Esc leaves."
        if cover is not None or self._console.keyboard.interruption is not None:
            return f"{name} can't be talked to: the call is ending. Esc leaves."
        self.chat = Chat(self._caller, by, self._chat_is_over)
        return ""

    def rows(self) -> list[str]:
        """Return the rows that the caller sees, with styles (SGR) and no other control codes."""
        cover = self._console.screen.cover
        display = self._console.display if cover is None else cover.display
        if isinstance(display, CanvasDisplay):
            return display.visible_rows()
        if not self._tail:
            return display.visible_rows()[-self._console.line.rows :]
        lines = _without_rubbed_out(self._tail).replace("\r", "").split("\n")
        return [_shown(line) for line in lines[-self._console.line.rows :]]

    def on_text(self, text: str) -> None:
        if not isinstance(self._console.display, CanvasDisplay):
            if not self._tail:
                self._tail = "\r\n".join(self._console.display.visible_rows())
            self._tail = (self._tail + text)[-TAIL:]

    def _chat_is_over(self) -> None:
        self.chat = None
        self._chat_ended()


# Rubbing out a letter of two cells, and of one.
_RUBBED_OUT = re.compile(r"(\x08\x08  \x08\x08|\x08 \x08)")
_STYLED = re.compile(r"(\x1b\[[0-9;]*m)|[^\x20-\x7e\xa0-\U0010ffff]")


def _without_rubbed_out(text: str) -> str:
    r"""Remove rubbed-out letters from a text, and the codes that did it.

    >>> _without_rubbed_out("Bet: 12\x08 \x08\x08 \x085")
    'Bet: 5'
    >>> _without_rubbed_out("Say: \u6f22a\x08 \x08\x08\x08  \x08\x08b")
    'Say: b'
    """
    # One pass: a caller may rub out thousands of letters while the sysop looks.
    left: list[str] = []
    for place, piece in enumerate(_RUBBED_OUT.split(text)):
        if place % 2 == 0:
            left.extend(piece)
        elif left:
            left.pop()
    return "".join(left)


def _shown(line: str) -> str:
    r"""Return a line without control codes other than styles.

    >>> _shown("\x1b[1;31mred\x1b[0m\x07\x1b")
    '\x1b[1;31mred\x1b[0m'
    """
    return _STYLED.sub(lambda match: match[1] or "", line)


def _printable(text: str) -> str:
    return "".join(filter(str.isprintable, text))[:LONGEST_LINE]
