"""The header of a front end that passes a caller on: HAProxy's PROXY protocol, 1 and 2.

    PROXY TCP4 192.0.2.7 198.51.100.1 40000 23 CR LF

or the same in binary after twelve bytes that no caller types. Anybody can send such a header, so it
is read only from configured front ends. It must come first and be whole and well-formed.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass

from door.errors import ProxyHeaderRefused

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
LONGEST_TEXT = 107  # bytes with CR LF, as the specification counts them
LONGEST_EXTRAS = 2048  # bytes after the first sixteen: two addresses, and extensions, skipped here

_TEXT_START = b"PROXY "
_FIXED = 16  # bytes: signature, version and command, family, length
_LOCAL, _PROXY = 0x20, 0x21
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# By family and transport: the type of the addresses, and the bytes of each.
_FAMILIES: Mapping[int, tuple[type[_Address], int]] = {
    0x11: (ipaddress.IPv4Address, 4),
    0x21: (ipaddress.IPv6Address, 16),
}
_UNSPECIFIED, _UNIX = 0x00, 0x31
_UNIX_BYTES = 216
_PORT = re.compile(r"0|[1-9][0-9]{0,4}", re.ASCII)


@dataclass(frozen=True)
class Passed:
    """A front end's header: the caller's `address`, or None for a call of the front end itself,
    mostly a health check. `rest` has the bytes after the header."""

    address: str | None
    rest: bytes


class ProxyHeader:
    """Reads one header from packets of any size.

    >>> header = ProxyHeader()
    >>> header.feed(b"PROXY TCP4 192.0.2.7 "), header.feed(b"198.51.100.1 40000 23\\r\\nhello")
    (None, Passed(address='192.0.2.7', rest=b'hello'))
    """

    def __init__(self) -> None:
        self._read = bytearray()

    def feed(self, data: bytes) -> Passed | None:
        """Take more bytes; return the header once it is whole, and take no more then.

        Raises `ProxyHeaderRefused` as soon as the bytes cannot become a header.
        """
        self._read += data
        read = bytes(self._read)
        if _may_become(read, SIGNATURE):
            return _binary(read)
        if _may_become(read, _TEXT_START):
            return _text(read)
        raise ProxyHeaderRefused("it does not begin as a PROXY header")


def _may_become(read: bytes, start: bytes) -> bool:
    return read[: len(start)] == start[: len(read)]


def _text(read: bytes) -> Passed | None:
    line, end, rest = read.partition(b"\r\n")
    if len(line) + (2 if end else 1) > LONGEST_TEXT:
        raise ProxyHeaderRefused("its line is too long")
    if not end:
        return None
    try:
        words = line.decode("ascii").split(" ")
    except UnicodeDecodeError as error:
        raise ProxyHeaderRefused("its line is not ASCII") from error
    if words[1] == "UNKNOWN":
        return Passed(None, rest)
    if words[1] not in ("TCP4", "TCP6"):
        raise ProxyHeaderRefused("its protocol is not TCP4, TCP6 or UNKNOWN")
    if len(words) != 6:
        raise ProxyHeaderRefused("its line has not the six words of a call")
    for port in words[4:]:
        if not _PORT.fullmatch(port) or int(port) > 65535:
            raise ProxyHeaderRefused("it has no port where one belongs")
    kind = ipaddress.IPv4Address if words[1] == "TCP4" else ipaddress.IPv6Address
    try:
        caller, _ = kind(words[2]), kind(words[3])
    except ValueError as error:
        raise ProxyHeaderRefused("it has no address where one belongs") from error
    return Passed(_shown(caller), rest)


def _binary(read: bytes) -> Passed | None:
    if len(read) < _FIXED:
        return None
    command, family = read[12], read[13]
    length = int.from_bytes(read[14:_FIXED], "big")
    if command not in (_LOCAL, _PROXY):
        raise ProxyHeaderRefused("its version or its command is unknown")
    if length > LONGEST_EXTRAS:
        raise ProxyHeaderRefused("it is too long")
    body, rest = read[_FIXED : _FIXED + length], read[_FIXED + length :]
    if command == _PROXY:
        kind, size = _FAMILIES.get(family, (None, 0))
        if kind is None and family not in (_UNSPECIFIED, _UNIX):
            raise ProxyHeaderRefused("its address family carries no calls")
        needed = _UNIX_BYTES if family == _UNIX else 2 * size + 4 if kind else 0
        if length < needed:
            raise ProxyHeaderRefused("it is too short for its addresses")
        if len(body) < length:
            return None
        return Passed(None if kind is None else _shown(kind(body[:size])), rest)
    return Passed(None, rest) if len(body) == length else None


def _shown(address: _Address) -> str:
    """Return an address as the kernel writes it; IPv4 mapped into IPv6 is IPv4."""
    if isinstance(address, ipaddress.IPv6Address):
        return str(address.ipv4_mapped or ipaddress.IPv6Address(int(address)))
    return str(address)
