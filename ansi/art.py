"""Pictures for callers: .ANS and .ASC files in CP437.

Files come from anywhere, so `read` makes them harmless. It keeps only the escape sequences that set
a colour, move the cursor right or to a position, or clear the screen. The picture ends at byte 1A,
as in DOS, and a SAUCE record may follow (revision 5, ACiD, 1994).
"""

import codecs
import re
from dataclasses import dataclass, replace

from ansi.canvas import Canvas
from ansi.charset import GLYPHS
from ansi.style import PLAIN, Colour, Style, from_sgr

_RECORD_BYTES = 128
_COLUMNS, _FLAGS = slice(96, 98), 105  # places in the record; a number is little-endian
_END_OF_FILE = b"\x1a"
_USUAL_COLUMNS = 80

_CONTROLS = {0: " ", 9: "\t", 10: "\n", 13: "\r", 27: "\x1b", 26: ""}


@dataclass(frozen=True, slots=True)
class Art:
    """A picture: text with harmless escape sequences, and the line ends of its file.

    It wraps after `columns`. With `is_bright`, "blink" means a bright background (iCE colours).
    """

    text: str
    columns: int = _USUAL_COLUMNS
    is_bright: bool = False


def _letters() -> str:
    letters = list(bytes(range(256)).decode("cp437"))
    for byte, glyph in GLYPHS.items():
        letters[byte] = glyph
    for byte, control in _CONTROLS.items():
        letters[byte] = control or "\ufffe"
    return "".join(letters)


_LETTERS = _letters()
# For writing. `charmap_build` needs byte 0 to be itself; a space is byte 32.
_BYTES = codecs.charmap_build("\0" + _LETTERS[1:])


# A sequence that stays, or the beginning of any other, which is removed. Some with texts in them
# redefine keys of the caller's keyboard.
_SEQUENCE = re.compile(
    r"""\x1b\[([0-9;]{0,40})([mCHfJ])|\x1b(?:\[(?:"[^"]{0,99}"|[ -?])*+[@-~]?)?"""
)


def _harmless(sequence: re.Match[str]) -> str:
    if not sequence[2] or (sequence[2] == "J" and sequence[1] != "2"):
        return ""
    return sequence[0]


def read(data: bytes) -> Art:
    """Return the picture in a file's bytes. Never raises."""
    picture, record = data[:-_RECORD_BYTES], data[-_RECORD_BYTES:]
    if len(record) < _RECORD_BYTES or not record.startswith(b"SAUCE00"):
        return Art(_text(data))
    columns = int.from_bytes(record[_COLUMNS], "little") or _USUAL_COLUMNS
    return Art(_text(picture), columns, bool(record[_FLAGS] & 1))


def _text(data: bytes) -> str:
    letters = codecs.charmap_decode(data.split(_END_OF_FILE, 1)[0], "ignore", _LETTERS)[0]
    return _SEQUENCE.sub(_harmless, letters)


def encode(text: str) -> bytes:
    """Return the text of a picture as the bytes of a file."""
    return codecs.charmap_encode(text, "ansi.stand-ins", _BYTES)[0].replace(_END_OF_FILE, b"")


_CLEAR = "\x1b[2J"  # the only form that `read` keeps
_TOKEN = re.compile(r"\x1b\[([0-9;]*)([mCHfJ])|([\r\n\t])|([^\x1b\r\n\t]+)")


class _Painter:
    """Draws on a canvas like a PC's screen driver, which wraps at once after the last column."""

    def __init__(
        self, canvas: Canvas, row: int, column: int, columns: int, *, bright: bool
    ) -> None:
        self._canvas = canvas
        self._bright = bright
        self._origin = row, column
        self._columns = columns
        self._row = self._column = 0
        self._style = PLAIN
        self.height = 0  # rows printed so far

    def apply(self, token: re.Match[str]) -> None:
        parameters, final, control, text = token.groups()
        if text:
            self._print(text)
        elif control == "\r":
            self._column = 0
        elif control == "\n":
            self._row += 1
        elif control == "\t":
            self._column = min(self._column // 8 * 8 + 8, self._columns - 1)
        elif final == "m":
            self._style = from_sgr(parameters, self._style)
        elif final == "J":
            width = min(self._columns, self._canvas.width)
            self._canvas.blank(*self._origin, width, self._canvas.rows)
            self._row = self._column = self.height = 0
        else:
            self._go(final, [int(part[:5] or 0) for part in parameters.split(";")])

    def _go(self, final: str, numbers: list[int]) -> None:
        first, second = (*numbers, 0)[:2]
        if final == "C":
            self._column = min(self._column + max(first, 1), self._columns - 1)
        else:
            self._row = max(first, 1) - 1
            self._column = min(max(second, 1), self._columns) - 1

    def _print(self, text: str) -> None:
        row, column = self._origin
        style = _bright(self._style) if self._bright else self._style
        start = 0
        while start < len(text):
            piece = text[start : start + self._columns - self._column]
            self._canvas.put(row + self._row, column + self._column, piece, style)
            start += len(piece)
            self._column += len(piece)
            self.height = max(self.height, self._row + 1)
            if self._column == self._columns:
                self._row, self._column = self._row + 1, 0


def _bright(style: Style) -> Style:
    if not style.blink:
        return style
    return replace(style, blink=False, background=Colour((style.background or 0) | 8))


def paint(canvas: Canvas, art: Art, row: int, column: int) -> None:
    """Paint a picture with its upper left corner at `row` and `column`, clipped to the canvas."""
    _run(canvas, art, row, column)


def height(art: Art) -> int:
    """Return the number of rows down to the last one with text."""
    return _run(Canvas(2, 1), art, 0, 0).height


def _run(canvas: Canvas, art: Art, row: int, column: int) -> _Painter:
    painter = _Painter(canvas, row, column, art.columns, bright=art.is_bright)
    start = art.text.rfind(_CLEAR)  # some files hold thousands of screens before the last
    for token in _TOKEN.finditer(art.text):
        if token.start() >= start or token[2] == "m":
            painter.apply(token)
    return painter
