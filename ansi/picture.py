"""A canvas as a picture, in the letters of a terminal of ours and the colours of VGA.

The picture is a PNG of sixteen colours: a header, and rows that zlib packs. Letters come from
`letters.hex`, in the form of GNU Unifont: a character's number, and sixteen rows of eight dots.
"""

import struct
import unicodedata
import zlib
from functools import cache, lru_cache
from importlib.resources import files

from ansi.canvas import Canvas, Row
from ansi.style import Colour, style_of

WIDTH, HEIGHT = 8, 16  # of a letter, in dots

# In the order of `Colour`: dark ones, then bright ones.
COLOURS = (
    *("000000", "aa0000", "00aa00", "aa5500", "0000aa", "aa00aa", "00aaaa", "aaaaaa"),
    *("555555", "ff5555", "55ff55", "ffff55", "5555ff", "ff55ff", "55ffff", "ffffff"),
)
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_BITS, _BY_PALETTE = 4, 3
_BLANK = bytes(HEIGHT)


@cache
def letters() -> dict[str, bytes]:
    """Read the letters: sixteen bytes each, the highest bit of each byte on the left."""
    text = (files("ansi") / "letters.hex").read_text("ascii")
    pairs = (line.split(":") for line in text.splitlines())
    return {chr(int(number, 16)): bytes.fromhex(dots) for number, dots in pairs}


def png(canvas: Canvas, scale: int = 2) -> bytes:
    """Paint all columns but the barred one; each dot of a letter is a square of `scale` dots.

    It takes some 10 ms for 80 by 24 cells.
    """
    rows = canvas.painted(0, canvas.rows)
    image = b"".join(_row(row, scale) for row in rows)
    header = (canvas.width * WIDTH * scale, canvas.rows * HEIGHT * scale, _BITS, _BY_PALETTE)
    return _SIGNATURE + b"".join(
        (
            _chunk(b"IHDR", struct.pack(">IIBBBBB", *header, 0, 0, 0)),
            _chunk(b"PLTE", bytes.fromhex("".join(COLOURS))),
            _chunk(b"IDAT", zlib.compress(image, 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@lru_cache(maxsize=64)
def _row(row: Row, scale: int) -> bytes:
    """Return the lines of a row of cells, each behind the byte that says it is not filtered."""
    cells = [
        (_dots(character), *_colours(ord(ink)))
        for character, ink in zip(row.cells, row.inks, strict=True)
    ]
    lines = (
        b"\0" + b"".join(_eight(dots[line], front, back, scale) for dots, front, back in cells)
        for line in range(HEIGHT)
    )
    return b"".join(line * scale for line in lines)


@lru_cache(maxsize=4096)
def _eight(dots: int, front: int, back: int, scale: int) -> bytes:
    """Return eight dots of a letter in colours, two in a byte."""
    colours = [front if dots >> bit & 1 else back for bit in range(7, -1, -1) for _ in range(scale)]
    return bytes(left << 4 | right for left, right in zip(colours[::2], colours[1::2], strict=True))


@lru_cache(maxsize=256)
def _colours(ink: int) -> tuple[int, int]:
    style = style_of(ink)
    front = Colour.GREY if style.foreground is None else style.foreground
    back = Colour.BLACK if style.background is None else style.background
    if style.bold:
        front = Colour(front | 8)
    return (back, front) if style.reverse else (front, back)


@lru_cache(maxsize=1024)
def _dots(character: str) -> bytes:
    """Return the dots of a character: those of its plain letter for an accent that is missing, and
    none for the second half of a wide one."""
    if not character.isprintable():
        return _BLANK
    known = letters()
    plain = unicodedata.normalize("NFD", character)[0]
    return known.get(character) or known.get(plain) or known["?"]
