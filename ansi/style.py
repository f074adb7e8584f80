"""Colours and attributes of text, the escape sequences (SGR) that set them, and pipe codes.

Only what every BBS terminal draws: sixteen colours of text (the bright eight are sent as bold),
eight of background, bold, blink and reverse. A bright background is sent after its dark one, for
terminals that lack it. The canvas stores the number of a style, so that cells compare as integers.
"""

import re
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import lru_cache


class Colour(IntEnum):
    """The sixteen colours in the order of SGR. (A PC's own order swaps red and blue.)"""

    BLACK = 0
    RED = 1
    GREEN = 2
    BROWN = 3
    BLUE = 4
    MAGENTA = 5
    CYAN = 6
    GREY = 7
    DARK_GREY = 8
    LIGHT_RED = 9
    LIGHT_GREEN = 10
    YELLOW = 11
    LIGHT_BLUE = 12
    LIGHT_MAGENTA = 13
    LIGHT_CYAN = 14
    WHITE = 15


_codes: list[tuple[str, ...]] = []
_numbers: dict[tuple[str, ...], int] = {}
_styles: list["Style"] = []


@dataclass(frozen=True, slots=True)
class Style:
    """The look of a cell; None is the terminal's own colour."""

    foreground: Colour | None = None
    background: Colour | None = None
    bold: bool = False
    blink: bool = False
    reverse: bool = False
    number: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Number the style, from 0 for the plain one. Styles with the same codes share a number."""
        codes = []
        if self.bold or (self.foreground is not None and self.foreground > Colour.GREY):
            codes.append("1")
        if self.blink:
            codes.append("5")
        if self.reverse:
            codes.append("7")
        if self.foreground is not None:
            codes.append(str(30 + (self.foreground & 7)))
        if self.background is not None:
            codes.append(str(40 + (self.background & 7)))
            if self.background > Colour.GREY:
                codes.append(str(100 + (self.background & 7)))
        number = _numbers.setdefault(tuple(codes), len(_codes))
        object.__setattr__(self, "number", number)
        if number == len(_codes):
            _codes.append(tuple(codes))
            _styles.append(self)

    def __hash__(self) -> int:
        """Return the number, which equal styles share. Every piece of text looks up a style."""
        return self.number


PLAIN = Style()


@lru_cache(maxsize=4096)
def sgr_of(number: int) -> str:
    return f"\x1b[{';'.join(('0', *_codes[number]))}m"


def style_of(number: int) -> Style:
    """Return the first style made with this number; others with it look the same."""
    return _styles[number]


def sgr(style: Style) -> str:
    return sgr_of(style.number)


@lru_cache(maxsize=4096)
def change(before: int, after: int) -> str:
    """Return the shortest sequence from one style to another, by their numbers."""
    old, new = _codes[before], _codes[after]
    if "7" in old or "7" in new:  # terminals disagree about colours set while reversed
        return sgr_of(after)
    if not {*map(_kind, old)} <= {*map(_kind, new)}:  # something must be switched off
        return sgr_of(after) if new else "\x1b[m"
    return f"\x1b[{';'.join(code for code in new if code not in old)}m"


def _kind(code: str) -> str:
    """Return what a code sets: "3" for a colour of text, "4" for a background, or itself."""
    return code[0] if len(code) == 2 else code


_PIPE = re.compile(r"\|([01][0-9]|2[0-3])")
# Pipe codes number the colours like a PC, which swaps the bits of red and blue.
_PC_ORDER = tuple(Colour(c & 10 | (c & 1) << 2 | (c & 4) >> 2) for c in range(16))


@lru_cache(maxsize=4096)
def _piped(style: Style, code: int) -> Style:
    colour = _PC_ORDER[code & 15]
    return replace(style, foreground=colour) if code < 16 else replace(style, background=colour)


def from_pipe(text: str, style: Style = PLAIN) -> tuple[tuple[Style, str], ...]:
    """Split a text at its pipe codes: |00 to |15 set a text colour, |16 to |23 a background.

    `style` holds before the first code. Any other "|" is text.
    """
    parts = _PIPE.split(text)
    pieces = [(style, parts[0])]
    for code, piece in zip(parts[1::2], parts[2::2], strict=True):
        style = _piped(style, int(code))
        pieces.append((style, piece))
    return tuple((style, piece) for style, piece in pieces if piece)


_MANY_COLOURS = re.compile(r"(?<![0-9])[34]8;(?:5;[0-9]+|2;[0-9]+;[0-9]+;[0-9]+);?")


@lru_cache(maxsize=4096)
def from_sgr(parameters: str, style: Style) -> Style:
    """Return the style after `CSI parameters m` (digits and ";"). Unknown codes are ignored.

    The cache halves the time to paint a picture, which repeats a few changes.
    """
    shorter = _MANY_COLOURS.sub("", parameters)
    if parameters and not shorter:
        return style
    for code in (int(part[:4]) if part else 0 for part in shorter.split(";")):
        if code == 0:
            style = PLAIN
        elif code in {1, 22}:
            style = replace(style, bold=code == 1)
        elif code in {5, 6, 25}:
            style = replace(style, blink=code != 25)
        elif code in {7, 27}:
            style = replace(style, reverse=code == 7)
        elif 30 <= code <= 37:
            style = replace(style, foreground=Colour(code - 30))
        elif 40 <= code <= 47:
            style = replace(style, background=Colour(code - 40))
        elif 90 <= code <= 97:
            style = replace(style, foreground=Colour(code - 82))
        elif 100 <= code <= 107:
            style = replace(style, background=Colour(code - 92))
        elif code == 39:
            style = replace(style, foreground=None)
        elif code == 49:
            style = replace(style, background=None)
    return style
