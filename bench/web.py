"""Callers on our page, next to as many by telnet at the same board: first screen, keys, memory.

A caller here is a WebSocket as the page opens one; a browser's own work is not measured.
"""

from __future__ import annotations

import json
import socket
import struct
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Self

from bench.animation import PLAYING_GAP
from bench.connect import wait_for_banner
from bench.keys import FIRST, KINDS, TO_THE_BET, Side
from bench.load import (
    HOST,
    LOGGING_ON_AT_ONCE,
    PATIENCE,
    READ,
    Caller,
    Group,
    Guest,
    Keyboard,
    Stroke,
    learn,
    log_on_all,
    log_on_as,
)
from bench.processes import Child, more_files
from bench.report import Goal, Row, Scale, median, percentile
from bench.telnet import Client

SCREEN_GOAL = Goal("ratio", "<=", 3)
CPU_GOAL = Goal("ratio", "<=", 1.5)
MEMORY_GOAL = Goal("value", "<=", 60)
MICRO, MILLI = 1e6, 1e3
TEXT, BINARY, PONG = 1, 2, 10
# This many log on, and then all callers on line are read: meanwhile the board's pings wait.
AT_A_TIME = 50
ADDRESSES = 100  # of callers on the page
HELLO = json.dumps({"t": "hello", "columns": 80, "rows": 24, "language": "en"}).encode()


def frame(opcode: int, body: bytes) -> bytes:
    """A short message as a client sends it, its mask all zeros."""
    return struct.pack("!BB", 0x80 | opcode, 0x80 | len(body)) + bytes(4) + body


class Frames:
    """The payload of a WebSocket's binary frames; text messages are left out.

    >>> frames = Frames()
    >>> frames.feed(b"\\x82\\x03ab"), frames.feed(b"c\\x81\\x02{}\\x82\\x01d")
    (b'ab', b'cd')
    """

    def __init__(self) -> None:
        self._unread = b""
        self._left = 0  # of the frame that is read
        self._counts = False  # whether that one is of the terminal

    def feed(self, data: bytes) -> bytes:
        data, self._unread = self._unread + data, b""
        shown, at = b"", 0
        while at < len(data):
            if not self._left:
                size = data[at + 1] & 0x7F if at + 1 < len(data) else 0
                head = 4 if size == 126 else 10 if size == 127 else 2
                if at + head > len(data):
                    self._unread = data[at:]
                    break
                self._left = int.from_bytes(data[at + 2 : at + head], "big") if head > 2 else size
                self._counts = data[at] & 0x0F == BINARY
                at += head
            taken = data[at : at + self._left]
            self._left -= len(taken)
            at += len(taken)
            shown += taken if self._counts else b""
        return shown


