"""door/lines/telnet/framing.py: which bytes of a telnet caller are typed, which commands."""

from __future__ import annotations

from collections.abc import Iterator

from door.errors import Flood
from door.lines.telnet.framing import IAC_BYTE, Code, Command, Splitter
from verify.fuzz.oracles import ways_to_cut
from verify.fuzz.target import Target

LIMIT = 64  # bytes of a subnegotiation: short, so that inputs reach it


def check(data: bytes) -> None:
    """However it was cut the same is found, and what was found can be said again."""
    whole = _outcome([data])
    for packets in ways_to_cut(data):
        assert _outcome(packets) == whole, "how it was cut makes a difference"
    if whole is None:
        return
    found, between = whole
    for each in found:
        if isinstance(each, Command):
            assert len(each.body) <= LIMIT
            assert each.code == Code.SB or len(each.body) == (each.code >= Code.WILL)
        else:
            assert each
    if between:
        said = b"".join(map(_said, found))
        assert _outcome([said]) == whole, "what was found means something else"
    splitter = Splitter(LIMIT)
    try:
        splitter.feed(data)
        # Whatever is open is closed by this: a key is a key again.
        splitter.feed(b"x\xff\xf0")
    except Flood:
        return
    assert splitter.between
    assert splitter.feed(b"key") == [b"key"]


def _outcome(packets: list[bytes]) -> tuple[list[bytes | Command], bool] | None:
    """What is found, typed bytes joined, and whether no command is open; None for a flood."""
    splitter = Splitter(LIMIT)
    joined: list[bytes | Command] = []
    try:
        for packet in packets:
            for each in splitter.feed(packet):
                last = joined[-1] if joined else None
                if isinstance(each, bytes) and isinstance(last, bytes):
                    joined[-1] = last + each
                else:
                    joined.append(each)
    except Flood as flood:
        assert str(flood).isprintable()
        return None
    return joined, splitter.between


def _said(each: bytes | Command) -> bytes:
    """The bytes in which a telnet program says it."""
    if isinstance(each, bytes):
        return each.replace(IAC_BYTE, IAC_BYTE * 2)
    if each.code == Code.SB:
        body = each.body.replace(IAC_BYTE, IAC_BYTE * 2)
        return b"\xff\xfa" + body + b"\xff\xf0"
    return bytes((255, each.code)) + each.body


def _seeds() -> Iterator[bytes]:
    yield b"Ada\r\0\xff\xfb\x18\xff\xfd\x03secret\r\n"
    yield b"\xff\xfa\x18\0xterm\xff\xf0\xff\xfa\x1f\0\x50\0\x18\xff\xf0"
    yield b"\xff\xfa\x1f\0\xff\xff\0\xff\xf0\xff\xff\xff\xff\xff\xf1"
    yield b"\xff\xfa\x27\0\0LANG\1en\xff\xf6\xff\xec\xff\xfa"
    yield b"\xff\xfa\x1f\0\x50\0\xff\x18\xff\xf0k"
    yield b"\xff\xfa" + b"A" * 70


TARGET = Target(
    name="framing",
    check=check,
    seeds=_seeds,
    tokens=(
        *(b"\xff\xfa", b"\xff\xf0", b"\xff\xff", b"\xff\xfb", b"\xff\xfc", b"\xff\xfd", b"\xff"),
        *(b"\xff\xf6", b"\xff\xf1", b"\xff\xec", b"\x1f\0\x50\0\x18", b"A" * 60),
    ),
    longest=512,
    seconds=0.05,
)
