"""Telnet on a connection that somebody else has negotiated: a host, before it started the door.

The caller's program still speaks telnet: it doubles 0xFF, sends window sizes, answers late what the
host has asked. Here that is understood and kept from the keys, and nothing is asked or changed: a
refusal of what the host agreed on would change the connection under the host's feet. The telnet
library is not needed for it, and a door that need not load it starts sooner.
"""

import asyncio
import re
from dataclasses import dataclass

from door.errors import Flood
from door.lines.flow import LineLimits, StreamLine, StreamProtocol
from door.lines.line import clamp_size
from door.lines.telnet.framing import (
    IAC_BYTE,
    KEYS,
    Budget,
    Code,
    Command,
    CommandAllowance,
    Splitter,
)

BELL = b"\a"  # the answer to Are You There, once a packet: it leaves the screen as it is
LONGEST_REPLY = 64  # bytes; the server's CHARSET request with what announces it

# A timing mark (RFC 860) must be answered: after a Ctrl-C some programs throw away all output until
# the answer comes. It leaves no option on.
_TIMING_MARK = b"\x06"
_WILL_TIMING_MARK = IAC_BYTE + bytes((Code.WILL,)) + _TIMING_MARK
_WINDOW = re.compile(rb"\x1f(.{2})(.{2})", re.DOTALL)  # RFC 1073: columns, rows


@dataclass(frozen=True)
class CommandLimits(LineLimits):
    """What the commands of one caller may cost.

    `subnegotiation` bounds what stands between SB and SE (bytes), `commands` how many commands may
    come.
    """

    subnegotiation: int
    commands: CommandAllowance


class TelnetLine(StreamLine):
    """The line of a caller whose program speaks telnet."""

    def write(self, data: bytes) -> None:
        """Send `data`, with every 0xFF doubled so that it is not taken for a command."""
        if IAC_BYTE in data:
            data = data.replace(IAC_BYTE, IAC_BYTE + IAC_BYTE)
        super().write(data)


class PassiveTelnet(StreamProtocol):
    """One caller's telnet as a host left it: keys and window sizes are read, the rest is let be."""

    def __init__(self, kind: str, limits: CommandLimits) -> None:
        """Make ready for a connection whose line is called `kind`."""
        super().__init__(lambda transport: TelnetLine(kind, transport, limits))
        self._splitter = Splitter(limits.subnegotiation)
        self._budget = Budget(limits.commands, asyncio.get_running_loop().time)

    def take(self, data: bytes) -> None:
        """Give typed bytes to the line and obey commands; keys alone take no detour."""
        if IAC_BYTE not in data and self._splitter.between:
            self.line.deliver(data)
            return
        answers: list[bytes] = []
        try:
            for found in self._splitter.feed(data):
                if isinstance(found, bytes):
                    self.line.deliver(found)
                else:
                    self._budget.spend(found)
                    answers += self._obey(found)
        except Flood as flood:
            self.line.cut_off(str(flood))
            return
        for answer in dict.fromkeys(answers):  # each once a packet
            # Not the line's own way of writing: that would double the IAC of a command.
            StreamLine.write(self.line, answer)

    def _obey(self, command: Command) -> tuple[bytes, ...]:
        """Do what a command asks; return the answers to it, mostly none."""
        code, body = command
        if code in KEYS:
            self.line.deliver(KEYS[code])
        elif code == Code.ARE_YOU_THERE:
            return (BELL,)
        elif code == Code.DO and body == _TIMING_MARK:
            return (_WILL_TIMING_MARK,)
        elif code == Code.SB and (window := _WINDOW.fullmatch(body)):
            columns, rows = (int.from_bytes(side, "big") for side in window.groups())
            self.line.resize(*clamp_size(columns, rows))
        return ()
