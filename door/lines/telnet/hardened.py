"""Telnet for callers whom nobody knows: telnetlib3's server, let near nothing that could hurt it.

The library keeps the state of the options and words the requests. What reaches it has been through
`framing` (whole and short), through the tables below (known, of the right form) and through a
budget. Typed bytes never reach it at all. Its encodings, its compression, its timers, its reader
and its own `Server` are out of use: each has been seen to stall, to fail or to grow without end.
"""

import asyncio
import collections
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import telnetlib3
from telnetlib3 import telopt

from door.errors import Flood
from door.lines.flow import INTAKE, UNREAD, LineEvents
from door.lines.line import clamp_size, printable
from door.lines.telnet.framing import IAC_BYTE, KEYS, Budget, Code, Command, Splitter
from door.lines.telnet.passive import BELL, LONGEST_REPLY, CommandLimits, TelnetLine

logger = logging.getLogger("door.lines")

# What is asked for at once, as the caller's first packet from us: character at a time, eight bits
# both ways, and who he is. ECHO and SGA make Debian's telnet and its kin send every key.
_ASKED = (
    telopt.WILL + telopt.ECHO,
    telopt.WILL + telopt.SGA,
    telopt.DO + telopt.SGA,
    telopt.WILL + telopt.BINARY,
    telopt.DO + telopt.BINARY,
    telopt.DO + telopt.TTYPE,
    telopt.DO + telopt.NAWS,
    telopt.DO + telopt.NEW_ENVIRON,
    telopt.DO + telopt.CHARSET,
)
_OPENING = b"".join(IAC_BYTE + request for request in _ASKED)

# The options that may be on, at our end and at the caller's. All others are refused, every time.
_OURS = frozenset({telopt.BINARY, telopt.ECHO, telopt.SGA, telopt.TM, telopt.CHARSET})
_THEIRS = frozenset(
    {
        telopt.BINARY,
        telopt.SGA,
        telopt.TTYPE,
        telopt.NAWS,
        telopt.NEW_ENVIRON,
        telopt.CHARSET,
        telopt.TSPEED,
    }
)
_COMPRESSION = frozenset({b"\x55", telopt.MCCP2_COMPRESS, telopt.MCCP3_COMPRESS})

# The subnegotiations worth reading, and the only form in which each is read: a window of four
# bytes (RFC 1073), a terminal's name (RFC 1091), variables (RFC 1572), a character set asked for,
# accepted or refused (RFC 2066), two speeds (RFC 1079).
_FORMS = {
    telopt.NAWS: re.compile(rb".{4}", re.DOTALL),
    telopt.TTYPE: re.compile(rb"\x00[ -~]{1,64}"),
    telopt.NEW_ENVIRON: re.compile(rb"[\x00\x02].*", re.DOTALL),
    telopt.CHARSET: re.compile(rb"\x01[ -~]{2,1024}|\x02[ -~]{1,64}|\x03"),
    telopt.TSPEED: re.compile(rb"\x00[0-9]{1,10},[0-9]{1,10}"),
}

_TERMINAL_TYPES = 8
_CHARACTER_SETS = ("UTF-8", "CP437", "IBM437", "US-ASCII")
_LANGUAGE_VARIABLES = ("LC_ALL", "LC_CTYPE", "LANG")  # the first one set counts (POSIX)


@dataclass(frozen=True)
class TelnetLimits(CommandLimits):
    """What one telnet caller may cost the board.

    Who says nothing is served after `silence`; who is answering, however far away, after
    `patience` at the latest (both in seconds since he connected).
    """

    silence: float
    patience: float


# In place of the library's buffers, which nothing is ever put into: a caller's own would be empty.
_NOTHING: collections.deque[Any] = collections.deque(maxlen=0)


