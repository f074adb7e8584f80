"""The character sets of home computers: PETSCII of Commodore, ATASCII of Atari.

Their terminals know no ANSI. Each byte is a glyph, a key, or one of few control codes: clear, home,
steps of the cursor, sixteen colours, reverse. A cell has one colour, and the background is black;
so a cell with a background is shown in reverse, in one of its two colours. A block of two bright
colours is shown whole, so that drawn letters keep their strokes.

A Commodore has two sets of glyphs and shows one at a time. The first has upper and lower case; the
second has capitals and the four suits. A quotation mark is never sent: after one, a Commodore shows
control codes as glyphs. ATASCII's heart is byte 0, which some lines drop, so it is sent in reverse.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ansi.charset import UNREADABLE, Charset, encode
from ansi.keys import (
    BACKSPACE,
    DELETE,
    DOWN,
    END,
    ENTER,
    ESCAPE,
    F1,
    F2,
    F3,
    F4,
    F5,
    F6,
    F7,
    F8,
    HOME,
    INSERT,
    INTERRUPT,
    LEFT,
    RIGHT,
    RUBOUT,
    TAB,
    UP,
)
from ansi.style import Colour, Style, style_of

BLANK = 0x20
REVERSED = 0x10000  # a cell is a byte, the code of its colour from bit 8 on, and this

_UPPER = {chr(code): code + 0x80 for code in range(0x41, 0x5B)}
_LOWER = {chr(code): code - 0x20 for code in range(0x61, 0x7B)}
_SIGNS = {chr(code): code for code in [*range(0x20, 0x41), 0x5B, 0x5D]} | {'"': 0x27}
# Both sets of a Commodore have these.
_LINES = dict(
    zip("─│┼├┤┬┴┌┐└┘", bytes.fromhex("c0 dd db ab b3 b2 b1 b0 ae ad bd"), strict=True)
) | dict(zip("▌▄▒░■£^↑▲←_▁|", bytes.fromhex("a1 a2 a6 a6 a6 5c 5e 5e 5e 5f a4 a4 dd"), strict=True))
_TURNED = {"█": 0x20, "▐": 0xA1, "▀": 0xA2, "▓": 0xA6}  # glyphs that are another one in reverse
_COMMODORE = _SIGNS | _LINES | {glyph: code | REVERSED for glyph, code in _TURNED.items()}
_SUITS = dict(zip("♠♥♣♦●•○", bytes.fromhex("c1 d3 d8 da d1 d1 d7"), strict=True))
_CAPITALS = {letter.upper(): code for letter, code in _LOWER.items()} | _LOWER

_ATARI = (
    {chr(code): code for code in [*range(0x20, 0x60), *range(0x61, 0x7B), 0x7C]}
    | dict(
        zip(
            "♥├┘┤┐♣┌─┼•●▄┬┴▌└♦♠│",
            bytes.fromhex("80 01 03 04 05 10 11 12 13 14 14 15 17 18 19 1a 60 7b 7c"),
            strict=True,
        )
    )
    | dict(zip("█▐▀▓", b"\xa0\x99\x95\xa3", strict=True))
)

# Double lines are shown as single ones, and other signs by one that the set has.
_INSTEAD = dict(zip("═║╔╗╚╝╠╣╦╩╬╒╓╕╖╘╙╛╜╞╟╡╢╤╥╧╨╪╫", "─│┌┐└┘├┤┬┴┼┌┌┐┐└└┘┘├├┤┤┬┬┴┴┼┼", strict=True))
_INSTEAD |= dict(zip("\\`{}~", "/'()-", strict=True))

# The codes of the sixteen colours, in the order of `Colour`: black would be invisible, and the
# darkest grey is hard to read.
_INKS = bytes((151, 28, 30, 129, 31, 156, 159, 155, 152, 150, 153, 158, 154, 156, 159, 5))
# In reverse the text is black, so dark colours become light ones.
_PAPERS = bytes((151, 150, 153, 129, 154, 156, 159, 155, 152, 150, 153, 158, 154, 156, 159, 5))
_PALE = (Colour.GREY, Colour.WHITE)
# The felt of a table is left black: it would take half of a scene's bytes.
_NO_PAPER = (None, Colour.BLACK, Colour.GREEN)
BLOCKS, SHADES = "▀▄▌▐", "░▒▓"
_BRIGHTNESS = (0, 2, 0, 2, 1, 2, 2, 2, 1, 3, 3, 3, 3, 3, 3, 3)  # of the colours; 2 and 3 are bright


@dataclass(frozen=True)
class HomeComputer:
    """How the terminal of a home computer is written to, and what its keys send."""

    columns: int
    rows: int
    glyphs: Mapping[str, int]
    keys: Mapping[int, str]
    begin: bytes  # selects the set of glyphs
    clear: bytes
    newline: bytes
    up: bytes
    down: bytes
    left: bytes
    right: bytes
    home: bytes  # empty without such a code
    bell: bytes
    escape: str  # the key in place of Esc; empty where there is one
    has_colours: bool  # and codes that turn reverse on and off, rather than a bit

    def ink(self, style: int) -> int:
        """Return colour and reverse of a style, by its number, as in a cell."""
        return _ink(self.has_colours, style)

    def block(self, character: str, style: int) -> int:
        """Return the cell of one of `BLOCKS` or `SHADES` in a style, by its number."""
        return _block(self.glyphs[character], character in SHADES, style)

    def glyph(self, character: str) -> int:
        """Return the byte of a character, or of a similar one, and `REVERSED` if it is that."""
        known = self.glyphs.get(character) or self.glyphs.get(_INSTEAD.get(character, ""))
        if known is None:
            letter = encode(character, Charset.ASCII).decode("ascii")[:1]
            known = self.glyphs.get(_INSTEAD.get(letter, letter), BLANK)
        return known


def _front(style: Style) -> Colour:
    front = Colour.GREY if style.foreground is None else style.foreground
    return Colour(front | 8) if style.bold else front


@lru_cache(maxsize=512)
def _block(glyph: int, is_shade: bool, number: int) -> int:
    style = style_of(number)
    front, back = _front(style), style.background or Colour.BLACK
    if style.reverse:
        front, back = back, front
    if is_shade and back in _PALE:
        return glyph ^ _ink(True, number)
    if min(_BRIGHTNESS[front], _BRIGHTNESS[back]) >= 2:
        brighter = max(front, back, key=_BRIGHTNESS.__getitem__)
        return BLANK | REVERSED | _INKS[brighter] << 8
    if _BRIGHTNESS[back] > _BRIGHTNESS[front]:
        return glyph ^ REVERSED | _INKS[back] << 8
    return glyph | _INKS[front] << 8


@lru_cache(maxsize=512)
def _ink(has_colours: bool, number: int) -> int:
    style: Style = style_of(number)
    back = style.background
    has_paper = back not in _NO_PAPER
    reverse = REVERSED if has_paper != style.reverse else 0
    if not has_colours:
        return reverse
    front = _front(style)
    if has_paper and back is not None:
        shows_front = back in _PALE and front not in (*_PALE, Colour.BLACK, Colour.DARK_GREY)
        return _PAPERS[front if shows_front else back] << 8 | reverse
    return _INKS[front] << 8 | reverse


_COMMODORE_KEYS: dict[int, str] = (
    dict.fromkeys((0x60, *range(0x7B, 0x80), *range(0xA1, 0x100)), UNREADABLE)
    | {code: glyph for glyph, code in _SIGNS.items() if glyph != '"'}
    | {code: glyph for glyph, code in {**_LOWER, **_UPPER}.items()}
    | {code: chr(code - 0x20) for code in range(0x61, 0x7B)}  # capitals of some terminals
    | {0x22: '"', 0x5C: "£", 0x5E: "^", 0x5F: ESCAPE, 0xA0: " ", 0xA4: "_", 0xDD: "|"}
    | {0x03: INTERRUPT, 0x08: BACKSPACE, 0x09: TAB, 0x0D: ENTER, 0x8D: ENTER, 0x1B: ESCAPE}
    | {0x14: RUBOUT, 0x94: INSERT, 0x13: HOME, 0x93: END}
    | {0x11: DOWN, 0x91: UP, 0x1D: RIGHT, 0x9D: LEFT}
    | dict(zip(range(0x85, 0x8D), (F1, F3, F5, F7, F2, F4, F6, F8), strict=True))
)
_ATARI_KEYS: dict[int, str] = (
    dict.fromkeys((0x60, 0x7B, 0xE0, 0xFB), UNREADABLE)
    | {code: chr(code & 0x7F) for code in range(0x80, 0x100) if chr(code & 0x7F).isalnum()}
    | {code: chr(code & 0x7F) for code in (*range(0x20, 0x60), *range(0xA0, 0xE0))}
    | {code: chr(code & 0x7F) for code in (*range(0x61, 0x7B), 0x7C, 0xFC)}
    | {0x03: INTERRUPT, 0x08: BACKSPACE, 0x0D: ENTER, 0x1B: ESCAPE, 0x7F: TAB}
    | {0x7D: HOME, 0x7E: RUBOUT}
    | {0x1C: UP, 0x1D: DOWN, 0x1E: LEFT, 0x1F: RIGHT}
    | {0x9B: ENTER, 0xFE: DELETE, 0xFF: INSERT}
)


def _commodore(glyphs: Mapping[str, int], begin: int, columns: int = 40) -> HomeComputer:
    return HomeComputer(
        columns,
        25,
        {**_COMMODORE, **glyphs},
        _COMMODORE_KEYS,
        begin=bytes((begin,)),
        clear=b"\x93",
        newline=b"\r",
        up=b"\x91",
        down=b"\x11",
        left=b"\x9d",
        right=b"\x1d",
        home=b"\x13",
        bell=b"\a",
        escape="←",
        has_colours=True,
    )


_BOTH_CASES = {**_LOWER, **_UPPER, "✓": 0xBA, "√": 0xBA}
COMPUTERS: Mapping[Charset, HomeComputer] = {
    Charset.PETSCII: _commodore(_BOTH_CASES, 14),
    Charset.PETSCII_SUITS: _commodore({**_CAPITALS, **_SUITS}, 142),
    Charset.PETSCII_80: _commodore(_BOTH_CASES, 14, 80),
    Charset.ATASCII: HomeComputer(
        40,
        24,
        _ATARI,
        _ATARI_KEYS,
        begin=b"",
        clear=b"\x7d",
        newline=b"\x9b",
        up=b"\x1c",
        down=b"\x1d",
        left=b"\x1e",
        right=b"\x1f",
        home=b"",
        bell=b"\xfd",
        escape="",
        has_colours=False,
    ),
}


class HomeKeys:
    """Decodes the keys of a home computer: each is one byte, so nothing is ever pending."""

    __slots__ = ("_keys",)

    pending_escape = False

    def __init__(self, charset: Charset) -> None:
        self._keys = COMPUTERS[charset].keys

    def feed(self, data: bytes) -> list[str]:
        """Return the keys of these bytes; codes that no key sends are dropped."""
        return [self._keys[byte] for byte in data if byte in self._keys]

    def flush(self) -> list[str]:
        return []

    def settle(self, seconds: float) -> None:
        """Do nothing: no byte belongs to the one before it."""

    def positions(self) -> list[tuple[int, int]]:
        """Return nothing: such terminals don't report their cursor."""
        return []
