"""door/lines/web/: a whole connection to the port of the page, with the library behind it."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from door.lines.budget import Rate
from door.lines.line import MAX_COLUMNS, MAX_ROWS, MIN_COLUMNS, MIN_ROWS, Hints, Line
from door.lines.web.connection import USUAL_CONNECTION, WebConnection
from door.lines.web.visitors import USUAL_VISITORS
from door.lines.web.web import USUAL_LIMITS, WebListener
from verify.fuzz.oracles import assert_one_line, packetings
from verify.fuzz.target import Target
from verify.fuzz.targets.telnet import LIMITS as TELNET_LIMITS
from verify.fuzz.wire import Notebook, NoWire

FRAMES = Rate(burst=100, a_second=0.0)
LIMITS = replace(
    USUAL_LIMITS,
    telnet=TELNET_LIMITS,
    connection=replace(USUAL_CONNECTION, frames=FRAMES),
    visitors=replace(USUAL_VISITORS, requests=Rate(burst=40, a_second=0.0)),
)
TURNS = 80  # of the event loop, after which all that was asked for is answered
MOST_ANSWERS = 64 * 100 + 4096  # bytes, besides files and refusals
DATE = re.compile(rb"Date: [^\r]*\r\n")
HELLO = b'{"t":"hello","columns":80,"rows":24,"language":"en"}'


@dataclass(frozen=True)
class Outcome:
    """The final state of a connection; keys before a cut-off are not compared."""

    typed: bytes | None
    size: tuple[int, int]
    hints: Hints | None
    answered: bytes | None  # of a connection that made no call


def frame(opcode: int, body: bytes) -> bytes:
    """Return a short message as a client sends it, its mask all zeros."""
    return bytes((0x80 | opcode, 0x80 | len(body))) + bytes(4) + body


def upgrade(name: str) -> bytes:
    """Return a request for a WebSocket of this kind."""
    lines = (
        "GET /call HTTP/1.1",
        "Host: board",
        "Origin: http://board",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Protocol: {name}",
    )
    return "\r\n".join((*lines, "", "")).encode()


BEFORE = {0: (), 1: (upgrade("bjft.1"), frame(1, HELLO)), 2: (upgrade("binary"),)}


def check(data: bytes) -> None:
    """The first byte chooses the state of the connection: new, a call from the page, or with
    telnet.

    The rest of the bytes arrive on it.
    """
    logging.disable(logging.CRITICAL)  # each cut-off line would be logged
    try:
        with asyncio.Runner() as runner:
            runner.run(_check(data[1:], BEFORE[data[0] % 3 if data else 0]))
    finally:
        logging.disable(logging.NOTSET)


async def _check(data: bytes, before: tuple[bytes, ...]) -> None:
    whole = await _outcome([data], before)
    for packets in packetings(data):
        assert await _outcome(packets, before) == whole, "how it was cut makes a difference"


async def _outcome(packets: list[bytes], before: tuple[bytes, ...]) -> Outcome:
    notebook = Notebook()

    async def serve(line: Line) -> None:
        line.attach(notebook)
        await asyncio.Event().wait()

    listener = WebListener(serve, LIMITS)
    _, web = listener.admit("192.0.2.7")
    assert isinstance(web, WebConnection)
    wire = NoWire()
    wire.set_protocol(web)
    web.connection_made(wire)
    for packet in before:
        web.take(packet)
    sent = len(wire.sent)
    await asyncio.sleep(0)
    for packet in packets:
        if not wire.is_closing():
            web.take(packet)
    for _ in range(TURNS):
        await asyncio.sleep(0)
    line = getattr(web, "line", None)
    ended = wire.is_closing()
    typed, size, hints = None, (0, 0), None
    if line is not None:
        size = line.columns, line.rows
        assert MIN_COLUMNS <= line.columns <= MAX_COLUMNS
        assert MIN_ROWS <= line.rows <= MAX_ROWS
        for text in (*line.hints.terminal_types, line.hints.language, line.hints.charset):
            assert len(text) <= 64
            assert_one_line(text)
        if not ended:
            typed, hints = bytes(notebook.typed), line.hints
        if before:
            assert len(wire.sent) - sent <= MOST_ANSWERS, "answers are bounded"
    answered = None if line is not None else DATE.sub(b"", bytes(wire.sent))
    wire.abort()
    await listener.finish(0)
    assert len(notebook.ends) <= 1
    for why in notebook.ends:
        assert_one_line(why)
    return Outcome(typed, size, hints, answered)


def _seeds() -> Iterator[bytes]:
    for asked in (
        b"GET / HTTP/1.1\r\nHost: board\r\n\r\n",
        b"GET /page.css HTTP/1.1\r\nHost: board\r\nAccept-Encoding: gzip\r\n\r\n" * 3,
        b"HEAD /nothing HTTP/1.1\r\nConnection: close\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 7\r\n\r\ncontent",
        upgrade("bjft.1") + frame(1, HELLO) + frame(2, b"key"),
        upgrade("binary, base64") + frame(2, b"\xff\xfb\x18"),
    ):
        yield b"\0" + asked
    for framed in (
        frame(2, b"Ada\r") + frame(1, b'{"t":"size","columns":40,"rows":30}'),
        frame(9, b"ping") + frame(10, b"") + frame(1, b'{"t":"beat"}') + frame(8, b"\x03\xe8"),
        b"\x02\x81\0\0\0\0k\x80\x81\0\0\0\0l" + frame(2, b"m"),
        b"\x82\xfe\x00\x7e" + bytes(4) + b"k" * 126,
        b"\x82\xff" + bytes(8) + bytes(4),
        frame(2, b"k") * 60,
    ):
        yield b"\1" + framed
    yield b"\2" + frame(2, b"\xff\xfa\x1f\0\x50\0\x18\xff\xf0k") + frame(2, b"\xff")


TARGET = Target(
    name="web",
    check=check,
    seeds=_seeds,
    tokens=(
        *(b"\r\n\r\n", b"GET / HTTP/1.1\r\n", b"Upgrade: websocket\r\n", b"Host: board\r\n"),
        *(b"\x82\x81\0\0\0\0", b"\x81\x8c\0\0\0\0", b"\x88\x80", b"\x89\x80", b"\x00\x80"),
        *(b'{"t":"beat"}', b'"columns":', b"X-Forwarded-For: ", b"Connection: close\r\n"),
    ),
    longest=512,
    seconds=1.0,
)
