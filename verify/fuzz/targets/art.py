"""ansi/art.py: pictures from anywhere, painted on callers' screens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from ansi.art import Art, Sauce, paint, read, write
from ansi.canvas import Canvas
from ansi.charset import Charset, encode
from verify.fuzz.oracles import assert_harmless, assert_one_line
from verify.fuzz.target import Target

# Of a picture's sequences only those stay that colour, go right, go somewhere or clear.
KEPT = re.compile(r"\x1b\[[0-9;]{0,40}[mCHf]|\x1b\[2J|[\t\n\r]")


def check(data: bytes) -> None:
    """It is read, painted whole and clipped, and what was read is written and read again."""
    art = read(data)
    rest = KEPT.sub("", art.text)
    assert "\x1b" not in rest, "a sequence is left"
    assert rest.isprintable() or not any(letter < " " or letter == "\x7f" for letter in rest)
    assert read(write(art)) == art, "what is written is not what was read"
    if art.sauce is not None:
        for text in (art.sauce.title, art.sauce.author, art.sauce.group, *art.sauce.comments):
            assert_one_line(text)
    for columns, row, column in ((80, 0, 0), (132, 3, 26), (80, -2, -5)):
        canvas = Canvas(columns, 24)
        paint(canvas, art, row, column)
        for charset in Charset:
            assert_harmless(encode(canvas.render(), charset), cp437=charset is Charset.CP437)


def _seeds() -> Iterator[bytes]:
    sauce = Sauce(
        title="Casino",
        author="Sysop",
        group="The House",
        made=date(1994, 7, 30),
        columns=80,
        lines=25,
        flags=1,
        font="IBM VGA",
        comments=("First line", "Zweite Größe"),
    )
    picture = "\x1b[2J\x1b[1;33;44mBlack\x1b[5;10HJack\x1b[3C\r\n░▒▓█\x1b[0m\tfor Time"
    yield write(Art(picture, sauce))
    yield write(Art(picture, None))
    yield write(Art("x" * 200, Sauce(columns=40)))
    yield b"plain\r\n\x01\x02\x0e\x1f\x7f\x00\xff\x1aSAUCE00"
    yield b'\x1b["p;evil";13p\x1b[6n\x1b]2;t\x07\x1b[38;5;200m\x1b[?7h\x1b[s\x1b[u\x1b[999B\x1b[A'


TARGET = Target(
    name="art",
    check=check,
    seeds=_seeds,
    tokens=(
        *(b"\x1b[", b"\x1b[2J", b"\x1b[0m", b"\x1b[10;20H", b"\x1b[40C", b"\x1b[38;5;1m", b'"'),
        *(b"SAUCE00", b"COMNT", b"\x1a", b";", b"m", b"\r\n", b"99999999", b"\xff\xff", b"\t"),
    ),
    longest=2048,
    seconds=0.25,
)
