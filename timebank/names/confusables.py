"""What a text looks like: the skeletons of UTS 39, Unicode Security Mechanisms.

The tables are those of the Unicode Consortium, condensed in `confusables.txt`. A text of ASCII
alone needs a few lines of them; the file is read when the first text with another letter comes.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from functools import cache
from pathlib import Path

VERSION = "17.0.0"
"""The version of UTS 39 whose tables these are."""

TABLES = Path(__file__).with_name("confusables.txt")

# What `confusables.txt` says of ASCII.
ASCII = {ord("m"): "rn", ord("I"): "l", ord("1"): "l", ord("|"): "l", ord("0"): "O"} | {
    ord("`"): "'",
    ord('"'): "''",
    ord("%"): "\u00ba/\u2080",
}
MOST_KEPT = 4096  # characters that are remembered with what they look like

# Letters that show nothing: Default_Ignorable_Code_Point of the category Lo.
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")


def skeleton(text: str) -> str:
    """What a text looks like (internalSkeleton of UTS 39), without accents and marks.

    Two texts that look alike have the same skeleton. It is for comparing alone: "modern" becomes
    "rnodern". Case counts: "I" looks like "l", and "i" does not.
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
    """What characters look like, found in the file when they are first asked for."""

    def __missing__(self, point: int) -> str:
        lines, key = _lines(), f"{point:05X} "
        line = lines[min(bisect_left(lines, key), len(lines) - 1)]
        seen = chr(point)
        if line.startswith(key):
            seen = "".join(chr(int(each, 16)) for each in line[len(key) :].split(" "))
        if len(self) < MOST_KEPT:
            self[point] = seen
        return seen


@cache
def _lines() -> list[str]:
    """Read the file: its heading comes before any number, and the numbers are sorted."""
    return TABLES.read_text(encoding="utf-8").splitlines()


_PROTOTYPES = _Prototypes(ASCII)
