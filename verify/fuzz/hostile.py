"""What strangers do to the board, as programs: each attack is one connection, or a few.

They know the board's ports and the names of some of its callers, nothing else. Sockets block here,
with a limit on every wait; the board is in another process.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Self

from bench.board import PASSWORD, name_of
from verify.fuzz.new_keys import NewKeys
from verify.fuzz.served import CALLERS, SECRET
from verify.robots.screen import Screen

PATIENCE = 60.0  # seconds until an answer of the board is overdue
MOMENT = 0.3  # seconds that one listens to a board that goes on talking
PUSH = 1.0  # seconds that an attacker goes on pushing where nothing is taken any more

IAC = b"\xff"
# Answers to everything that the board asks: no. It need not wait for any, then.
NO_TO_ALL = b"".join(
    IAC + bytes(answer)
    for answer in (
        *((254, option) for option in (1, 3, 0)),
        *((252, option) for option in (3, 0, 24, 31, 39, 42)),
    )
)
MENU = "oodbye"
# What is answered on the way to the menu; who has left a hand open is led back to it first.
ON_THE_WAY = {
    "Press any key": b"\r",
    "Your choice": b"\r",
    "Take over?": b"Y",
    "one-minute tour?": b"n",
    "Insurance for": b"n",
    "tay": b"s",
    "Card?": b"n",
    **dict.fromkeys(("Insurance?", "Split pair?", "Double down?", "Hit?"), b"\x03"),
    **dict.fromkeys(("<B>et", "lace bet", "eady"), b"q"),
}
AGAIN = 3.0  # seconds after an answer until the same question is another one

_numbers = count()


class Hung(Exception):
    """The board has not said within `PATIENCE` what it should have said."""


class Wire:
    """One connection of somebody rude."""

    def __init__(self, port: int, *, receive_buffer: int | None = None) -> None:
        """Connect; a `receive_buffer` (bytes) bounds what the kernel takes in unread."""
        self.heard = bytearray()
        self._screen = Screen("cp437")
        self._asked = ""
        self._socket = socket.socket()
        if receive_buffer is not None:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._socket.settimeout(PATIENCE)
        self._socket.connect(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        """Use it for a block, and hang up behind it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Hang up."""
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Send bytes that surely fit."""
        self._socket.sendall(data)

    def send_urgent(self, data: bytes) -> None:
        """Send bytes of which the last one is urgent."""
        self._socket.send(data, socket.MSG_OOB)

    def until(self, *words: bytes) -> bytes:
        """Read on to the first of some words, and forget what was heard up to it."""
        end = time.monotonic() + PATIENCE
        self._socket.settimeout(PATIENCE)
        while True:
            found = [(self.heard.find(word), word) for word in words if word in self.heard]
            if found:
                at, word = min(found)
                del self.heard[: at + len(word)]
                return word
            if not self._hear(end):
                raise Hung(f"{words!r} did not come, {bytes(self.heard[-300:])!r} did")

    def until_asked(self, *words: str) -> str:
        """Read on until the row of the cursor has one of some words, other than the last time."""
        began = time.monotonic()
        end = began + PATIENCE
        self._socket.settimeout(PATIENCE)
        while True:
            prompt = self._screen.prompt
            found = next((word for word in words if word in prompt), "")
            if found != self._asked or time.monotonic() > began + AGAIN:
                self._asked = found
                if found:
                    return found
            if not self._hear(end):
                raise Hung(f"none of {words!r} was asked:\n{self._screen.picture}")

    def _hear(self, end: float) -> bool:
        """Read what has come, until the instant `end` at most; tell whether anything has."""
        try:
            heard = self._socket.recv(65536) if time.monotonic() < end else None
        except TimeoutError:
            heard = None
        if heard is None:
            return False
        if not heard:
            raise ConnectionError("the board hung up")
        self.heard += heard
        self._screen.feed(heard)
        return True

    def push(self, data: bytes) -> bool:
        """Send as much as is taken; tell whether the board has cut the line."""
        self._socket.settimeout(PUSH)
        try:
            self._socket.sendall(data)
        except TimeoutError:
            return False
        except OSError:
            return True
        return self.is_cut()

    def is_cut(self) -> bool:
        """Read what there is to be read, for a moment; tell whether the line is over."""
        end = time.monotonic() + MOMENT
        self._socket.settimeout(MOMENT / 10)
        try:
            while heard := self._socket.recv(65536):
                self.heard += heard
                if time.monotonic() > end:
                    return False
        except TimeoutError:
            return False
        except OSError:
            pass
        return True

    def half_close(self) -> None:
        """Send the end of the stream, and go on listening."""
        self._socket.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """Break the connection, as a crash would."""
        with contextlib.suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()


