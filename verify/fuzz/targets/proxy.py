"""door/lines/port/proxy_header.py: the header of a front end before a caller's bytes."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterator

from door.errors import ProxyHeaderRefused
from door.lines.port.proxy_header import LONGEST_EXTRAS, SIGNATURE, ProxyHeader
from verify.fuzz.oracles import assert_one_line, packetings
from verify.fuzz.target import Target

FIXED = 16  # bytes before the addresses of a binary header


def check(data: bytes) -> None:
    """Check a header and the bytes after it, in any pieces."""
    whole = _outcome([data])
    for packets in packetings(data):
        assert _outcome(packets) == whole, "how it was cut makes a difference"
    header, address, rest = whole
    assert_one_line(header)
    assert data.endswith(rest), "bytes behind it are lost or made up"
    if address is not None:
        shown = ipaddress.ip_address(address)
        assert str(shown) == address, "an address has two ways to be written"
        assert not isinstance(shown, ipaddress.IPv6Address) or shown.ipv4_mapped is None
    if header == "more is to come":
        assert len(data) < FIXED + LONGEST_EXTRAS, "it waits for more than a header"


def _outcome(packets: list[bytes]) -> tuple[str, str | None, bytes]:
    header = ProxyHeader()
    for number, packet in enumerate(packets):
        try:
            passed = header.feed(packet)
        except ProxyHeaderRefused as malformed:
            # Which of two mistakes is met first may depend on the cut.
            assert_one_line(str(malformed))
            return "malformed", None, b""
        if passed is not None:
            return "passed", passed.address, passed.rest + b"".join(packets[number + 1 :])
    return "more is to come", None, b""


def _seeds() -> Iterator[bytes]:
    yield b"PROXY TCP4 192.0.2.7 198.51.100.1 40000 23\r\nAda\r"
    yield b"PROXY TCP6 2001:db8::7 ::ffff:192.0.2.1 0 65535\r\n"
    yield b"PROXY UNKNOWN\r\nkeys"
    yield SIGNATURE + struct.pack(">BBH", 0x20, 0, 0) + b"keys"
    yield SIGNATURE + struct.pack(">BBH", 0x21, 0x11, 12) + bytes(range(12)) + b"keys"
    yield SIGNATURE + struct.pack(">BBH", 0x21, 0x21, 43) + bytes(36) + b"\x04\0\x04abcd\xff\xfd"
    yield SIGNATURE + struct.pack(">BBH", 0x21, 0x31, 216) + bytes(216)
    yield b"GET / HTTP/1.0\r\n\r\n"


TARGET = Target(
    name="proxy",
    check=check,
    seeds=_seeds,
    tokens=(
        *(b"PROXY ", b"TCP4 ", b"TCP6 ", b"UNKNOWN", b"\r\n", b" ", b"192.0.2.7", b"::1", b"0"),
        *(SIGNATURE, b"\x21", b"\x20", b"\x11", b"\x21\x21\0\x24", b"\x08\x00", b"\xff\xff"),
    ),
    longest=2500,
    seconds=0.05,
)
