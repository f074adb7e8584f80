"""Telnet for strangers, with telnetlib3 kept from all that could harm the board.

The library's `TelnetWriter` keeps the state of the options and writes the requests; the rest of the
library is not used. It gets only commands that are whole and short (`framing`), within a budget,
and in the tables below. Typed bytes never reach it.

Faults of telnetlib3 5.0.1, each with a test in tests/door/lines/test_telnetlib3.py that is expected
to fail. Once the library mends a fault, its test passes and is reported, and "here" can go.

 1. `TelnetServer` gives its reader no transport to pause, so a caller who types faster than anyone
    reads fills the memory. Here: `StreamLine`. (test_1_a_reader_that_is_full_pauses_the_transport)
 2. `TelnetServer` is no `BufferedProtocol`: one read of 256 kB is taken in one step of the loop.
    Here: `StreamProtocol`. (test_2_reads_are_as_small_as_the_server_wants)
 3. `create_server` has no backlog, and its queue of new clients keeps a thousand that are gone.
    Here: `Listener`. (test_3_the_backlog_can_be_set,
    test_3_gone_clients_are_forgotten)
 4. `SB MCCP3` switches decompression on although `compression=False`, and without a limit on what
    comes out. Here: the caller is cut off. (test_4_compression_that_is_refused_stays_off)
 5. A subnegotiation may have a megabyte, kept as an object for each byte. Here: `Splitter`.
    (test_5_a_long_subnegotiation_is_not_taken)
 6. A malformed subnegotiation raises `struct.error`, `IndexError` or `NotImplementedError` out of
    `feed_byte`, which announces `ValueError`. Here: `_FORMS`.
    (test_6_nonsense_raises_nothing_but_valueerror)
 7. Whatever a caller accepts as a character set then decodes the variables: `LookupError` for a
    name that is none. Here: `environ_encoding` is put back.
    (test_7_a_false_character_set_does_not_hide_the_variables)
 8. `WILL TTYPE`, `WONT TTYPE` leaves the request for the name pending for ever. Here: it is taken
    out, as for a malformed answer. (test_8_an_option_taken_back_is_not_waited_for)
 9. An option that is refused is refused once only, and `WILL ECHO` never is: it raises. Here: the
    library does not hear of them. (test_9_an_option_is_refused_each_time)
10. What a caller sends is logged as warnings, of any length and at any rate. Here:
    `quieten_library`. (test_10_malformed_input_logs_no_warning)
11. Each server-side writer has LINEMODE's tables, seven kilobytes, before LINEMODE is agreed on.
    Here: `_LeanWriter`. (test_11_a_writer_has_no_linemode_until_it_is_agreed_on)
12. A closed writer is held by its own tables until the garbage collector finds it. Here:
    `_LeanWriter.let_go`. (test_12_a_closed_writer_is_freed)
13. Each request is written at once, so nine of them are nine packets. Here: `_OPENING`.
    (test_13_requests_made_together_leave_together)
"""

import asyncio
import collections
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, cast

import telnetlib3
from telnetlib3 import telopt

from ansi.charset import Charset
from ansi.home_screen import notice
from door.lines.budget import Rate
from door.lines.line import LANGUAGE_VARIABLES, MOST_TERMINAL_TYPES, Line, bounded_size, printable
from door.lines.port.connection import OPEN, Entrance, LineConnection
from door.lines.port.listener import Listener
from door.lines.telnet.framing import IAC_BYTE, Code, Command
from door.lines.telnet.line import GMCP, TelnetLine
from door.lines.telnet.passive import CommandLimits, TelnetProtocol

logger = logging.getLogger("door.lines")

# The requests in our first packet: character at a time, eight bits both ways, and the terminal's
# facts. ECHO and SGA make Debian's telnet and its like send every key.
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

# The options that may be on at our end, and in `_THEIRS` at the caller's. All others are refused
# every time.
_OURS = frozenset({telopt.BINARY, telopt.ECHO, telopt.SGA, telopt.TM, telopt.CHARSET})
# Also at our end, without the library, which would refuse them. MUD clients are offered them.
_OFFERED = frozenset({telopt.EOR, GMCP})
_NOTED = frozenset({telopt.ECHO, telopt.SGA}) | _OFFERED  # what we send depends on these answers
_COMPRESSION = frozenset({b"\x55", telopt.MCCP2_COMPRESS, telopt.MCCP3_COMPRESS})