class SealedWire(Wire):
    """The same over TLS."""

    def __init__(self, port: int) -> None:
        """Connect and shake hands, with whatever certificate the board has."""
        super().__init__(port)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self._socket = context.wrap_socket(self._socket)


class Target:
    """The board that is attacked."""

    def __init__(self, telnet: int, rlogin: int, telnets: int | None = None) -> None:
        """Note its ports; the last is there where a certificate could be made."""
        self.telnet = telnet
        self.rlogin = rlogin
        self.telnets = telnets

    def stranger(self, *, receive_buffer: int | None = None) -> Wire:
        """Connect by telnet, and read on to the question for the name."""
        wire = Wire(self.telnet, receive_buffer=receive_buffer)
        wire.send(NO_TO_ALL)
        wire.until(b"Name:")
        return wire

    def sealed_stranger(self) -> Wire:
        """Connect over TLS, and read on to the question for the name."""
        assert self.telnets is not None
        wire = SealedWire(self.telnets)
        wire.send(NO_TO_ALL)
        wire.until(b"Name:")
        return wire

    def caller(self, *, receive_buffer: int | None = None) -> Wire:
        """Log on, and read on to the main menu."""
        wire = self.stranger(receive_buffer=receive_buffer)
        wire.send(name_of(next(_numbers) % CALLERS).encode() + b"\r")
        wire.until(b"Password:")
        wire.send(PASSWORD.encode() + b"\r")
        self._to_the_menu(wire)
        return wire

    def guest(self) -> Wire:
        """Come from a board that is believed, by rlogin, and read on to the main menu."""
        wire = Wire(self.rlogin)
        wire.send(f"\0{SECRET}\0Guest {next(_numbers) % CALLERS}\0ansi/9600\0".encode())
        self._to_the_menu(wire)
        return wire

    def _to_the_menu(self, wire: Wire) -> None:
        while (word := wire.until_asked(MENU, *ON_THE_WAY)) != MENU:
            wire.send(ON_THE_WAY[word])


Attack = Callable[[Target], None]


def subnegotiation(option: int, body: bytes) -> bytes:
    """A subnegotiation as telnet programs send it."""
    return b"\xff\xfa" + bytes((option,)) + body.replace(IAC, IAC * 2) + b"\xff\xf0"


def _sizes(one: bytes, other: bytes) -> bytes:
    return subnegotiation(31, one) + subnegotiation(31, other)


LARGE, SMALL = b"\x00\x84\x00\x3c", b"\x00\x50\x00\x18"
NAWS_TWICE = b"\xff\xfb\x1f" + _sizes(LARGE, SMALL)
RLOGIN_SIZES = b"\xff\xffss\0\x3c\0\x84\0\0\0\0\xff\xffss\0\x18\0\x50\0\0\0\0"

