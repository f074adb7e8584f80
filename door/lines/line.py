"""What the board knows of a connection: one interface for telnet, rlogin, stdio and tests alike.

A `Line` moves bytes and says how wide the screen is. `ansi` turns bytes into keys, and
`door.call.caller` decides what they mean.
"""

import re
from dataclasses import dataclass
from typing import Literal, Protocol

# What a screen may be, in character cells. Narrower than 40 no sentence fits; larger than 160x60
# every redraw would cost more than any caller gains from it.
MIN_COLUMNS, MAX_COLUMNS = 40, 160
MIN_ROWS, MAX_ROWS = 20, 60
USUAL_COLUMNS, USUAL_ROWS = 80, 24

MOST_TERMINAL_TYPES = 8
LANGUAGE_VARIABLES = ("LC_ALL", "LC_CTYPE", "LANG")  # the first one set counts (POSIX)

# Why a line ended when the caller closed it, having taken all that was sent.
CALLER_HUNG_UP = "the caller hung up"

_UNPRINTABLE = re.compile(r"[^ -~]+")


@dataclass(frozen=True)
class Hints:
    """What the other end said of itself: claims to guess from, not facts.

    Every text is printable ASCII and at most 64 characters; an unknown one is empty.
    `terminal_types` holds at most 8 names, the preferred one first, spelled as they came;
    `language` is a locale such as ``en_US.UTF-8``; `charset` the character set the other end agreed
    to; `typed` the one that its letters turned out to be in; `page` where the board's own page came
    from, such as ``https://board.example``, if that is who calls.
    """

    terminal_types: tuple[str, ...] = ()
    language: str = ""
    charset: str = ""
    typed: str = ""
    page: str = ""


Ask = Literal["keys", "text", "number", "secret", "any", "answers"]


@dataclass(frozen=True)
class OpenKeys:
    """What can be pressed now, for a line whose other end shows it: one of the `keys`, each with
    what it does, where Enter gives `default` ("" for nothing); or a text, or one of the keys; or
    any key; or one of the keys and nothing else, not even for help ("answers"). A key types itself,
    unless `typed` says what."""

    ask: Ask
    keys: tuple[tuple[str, str], ...] = ()
    default: str = ""
    typed: tuple[tuple[str, str], ...] = ()


class Receiver(Protocol):
    """Takes what arrives on a line. Its methods return at once and raise nothing."""

    def received(self, data: bytes) -> None:
        """Take bytes as they were typed, at most 4096 at a time."""

    def hung_up(self, reason: str) -> None:
        """The line has ended: once, after all that was received, never from within its methods."""

    def resized(self, columns: int, rows: int) -> None:
        """The screen has a new size, bounded like the line's own."""


class Line(Protocol):
    """A connection to one caller, already set up."""

    @property
    def kind(self) -> str:
        """How the caller reached us: ``telnet``, ``rlogin``, ``stdio`` or ``socket``."""

    @property
    def address(self) -> str:
        """Where the caller comes from, safe to log and to show, such as ``192.0.2.7``."""

    # What the other end said of itself; late answers make it grow.
    hints: Hints

    @property
    def columns(self) -> int:
        """Width of the screen in cells, 40 to 160; 80 when nobody said."""

    @property
    def rows(self) -> int:
        """Height of the screen in cells, 20 to 60; 24 when nobody said."""

    @property
    def size_is_known(self) -> bool:
        """Whether the terminal itself has said its size."""

    def resize(self, columns: int, rows: int) -> None:
        """Note the size of the screen as the terminal says it, bounded, and tell of a change."""

    def attach(self, receiver: Receiver) -> None:
        """Hand all that arrives to `receiver`, what waits here first; a second takes its place."""

    def pause(self) -> None:
        """Stop handing over bytes; at most 4 kB of what the caller types waits here."""

    def resume(self) -> None: ...

    def write(self, data: bytes) -> None:
        """Send `data`, never waiting; a caller who leaves 256 kB unread is cut off."""

    async def drain(self, seconds: float) -> None:
        """Wait until everything written has left; `Hangup` when the line ends first.

        A caller who has not taken it within `seconds` is cut off.
        """

    def hang_up(self) -> None:
        """End the line: nothing is received any more, what was written still goes out."""

    def abort(self) -> None:
        """End the line now, and forget what has not left yet."""


def bounded_size(columns: int, rows: int) -> tuple[int, int]:
    """Bring a screen size, in cells, within the limits; 0 means "not known" (RFC 1073).

    >>> bounded_size(65535, 1)
    (160, 20)
    >>> bounded_size(0, 0)
    (80, 24)
    """
    return (
        min(max(columns or USUAL_COLUMNS, MIN_COLUMNS), MAX_COLUMNS),
        min(max(rows or USUAL_ROWS, MIN_ROWS), MAX_ROWS),
    )


def printable(text: str) -> str:
    """What may be shown of a text from outside: printable ASCII, at most 64 characters.

    >>> printable("xterm\\x1b[2J\\n")
    'xterm[2J'
    """
    return _UNPRINTABLE.sub("", text)[:64]
