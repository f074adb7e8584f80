"""Telnet without negotiation, on a connection that the host set up before it started the door.

The caller's program still doubles 0xFF, sends window sizes, and answers the host's requests late.
These are understood and kept from the keys. Nothing is asked or refused, which could change what
the host agreed on. Needs no telnet library.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from door.errors import Flood
from door.lines.budget import Budget, Rate
from door.lines.flow import LineLimits, StreamLine, StreamProtocol
from door.lines.line import OpenKeys, bounded_size
from door.lines.telnet.framing import (
    IAC,
    IAC_BYTE,
    KEYS,
    Code,
    Command,
    Splitter,
)

_TYPED = ("text", "number", "secret")  # questions at which letters are typed
BELL = b"\a"  # the answer to Are You There: it leaves the screen as it is

# A timing mark (RFC 860) must be answered: after a Ctrl-C some programs drop all output until the
# answer comes. It leaves no option on.
_TIMING_MARK = b"\x06"
_WILL_TIMING_MARK = IAC_BYTE + bytes((Code.WILL,)) + _TIMING_MARK
GMCP = b"\xc9"
_WINDOW = re.compile(rb"\x1f(.{2})(.{2})", re.DOTALL)  # RFC 1073: columns, rows


@dataclass(frozen=True)
class CommandLimits(LineLimits):
    """The limits of one caller's commands; `subnegotiation` is in bytes, from SB to SE."""

    subnegotiation: int
    commands: Rate


class TelnetLine(StreamLine):
    """A line that doubles every 0xFF it sends, so that none reads as a command.

    At each question it sends `prompt_mark` behind the prompt. A program that echoes while its
    `echo_off` is not sent hides a secret between `echo_off` and `echo_on`.
    """

    prompt_mark = b""
    echo_off, echo_on = b"", b""
    _is_marked = True  # nothing was written since the last mark
    _asked: OpenKeys | None = None
    _is_hidden = False
    takes_vitals = False  # whether the program has agreed to GMCP
    _told = b""  # the figures that were sent last

    @property
    def vitals(self) -> Callable[[Mapping[str, int]], None] | None:
        """What sends a caller's figures by GMCP if they have changed; None if nobody wants them."""
        return self._tell_vitals if self.takes_vitals else None

    def _tell_vitals(self, vitals: Mapping[str, int]) -> None:
        figures = ", ".join(f'"{name}": {figure}' for name, figure in vitals.items())
        data = f"Char.Vitals {{{figures}}}".encode()
        if data != self._told:
            self._told = data
            begin, end = bytes((IAC, Code.SB)), bytes((IAC, Code.SE))
            super().write(begin + GMCP + data + end)

    @property
    def offers(self) -> Callable[[OpenKeys, str], None] | None:
        return self._on_question if self.prompt_mark or self.echo_off else None

    def _on_question(self, offered: OpenKeys, _language: str) -> None:
        is_secret = offered.ask == "secret"
        if self.echo_off and is_secret != self._is_hidden:
            self._is_hidden = is_secret
            super().write(self.echo_off if is_secret else self.echo_on)
        is_typing = offered is self._asked and offered.ask in _TYPED  # what was written is an echo
        self._asked = offered
        if not (self._is_marked or is_typing):
            super().write(self.prompt_mark)
        self._is_marked = True

    def write(self, data: bytes) -> None:
        self._is_marked = False
        if IAC_BYTE in data:
            data = data.replace(IAC_BYTE, IAC_BYTE + IAC_BYTE)
        super().write(data)


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
