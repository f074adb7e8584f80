"""A canvas as a PNG, read dot by dot."""

from __future__ import annotations

import struct
import zlib

from ansi.canvas import Canvas
from ansi.charset import GLYPHS
from ansi.picture import COLOURS, HEIGHT, WIDTH, letters, png
from ansi.style import Colour, Style


def dots(image: bytes) -> list[list[int]]:
    """The colours of all dots of a picture of ours, row by row."""
    chunks, at = {}, 8
    while at < len(image):
        (length,) = struct.unpack_from(">I", image, at)
        kind, data = image[at + 4 : at + 8], image[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack_from(">I", image, at + 8 + length)
        assert checksum == zlib.crc32(kind + data)
        chunks[kind] = data
        at += length + 12
    wide, high, *form = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert form == [4, 3, 0, 0, 0]
    assert chunks[b"PLTE"].hex() == "".join(COLOURS)
    lines = zlib.decompress(chunks[b"IDAT"])
    assert len(lines) == high * (1 + wide // 2)
    return [
        [half for byte in line[1:] for half in (byte >> 4, byte & 15)]
        for line in (lines[at : at + 1 + wide // 2] for at in range(0, len(lines), 1 + wide // 2))
    ]


def cell(image: list[list[int]], row: int, column: int) -> set[int]:
    lines = image[row * HEIGHT : (row + 1) * HEIGHT]
    return {dot for line in lines for dot in line[column * WIDTH : (column + 1) * WIDTH]}


def test_each_cell_has_its_colours() -> None:
    canvas = Canvas(7, 2)
    canvas.put(0, 0, "█", Style(foreground=Colour.RED, bold=True))
    canvas.put(0, 1, " ", Style(background=Colour.BLUE))
    canvas.put(0, 2, "█", Style(foreground=Colour.GREEN, reverse=True))
    canvas.put(0, 3, "x")
    canvas.put(1, 0, "世")
    image = dots(png(canvas, scale=1))
    assert (len(image[0]), len(image)) == (6 * WIDTH, 2 * HEIGHT)
    assert cell(image, 0, 0) == {Colour.LIGHT_RED}
    assert cell(image, 0, 1) == {Colour.BLUE}
    assert cell(image, 0, 2) == {Colour.BLACK}
    assert cell(image, 0, 3) == {Colour.BLACK, Colour.GREY}
    assert cell(image, 1, 0) == {Colour.BLACK, Colour.GREY}  # a question mark
    assert cell(image, 1, 1) == {Colour.BLACK}


def test_a_dot_can_be_a_square() -> None:
    canvas = Canvas(4, 1)
    canvas.put(0, 0, "♠A¥")
    small, large = dots(png(canvas, scale=1)), dots(png(canvas, scale=3))
    assert [line[::3] for line in large[::3]] == small
    assert [line[2::3] for line in large[2::3]] == small


def test_there_are_letters_for_all_that_a_screen_can_have() -> None:
    shown = {bytes([byte]).decode("cp437") for byte in range(32, 256) if byte != 127}
    assert not (shown | set(GLYPHS.values())) - {"\x7f"} - letters().keys()
