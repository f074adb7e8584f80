"""Skeletons of UTS 39, Unicode Security Mechanisms: equal for texts that look alike.

The tables are those of the Unicode Consortium, condensed in `confusables.txt`. ASCII texts need
only a few lines of them, so the file is read for the first text with another letter.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from functools import cache
from pathlib import Path

VERSION = "17.0.0"
"""The version of UTS 39 that the tables come from."""

TABLES = Path(__file__).with_name("confusables.txt")

# The lines of `confusables.txt` about ASCII.
ASCII = {ord("m"): "rn", ord("I"): "l", ord("1"): "l", ord("|"): "l", ord("0"): "O"} | {
    ord("`"): "'",
    ord('"'): "''",
    ord("%"): "\u00ba/\u2080",
}
MAX_CACHED = 4096  # characters

# Invisible letters: Default_Ignorable_Code_Point of the category Lo.
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")


def skeleton(text: str) -> str:
    """Return the skeleton of a text (internalSkeleton of UTS 39), without accents and marks.

    Two texts that look alike have the same skeleton. It serves only for comparison: "modern"
    becomes "rnodern". Case matters: "I" looks like "l", "i" does not.
    """
    if text.isascii() and text.isprintable():
        return _bare(text.translate(ASCII))
    return _bare(_bare(text).translate(_PROTOTYPES))


def _bare(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        letter
        for letter in unicodedata.normalize("NFD", text)
        if (category := unicodedata.category(letter)) not in ("Mn", "Me")
        and category[0] != "C"
        and letter not in _FILLERS
    )


class _Prototypes(dict[int, str]):
    """The prototype of each character by its code point, read from the file on first use."""

    def __missing__(self, point: int) -> str:
        lines, key = _lines(), f"{point:05X} "
        line = lines[min(bisect_left(lines, key), len(lines) - 1)]
        prototype = chr(point)
        if line.startswith(key):
            prototype = "".join(chr(int(each, 16)) for each in line[len(key) :].split(" "))
        if len(self) < MAX_CACHED:
            self[point] = prototype
        return prototype


@cache
def _lines() -> list[str]:
    """Read the lines of the file, which sort in order: its heading, then the code points."""
    return TABLES.read_text(encoding="utf-8").splitlines()


_PROTOTYPES = _Prototypes(ASCII)
