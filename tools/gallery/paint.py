"""A terminal's screen as a picture, in the letters and colours of a VGA card.

The letters are those of the Linux console (Debian's console-setup-linux): drawn for VGA, with all
of CP437 and with accents. Pillow writes the PNG (`pip install '.[gallery]'`).
"""

from __future__ import annotations

import gzip
import struct
import unicodedata
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyte
    from PIL.Image import Image
    from pyte.screens import Char

FONTS = Path("/usr/share/consolefonts")
# The second has the suits and the shades, the first the accents.
NAMED = ("Uni2-VGA16.psf.gz", "FullGreek-VGA16.psf.gz")
# Letters that neither font has.
STAND_INS = {"▁": "_", "✓": "√", "►": "→", "◄": "←", "▶": "→", "◀": "←"}
WIDTH, HEIGHT = 8, 16
WIDE_COLUMNS = 40  # up to here a letter is twice as wide, as on a monitor of the time

# PSF version 1: two bytes that say so, a mode, and the bytes of a letter.
_HEADER = struct.Struct("<2sBB")
_MAGIC = b"\x36\x04"
_END, _SEQUENCE = 0xFFFF, 0xFFFE

# The sixteen colours of VGA; pyte calls yellow brown, as DOS did.
NAMES = ["black", "red", "green", "brown", "blue", "magenta", "cyan", "white"]
DARK = ("000000", "aa0000", "00aa00", "aa5500", "0000aa", "aa00aa", "00aaaa", "aaaaaa")
BRIGHT = ("555555", "ff5555", "55ff55", "ffff55", "5555ff", "ff55ff", "55ffff", "ffffff")


class PaintMissing(Exception):
    """The means of drawing pictures are missing; the text names their source."""


@cache
def letters() -> dict[str, bytes]:
    """Read the fonts: sixteen rows of eight dots for each character."""
    if find_spec("PIL") is None:
        raise PaintMissing("Pillow is missing: pip install -e '.[gallery]'")
    glyphs: dict[str, bytes] = {}
    for name in NAMED:
        file = FONTS / name
        if not file.exists():
            raise PaintMissing(f"{file} is missing: apt-get install console-setup-linux")
        glyphs.update(letters_of(gzip.decompress(file.read_bytes())))
    for character, other in STAND_INS.items():
        glyphs.setdefault(character, glyphs[other])
    return glyphs


def letters_of(data: bytes) -> dict[str, bytes]:
    """Read a font of the Linux console, as `letters` has them."""
    magic, mode, size = _HEADER.unpack_from(data)
    assert (magic, size) == (_MAGIC, HEIGHT), "a font of PSF 1, sixteen rows high"
    count = 512 if mode & 1 else 256
    words = struct.iter_unpack("<H", data[_HEADER.size + count * size :])
    glyphs: dict[str, bytes] = {}
    number, in_sequence = 0, False
    for (word,) in words:
        if word == _END:
            number, in_sequence = number + 1, False
        elif word == _SEQUENCE:
            in_sequence = True
        elif not in_sequence:
            start = _HEADER.size + number * size
            glyphs.setdefault(chr(word), data[start : start + size])
    return glyphs


def picture(screen: pyte.Screen) -> Image:
    from PIL import Image

    image = Image.new("RGB", (screen.columns * WIDTH, screen.lines * HEIGHT))
    for row in range(screen.lines):
        for column in range(screen.columns):
            _paint(image, column, row, screen.buffer[row][column])
    if not screen.cursor.hidden:
        x, y = screen.cursor.x * WIDTH, screen.cursor.y * HEIGHT
        image.paste(_rgb(DARK[7]), (x, y + HEIGHT - 2, x + WIDTH, y + HEIGHT))
    if screen.columns <= WIDE_COLUMNS:
        image = image.resize((image.width * 2, image.height), resample=0)
    return image.quantize(16)


def _paint(image: Image, column: int, row: int, cell: Char) -> None:
    from PIL import Image

    front, back = _colour(cell.fg, 7, bright=cell.bold), _colour(cell.bg, 0, bright=cell.blink)
    if cell.reverse:
        front, back = back, front
    x, y = column * WIDTH, row * HEIGHT
    image.paste(_rgb(back), (x, y, x + WIDTH, y + HEIGHT))
    dots = _dots(cell.data)
    if dots is not None:
        image.paste(_rgb(front), (x, y), Image.frombytes("1", (WIDTH, HEIGHT), dots))


def _dots(character: str) -> bytes | None:
    """Return the dots of a character, or of the plain letter for an accent missing in the font."""
    if character in ("", " "):
        return None
    known = letters()
    plain = unicodedata.normalize("NFD", character)[0]
    return known.get(character[0]) or known.get(plain) or known["?"]


def _colour(name: str, otherwise: int, *, bright: bool) -> str:
    if len(name) == 6 and set(name) <= set("0123456789abcdef"):  # red, green and blue
        return name
    if name.startswith("bright"):
        name, bright = name.removeprefix("bright"), True
    number = otherwise if name == "default" else NAMES.index(name)
    return (BRIGHT if bright else DARK)[number]


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour)
    return red, green, blue
