"""A caller's telnet program for tests: a real socket, its own small telnet, and a pyte screen.

It shares no code with the board, so that a mistake in one does not hide the same mistake in the
other. What it does on the wire is said by a `Profile`; what it shows is what a caller would see.

    async with Terminal(SYNCTERM) as terminal:
        await terminal.connect(port)
        await terminal.until("Your name")
        terminal.send("Ada\\r")
"""

import asyncio
import asyncio.trsock
import codecs
import re
import socket
import ssl
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import Self, cast

import pyte
from pyte import modes
from pyte.screens import Char
from wcwidth import wcwidth

from tests.home_computer import SCREENS
from verify.robots.screen import marked

IAC, DONT, DO, WONT, WILL, SB, SE = 255, 254, 253, 252, 251, 250, 240
BINARY, ECHO, SGA, TTYPE, EOR, NAWS, NEW_ENVIRON, CHARSET = 0, 1, 3, 24, 25, 31, 39, 42
IS, SEND = 0, 1
CHARSET_REQUEST, CHARSET_ACCEPTED, CHARSET_REJECTED = 1, 2, 3
PATIENCE = 120.0  # seconds; a test that waits this long has failed, on the busiest machine too

# A whole command; a doubled 0xFF; or the beginning of either at the end of the data.
_COMMAND = re.compile(
    rb"\xff(?:[\xfb-\xfe](.)|\xfa((?:[^\xff]|\xff\xff)*)\xff\xf0|(\xff)|[\xef-\xf9])", re.DOTALL
)
# The usual output: plain text, or a sequence of numbers and a letter.
_FINAL = "".join(map(re.escape, pyte.Stream.csi))
_USUAL = re.compile(rf"([^\x00-\x1f\x7f\x9b\x9d]+)|\x1b\[([0-9;]*)([{_FINAL}])")
_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -Z\\-~])")

# The pictures of CP437's low codes that are no controls (SyncTERM draws them).
_CP437_GLYPHS = str.maketrans("\x01\x02\x03\x04\x05\x06\x0e\x0f\x10\x11", "☺☻♥♦♣♠♫☼►◄")
# Characters that every terminal skips; pyte would drop the rest of the text with them.
_UNSEEN = dict.fromkeys(set(range(32)) - set(b"\a\b\t\n\v\f\r\x1b"))


@dataclass(frozen=True)
class Profile:
    """A telnet program's hints and its terminal's behaviour."""

    charset: str  # "cp437", "utf-8" or "ascii": how it shows bytes and sends keys
    answers: bool = True  # whether it speaks telnet at all
    opening: bytes = b""  # bytes sent as soon as it is connected
    performs: frozenset[int] = frozenset()  # options answered WILL when asked to DO
    accepts: frozenset[int] = frozenset()  # options answered DO after WILL
    terminal_types: tuple[str, ...] = ()  # answers to TTYPE SEND in turn; the last one repeats
    environment: Mapping[str, str] = field(default_factory=dict)
    charset_names: tuple[str, ...] = ()  # accepted names in a CHARSET REQUEST
    attributes: bytes = b""  # answer to CSI c; none when empty
    reports_cursor: bool = False  # whether it answers CSI 6n
    waits_to_wrap: bool = True  # whether the cursor stays in the last column until one more comes
    columns: int = 80
    rows: int = 24


SYNCTERM = Profile(
    charset="cp437",
    opening=bytes(
        [IAC, WILL, SGA, IAC, DO, SGA, IAC, WILL, BINARY, IAC, DO, BINARY, IAC, DO, ECHO]
    ),
    performs=frozenset({SGA, BINARY, TTYPE, NAWS}),
    accepts=frozenset({SGA, BINARY, ECHO}),
    terminal_types=("syncterm",),
    attributes=b"\x1b[=67;84;101;114;109;1;332c",
    reports_cursor=True,
    waits_to_wrap=False,
)
MODERN = Profile(
    charset="utf-8",
    performs=frozenset({SGA, BINARY, TTYPE, NAWS, NEW_ENVIRON, CHARSET}),
    accepts=frozenset({SGA, BINARY, ECHO, CHARSET}),
    terminal_types=("xterm-256color",),
    environment={"LANG": "en_US.UTF-8"},
    charset_names=("UTF-8",),
    attributes=b"\x1b[?64;1;2;6;22c",
    reports_cursor=True,
)
# A MUD client with a screen reader: Mudlet's names, and prompts that are marked.
READER = Profile(
    charset="utf-8",
    performs=frozenset({TTYPE, NAWS, NEW_ENVIRON, CHARSET}),
    accepts=frozenset({SGA, ECHO, EOR}),
    terminal_types=("MUDLET", "XTERM", "MTTS 2381"),
    charset_names=("UTF-8",),
)
SILENT = Profile(charset="ascii", answers=False)
# Home computers behind a modem that knows no telnet.
COMMODORE = Profile(charset="petscii", answers=False, columns=40, rows=25)
ATARI = Profile(charset="atascii", answers=False, columns=40)
REFUSING = Profile(charset="ascii")