# What is pushed at the question for the name, and at the main menu of one who has logged on: how it
# begins, and what comes then, again and again.
FLOODS: dict[str, tuple[bytes, bytes]] = {
    "DO": (b"", b"\xff\xfd\x63"),
    "WILL and WONT": (b"", b"\xff\xfb\x18\xff\xfc\x18"),
    "on and off": (b"", b"\xff\xfe\x01\xff\xfd\x01"),
    "NOP": (b"", b"\xff\xf1"),
    "AYT": (b"", b"\xff\xf6"),
    "interrupts": (b"", b"\xff\xf4\xff\xf3\xff\xf7"),
    "doubled IAC": (b"", b"\xff\xff"),
    "endless subnegotiation": (b"\xff\xfa\x1f", b"A"),
    "endless doubled subnegotiation": (b"\xff\xfa\x18", b"\xff\xff"),
    "bad NAWS": (b"", subnegotiation(31, b"\0")),
    "windows": (b"\xff\xfb\x1f", _sizes(LARGE, SMALL)),
    "absurd windows": (b"\xff\xfb\x1f", _sizes(b"\xfe\xfe\xfe\xfe", b"\0\0\0\0")),
    "variables": (b"\xff\xfb\x27", subnegotiation(39, b"\0" + b"\0A\1B" * 900)),
    "language": (b"\xff\xfb\x27", subnegotiation(39, b"\0\0LANG\1x.hex\0LC_ALL\1\xff")),
    "charset": (b"\xff\xfd\x2a", subnegotiation(42, b"\1;hex;rot13;zip;UTF-8")),
    "terminal types": (b"", b"".join(subnegotiation(24, b"\0T%d" % n) for n in range(500))),
    "MCCP2": (subnegotiation(86, b""), b"bomb"),
    "MCCP3 bomb": (subnegotiation(87, b""), b"bomb"),
    "paste": (b"", b"All work and no play makes Jack a dull boy. "),
    "paste of lines": (b"", b"name\rpass\r\n"),
    "paste of arrows": (b"", b"\x1b[A\x1bOB\x1b[5~\x1b[1;5C"),
    "paste of escapes": (b"", b"\x1b"),
    "paste of marks": (b"", "e\u0301\u0302\u0303\u200b\u0304日😀".encode()),
    "endless string": (b"\x1b]2;", b"x"),
    "endless sequence": (b"\x1b[", b"1;"),
    "reports": (b"", b"\x1b[24;80R\x1b[?64;1;2c\x1b]lQ\x1b\\\x1bP1$r0m\x1b\\\x1b[I\x1b[O"),
    "rubbing out": (b"", b"x\x08"),
    "zeros": (b"", b"\0"),
    "pages": (b"", b"/p Caller 7 Are you there? I am, and I have a lot to say.\r"),
    "one-liners": (b"m", b"oA line for the wall, which has no room for it.\r"),
    "noise": (b"", bytes(range(256))),
}


TLS = "over TLS"
OVER_TLS = ("DO", "bad NAWS", "paste", "zeros")


def _at_the_door(flood: bytes) -> Attack:
    def attack(target: Target) -> None:
        with target.stranger() as wire:
            wire.push(flood)

    return attack


def _at_the_menu(flood: bytes) -> Attack:
    def attack(target: Target) -> None:
        with target.caller() as wire:
            wire.push(flood)

    return attack


def _by_rlogin(flood: bytes) -> Attack:
    def attack(target: Target) -> None:
        with target.guest() as wire:
            wire.push(flood)

    return attack


def _over_tls(flood: bytes) -> Attack:
    def attack(target: Target) -> None:
        with target.sealed_stranger() as wire:
            wire.push(flood)

    return attack


