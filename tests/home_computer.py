"""Screens of home computers for tests, written from their manuals.

A Commodore prints as its KERNAL does (Commodore 64 Programmer's Reference Guide, appendices C and
D): codes after a quotation mark become glyphs, a row that is filled to its end joins the next one,
and joined rows scroll together. An Atari prints as its screen editor E: does (Atari Operating
System User's Manual). They share no table with the board.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from pyte.screens import Char

# Codes 20 to 7F, and A0 to BF; C0 to DF are as 60 to 7F, E0 to FE as A0 to BE, FF as DE.
_BOTH = " !\"#$%&'()*+,-./0123456789:;<=>?@"
_SMALL = "abcdefghijklmnopqrstuvwxyz"
_LOWER = f"{_BOTH}{_SMALL}[£]↑←─{_SMALL.upper()}┼▒│▒◥"
_CAPITALS = f"{_BOTH}{_SMALL.upper()}[£]↑←─♠│─━▔─▏▕╮╰╯▙╲╱◤◥●▁♥▏╭╳○♣▕♦┼▒│π◥"
_BLOCKS = " ▌▄▔▁▏▒▕▒◤▕├▗└┐▂┌┴┬┤▎▍▐▀▀▃{}▖▝┘▘▚"

# Each colour's code, and its red, green and blue on a screen.
PALETTE = {
    144: "000000",
    5: "ffffff",
    28: "68372b",
    159: "70a4b2",
    156: "6f3d86",
    30: "588d43",
    31: "352879",
    158: "b8c76f",
    129: "6f4f25",
    149: "433900",
    150: "9a6759",
    151: "444444",
    152: "6c6c6c",
    153: "9ad284",
    154: "6c5eb5",
    155: "959595",
}
BACKGROUND = "000000"

# Atari's glyphs for the codes 0 to 1F.
_ATARI = "♥├▕┘┤┐╱╲◢▗◣▝▘▔▂▖♣┌─┼•▄▎┬┴▌└␛↑↓←→"


@dataclass
class Cursor:
    x: int = 0
    y: int = 0
    hidden: bool = False


@dataclass
class HomeScreen:
    """What both computers have; the names are those of pyte's screens."""

    columns: int
    lines: int
    cursor: Cursor = field(default_factory=Cursor)
    buffer: list[list[Char]] = field(default_factory=list)
    joined: set[int] = field(default_factory=set)  # rows that go on with the one above
    bells: int = 0
    scrolled: int = 0  # rows, since the beginning
    colour: str = "959595"
    reverse: bool = False

    def __post_init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.buffer = [self._blank_row() for _ in range(self.lines)]
        self.joined.clear()
        self.cursor = Cursor()

    def _blank_row(self) -> list[Char]:
        return [Char(" ", BACKGROUND, BACKGROUND) for _ in range(self.columns)]

    @property
    def display(self) -> list[str]:
        return ["".join(cell.data for cell in row) for row in self.buffer]

    def feed(self, data: bytes) -> None:
        for code in data:
            self.take(code)

    def take(self, code: int) -> None:
        raise NotImplementedError

    def keys(self, text: str) -> bytes:
        """What the keyboard sends for a text; ESC is the key in place of Esc, DEL is Delete."""
        raise NotImplementedError

    def letters(self, data: bytes) -> str:
        """What these bytes print, without moves and colours."""
        raise NotImplementedError

    def put(self, glyph: str, *, reverse: bool) -> None:
        cursor = self.cursor
        cell = Char(glyph, self.colour, BACKGROUND, reverse=reverse)
        self.buffer[cursor.y][cursor.x] = cell
        cursor.x += 1
        if cursor.x == self.columns:
            cursor.x = 0
            self._go_down()
            self.joined.add(cursor.y)

    def new_line(self) -> None:
        """Go to the row below the whole line that the cursor is in."""
        self.cursor.x = 0
        while self.cursor.y + 1 in self.joined:
            self.cursor.y += 1
        self._go_down()

    def _go_down(self) -> None:
        self.cursor.y += 1
        while self.cursor.y >= self.lines:
            self._scroll()
            while 0 in self.joined:
                self.joined.discard(0)
                self._scroll()

    def _scroll(self) -> None:
        del self.buffer[0]
        self.buffer.append(self._blank_row())
        self.joined = {row - 1 for row in self.joined}
        self.cursor.y -= 1
        self.scrolled += 1


