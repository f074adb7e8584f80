"""Pictures for callers: .ANS and .ASC files in CP437, with the SAUCE record at their end.

Files come from anywhere, so `read` makes them harmless. It keeps only the escape sequences that set
a colour, move the cursor right or to a position, or clear the screen. A broken record is left out.
The picture ends at byte 1A, as in DOS.

SAUCE, revision 5 (ACiD, 1994): 128 bytes, numbers little-endian, texts padded with spaces, preceded
by up to 255 comment lines of 64 bytes.
"""

import codecs
import re
import struct
from dataclasses import dataclass, replace
from datetime import date

from ansi.canvas import Canvas
from ansi.charset import GLYPHS, clean
from ansi.style import PLAIN, Colour, Style, from_sgr

_RECORD = struct.Struct("<5s2s35s20s20s8sIBBHHHHBB22s")
_COMMENT_LINE = 64
_MAX_COMMENTS = 255
_END_OF_FILE = b"\x1a"
_USUAL_COLUMNS = 80

_CONTROLS = {0: " ", 9: "\t", 10: "\n", 13: "\r", 27: "\x1b", 26: ""}


@dataclass(frozen=True, slots=True)
class Sauce:
    """The SAUCE record of a picture; numbers as SAUCE defines them for data type 1, characters."""

    title: str = ""
    author: str = ""
    group: str = ""
    made: date | None = None
    data_type: int = 1
    file_type: int = 1
    columns: int = 0
    lines: int = 0
    flags: int = 0
    font: str = ""
    comments: tuple[str, ...] = ()

    @property
    def has_bright_backgrounds(self) -> bool:
        """Whether "blink" means a bright background: the flag of iCE colours."""
        return bool(self.flags & 1)


@dataclass(frozen=True, slots=True)
class Art:
    """A picture: text with harmless escape sequences, and the line ends of its file."""

    text: str
    sauce: Sauce | None


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


def _decode(data: bytes) -> str:
    return codecs.charmap_decode(data, "ignore", _LETTERS)[0]


def _encode(text: str) -> bytes:
    return codecs.charmap_encode(text, "ansi.stand-ins", _BYTES)[0].replace(_END_OF_FILE, b"")


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
    if len(data) >= _RECORD.size and data[-_RECORD.size :].startswith(b"SAUCE00"):
        fields = _RECORD.unpack(data[-_RECORD.size :])
        comments, picture = _read_comments(data[: -_RECORD.size], fields[13])
        sauce = _read_record(fields, comments)
        return Art(_text(picture), sauce)
    return Art(_without_broken_records(_text(data)), None)


def _text(data: bytes) -> str:
    return _SEQUENCE.sub(_harmless, _decode(data.split(_END_OF_FILE, 1)[0]))


def _without_broken_records(text: str) -> str:
    """Cut off an incomplete record at the end, and anything like a record before it."""
    end = len(text)
    while (start := text.rfind("SAUCE00", max(0, end - _RECORD.size), end)) >= 0:
        end = start
    return text[:end]


def _read_comments(before_record: bytes, count: int) -> tuple[tuple[str, ...], bytes]:
    """Return the comment lines and the bytes before them; no lines if their block is misplaced."""
    start = len(before_record) - count * _COMMENT_LINE
    if not count or start < 5 or before_record[start - 5 : start] != b"COMNT":
        return (), before_record
    lines = (
        _field(before_record[line : line + _COMMENT_LINE])
        for line in range(start, len(before_record), _COMMENT_LINE)
    )
    return tuple(lines), before_record[: start - 5]


def _field(data: bytes) -> str:
    return clean(_decode(data.split(b"\0", 1)[0])).rstrip(" ")


def _read_record(fields: tuple[object, ...], comments: tuple[str, ...]) -> Sauce:
    texts = [_field(field) for field in fields if isinstance(field, bytes)]
    numbers = [field for field in fields if isinstance(field, int)]
    _, _, title, author, group, day, font = texts
    _, data_type, file_type, columns, lines, _, _, _, flags = numbers
    try:
        made = date(int(day[:4]), int(day[4:6]), int(day[6:])) if len(day) == 8 else None
    except ValueError:
        made = None
    return Sauce(
        title, author, group, made, data_type, file_type, columns, lines, flags, font, comments
    )


def write(art: Art) -> bytes:
    """Return a picture as the bytes of a file. Raises struct.error for a number out of range.

    Texts longer than their fields are cut, and comments after the 255th are left out.
    """
    picture = _encode(art.text)
    sauce = art.sauce
    if sauce is None:
        return picture
    comments = sauce.comments[:_MAX_COMMENTS]
    block = b"".join(_encode(line)[:_COMMENT_LINE].ljust(_COMMENT_LINE) for line in comments)
    record = _RECORD.pack(
        b"SAUCE",
        b"00",
        _encode(sauce.title).ljust(35),
        _encode(sauce.author).ljust(20),
        _encode(sauce.group).ljust(20),
        (sauce.made.isoformat().replace("-", "") if sauce.made else "").encode().ljust(8),
        len(picture),
        sauce.data_type,
        sauce.file_type,
        sauce.columns,
        sauce.lines,
        0,
        0,
        len(comments),
        sauce.flags,
        _encode(sauce.font),
    )
    return picture + _END_OF_FILE + (b"COMNT" + block if block else b"") + record


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
    columns = (art.sauce.columns if art.sauce else 0) or _USUAL_COLUMNS
    bright = art.sauce is not None and art.sauce.has_bright_backgrounds
    painter = _Painter(canvas, row, column, columns, bright=bright)
    start = art.text.rfind(_CLEAR)  # some files hold thousands of screens before the last
    for token in _TOKEN.finditer(art.text):
        if token.start() >= start or token[2] == "m":
            painter.apply(token)
    return painter
