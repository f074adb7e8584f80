"""Telnet without negotiation, on a connection that the host set up before it started the door.

The caller's program still doubles 0xFF, sends window sizes, and answers the host's requests late.
These are understood and kept from the keys. Nothing is asked or refused, which could change what
the host agreed on. Needs no telnet library.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass

from door.errors import Flood
from door.lines.budget import Budget, Rate
from door.lines.flow import LineLimits, StreamLine, StreamProtocol
from door.lines.line import bounded_size
from door.lines.telnet.framing import (
    IAC_BYTE,
    KEYS,
    Code,
    Command,
    Splitter,
)
from door.lines.telnet.line import TelnetLine

BELL = b"\a"  # the answer to Are You There: it leaves the screen as it is

# A timing mark (RFC 860) must be answered: after a Ctrl-C some programs drop all output until the
# answer comes. It leaves no option on.
_TIMING_MARK = b"\x06"
_WILL_TIMING_MARK = IAC_BYTE + bytes((Code.WILL,)) + _TIMING_MARK
_WINDOW = re.compile(rb"\x1f(.{2})(.{2})", re.DOTALL)  # RFC 1073: columns, rows


@dataclass(frozen=True)
class CommandLimits(LineLimits):
    """The limits of one caller's commands; `subnegotiation` is in bytes, from SB to SE."""

    subnegotiation: int
    commands: Rate


class TelnetProtocol(StreamProtocol):
    """One caller's telnet: typed bytes go to the line, and each whole command to `obey`."""

    def __init__(
        self,
        kind: str,
        limits: CommandLimits,
        address: str | None = None,
        gone: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(lambda transport: TelnetLine(kind, transport, limits, address), gone)
        self._splitter = Splitter(limits.subnegotiation)
        self._budget = Budget(limits.commands, asyncio.get_running_loop().time, "telnet commands")

    def take(self, data: bytes) -> None:
        if IAC_BYTE in data or not self._splitter.between:
            self.take_commands(data)
        else:
            self.line.deliver(data)

    def take_commands(self, data: bytes) -> None:
        """Take bytes with commands among them; cut the line off if they exceed the budget."""
        try:
            for part in self._splitter.feed(data):
                if self.line.ended:
                    return
                if isinstance(part, bytes):
                    self.line.deliver(part)
                else:
                    self._budget.pay(1 + len(part.body) // 64)
                    self.obey(part)
        except Flood as flood:
            self.line.cut_off(str(flood))

    def obey(self, command: Command) -> None:
        """Handle a command that stands for a key or asks a question."""
        if command.code in KEYS:
            self.line.deliver(KEYS[command.code])
        elif command.code == Code.ARE_YOU_THERE:
            self.answer(BELL)

    def answer(self, data: bytes) -> None:
        """Send `data` as it is; the line's own `write` would double the IAC of a command."""
        StreamLine.write(self.line, data)


class PassiveTelnet(TelnetProtocol):
    """One caller's telnet as the host left it: reads only keys and window sizes."""

    def obey(self, command: Command) -> None:
        code, body = command
        if code == Code.DO and body == _TIMING_MARK:
            self.answer(_WILL_TIMING_MARK)
        elif code == Code.SB and (window := _WINDOW.fullmatch(body)):
            columns, rows = (int.from_bytes(side, "big") for side in window.groups())
            self.line.resize(*bounded_size(columns, rows))
        else:
            super().obey(command)
