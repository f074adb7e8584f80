"""A caller's telephone: a TCP connection that speaks telnet as a terminal program does."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import monotonic

from bench.telnet import Client
from verify.robots.screen import HomeComputerScreen, Screen

_TICK = b"\x1b[24"  # an update that begins on the last row is the clock's, not an answer to a key


@dataclass(frozen=True)
class Program:
    """The hints of a caller's terminal program."""

    terminal: bytes
    charset: str
    language: bytes  # LANG, b"" for none


SYNCTERM = Program(b"syncterm", "cp437", b"")
XTERM = Program(b"xterm-256color", "utf-8", b"en_US.UTF-8")
UNKNOWN = Program(b"unknown", "ascii", b"")
MUD = Program(b"MTTS 2413", "utf-8", b"")  # reads lines aloud, and sends whole ones
ATARI = Program(b"atascii", "atascii", b"")  # with the 80 columns of an XEP80
C128 = Program(b"petscii", "petscii-80", b"")


class Phone(asyncio.Protocol):
    """One call: keys go out, and output is on the screen; `ended` when the carrier is lost."""

    def __init__(self, program: Program) -> None:
        kind = HomeComputerScreen if program in (ATARI, C128) else Screen
        self.screen = kind(program.charset)
        self.came = 0  # bytes
        self.news = asyncio.Event()  # set by new output; cleared by the waiting task
        self.ended = asyncio.Event()
        self.waits: list[float] = []  # seconds from a letter of an entry to its echo
        # An unknown program refuses every option, so that its prompts end with IAC GA.
        self._client = Client(takes_part=program is not UNKNOWN, says=_says(program))
        self._sends_lines = program is MUD
        self._transport: asyncio.Transport | None = None
        self.slowest = 0.0  # seconds from a key, or from dialling, to the next output
        self._pressed: float | None = None
        self._unanswered: float | None = monotonic()

    # Callbacks of the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._pressed is not None and not data.startswith(_TICK):
            self.waits.append(monotonic() - self._pressed)
            self._pressed = None
        if not data.startswith(_TICK):
            self._is_answered()
        answer = self._client.feed(data)
        if answer and self._transport is not None:
            self._transport.write(answer)
        shown, self._client.shown = self._client.shown, b""
        self.came += len(shown)
        self.screen.feed(shown)
        self.news.set()

    def connection_lost(self, error: Exception | None) -> None:
        self.ended.set()

    # Acts of the caller.

    def press(self, keys: str, *, is_echoed: bool = False) -> None:
        """Send keys, and measure the wait for those that are always echoed.

        A new measurement begins only after the last: more keys do not make a hung board faster.
        """
        if self._transport is not None and not self.ended.is_set():
            if is_echoed and self._pressed is None:
                self._pressed = monotonic()
            if self._unanswered is None:
                self._unanswered = monotonic()
            if self._sends_lines and keys.isprintable():
                keys += "\r"
            self._transport.write(self.screen.typed(keys))

    def _is_answered(self) -> None:
        if self._unanswered is not None:
            self.slowest = max(self.slowest, monotonic() - self._unanswered)
            self._unanswered = None

    def hang_up(self) -> None:
        """Drop the carrier, like pulling the plug."""
        self._is_answered()
        if self._transport is not None:
            self._transport.abort()


async def call(host: str, port: int, program: Program) -> Phone:
    """Raise `OSError` when the port does not answer."""
    _, phone = await asyncio.get_running_loop().create_connection(
        lambda: Phone(program), host, port
    )
    return phone


def _says(program: Program) -> dict[int, bytes]:
    says = {24: b"\x18\x00" + program.terminal}
    if program.language:
        says[39] = b"\x27\x00\x00LANG\x01" + program.language
    return says
