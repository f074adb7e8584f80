"""door/lines/rlogin/header.py and rlogin/trust.py: strangers' bytes before the call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from door.errors import BoardNotTrusted, RloginHeaderRefused
from door.lines.addresses import networks
from door.lines.rlogin.header import (
    LONGEST_FIELD,
    HeaderParser,
    RloginHeader,
    WindowSize,
    WindowSizes,
)
from door.lines.rlogin.trust import Convention, TrustedBoard, trusted
from verify.fuzz.oracles import assert_one_line, packetings
from verify.fuzz.target import Target

SECRET = "swordfish"
PEER = "192.0.2.7"
HERE = networks(["192.0.2.0/24"])
BOARDS = (
    TrustedBoard("Moth House", "", HERE, SECRET, Convention.SYNCHRONET),
    TrustedBoard("Party", "PTY", HERE, "", Convention.DOORPARTY),
)
SIZE = 12  # bytes of a window size


def check(data: bytes) -> None:
    """A header, and behind it keys and window sizes; however it was cut."""
    whole = _outcome([data])
    for packets in packetings(data):
        assert _outcome(packets) == whole, "how it was cut makes a difference"
    header, header_rest, _ = whole
    if header is None:
        assert_one_line(header_rest)
        assert SECRET not in header_rest, "a refusal repeats the password"
        return
    for field in (header.first, header.second, header.terminal, header.xtrn, header.tag):
        assert_one_line(field)
        assert len(field) <= LONGEST_FIELD
    assert header.first
    assert header.second.strip() == header.second != ""
    assert repr(header) == repr(replace(header, first="another")), "it shows the password"
    _trust(header)


def _outcome(
    packets: list[bytes],
) -> tuple[RloginHeader | None, str, tuple[bytes, list[WindowSize]]]:
    parser, sizes = HeaderParser(), WindowSizes()
    header: RloginHeader | None = None
    typed, sizes_read, came = b"", [], 0
    for packet in packets:
        rest = packet
        if header is None:
            try:
                header = parser.feed(packet)
            except RloginHeaderRefused as refused:
                return None, str(refused), (b"", [])
            if header is None:
                continue
            rest = parser.rest
        came += len(rest)
        for size in sizes.feed(rest):
            if isinstance(size, WindowSize):
                sizes_read.append(size)
                assert 0 <= size.columns <= 65535
                assert 0 <= size.rows <= 65535
            else:
                assert size
                typed += size
    waiting = came - len(typed) - SIZE * len(sizes_read)
    assert 0 <= waiting < SIZE, "bytes are lost or made up"
    assert sizes.between == (not waiting)
    return header, "no header yet" if header is None else "", (typed, sizes_read)


def _trust(header: RloginHeader) -> None:
    try:
        caller = trusted(header, PEER, BOARDS)
    except BoardNotTrusted as reason:
        assert_one_line(str(reason))
        assert header.first not in str(reason) or header.first != SECRET
        return
    assert caller.user == header.second
    if caller.board == "Moth House":
        assert header.first == SECRET
        assert not header.tag
    else:
        assert header.tag.casefold() == "pty"


def _seeds() -> Iterator[bytes]:
    yield b"\0swordfish\0Ada\0xtrn=BJFT/9600\0keys\xff\xffss\0\x18\0\x50\0\0\0\0more"
    yield b"\0Ada\0[PTY]Ada\0ansi/115200\0\xff\xff\xffss\0\x18\0\x50\0\0\0\0"
    yield b"\0[PTY]Ada\0[pty]ADA\0\0k"
    yield "\0swordfish\0Moth Größe\0xterm\0".encode() + b"\xff\xffs\xff\xff"
    yield b"\0swordfish\0Gr\x94\xe1e\0vt100/38400\0"
    yield b"\0\0Ada\0ansi\0"
    yield b"\0" + b"s" * 129
    yield b"GET / HTTP/1.0\r\n\r\n"


TARGET = Target(
    name="rlogin",
    check=check,
    seeds=_seeds,
    tokens=(
        *(b"\0", b"\xff\xffss", b"\xff\xff", b"xtrn=", b"XTRN=", b"[PTY]", b"[", b"]", b"/9600"),
        *(
            b"swordfish",
            b"Ada",
            b"\xc2\xa0",
            b"\xe2\x80\xae",
            b" ",
            b"\x1b",
            b"\0\x18\0\x50\0\0\0\0",
        ),
    ),
    longest=512,
    seconds=0.05,
)