def _new_keys(size: int, *, answered: bool) -> Attack:
    def attack(target: Target) -> None:
        assert target.telnets is not None
        program = NewKeys(target.telnets)
        # Some thirty bytes each, made beforehand: the board shall wait for none of them.
        program.push(program.updates(size // 30, answered=answered))
        program.close()

    return attack


def _header(said: bytes) -> Attack:
    def attack(target: Target) -> None:
        with Wire(target.rlogin) as wire:
            wire.push(said)

    return attack


def reads_nothing(target: Target) -> None:
    """Make the board draw and draw, and take nothing of it."""
    with target.caller(receive_buffer=2048) as wire:
        for _ in range(60):
            wire.send(NAWS_TWICE * 4)
        wire.push(b"?" * 100_000)


def hangs_up_half(target: Target) -> None:
    """Say nothing more, and listen on: at once, at the question for the name, at the menu."""
    with Wire(target.telnet) as wire:
        wire.half_close()
        _wait_for_the_end(wire)
    for connect in (target.stranger, target.caller, target.guest):
        with connect() as wire:
            wire.half_close()
            _wait_for_the_end(wire)


def breaks_off_tls(target: Target) -> None:
    """Begin TLS and break it off, after the first words or in the middle of them."""
    assert target.telnets is not None
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(505)
    for end in range(1, len(hello), 40):
        wire = Wire(target.telnets)
        wire.send(hello[:end])
        wire.reset()
    for _ in range(5):
        SealedWire(target.telnets).reset()


def types_slowly(target: Target) -> None:
    """Keep a log-on waiting, a letter or a piece of a command at a time."""
    for said in (b"Caller\xff\xfa\x18\0xt", b"\xff\xfb\x18\x1b[1;", b"\0sword"):
        port = target.rlogin if said.startswith(b"\0") else target.telnet
        with contextlib.ExitStack() as stack:
            wires = [stack.enter_context(Wire(port)) for _ in range(8)]
            for byte in said:
                for wire in wires:
                    wire.send(bytes((byte,)))


def breaks_off(target: Target) -> None:
    """Reset the connection in the middle of anything."""
    logon = NO_TO_ALL + b"Caller 1\r" + PASSWORD.encode() + b"\r\r\rB"
    for end in range(0, len(logon), 3):
        wire = Wire(target.telnet)
        wire.send(logon[:end])
        wire.reset()
    for connect in (target.stranger, target.caller, target.guest):
        for said in (b"", b"\xff", b"\xff\xfa\x18", b"\x1b[", b"\xe2", b"B", b"\xff\xffs"):
            wire = connect()
            wire.send(said)
            wire.reset()


def connects_and_goes(target: Target) -> None:
    """Connect and hang up, again and again, without a word."""
    for port in (target.telnet, target.rlogin):
        for _ in range(20):
            Wire(port).reset()
            with Wire(port):
                pass


def sends_urgent_data(target: Target) -> None:
    """Send telnet's Synch, which is urgent data, over and over."""
    with target.caller() as wire:
        for _ in range(200):
            wire.send_urgent(b"\xff\xf2")
        wire.is_cut()


def _wait_for_the_end(wire: Wire) -> None:
    with contextlib.suppress(OSError):
        wire.until(b"a word that never comes")


def attacks(size: int) -> Iterator[tuple[str, Attack]]:
    """Give every attack by its name; `size` is how much a flood has (bytes)."""

    def much(piece: bytes, start: bytes = b"") -> bytes:
        return (start + piece * (size // len(piece) + 1))[:size]

    for name, (start, piece) in FLOODS.items():
        yield f"{name}, at the question for the name", _at_the_door(much(piece, start))
        yield f"{name}, at the main menu", _at_the_menu(much(piece, start))
    pasted: Sequence[str] = [name for name in FLOODS if "paste" in name or "endless s" in name]
    for name in (*pasted, "reports", "zeros", "noise", "DO"):
        start, piece = FLOODS[name]
        yield f"{name}, by rlogin", _by_rlogin(much(piece, start))
    for name in OVER_TLS:
        start, piece = FLOODS[name]
        yield f"{name}, {TLS}", _over_tls(much(piece, start))
    yield f"new keys, {TLS}", _new_keys(size, answered=False)
    yield f"new keys wanted, {TLS}", _new_keys(size, answered=True)
    yield f"breaks off, {TLS}", breaks_off_tls
    yield "windows, by rlogin", _by_rlogin(much(RLOGIN_SIZES))
    yield "pieces of windows, by rlogin", _by_rlogin(much(b"\xff\xffs"))
    yield "a header without end", _header(much(b"x", b"\0"))
    yield "a header of zeros", _header(much(b"\0"))
    yield "no header", _header(much(b"GET / HTTP/1.0\r\n\r\n"))
    yield "a header of somebody unknown", _header(much(b"k", b"\0wrong\0Eve\0ansi/9600\0"))
    moon = f"\0{SECRET}\0Eve\0xtrn=MOON\0ansi/9600\0".encode()
    yield "a header that wants the moon", _header(much(b"k", moon))
    yield "reads nothing", reads_nothing
    yield "hangs up half", hangs_up_half
    yield "types slowly", types_slowly
    yield "breaks off", breaks_off
    yield "connects and goes", connects_and_goes
    yield "sends urgent data", sends_urgent_data