class _LeanWriter(telnetlib3.TelnetWriter):
    """The library's options without the tables of what is never let near them.

    Those of LINEMODE's characters, of single commands and of refused options are seven kilobytes a
    caller, a third of all that the library keeps for him.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.slctab = {}
        self._sb_buffer = self._slc_buffer = _NOTHING

    def close(self) -> None:
        """Let go of the caller, and of the tables that hold the writer which holds them."""
        super().close()
        for table in ("local_option", "remote_option", "pending_option"):
            vars(self).pop(table, None)

    def set_slc_callback(self, slc_byte: bytes, func: Callable[..., Any]) -> None:
        """Forget it: LINEMODE is refused."""

    def set_iac_callback(self, cmd: bytes, func: Callable[..., Any]) -> None:
        """Forget all commands but the mark that comes as an option; `_obey` knows the others."""
        if cmd == telopt.TM:
            super().set_iac_callback(cmd, func)

    def set_ext_callback(self, cmd: bytes, func: Callable[..., Any]) -> None:
        """Forget the subnegotiations that are not read."""
        if cmd in _FORMS:
            super().set_ext_callback(cmd, func)


class HardenedTelnet(LineEvents, telnetlib3.TelnetServer):
    """One caller's telnet, from the first packet to the last.

    `ready` is called with the line once, when everything asked has been answered or takes too long;
    never when the caller is gone before. `gone` is called last of all, when the socket is closed.
    """

    line: TelnetLine

    def __init__(
        self,
        limits: TelnetLimits,
        ready: Callable[[TelnetLine], None],
        gone: Callable[[], None],
        address: str,
    ) -> None:
        """Make ready for one connection from `address`."""
        super().__init__(encoding=False, compression=False, timeout=0, writer_factory=_LeanWriter)
        self._loop = asyncio.get_running_loop()
        self._limits = limits
        self._ready: Callable[[TelnetLine], None] | None = ready
        self._gone = gone
        self._address = address
        self._splitter = Splitter(limits.subnegotiation)
        self._budget = Budget(limits.commands, self._loop.time)
        self._began = self._loop.time()
        self._serve_at = self._began + limits.silence
        self._timer: asyncio.TimerHandle | None = None  # None before anything is asked
        self._asked_after = False
        self._writer_factory = _LeanWriter
        self._drain_waiters = _NOTHING  # of asyncio's own flow control; the line has another

    # asyncio's protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a new connection; the library calls `begin_negotiation` in the loop's next step."""
        # A cast, for uvloop's transports are no kin of asyncio's.
        self.line = TelnetLine(
            "telnet", cast("asyncio.Transport", transport), self._limits, self._address
        )
        super().connection_made(transport)
        assert isinstance(self.writer, telnetlib3.TelnetWriter)
        self._options = self.writer
        self._options.slc_simulated = False
        self._options.set_ext_send_callback(telopt.CHARSET, self.choose_charset)

    def data_received(self, data: bytes) -> None:
        """Give typed bytes to the line and obey commands; keys alone take no detour."""
        if IAC_BYTE not in data and self._splitter.between:
            self.line.deliver(data)
            return
        commands = 0
        try:
            for found in self._splitter.feed(data):
                if self.line.ended:
                    return
                if isinstance(found, bytes):
                    self.line.deliver(found)
                else:
                    commands += 1
                    self._budget.spend(found)
                    self._obey(found)
        except Flood as flood:
            self.line.cut_off(str(flood))
            return
        if self._asked_after:
            self._asked_after = False
            self.line.write(BELL)
        self.line.count_unsent(LONGEST_REPLY * commands)
        if self._ready is not None and self._timer is not None:
            self._serve_when_answered()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of everything, so that nothing of the caller outlives the connection."""
        if self._closing:
            return  # the library's writer announces the end as well, while it is being closed
        self.line.lose(exc)
        if self._timer is not None:
            self._timer.cancel()
        self._ready = None
        super().connection_lost(None)
        self._options.close()
        self._gone()

    # From asking to serving

    def begin_negotiation(self) -> None:
        """Ask for everything at once."""
        if self.line.ended:
            return
        # The library would send each request as a packet of its own.
        self._options.pending_option.update(dict.fromkeys(_ASKED, True))
        self._transport.write(_OPENING)
        self._timer = self._loop.call_at(self._serve_at, self._serve_in_time)

    def _serve_when_answered(self) -> None:
        """Serve a caller who has answered everything; be patient with one who is answering.

        Each round trip of the dialogue takes as long as the first, so a far caller is given as
        much again as he has taken so far.
        """
        if not any(self._options.pending_option.values()):
            self._serve()
            return
        taken = self._loop.time() - self._began
        patience = min(2 * taken + 0.1, self._limits.patience)
        self._serve_at = max(self._serve_at, self._began + patience)

    def _serve_in_time(self) -> None:
        if self._loop.time() < self._serve_at:
            self._timer = self._loop.call_at(self._serve_at, self._serve_in_time)
        else:
            self._serve()

    def _serve(self) -> None:
        ready, self._ready = self._ready, None
        if self._timer is not None:
            self._timer.cancel()
        if ready is not None and not self.line.ended:
            ready(self.line)

    # What the caller's program wants

    def _obey(self, command: Command) -> None:
        code, body = command
        if code >= Code.WILL:
            self._settle_option(code, body)
        elif code == Code.SB:
            self._read_subnegotiation(body[:1], body[1:])
        elif code in KEYS:
            self.line.deliver(KEYS[code])
        elif code == Code.ARE_YOU_THERE:
            self._asked_after = True

    def _settle_option(self, code: int, option: bytes) -> None:
        if option in (_OURS if code in (Code.DO, Code.DONT) else _THEIRS):
            for byte in (IAC_BYTE, bytes((code,)), option):
                self._options.feed_byte(byte)
            if code == Code.WONT:
                self._options.pending_option.pop(telopt.SB + option, None)
        elif code == Code.DO:
            self._transport.write(telopt.IAC + telopt.WONT + option)
        elif code == Code.WILL:
            self._transport.write(telopt.IAC + telopt.DONT + option)

    def _read_subnegotiation(self, option: bytes, content: bytes) -> None:
        if option in _COMPRESSION:
            self.line.cut_off("compression that was refused")
            return
        form = _FORMS.get(option)
        if form is None:
            return
        if not form.fullmatch(content):
            self._options.pending_option.pop(telopt.SB + option, None)
            return
        body = option + content
        try:
            self._options.handle_subnegotiation(
                collections.deque(body[at : at + 1] for at in range(len(body)))
            )
        except Exception as error:
            # The form leaves little to go wrong; what the library makes of the rest is its secret.
            logger.debug("telnet %s: option %r: %r", self.line.address, option, error)
        # An agreed character set would be used to decode variables, whatever it is.
        self._options.environ_encoding = "ascii"

    # What the library read, in the order of its own methods

    def on_naws(self, rows: int, cols: int) -> None:
        """Learn the window's size (the library names rows first)."""
        self.line.resize(*clamp_size(cols, rows))

    def on_request_environ(self) -> list[str | bytes]:
        """Ask for the language alone: nothing else of a caller's surroundings concerns a board."""
        return list(_LANGUAGE_VARIABLES)

    def on_environ(self, mapping: dict[str, str]) -> None:
        """Learn the language."""
        language = next((mapping[key] for key in _LANGUAGE_VARIABLES if mapping.get(key)), "")
        if language:
            self.line.hints = replace(self.line.hints, language=printable(language))

    def on_request_charset(self) -> list[str]:
        """Offer the character sets that the board speaks, the best first."""
        return list(_CHARACTER_SETS)

    def on_charset(self, charset: str) -> None:
        """Learn which of them the caller's program took."""
        self.line.hints = replace(self.line.hints, charset=printable(charset))

    def choose_charset(self, offers: list[str]) -> str | None:
        """Answer the caller's own offer with the first set that the board speaks, or with none."""
        chosen = next((offer for offer in offers if offer.upper() in _CHARACTER_SETS), None)
        if chosen is not None:
            self.line.hints = replace(self.line.hints, charset=printable(chosen))
        return chosen

    def on_tspeed(self, rx: str, tx: str) -> None:
        """Learn the speed that the caller's program claims."""
        self.line.hints = replace(self.line.hints, speed=printable(f"{rx},{tx}"))

    def on_ttype(self, ttype: str) -> None:
        """Learn one of the terminal's names, and ask for the next until one comes again."""
        names = self.line.hints.terminal_types
        if ttype not in names and len(names) < _TERMINAL_TYPES:
            self.line.hints = replace(self.line.hints, terminal_types=(*names, ttype))
            self._options.request_ttype()


