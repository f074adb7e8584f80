"""A caller's connection as the board sees it: one interface for every way to call.

A `Line` moves bytes and knows the size of the screen. `ansi` turns bytes into keys, and
`door.call.caller` gives keys their meaning.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

# Limits of a screen, in character cells. No sentence fits below 40 columns; above 160x60 a redraw
# would cost more than any caller gains from it.
MIN_COLUMNS, MAX_COLUMNS = 40, 160
MIN_ROWS, MAX_ROWS = 16, 60
USUAL_COLUMNS, USUAL_ROWS = 80, 24

MOST_TERMINAL_TYPES = 8
LANGUAGE_VARIABLES = ("LC_ALL", "LC_CTYPE", "LANG")  # the first one set counts (POSIX)

# The reason of the end when the caller closed the line and had taken all bytes.
CALLER_HUNG_UP = "the caller hung up"

VT100, UNICODE, SCREEN_READER = 2, 4, 64  # of the bits behind "MTTS"
_MTTS = re.compile(r"MTTS (\d{1,9})", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[^ -~]+")


@dataclass(frozen=True)
class Hints:
    """What the other end said about itself: claims to guess from, not facts.

    Every text is printable ASCII and at most 64 characters; an unknown one is "". `terminal_types`
    holds at most 8 names, the preferred one first, in their own spelling. `language` is a locale
    such as ``en_US.UTF-8``. `charset` is the character set that the other end agreed to. `typed`
    is the character set of the letters that came, if they prove one. `page` is the origin of the
    board's own page, such as ``https://board.example``, if that is calling. `sends_lines` is True
    for a program that may send whole lines.
    """

    terminal_types: tuple[str, ...] = ()
    language: str = ""
    charset: str = ""
    typed: str = ""
    page: str = ""
    sends_lines: bool = False

    @property
    def mtts(self) -> int | None:
        """The capabilities that a MUD client names ("MTTS 2381"); None from all others."""
        named = (_MTTS.fullmatch(name) for name in self.terminal_types)
        return next((int(match[1]) for match in named if match), None)

    @property
    def is_read_aloud(self) -> bool:
        return bool((self.mtts or 0) & SCREEN_READER)

    @property
    def works_by_lines(self) -> bool:
        """Whether this is a MUD client that has only lines, or has them read aloud.

        It sends whole lines, and shows what is typed by itself.
        """
        mtts = self.mtts
        return mtts is not None and (self.is_read_aloud or self.sends_lines or not mtts & VT100)


Ask = Literal["keys", "text", "number", "secret", "any", "answers"]


@dataclass(frozen=True)
class OpenKeys:
    """What can be pressed now, for lines whose other end shows it.

    The question in `ask` is for one of the keys ("keys"), for one of them without help ("answers"),
    for what is typed ("text", "number", "secret"), or for any key ("any").
    """

    ask: Ask
    keys: tuple[tuple[str, str], ...] = ()  # each with its effect
    default: str = ""  # what Enter gives; "" for nothing
    typed: tuple[tuple[str, str], ...] = ()  # keys that type another text than themselves
    fills: str = ""  # what a password manager fills in, by its name in HTML


class Receiver(Protocol):
    """Takes what arrives on a line. Its methods return at once and raise no errors."""

    def received(self, data: bytes) -> None:
        """Take bytes as they were typed, at most 4096 at a time."""

    def hung_up(self, reason: str) -> None:
        """Note the end of the line: once, after the last bytes, never within a call to the line."""

    def resized(self, columns: int, rows: int) -> None:
        """Take a new size of the screen, bounded as the line's own."""


class Line(Protocol):
    """A connection to one caller, already set up."""

    @property
    def kind(self) -> str:
        """The protocol, for the log: ``telnet`` (also with TLS), ``rlogin``, ``web`` or ``ssh``.

        A door's line is ``stdio`` or ``socket``.
        """

    @property
    def address(self) -> str:
        """The address of the caller, safe to log and to show, such as ``192.0.2.7``."""

    # What the other end said about itself; late answers add to it.
    hints: Hints

    @property
    def columns(self) -> int:
        """Width of the screen in cells, 40 to 160; 80 if unknown."""

    @property
    def rows(self) -> int:
        """Height of the screen in cells, 16 to 60; 24 if unknown."""

    @property
    def size_is_known(self) -> bool:
        """Whether the terminal itself has reported its size."""

    def resize(self, columns: int, rows: int) -> None:
        """Note the size that the terminal reports, bounded, and pass on a change."""

    def assume(self, columns: int, rows: int) -> None:
        """Note a bounded size that the terminal itself has not reported."""

    def attach(self, receiver: Receiver) -> None:
        """Give all that arrives to `receiver`, waiting bytes first; a second one replaces it."""

    def pause(self) -> None:
        """Stop delivering bytes; at most 4 kB of what the caller types waits here."""

    def resume(self) -> None: ...

    def write(self, data: bytes) -> None:
        """Send `data` without waiting; cut off a caller who leaves 256 kB unread."""

    def show_keys(self, keys: OpenKeys, language: str) -> None:
        """Show what can be pressed, or mark the prompt, for a program that wants it.

        Labels are in `language`. The same object is shown again after one of its keys was pressed.
        """

    def show_figures(self, figures: Mapping[str, int]) -> None:
        """Send changed figures, such as the time left, to a program that shows them by itself."""

    async def drain(self, seconds: float) -> None:
        """Wait until all written bytes have left; raise `Hangup` if the line ends first.

        Cuts off a caller who has not taken them within `seconds`.
        """

    def hang_up(self) -> None:
        """End the line: no more bytes are received, and written bytes still leave."""

    def abort(self) -> None:
        """End the line now, and drop unsent bytes."""


def bounded_size(columns: int, rows: int) -> tuple[int, int]:
    """Bring a screen size, in cells, within the limits; 0 means "not known" (RFC 1073).

    >>> bounded_size(65535, 1)
    (160, 16)
    >>> bounded_size(0, 0)
    (80, 24)
    """
    return (
        min(max(columns or USUAL_COLUMNS, MIN_COLUMNS), MAX_COLUMNS),
        min(max(rows or USUAL_ROWS, MIN_ROWS), MAX_ROWS),
    )


def printable(text: str) -> str:
    """Return the part of a foreign text that may be shown: printable ASCII, at most 64 characters.

    >>> printable("xterm\\x1b[2J\\n")
    'xterm[2J'
    """
    return _UNPRINTABLE.sub("", text)[:64]