# Cached styles by their request, with the screen in reverse or not.
_LOOKS: dict[tuple[Char, bool, tuple[int, ...]], Char] = {}


@cache
def _cells(attributes: Char) -> dict[str, Char]:
    """The characters that were drawn so, each as pyte keeps it."""
    return {}


def pressing_enter(text: str) -> str:
    """Return a prompt as a program that has sent only lines gets it."""
    return text.replace("Press any key", "Press Enter")


@cache
def _are_narrow(text: str) -> bool:
    return all(wcwidth(char) == 1 for char in text)


class _Stream(pyte.Stream):
    """A pyte stream that reads the usual sequences whole, and leaves the rest to pyte.

    A character at a time took most of the time of a board's tests.
    """

    def feed(self, data: str) -> None:
        at = 0
        while at < len(data):
            usual = _USUAL.match(data, at) if self._taking_plain_text else None
            if usual is None:
                # The data from here is pyte's, to the next escape at the most.
                until = data.find("\x1b", at + 1)
                until = len(data) if until < 0 else until
                super().feed(data[at:until])
                at = until
                continue
            at = usual.end()
            text, numbers, final = usual.groups()
            if text:
                self.listener.draw(text)
            else:
                wanted = [min(int(number or 0), 9999) for number in numbers.split(";")]
                getattr(self.listener, self.csi[final])(*wanted)


class _Screen(pyte.Screen):
    """A pyte screen that answers, and wraps, as its profile says."""

    def __init__(self, profile: Profile, answer: Callable[[bytes], None]) -> None:
        super().__init__(profile.columns, profile.rows)
        self._profile = profile
        self._answer = answer
        self._rows: list[str] = []  # as they were when `display` was asked for last

    @property
    def display(self) -> list[str]:
        """The text of all rows, as in pyte; only changed rows are read again.

        Tests ask for it at every packet, and pyte measures the width of each cell each time.
        """
        if len(self._rows) != self.lines:
            self._rows = [""] * self.lines
            self.dirty.update(range(self.lines))
        # An accent at the beginning of a row goes to the one before it.
        for y in {row - above for row in self.dirty for above in (0, 1)} & set(range(self.lines)):
            self._rows[y] = self._read(y)
        self.dirty.clear()
        return list(self._rows)

    def _read(self, y: int) -> str:
        line = self.buffer[y]
        cells = [line[x].data for x in range(self.columns)]
        text, read, x = "".join(cells), "", 0
        if all(cells) and all(wcwidth(char) < 2 for char in set(text)):
            return text
        while x < self.columns:  # behind a wide character a cell is passed over
            read += cells[x]
            x += 2 if wcwidth(cells[x][0]) == 2 else 1
        return read

    def draw(self, data: str) -> None:
        fits = self.cursor.x + len(data) < self.columns
        if fits and _are_narrow(data) and not self.charset and modes.IRM not in self.mode:
            self._put(data)
            return
        if self._profile.waits_to_wrap or fits:
            super().draw(data)
            return
        for character in data:
            super().draw(character)
            if self.cursor.x == self.columns:
                self.carriage_return()
                self.linefeed()

    def _put(self, data: str) -> None:
        """Draw the text that fits into its row, a cell each."""
        cursor, line = self.cursor, self.buffer[self.cursor.y]
        cells = _cells(cursor.attrs)
        for x, char in enumerate(data, cursor.x):
            cell = cells.get(char)
            if cell is None:
                cell = cells[char] = cursor.attrs._replace(data=char)
            line[x] = cell
        cursor.x += len(data)
        self.dirty.add(cursor.y)

    def select_graphic_rendition(self, *attributes: int) -> None:
        """Set the style of further text; results are cached."""
        wanted = (self.cursor.attrs, modes.DECSCNM in self.mode, attributes)
        if wanted not in _LOOKS:
            super().select_graphic_rendition(*attributes)
            _LOOKS[wanted] = self.cursor.attrs
        self.cursor.attrs = _LOOKS[wanted]

    def report_device_attributes(self, mode: int = 0, **options: bool) -> None:
        if mode == 0 and self._profile.attributes:
            self._answer(self._profile.attributes)

    def write_process_input(self, data: str) -> None:
        if self._profile.reports_cursor:
            self._answer(data.encode("ascii"))


