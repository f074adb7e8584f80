"""Screens that a sysop draws himself, with named fields that we fill in.

A field stands in his .ANS or .ASC file as its name between at-signs, such as ``@BALANCE@``. What
we put there is as wide as the field was, so that nothing behind it moves: dots before the second
at-sign make it wider, ``@NAME................@``. An unknown field is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ansi import art
from ansi.canvas import Canvas
from door.lobby import texts

if TYPE_CHECKING:
    from ansi.art import Art

_FIELD = re.compile(r"@([A-Z]+)\.*@")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return `text` with its fields filled, each as wide as it stands there.

    >>> fill("[@NAME......@] [@WHAT@]", {"NAME": "Alice"})
    '[Alice       ] [@WHAT@]'
    """

    def value(field: re.Match[str]) -> str:
        if field[1] not in values:
            return field[0]
        width = len(field[0])
        return values[field[1]][:width].ljust(width)

    return _FIELD.sub(value, text)


@dataclass(frozen=True)
class FilledScreen:
    """A sysop's picture with its fields filled, as a scene."""

    picture: Art
    values: Mapping[str, str]

    def paint(self, canvas: Canvas, left: int, rows: int) -> None:
        """Paint the picture; what does not fit is cut off."""
        # His cursor movements may lead anywhere; only the rows of a scene are ours to give.
        scratch = Canvas(canvas.columns, rows)
        art.paint(scratch, self._filled(), 0, left)
        for row in range(rows):
            for column, character in enumerate(scratch.text(row)):
                canvas.put(row, column, character, scratch.style_at(row, column))

    def lines(self) -> Sequence[str]:
        """Return the picture's lines."""
        return texts.lines(self._filled())

    def _filled(self) -> Art:
        return replace(self.picture, text=fill(self.picture.text, self.values))