class PageGuest(Guest):
    """One connection to the board as our page makes it."""

    __slots__ = ("_frames",)

    def __init__(self, wire: socket.socket) -> None:
        super().__init__(wire)
        self._frames = Frames()

    @classmethod
    def connect(cls, port: int, source: str = HOST) -> Self:
        caller = super().connect(port, source)
        lines = (
            "GET /call HTTP/1.1",
            f"Host: {HOST}:{port}",
            f"Origin: http://{HOST}:{port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Protocol: bjft.1",
        )
        caller.wire.sendall("\r\n".join((*lines, "", "")).encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += caller.wire.recv(READ)
        if not answer.startswith(b"HTTP/1.1 101 "):
            raise ConnectionError(f"no WebSocket: {answer[:200]!r}")
        caller.wire.sendall(frame(TEXT, HELLO))
        return caller

    def send(self, keys: bytes) -> None:
        self.wire.sendall(frame(BINARY, keys))

    def until(self, *texts: bytes) -> None:
        shown = b""
        while not any(text in shown for text in texts):
            data = self.wire.recv(READ)
            if not data:
                raise ConnectionError(f"hung up before {texts!r}: {shown[-200:]!r}")
            shown += self._frames.feed(data)

    def completes(self, data: bytes) -> bool:
        shown = self._frames.feed(data)
        return bool(shown) and super().completes(shown)


def run(scale: Scale, disk: Path) -> Iterator[Row]:
    more_files()
    count = scale.callers
    with (
        tempfile.TemporaryDirectory(prefix="bench-", dir=disk) as folder,
        Child("bench.board", folder, str(2 * count), scale.loop, "web") as child,
    ):
        port = child.ask("web")
        yield _first_screen(child.port, port, scale.connects)
        numbers = range(count), range(count, 2 * count)
        with (
            closing(_fill(child, child.port, numbers[0], by_page=False)) as telnet,
            closing(_fill(child, port, numbers[1], by_page=True)) as page,
        ):
            what = f"memory a caller at the bet field, {count} by each way"
            yield Row(what, "kB", page.memory, telnet.memory, MEMORY_GOAL)
            yield _keys(telnet, page, scale)


def crowd(scale: Scale, disk: Path) -> Iterator[Row]:
    """Let all callers be on the page for minutes, each with a key every few seconds.

    A lost line ends the run.
    """
    more_files()
    with (
        tempfile.TemporaryDirectory(prefix="bench-", dir=disk) as folder,
        Child("bench.board", folder, str(scale.callers), scale.loop, "web") as child,
        closing(_fill(child, child.ask("web"), range(scale.callers), by_page=True)) as page,
    ):
        keys = _learn(page, KINDS["bet field"])
        strokes = [stroke._replace(key=frame(BINARY, stroke.key)) for stroke in keys]
        before = child.usage()
        group = Group(page.callers, strokes, min(PLAYING_GAP, scale.crowd_seconds))
        (pressed,) = page.keyboard.press_at_leisure([group], scale.crowd_seconds, sleeps=True)
        used = child.usage()
        who = f"{scale.callers} on the page for {scale.crowd_seconds:g} s"
        yield Row(f"{who}: keys that were answered", "", pressed.keys)
        yield Row("of them: p50", "ms", percentile(pressed.waits, 50) * MILLI)
        yield Row("of them: p99", "ms", percentile(pressed.waits, 99) * MILLI)
        yield Row("busy meanwhile", "%", (used.cpu - before.cpu) / pressed.whole * 100)
        yield Row("memory a caller at the bet field", "kB", page.memory, None, MEMORY_GOAL)
        grown = (used.memory - before.memory) / scale.callers
        yield Row("memory a caller, more after it", "kB", grown)


def _first_screen(telnet: int, page: int, count: int) -> Row:
    by_telnet, by_page = [], []
    for _ in range(count):
        by_telnet.append(wait_for_banner(telnet, Client(takes_part=True)))
        began = time.perf_counter()
        guest = PageGuest.connect(page)
        frames = Frames()
        while not frames.feed(guest.wire.recv(READ)):
            pass
        by_page.append(time.perf_counter() - began)
        guest.drop()
    what = "from connecting to the first screen, by the page"
    return Row(what, "ms", median(by_page) * MILLI, median(by_telnet) * MILLI, SCREEN_GOAL)


def _fill(child: Child, port: int, numbers: range, *, by_page: bool) -> Side:
    """Bring callers to the bet field; the memory of the first ones is shared by all."""

    callers: list[Caller] = []

    def come(some: range) -> None:
        came = log_on_all(port, some)
        _to_the_bet(came)
        callers.extend(came)

    def come_by_page(some: range) -> None:
        # From many addresses, as with real callers: a single one is rate-limited.
        with ThreadPoolExecutor(LOGGING_ON_AT_ONCE) as threads:
            for at in range(0, len(some), AT_A_TIME):
                these = some[at : at + AT_A_TIME]
                came = list(
                    threads.map(lambda n: log_on_as(PageGuest.connect(port, _source(n)), n), these)
                )
                _to_the_bet(came)
                callers.extend(came)
                for caller in callers:
                    caller.wire.sendall(frame(PONG, b""))

    enter = come_by_page if by_page else come
    first = min(FIRST, len(numbers) // 2)
    enter(numbers[:first])
    before = child.usage().memory
    enter(numbers[first:])
    memory = (child.usage().memory - before) / (len(numbers) - first)
    return Side(child, callers, Keyboard(callers), memory)


def _to_the_bet(callers: Sequence[Caller]) -> None:
    for caller in callers:
        caller.wire.settimeout(PATIENCE)
        caller.send(TO_THE_BET)
        caller.until(b"Coins")


def _source(number: int) -> str:
    return f"127.0.1.{number % ADDRESSES + 1}"


def _keys(telnet: Side, page: Side, scale: Scale) -> Row:
    """Press digits and backspaces, each side in turn while the other waits."""
    keys = KINDS["bet field"]
    by_telnet = _learn(telnet, keys)
    by_page = [stroke._replace(key=frame(BINARY, stroke.key)) for stroke in _learn(page, keys)]
    for _ in range(scale.rounds):
        telnet.press(telnet.callers, by_telnet, scale.seconds)
        page.press(page.callers, by_page, scale.seconds)
    what = "bet field: CPU a key, all at once, by the page"
    return Row(what, "us", median(page.cpu) * MICRO, median(telnet.cpu) * MICRO, CPU_GOAL)


def _learn(side: Side, keys: Sequence[bytes]) -> list[Stroke]:
    side.keyboard.close()
    strokes = learn(side.callers[0], keys)
    side.keyboard = Keyboard(side.callers)
    return strokes