class Terminal(asyncio.Protocol):
    """One caller's telnet program and screen."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        # A home computer has a screen of its own, which reads bytes.
        self.home = SCREENS[profile.charset]() if profile.charset in SCREENS else None
        painted = _Screen(profile, self.send)
        self.screen = self.home or painted
        self.wire = bytearray()  # everything that came, commands and all
        self.received = bytearray()  # bytes for the screen
        self.transcript = ""  # the same, decoded, escape sequences and all
        self.closed = False  # whether the other end has hung up (or the line broke)
        self._stream = _Stream(painted)
        self._decoder = codecs.getincrementaldecoder("ascii" if self.home else profile.charset)(
            "replace"
        )
        self._unread = b""
        self._mark = 0
        self._types_told = 0
        self._transport: asyncio.Transport | None = None
        self._waiting: list[asyncio.Future[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    # The line

    async def connect(
        self,
        port: int,
        host: str = "127.0.0.1",
        receive_buffer: int | None = None,
        source: str | None = None,
        header: bytes = b"",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Call `host`; a `receive_buffer` (bytes) bounds the unread bytes in the kernel.

        `source` is the address to call from, `header` the bytes of a front end before all others.
        """
        loop = asyncio.get_running_loop()
        wire = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        wire.setblocking(False)
        if receive_buffer is not None:
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        try:
            if source is not None:
                wire.bind((source, 0))
            await loop.sock_connect(wire, (host, port))
            await loop.sock_sendall(wire, header)
        except BaseException:
            wire.close()
            raise
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        name = None if tls is None else "localhost"
        await loop.create_connection(lambda: self, sock=wire, ssl=tls, server_hostname=name)

    def send(self, keys: str | bytes) -> Self:
        """Type text in the terminal's character set; bytes go out exactly as they are."""
        if isinstance(keys, str) and self.home is not None:
            keys = self.home.keys(keys)
        elif isinstance(keys, str):
            keys = keys.encode(self.profile.charset).replace(b"\xff", b"\xff\xff")
        self._mark = len(self.transcript)
        self._write(keys)
        return self

    def send_urgent(self, byte: bytes) -> None:
        """Send one byte as TCP urgent data, as telnet's Synch does its Data Mark."""
        with self._socket().dup() as wire:
            wire.send(byte, socket.MSG_OOB)

    def resize(self, columns: int, rows: int) -> None:
        """Change the window, and tell the board when the profile ever tells sizes."""
        self.screen.resize(rows, columns)
        if NAWS in self.profile.performs:
            self._tell_size()

    def stop_reading(self) -> None:
        """Leave further output in the kernel."""
        self._line().pause_reading()

    def go_on_reading(self) -> None:
        """Resume reading the output left in the kernel."""
        self._line().resume_reading()

    def hang_up_half(self) -> None:
        """Send the end of the stream and go on reading."""
        self._line().write_eof()

    def abort(self) -> None:
        """Break the connection with a reset, as a crash would."""
        self._socket().setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._line().abort()

    async def close(self) -> None:
        """Hang up, and wait until the socket is gone; a second time nothing happens."""
        if self._transport is not None:
            self._transport.abort()
            await self.until_closed()

    def _write(self, data: bytes) -> None:
        # A broken line is found out by reading; asyncio would warn of every write until then.
        if not self._line().is_closing():
            self._line().write(data)

    def _line(self) -> asyncio.Transport:
        assert self._transport is not None, "not connected yet"
        return self._transport

    def _socket(self) -> asyncio.trsock.TransportSocket:
        wire = self._line().get_extra_info("socket")
        assert isinstance(wire, asyncio.trsock.TransportSocket)
        return wire

    # The screen

    @property
    def lines(self) -> list[str]:
        """The screen, one text a row, as wide as the window."""
        return list(self.screen.display)

    def row(self, number: int) -> str:
        """The text of one row, 0 at the top, without the blanks at its end."""
        return self.screen.display[number].rstrip()

    @property
    def picture(self) -> str:
        """The screen as one text, for messages and for looking at."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    @property
    def heard(self) -> str:
        """The output since the last key was sent, without escape sequences."""
        return _ESCAPE_SEQUENCE.sub("", self.transcript[self._mark :])

    def shows(self, text: str) -> bool:
        """Whether `text` stands in one row of the screen, or came since the last key was sent."""
        texts = (text, pressing_enter(text))
        rows = (self.heard, *self.screen.display)
        if any(each in row for each in texts for row in rows):
            return True
        return "<" in text and text in marked(self.heard)  # a choice in plain lines

    # Waiting

    async def until(self, text: str, seconds: float = PATIENCE) -> None:
        """Wait until `shows(text)`."""
        await self.wait_for(lambda terminal: terminal.shows(text), repr(text), seconds)

    async def until_heard(self, text: str, seconds: float = PATIENCE) -> None:
        """Wait until `text` arrives after the last key sent; earlier text does not count."""
        await self.wait_for(
            lambda _: (
                text in self.heard
                or pressing_enter(text) in self.heard
                or ("<" in text and text in marked(self.heard))
            ),
            repr(text),
            seconds,
        )

    async def until_gone(self, text: str, seconds: float = PATIENCE) -> None:
        """Wait until no row of the screen shows `text`."""
        await self.wait_for(
            lambda terminal: not any(text in line for line in terminal.screen.display),
            f"{text!r} gone",
            seconds,
        )

    async def until_closed(self, seconds: float = PATIENCE) -> None:
        """Wait until the other end has hung up."""
        await self.wait_for(lambda terminal: terminal.closed, "the line closed", seconds)

    async def wait_for(
        self, reached: Callable[["Terminal"], bool], what: str, seconds: float = PATIENCE
    ) -> None:
        """Wait until `reached(self)`, checked at every arrival; `what` names it in failures."""
        try:
            async with asyncio.timeout(seconds):
                while not reached(self):
                    assert not self.closed, f"hung up before {what}:\n{self.picture}"
                    news = asyncio.get_running_loop().create_future()
                    self._waiting.append(news)
                    await news
        except TimeoutError:
            raise AssertionError(f"{seconds} s without {what}:\n{self.picture}") from None

    def _tell_waiters(self) -> None:
        waiting, self._waiting = self._waiting, []
        for news in waiting:
            if not news.done():
                news.set_result(None)

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        if self.profile.opening:
            self._transport.write(self.profile.opening)

    def data_received(self, data: bytes) -> None:
        self.wire += data
        plain = self._without_commands(data) if self.profile.answers else data
        self.received += plain
        if self.home is not None:
            self.home.feed(plain)
            self.transcript += self.home.letters(plain)
        elif plain:
            text = self._decoder.decode(plain)
            self.transcript += text
            if self.profile.charset == "cp437":
                text = text.translate(_CP437_GLYPHS)
            self._stream.feed(text.translate(_UNSEEN))
        self._tell_waiters()

    def connection_lost(self, error: Exception | None) -> None:
        self.closed = True
        self._tell_waiters()

    # Telnet

    def _without_commands(self, data: bytes) -> bytes:
        """Take the commands out of `data`, obey them, and give the rest."""
        data = self._unread + data
        plain, position = bytearray(), 0
        for command in _COMMAND.finditer(data):
            plain += data[position : command.start()]
            position = command.end()
            option, body, doubled = command.groups()
            if option is not None:
                self._obey(data[command.start() + 1], option[0])
            elif body:
                self._answer(body.replace(b"\xff\xff", b"\xff"))
            elif doubled is not None:
                plain += b"\xff"
        unfinished = data.find(b"\xff", position)
        if unfinished < 0:
            unfinished = len(data)
        self._unread = data[unfinished:]
        return bytes(plain + data[position:unfinished])

    def _obey(self, command: int, option: int) -> None:
        if command == DO:
            willing = option in self.profile.performs
            self._command(WILL if willing else WONT, option)
            if willing and option == NAWS:
                self._tell_size()
        elif command == WILL:
            self._command(DO if option in self.profile.accepts else DONT, option)

    def _answer(self, body: bytes) -> None:
        profile = self.profile
        if body == bytes([TTYPE, SEND]) and profile.terminal_types:
            position = min(self._types_told, len(profile.terminal_types) - 1)
            self._types_told += 1
            self._tell(TTYPE, bytes([IS]) + profile.terminal_types[position].encode("ascii"))
        elif body[:2] == bytes([NEW_ENVIRON, SEND]):
            told_names = "".join(f"\x03{k}\x01{v}" for k, v in profile.environment.items())
            self._tell(NEW_ENVIRON, bytes([IS]) + told_names.encode("ascii"))
        elif body[:2] == bytes([CHARSET, CHARSET_REQUEST]):
            offers = body[3:].decode("ascii").split(chr(body[2]))
            known = [name for name in offers if name in profile.charset_names]
            if known:
                self._tell(CHARSET, bytes([CHARSET_ACCEPTED]) + known[0].encode("ascii"))
            else:
                self._tell(CHARSET, bytes([CHARSET_REJECTED]))

    def _tell_size(self) -> None:
        self._tell(NAWS, struct.pack("!HH", self.screen.columns, self.screen.lines))

    def _tell(self, option: int, body: bytes) -> None:
        escaped = body.replace(b"\xff", b"\xff\xff")
        self._write(bytes([IAC, SB, option]) + escaped + bytes([IAC, SE]))

    def _command(self, command: int, option: int) -> None:
        self._write(bytes([IAC, command, option]))