# The subnegotiations worth reading, and the only form in which each is read: a window of four
# bytes (RFC 1073), a terminal's name (RFC 1091), variables (RFC 1572), a character set asked for,
# accepted or refused (RFC 2066).
_FORMS = {
    telopt.NAWS: re.compile(rb".{4}", re.DOTALL),
    telopt.TTYPE: re.compile(rb"\x00[ -~]{1,64}"),
    telopt.NEW_ENVIRON: re.compile(rb"[\x00\x02].*", re.DOTALL),
    telopt.CHARSET: re.compile(rb"\x01[ -~]{2,1024}|\x02[ -~]{1,64}|\x03"),
}
_THEIRS = frozenset({telopt.BINARY, telopt.SGA, *_FORMS})

_LONGEST_REPLY = 64  # bytes; the CHARSET request with its announcement
_GO_AHEAD = IAC_BYTE + bytes((Code.GO_AHEAD,))
_END_OF_RECORD = IAC_BYTE + bytes((Code.EOR,))
_CHARACTER_SETS = ("UTF-8", "CP437", "IBM437", "ISO-8859-1", "US-ASCII")


# The options agreed on at our end and at the caller's, and the open requests.
_Agreement = tuple[tuple[tuple[bytes, bool], ...], ...]
_OPENED: _Agreement = ((), (), tuple((request, True) for request in _ASKED))


@lru_cache(maxsize=256)
def _shared(agreement: _Agreement) -> _Agreement:
    """Return an equal agreement that many callers share."""
    return agreement


@dataclass(frozen=True)
class TelnetLimits(CommandLimits):
    """The limits of one telnet caller; both in seconds from the connection."""

    silence: float  # until a caller who answers nothing is served
    patience: float  # until a caller who is still answering is served


USUAL_LIMITS = TelnetLimits(
    unsent=256 * 1024,
    farewell=5.0,
    subnegotiation=4096,
    # A window dragged by its corner sends some sixty sizes a second; a whole log-on, thirty.
    commands=Rate(burst=500, a_second=50.0),
    silence=0.45,
    patience=2.0,
)


def quieten_library() -> None:
    """Keep the library out of the log, unless its level has been set."""
    library = logging.getLogger("telnetlib3")
    if library.level == logging.NOTSET:
        library.setLevel(logging.CRITICAL)


