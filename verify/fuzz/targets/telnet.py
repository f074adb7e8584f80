"""door/lines/telnet/telnet.py and passive.py: a whole telnet line, with the library behind it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass

from door.lines.budget import Rate
from door.lines.host import host
from door.lines.line import MAX_COLUMNS, MAX_ROWS, MIN_COLUMNS, MIN_ROWS, Hints
from door.lines.telnet.passive import PassiveTelnet
from door.lines.telnet.telnet import NegotiatingTelnet, TelnetLimits
from verify.fuzz.oracles import assert_one_line, packetings
from verify.fuzz.target import Target
from verify.fuzz.wire import Notebook, NoWire

COMMANDS = 100
# A clock that runs would give two readings of the same bytes two budgets.
LIMITS = TelnetLimits(
    unsent=256 * 1024,
    farewell=5.0,
    subnegotiation=512,
    commands=Rate(burst=COMMANDS, a_second=0.0),
    silence=0.45,
    patience=2.0,
)
# An answer to each command at most, of the length of the longest one, and the requests.
MOST_SENT = 64 * (COMMANDS + 8)
QUIET, PASSIVE = 2, 3  # asks nothing until a command comes; never asks


@dataclass(frozen=True)
class Outcome:
    """The final state of a line; keys before a cut-off are not compared."""

    typed: bytes | None
    size: tuple[int, int]
    hints: Hints | None
    prompt_mark: bytes
    takes_figures: bool


def check(data: bytes) -> None:
    """The first byte chooses who negotiates: the board, at once or when asked, or a host."""
    logging.disable(logging.CRITICAL)  # each cut-off line would be logged
    try:
        with asyncio.Runner() as runner:
            runner.run(_check(data[1:], data[0] % 4 if data else 0))
    finally:
        logging.disable(logging.NOTSET)


async def _check(data: bytes, kind: int) -> None:
    whole = await _outcome([data], kind)
    for packets in packetings(data):
        assert await _outcome(packets, kind) == whole, "how it was cut makes a difference"


async def _outcome(packets: list[bytes], kind: int) -> Outcome:
    wire, notebook = NoWire(), Notebook()
    protocol = _protocol(kind)
    wire.set_protocol(protocol)
    protocol.connection_made(wire)
    line = protocol.line
    line.attach(notebook)
    await asyncio.sleep(0)
    for packet in packets:
        if not line.ended:
            protocol.take(packet)
    ended = line.ended
    typed = None if ended else bytes(notebook.typed)
    if not ended:
        protocol.take(b"x\xff\xf0")  # this closes any open command
        notebook.typed.clear()
        protocol.take(b"key")
        assert line.ended or notebook.typed == b"key", "a key is not a key any more"
    assert MIN_COLUMNS <= line.columns <= MAX_COLUMNS
    assert MIN_ROWS <= line.rows <= MAX_ROWS
    assert len(wire.sent) <= MOST_SENT, f"{len(wire.sent)} bytes of answers"
    hints = line.hints
    assert len(hints.terminal_types) <= 8
    for text in (*hints.terminal_types, hints.language, hints.charset):
        assert len(text) <= 64
        assert text.isascii()
        assert_one_line(text)
    line.abort()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(notebook.ends) == 1
    assert_one_line(notebook.ends[0])
    # The budget counts commands up to the end, so a line that was cut off has read them all.
    size = line.columns, line.rows
    if ended:
        return Outcome(None, size, None, b"", takes_figures=False)
    return Outcome(typed, size, hints, line.prompt_mark, takes_figures=line.takes_figures)


def _protocol(kind: int) -> NegotiatingTelnet | PassiveTelnet:
    if kind == PASSIVE:
        return PassiveTelnet("socket", host.USUAL_LIMITS)
    terminal = "petscii" if kind == QUIET else ""
    return NegotiatingTelnet(LIMITS, lambda line: None, lambda: None, "192.0.2.7", terminal)


def _seeds() -> Iterator[bytes]:
    arrived = (
        b"\xff\xfb\x18\xff\xfb\x1f\xff\xfb\x27\xff\xfb\x2a\xff\xfd\x01\xff\xfd\x03\xff\xfb\0",
        b"\xff\xfa\x18\0xterm-256color\xff\xf0\xff\xfa\x1f\0\x50\0\x18\xff\xf0Ada\r\0",
        b"\xff\xfb\x27\xff\xfa\x27\0\0LANG\1en_US.UTF-8\0LC_ALL\1C\xff\xf0",
        b"\xff\xfd\x2a\xff\xfa\x2a\2UTF-8\xff\xf0\xff\xfa\x2a\1;UTF-8;CP437\xff\xf0\xff\xfa\x2a\3",
        b"\xff\xfb\x20\xff\xfa\x20\x0038400,38400\xff\xf0\xff\xf6\xff\xf4\xff\xf7\xff\xf3",
        b"\xff\xfa\x1f\0\xff\xff\0\xff\xff\xff\xf0\xff\xff\xff\xfb\x55\xff\xfa\x57\xff\xf0bomb",
        b"\xff\xfc\x18\xff\xfe\x01\xff\xfe\0\xff\xfc\0\xff\xfd\x06\xff\xfd\x12\xff\xfb\x5b",
        b"\xff\xfd\x03" * 60,
        b"\xff\xfe\x03\xff\xf9\xff\xfd\x19\xff\xef\xff\xfe\x19\xff\xfd\x19\xff\xfe\x01",
        b"\xff\xfb\x18\xff\xfa\x18\0MTTS 2381\xff\xf0\xff\xfd\x19\xff\xfd\x01look\r\n",
        b'\xff\xfa\x18\0MTTS 2349\xff\xf0\xff\xfd\xc9\xff\xfa\xc9Core.Hello {"a": 1}\xff\xf0',
        b"\xff\xfd\xc9\xff\xfe\xc9\xff\xfb\xc9\xff\xfa\xc9Char.Vitals " + b"[" * 300 + b"\xff\xf0",
        b"\xff\xfb\x19\xff\xfd\x19\xff\xfe\x19" * 20,
        b"".join(b"\xff\xfa\x18\0MTTS %d\xff\xf0" % 10**each for each in range(12)),
        b"\xff\xfa\x2a\2../../etc\xff\xf0\xff\xfa\x2a\1;rot13;zip;UTF-8\xff\xf0bet \0005\r\0"
        + b"x" * 200,
    )
    for kind in (0, QUIET, PASSIVE):
        for each in arrived:
            yield bytes((kind,)) + each


TARGET = Target(
    name="telnet",
    check=check,
    seeds=_seeds,
    tokens=(
        *(
            b"\xff\xfa",
            b"\xff\xf0",
            b"\xff\xfb",
            b"\xff\xfc",
            b"\xff\xfd",
            b"\xff\xfe",
            b"\xff\xff",
        ),
        *(
            b"\xff\xfa\x18\0",
            b"\xff\xfa\x1f",
            b"\xff\xfa\x27\0",
            b"\xff\xfa\x2a\1",
            b"\xff\xfa\x20",
        ),
        *(b"\0LANG\1", b"\2\2", b"\xff\xf6", b"\xff\xf4", b";UTF-8", b"\x1b[c", b"\xff\xfd\x06"),
        *(b"\xff\xf9", b"\xff\xef", b"\xff\xfd\x19", b"\xff\xfe\x03", b"MTTS 2381"),
        *(b"\xff\xfd\xc9", b"\xff\xfe\xc9", b"\xff\xfa\xc9Core.", b"\r\0", b"\r\n"),
    ),
    longest=512,
    seconds=0.5,
)