@dataclass
class Commodore(HomeScreen):
    columns: int = 40
    lines: int = 25
    is_quoting: bool = False
    has_lower_case: bool = False

    def take(self, code: int) -> None:
        is_control = code & 0x7F < 0x20
        if code in (0x0D, 0x8D):
            self.is_quoting = self.reverse = False
            self.new_line()
        elif is_control and self.is_quoting and code != 0x14:
            self.put(chr(0x40 + (code & 0x1F)), reverse=True)
        elif is_control:
            self._obey(code)
        else:
            if code == 0x22:
                self.is_quoting = not self.is_quoting
            self.put(self._glyph(code), reverse=self.reverse)

    def keys(self, text: str) -> bytes:
        swapped = {"\x1b": 0x5F, "\b": 0x14, "\x7f": 0x14, "←": 0x5F}
        for letter in _SMALL:
            swapped |= {letter: ord(letter) - 0x20, letter.upper(): ord(letter) + 0x60}
        return bytes(swapped.get(key, ord(key) & 0xFF) for key in text)

    def letters(self, data: bytes) -> str:
        return "".join(
            "\n" if code == 0x0D else self._glyph(code)
            for code in data
            if code == 0x0D or code & 0x7F >= 0x20
        )

    def _glyph(self, code: int) -> str:
        if code == 0xFF:
            code = 0xDE
        if code >= 0xC0:
            code -= 0x60 if code < 0xE0 else 0x40
        if code < 0x80:
            return (_LOWER if self.has_lower_case else _CAPITALS)[code - 0x20]
        return _BLOCKS.format("✓" if self.has_lower_case else "▟")[code - 0xA0]

    def _obey(self, code: int) -> None:
        cursor = self.cursor
        if code in PALETTE:
            self.colour = PALETTE[code]
        elif code in (0x12, 0x92):
            self.reverse = code == 0x12
        elif code in (0x0E, 0x8E):
            self.has_lower_case = code == 0x0E
        elif code == 0x93:
            self.clear()
        elif code == 0x13:
            self.cursor = Cursor()
        elif code == 0x11:
            self._go_down()
        elif code == 0x91:
            cursor.y = max(0, cursor.y - 1)
        elif code == 0x1D:
            cursor.x += 1
            if cursor.x == self.columns:
                cursor.x = 0
                self._go_down()
        elif code == 0x9D:
            if cursor.x or cursor.y:
                position = cursor.y * self.columns + cursor.x - 1
                cursor.y, cursor.x = divmod(position, self.columns)
        elif code == 0x07:
            self.bells += 1
        elif code != 0x0A:  # of a board that does not know yet; it does nothing
            raise AssertionError(f"code {code} is none that a board should send")


@dataclass
class Atari(HomeScreen):
    columns: int = 40
    lines: int = 24
    colour: str = "aaaaff"

    def take(self, code: int) -> None:
        cursor = self.cursor
        if code == 0x9B:
            self.new_line()
        elif code == 0x7D:
            self.clear()
        elif code == 0x1C:
            cursor.y = (cursor.y - 1) % self.lines
        elif code == 0x1D:
            cursor.y = (cursor.y + 1) % self.lines
        elif code == 0x1E:
            cursor.x = (cursor.x - 1) % self.columns
        elif code == 0x1F:
            cursor.x = (cursor.x + 1) % self.columns
        elif code == 0xFD:
            self.bells += 1
        elif code in (0, 0x1B, 0x7E, 0x7F, 0x9C, 0x9D, 0x9E, 0x9F, 0xFE, 0xFF):
            raise AssertionError(f"code {code} is none that a board should send")
        else:
            self.put(self._glyph(code & 0x7F), reverse=code >= 0x80)

    def keys(self, text: str) -> bytes:
        return text.translate({0x08: 0x7E, 0x0D: 0x9B, 0x7F: 0x7E}).encode("latin-1")

    def letters(self, data: bytes) -> str:
        return "".join(
            "\n" if code == 0x9B else self._glyph(code & 0x7F)
            for code in data
            if code == 0x9B or not (code == 0x7D or 0x1C <= code < 0x20)
        )

    def _glyph(self, code: int) -> str:
        others = defaultdict(str, {0x60: "♦", 0x7B: "♠"})
        return _ATARI[code] if code < 0x20 else others[code] or chr(code)


SCREENS: dict[str, Callable[[], HomeScreen]] = {
    "petscii": Commodore,
    "petscii-suits": Commodore,
    "petscii-80": partial(Commodore, 80),
    "atascii": Atari,
}