class _LeanWriter(telnetlib3.TelnetWriter):
    """The library's options, without the tables for commands that it never gets."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__(transport, None, server=True)
        self.slctab = {}

    def close(self) -> None:
        super().close()
        self.let_go()

    def let_go(self) -> None:
        """Drop all references back to the writer, which must not be used after this."""
        vars(self).clear()

    def tables(self) -> tuple[dict[bytes, bool], ...]:
        return self.local_option, self.remote_option, self.pending_option

    def set_slc_callback(self, slc_byte: bytes, func: Callable[..., Any]) -> None:
        pass

    def set_iac_callback(self, cmd: bytes, func: Callable[..., Any]) -> None:
        if cmd == telopt.TM:  # the one that comes as an option
            super().set_iac_callback(cmd, func)

    def set_ext_callback(self, cmd: bytes, func: Callable[..., Any]) -> None:
        if cmd in _FORMS:
            super().set_ext_callback(cmd, func)


class NegotiatingTelnet(TelnetProtocol):
    """One caller's telnet, which asks the program for what the board needs.

    Calls `ready` with the line when all requests are answered or late, unless the caller is gone.
    Calls `gone` last, when the socket is closed.
    """

    line: TelnetLine

    def __init__(
        self,
        limits: TelnetLimits,
        ready: Callable[[TelnetLine], None],
        gone: Callable[[], None],
        address: str,
        terminal: str = "",
    ) -> None:
        """Ask nothing of a caller whose `terminal` is known, until a telnet command comes.

        A home computer behind a modem may know no telnet, and would show the requests.
        """
        super().__init__("telnet", limits, address, gone)
        self._terminal = terminal
        self._has_asked = not terminal
        self._loop = asyncio.get_running_loop()
        self._limits = limits
        self._ready: Callable[[TelnetLine], None] | None = ready
        self._began = self._loop.time()
        self._serve_at = self._began + limits.silence
        self._agreement = _OPENED
        self._options: _LeanWriter | None = None
        self._noted: dict[bytes, bool] = {}  # of `_NOTED`: whether the caller's program agreed

    # asyncio's protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._transport = cast("asyncio.Transport", transport)
        if self._has_asked:
            self._transport.write(_OPENING)
            self._hint(sends_lines=True)  # until the program agrees to send each key
        else:
            self._serve_at = self._began
            self._hint(terminal_types=(self._terminal,))
        self._timer = self._loop.call_at(self._serve_at, self._serve_in_time)

    def _library(self) -> _LeanWriter:
        """Return the library's options. Their 8 kB are dropped once the caller is served, because
        most terminals send no more. They are restored if one does."""
        if self._options is not None:
            return self._options
        self._options = options = _LeanWriter(self._transport)
        options.set_ext_callback(
            telopt.NAWS, lambda rows, columns: self.line.resize(*bounded_size(columns, rows))
        )
        options.set_ext_callback(telopt.TTYPE, self._on_terminal_type)
        options.set_ext_callback(telopt.NEW_ENVIRON, self._on_variables)
        options.set_ext_callback(telopt.CHARSET, self._on_charset)
        options.set_ext_offer_callback(telopt.NEW_ENVIRON, lambda: list(LANGUAGE_VARIABLES))
        options.set_ext_offer_callback(telopt.CHARSET, lambda: list(_CHARACTER_SETS))
        options.set_ext_send_callback(telopt.CHARSET, self._choose_charset)
        for table, agreed in zip(options.tables(), self._agreement, strict=True):
            table.update(agreed)
        return options

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self._ready = None
        if self._options is not None:
            self._options.close()
        super().connection_lost(exc)

    # From the requests to the call

    def take_commands(self, data: bytes) -> None:
        super().take_commands(data)
        if self._ready is not None:
            self._serve_when_answered()

    def _serve_when_answered(self) -> None:
        """Serve a caller who has answered all requests; wait for one who is answering.

        Each round trip takes as long as the first. So a caller far away gets as much time again as
        they have taken so far.
        """
        if not any(self._library().pending_option.values()):
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
        self._timer.cancel()
        if ready is None or self.line.ended:
            return
        if self._options is not None:
            self._agreement = _shared(tuple(tuple(each.items()) for each in self._options.tables()))
            self._options.let_go()
            self._options = None
        ready(self.line)

    # Commands of the caller's program

    def obey(self, command: Command) -> None:
        code, body = command
        if code >= Code.SB and not self._has_asked:
            self._has_asked = True
            self._transport.write(_OPENING)
        if code >= Code.WILL:
            self._settle_option(code, body)
        elif code == Code.SB:
            self._read_subnegotiation(body[:1], body[1:])
        else:
            super().obey(command)
        self.line.count_unsent(_LONGEST_REPLY)

    def _settle_option(self, code: int, option: bytes) -> None:
        """Let the library answer for the options that may be on, and refuse all others."""
        if code in (Code.DO, Code.DONT):
            allowed, refusal = _OURS, telopt.WONT
            was_on = self._noted.get(option, False)
            if option in _NOTED:
                self._noted[option] = code == Code.DO
                self._prompt_as_wanted()
            if option in _OFFERED:
                # A MUD client answers an offer; any other program has asked.
                if code == Code.DO and not (was_on or self.line.hints.works_by_lines):
                    self._transport.write(telopt.IAC + telopt.WILL + option)
                return
            if option == telopt.ECHO and self.line.hints.works_by_lines:
                return  # the answer to what hides a password
        else:
            allowed, refusal = _THEIRS, telopt.DONT
        if option in allowed:
            for byte in (IAC_BYTE, bytes((code,)), option):
                self._library().feed_byte(byte)
            if code == Code.WONT:
                self._answered(option)
        elif code in (Code.DO, Code.WILL):
            self._transport.write(telopt.IAC + refusal + option)

    def _prompt_as_wanted(self) -> None:
        by_lines = self.line.hints.works_by_lines
        self.line.takes_figures = self._noted.get(GMCP, False)
        if self._noted.get(telopt.EOR):
            self.line.prompt_mark = _END_OF_RECORD
        elif self._noted.get(telopt.SGA) is False:
            self.line.prompt_mark = _GO_AHEAD
        else:
            self.line.prompt_mark = b"\r\n" if by_lines else b""
        sends_keys = self._noted.get(telopt.ECHO) and self._noted.get(telopt.SGA)
        self._hint(sends_lines=by_lines or not sends_keys)

    def _answered(self, option: bytes) -> None:
        self._library().pending_option.pop(telopt.SB + option, None)

    def _read_subnegotiation(self, option: bytes, content: bytes) -> None:
        if option in _COMPRESSION:
            self.line.cut_off("compression that was refused")
        elif (form := _FORMS.get(option)) is None:
            return
        elif not form.fullmatch(content):
            self._answered(option)
        else:
            body, options = option + content, self._library()
            try:
                options.handle_subnegotiation(
                    collections.deque(body[at : at + 1] for at in range(len(body)))
                )
            except Exception as error:
                # The form leaves little to go wrong, but the parser is the library's.
                logger.debug("telnet %s: option %r: %r", self.line.address, option, error)
            options.environ_encoding = "ascii"

    def _hint(self, **known: Any) -> None:
        self.line.hints = replace(self.line.hints, **known)

    def _on_variables(self, mapping: dict[str, str]) -> None:
        language = next((mapping[key] for key in LANGUAGE_VARIABLES if mapping.get(key)), "")
        if language:
            self._hint(language=printable(language))

    def _on_charset(self, charset: str) -> None:
        self._hint(charset=printable(charset))

    def _choose_charset(self, offers: list[str]) -> str | None:
        chosen = next((offer for offer in offers if offer.upper() in _CHARACTER_SETS), None)
        if chosen is not None:
            self._on_charset(chosen)
        return chosen

    def _on_terminal_type(self, name: str) -> None:
        """Note one of the terminal's names, and ask for the next until one repeats."""
        names = self.line.hints.terminal_types
        if name not in names and len(names) < MOST_TERMINAL_TYPES:
            was_by_lines = self.line.hints.works_by_lines
            self._hint(terminal_types=(*names, name))
            self._library().request_ttype()
            if self.line.hints.works_by_lines and not was_by_lines:
                self._meet_mud_client()

    def _meet_mud_client(self) -> None:
        """Leave echoes to a program that sends lines, except for secrets; offer marked prompts and
        figures."""
        will, wont = telopt.IAC + telopt.WILL, telopt.IAC + telopt.WONT
        self.line.echo_off, self.line.echo_on = will + telopt.ECHO, wont + telopt.ECHO
        self._transport.write(self.line.echo_on + will + telopt.EOR + will + GMCP)
        self._prompt_as_wanted()


class TelnetListener(Listener):
    """A telnet port. `on_line` serves each call in a task of its own.

    `limits` are `USUAL_LIMITS`, except in tests. `terminal` is what all callers have, if known.
    """

    def __init__(
        self,
        on_line: Callable[[Line], Awaitable[None]],
        limits: TelnetLimits,
        entrance: Entrance = OPEN,
        terminal: str = "",
    ) -> None:
        super().__init__(entrance)
        self._on_line = on_line
        self._limits = limits
        self._terminal = terminal
        quieten_library()

    def answer(self, address: str, visit: LineConnection) -> NegotiatingTelnet:
        return NegotiatingTelnet(self._limits, self._serve, visit.end, address, self._terminal)

    def farewell(self, words: str) -> bytes:
        return notice(Charset(self._terminal), words) if self._terminal else super().farewell(words)

    def _serve(self, line: TelnetLine) -> None:
        self.begin_call(line, partial(self._on_line, line))
