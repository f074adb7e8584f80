"""Checks shared by several targets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

# The board's own output to a terminal that paints (ansi/canvas.py, door/call/canvas_display.py).
OURS = re.compile(rb"\x1b\[(?:[0-9]{1,3}(?:;[0-9]{1,3}){0,5})?[mCDHJK]|\x1b\[\?(?:25|2004)[hl]")
# Harmless movements: ends of lines, and deleting typed text.
_HARMLESS = re.compile(rb"[\r\n\x08]")
# The low bytes of CP437 that are drawn and never obeyed (ansi/charset.py).
_DRAWN = re.compile(rb"[\x01-\x06\x10\x11]")
_CONTROL = re.compile(rb"[\x00-\x1f\x7f\xff]")


def packetings(data: bytes) -> Iterator[list[bytes]]:
    """Yield the packets in which `data` may arrive: byte by byte, and two random ways."""
    yield [data[at : at + 1] for at in range(len(data))]
    for longest in (5, 80):
        random = Random(len(data) * longest)
        packets, at = [], 0
        while at < len(data):
            end = at + random.randint(1, longest)
            packets.append(data[at:end])
            at = end
        yield packets


def assert_harmless(sent: bytes, *, cp437: bool) -> None:
    """Check that a terminal obeys only what the board meant."""
    rest = _HARMLESS.sub(b"", OURS.sub(b"", sent))
    if cp437:
        rest = _DRAWN.sub(b"", rest)
    match = _CONTROL.search(rest)
    assert match is None, f"{match[0]!r} is sent"


def assert_one_line(text: str) -> None:
    """A text is fit for a line of a log, or of anybody's terminal."""
    assert text.isprintable(), f"not printable: {text!a}"
