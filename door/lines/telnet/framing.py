"""Telnet's framing (RFC 854, RFC 855): which bytes are the caller's and which are commands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from door.errors import Flood

IAC = 255
IAC_BYTE = b"\xff"


class Code(IntEnum):
    """The commands that matter here, by the number after IAC (RFC 854; EOF to EOR: RFC 885, 1184).

    Any number from EOF on is a command; a smaller one means nothing.
    """

    EOF = 236
    SE = 240
    BREAK = 243
    INTERRUPT_PROCESS = 244
    ARE_YOU_THERE = 246
    ERASE_CHARACTER = 247
    SB = 250
    WILL = 251
    WONT = 252
    DO = 253
    DONT = 254


# Commands that are keys.
KEYS: Mapping[int, bytes] = {
    Code.BREAK: b"\x03",
    Code.INTERRUPT_PROCESS: b"\x03",
    Code.ERASE_CHARACTER: b"\x08",
}


class Command(NamedTuple):
    """One whole command; `body` is the option, and for `Code.SB` what follows it, unescaped."""

    code: int
    body: bytes


class Splitter:
    """Parts packets into typed bytes and whole commands, however they were cut.

    >>> splitter = Splitter(4096)
    >>> splitter.feed(b"a\\xff"), splitter.feed(b"\\xffb\\xff\\xfd\\x01c")
    ([b'a'], [b'\\xffb', Command(code=253, body=b'\\x01'), b'c'])

    `limit` is how many bytes a subnegotiation may hold; more raise `Flood`.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        # The state is the function that reads on. Unbound, so that no cycle outlives the line.
        self._read: Callable[[Splitter, bytes, int], int] = Splitter._typed
        self._plain = bytearray()
        self._body = bytearray()
        self._code = 0
        self._found: list[bytes | Command] = []

    @property
    def between(self) -> bool:
        """Whether no command has begun: bytes without an IAC are then just what was typed."""
        return self._read is Splitter._typed

    def feed(self, data: bytes) -> list[bytes | Command]:
        """What became whole with `data`, in order; typed bytes are joined up to a command."""
        position = 0
        while position < len(data):
            position = self._read(self, data, position)
        self._end_typed()
        found, self._found = self._found, []
        return found

    # One state each: it reads from `position`, says where it stopped, and names the next state.

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
            # Some programs forget to double an IAC in a window size: both bytes are meant.
            self._grow(bytes((IAC, code)))
            self._read = Splitter._subnegotiation
        else:
            # The subnegotiation was broken off, as BSD's telnetd reads it: this is a new command.
            return self._after_iac(data, position)
        return position + 1

    def _grow(self, data: bytes) -> None:
        self._body += data
        if len(self._body) > self._limit:
            raise Flood(f"a telnet subnegotiation longer than {self._limit} bytes")

    def _end_typed(self) -> None:
        if self._plain:
            self._found.append(bytes(self._plain))
            self._plain.clear()

    def _end_command(self, code: int, body: bytes) -> None:
        self._end_typed()
        self._found.append(Command(code, body))


@dataclass(frozen=True)
class CommandAllowance:
    """How many commands a line may send: `burst` at once, and `a_second` more every second."""

    burst: int
    a_second: float


class Budget:
    """Counts a line's commands against its allowance, on a clock that gives seconds; `what` they
    are, for the log."""

    def __init__(
        self,
        allowance: CommandAllowance,
        clock: Callable[[], float],
        what: str = "telnet commands",
    ) -> None:
        self._what = what
        self._allowance = allowance
        self._clock = clock
        self._left = float(allowance.burst)
        self._at = clock()

    def spend(self, command: Command) -> None:
        """Pay for one command, a long one more; `Flood` when nothing is left."""
        self.pay(1 + len(command.body) // 64)

    def pay(self, cost: int) -> None:
        """Pay for as much as `cost` commands; `Flood` when nothing is left."""
        now = self._clock()
        earned = (now - self._at) * self._allowance.a_second
        self._at = now
        self._left = min(self._left + earned, float(self._allowance.burst))
        self._left -= cost
        if self._left < 0:
            raise Flood(f"more than {self._allowance.burst} {self._what} in a burst")
