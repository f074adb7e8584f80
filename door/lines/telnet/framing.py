"""Telnet's framing (RFC 854, RFC 855): separates typed bytes from commands."""

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import NamedTuple

from door.errors import Flood

IAC = 255
IAC_BYTE = b"\xff"


class Code(IntEnum):
    """The commands in use, by the number after IAC (RFC 854; EOF to EOR: RFC 885, 1184).

    Any number from EOF on is a command; smaller ones are none.
    """

    EOF = 236
    EOR = 239
    SE = 240
    BREAK = 243
    INTERRUPT_PROCESS = 244
    ARE_YOU_THERE = 246
    ERASE_CHARACTER = 247
    GO_AHEAD = 249
    SB = 250
    WILL = 251
    WONT = 252
    DO = 253
    DONT = 254


# Commands that stand for keys.
KEYS: Mapping[int, bytes] = {
    Code.BREAK: b"\x03",
    Code.INTERRUPT_PROCESS: b"\x03",
    Code.ERASE_CHARACTER: b"\x08",
}


class Command(NamedTuple):
    """One whole command; `body` is the option, and for `Code.SB` also its data, unescaped."""

    code: int
    body: bytes


class Splitter:
    """Separates typed bytes and whole commands, in packets of any size.

    >>> splitter = Splitter(4096)
    >>> splitter.feed(b"a\\xff"), splitter.feed(b"\\xffb\\xff\\xfd\\x01c")
    ([b'a'], [b'\\xffb', Command(code=253, body=b'\\x01'), b'c'])

    A subnegotiation of more than `limit` bytes raises `Flood`.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        # The state is the function that reads on. It is unbound, so that no cycle keeps the line.
        self._read: Callable[[Splitter, bytes, int], int] = Splitter._typed
        self._plain = bytearray()
        self._body = bytearray()
        self._code = 0
        self._parts: list[bytes | Command] = []

    @property
    def between(self) -> bool:
        """Whether no command has begun: a packet without an IAC is then only typed bytes."""
        return self._read is Splitter._typed

    def feed(self, data: bytes) -> list[bytes | Command]:
        """Return what `data` completes, in order; typed bytes are joined up to a command."""
        position = 0
        while position < len(data):
            position = self._read(self, data, position)
        self._end_typed()
        parts, self._parts = self._parts, []
        return parts

    # The states. Each reads from `position`, returns where it stopped, and sets the next state.

    def _typed(self, data: bytes, position: int) -> int:
        command = data.find(IAC_BYTE, position)
        if command < 0:
            self._plain += data[position:]
            return len(data)
        self._plain += data[position:command]
        self._read = Splitter._after_iac
        return command + 1

    def _after_iac(self, data: bytes, position: int) -> int:
        code = data[position]
        self._read = Splitter._typed
        if code == IAC:
            self._plain.append(IAC)
        elif code >= Code.WILL:
            self._code = code
            self._read = Splitter._option
        elif code == Code.SB:
            self._body.clear()
            self._read = Splitter._subnegotiation
        else:
            self._end_command(code, b"")
        return position + 1

    def _option(self, data: bytes, position: int) -> int:
        self._read = Splitter._typed
        self._end_command(self._code, data[position : position + 1])
        return position + 1

    def _subnegotiation(self, data: bytes, position: int) -> int:
        end = data.find(IAC_BYTE, position)
        if end < 0:
            self._grow(data[position:])
            return len(data)
        self._grow(data[position:end])
        self._read = Splitter._subnegotiation_iac
        return end + 1

    def _subnegotiation_iac(self, data: bytes, position: int) -> int:
        code = data[position]
        if code == Code.SE:
            self._read = Splitter._typed
            self._end_command(Code.SB, bytes(self._body))
        elif code == IAC:
            self._grow(IAC_BYTE)
            self._read = Splitter._subnegotiation
        elif code < Code.EOF:
            # Some programs forget to double an IAC in a window size: both bytes belong to it.
            self._grow(bytes((IAC, code)))
            self._read = Splitter._subnegotiation
        else:
            # The subnegotiation was broken off, as BSD's telnetd reads it: a new command begins.
            return self._after_iac(data, position)
        return position + 1

    def _grow(self, data: bytes) -> None:
        self._body += data
        if len(self._body) > self._limit:
            raise Flood(f"a telnet subnegotiation longer than {self._limit} bytes")

    def _end_typed(self) -> None:
        if self._plain:
            self._parts.append(bytes(self._plain))
            self._plain.clear()

    def _end_command(self, code: int, body: bytes) -> None:
        self._end_typed()
        self._parts.append(Command(code, body))