class TelnetFace(asyncio.BufferedProtocol):
    """What a transport sees of a caller's telnet: a protocol that says where to read into.

    The library's server is an `asyncio.Protocol`, and for uvloop that is all it needs to know: it
    would read a quarter of a megabyte at once, into buffers of its own.
    """

    __slots__ = ("_telnet",)

    def __init__(self, telnet: HardenedTelnet) -> None:
        """Stand in front of `telnet`."""
        self._telnet = telnet

    @property
    def line(self) -> TelnetLine:
        """The caller's line, once there is a connection."""
        return self._telnet.line

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a new connection."""
        self._telnet.connection_made(transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Say where the next bytes go: never more than may wait."""
        return self._telnet.line.room()

    def buffer_updated(self, nbytes: int) -> None:
        """Take the bytes that went there."""
        self._telnet.data_received(bytes(INTAKE[:nbytes]))
        if nbytes == UNREAD:
            self._telnet.line.breathe()

    def eof_received(self) -> None:
        """Take a half-close for a hang-up."""
        self._telnet.eof_received()

    def pause_writing(self) -> None:
        """Learn that bytes wait to leave."""
        self._telnet.pause_writing()

    def resume_writing(self) -> None:
        """Learn that everything has left."""
        self._telnet.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of everything."""
        self._telnet.connection_lost(exc)
