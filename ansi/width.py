"""The width of characters: how many cells of the screen they take.

A character takes no cell, one or two, and the terminal must agree. All terminals agree about the
characters in `STEADY`, which take one cell each. After any other one, the cursor must be placed
again.

`wcwidth` has the width of the others. Its import takes longer than all of this package, so it waits
for the first character that needs it.
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
def _measured(character: str) -> int:
    from wcwidth import wcwidth  # noqa: PLC0415  # twenty milliseconds that most calls never need

    return max(wcwidth(character), 0) if character.isprintable() else 0


def character_width(character: str) -> int:
    """Return the cells of a character: 0 (controls, combining and invisible ones), 1 or 2."""
    return 1 if character in STEADY else _measured(character)


def text_width(text: str) -> int:
    """Return the cells of a line of text; characters that cannot be shown take none."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(map(character_width, text))
