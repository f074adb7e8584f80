"""How many cells of a screen a character takes.

The screen is a grid, so every character takes no cell, one or two, and the terminal has to agree.
`STEADY` are the characters about which all terminals agree (one cell each); after any other one the
cursor must be placed again.

`wcwidth` knows the rest. Importing it costs more than all of this package, so that waits for the
first character that needs it.
"""

from functools import lru_cache
from itertools import chain

_STEADY_RANGES = chain(
    range(0x20, 0x7F),  # ASCII
    range(0xA1, 0x250),  # Latin with its accents
    range(0x370, 0x483),  # Greek, Cyrillic up to its first combining mark
    range(0x48A, 0x530),
    range(0x2010, 0x2028),  # dashes, quotation marks, dots
    range(0x2500, 0x25A0),  # box drawing and blocks
)
_STEADY_OTHERS = "₧ⁿ∙√∞∩≈≡≤≥⌂⌐⌠⌡■▬▲►▼◄◘◙•○☺☻☼♀♂♠♣♥♦♪♫†‡←↑→↓↔↕↨∟‼"
STEADY = frozenset(
    character
    for character in chain(map(chr, _STEADY_RANGES), _STEADY_OTHERS)
    if character.isprintable()
)


@lru_cache(maxsize=4096)
def _looked_up(character: str) -> int:
    from wcwidth import wcwidth  # noqa: PLC0415  # twenty milliseconds that most calls never need

    return max(wcwidth(character), 0) if character.isprintable() else 0


def character_width(character: str) -> int:
    """Cells that one character takes: 0 (controls, combining and invisible ones), 1 or 2."""
    return 1 if character in STEADY else _looked_up(character)


def text_width(text: str) -> int:
    """Cells that a line of text takes; what cannot be shown counts for nothing."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(map(character_width, text))
