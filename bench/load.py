"""The load maker: many callers on raw sockets, pressing keys and waiting for what they show.

It must be cheaper than what it measures, so it is one loop over epoll and knows next to nothing of
terminals: which row is written in, and whether the cursor is shown. The board hides the cursor
while it serves a key, and shows it again behind the next question; a reply is complete when
something was written in the row of questions and the cursor is shown there. Neither the status line
that ticks in between nor the echo of a key that takes long is taken for a reply.
"""

from __future__ import annotations

import re
import select
import socket
import struct
import time
from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import NamedTuple, Self

from bench.bare import LAST
from bench.board import PASSWORD, name_of
from bench.telnet import Client

HOST = "127.0.0.1"
PATIENCE = 15.0  # seconds; a reply that takes longer has failed
READ = 65536
LESSONS = 5
LOGGING_ON_AT_ONCE = 8
QUESTION = b"23"  # the row that questions are asked in, of the 24 of a terminal that says nothing
JUMP = re.compile(rb"\x1b\[([0-9]*)(?:;[0-9]+)?H")
# What leaves a row as it is: colours, steps, the cursor shown or hidden.
WRITES_NOTHING = re.compile(rb"(?:\x1b\[[0-9;?]*[A-JL-Za-z]|[\b\r])*")
HIDDEN, SHOWN = b"\x1b[?25l", b"\x1b[?25h"


class Stroke(NamedTuple):
    """A key, and how many bytes the reply to it usually has."""

    key: bytes
    length: int


class Pressed(NamedTuple):
    """What came of pressing keys for a while."""

    keys: int  # whose reply has come, the last ones included
    whole: float  # seconds until the last had come
    in_time: int  # keys whose reply came within the time that was given
    seconds: float  # that this time was
    waits: array[float]  # seconds from a key to the end of its reply: of those, if there are any


class Caller:
    """One connection, as the load maker sees it: that of a bare server, or of the board."""

    __slots__ = ("heard", "sent", "step", "waiting", "wire")

    def __init__(self, wire: socket.socket) -> None:
        self.wire = wire
        self.heard = b""  # the last of what came
        self.step = 0
        self.sent = 0.0
        self.waiting = False

    @classmethod
    def connect(cls, port: int) -> Self:
        wire = socket.create_connection((HOST, port), PATIENCE)
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(wire)

    def send(self, keys: bytes) -> None:
        self.wire.sendall(keys)

    def until(self, *texts: bytes) -> None:
        """Read until one of the texts has come; any telnet request is refused."""
        client = Client(takes_part=False)
        while not any(text in client.shown for text in texts):
            data = self.wire.recv(READ)
            if not data:
                raise ConnectionError(f"hung up before {texts!r}: {client.shown[-200:]!r}")
            refusals = client.feed(data)
            if refusals:
                self.wire.sendall(refusals)

    def completes(self, data: bytes) -> bool:
        """Take what came, and tell whether the reply is complete with it."""
        return data.endswith(LAST)

    def drop(self) -> None:
        """Break the connection, so that no port waits for the rest of a minute."""
        if self.wire.fileno() >= 0:
            self.wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.wire.close()


class Guest(Caller):
    """One connection to the board, by a terminal of 24 rows."""

    __slots__ = ("_hidden", "_row", "_written")

    def __init__(self, wire: socket.socket) -> None:
        super().__init__(wire)
        self._row = QUESTION
        self._hidden = False
        self._written = False  # since the last reply was complete, where questions are asked

    def completes(self, data: bytes) -> bool:
        """Follow the cursor through what came."""
        first, *others = JUMP.split(data)  # texts, and between them the rows of the jumps
        if self._row == QUESTION:
            self._write(first)
        for row, text in zip(others[::2], others[1::2], strict=True):
            self._row = row
            if row == QUESTION:
                self._write(text)
        if HIDDEN in data or SHOWN in data:
            self._hidden = data.rfind(HIDDEN) > data.rfind(SHOWN)
        complete = self._written and not self._hidden and self._row == QUESTION
        if complete:
            self._written = False
        return complete

    def _write(self, text: bytes) -> None:
        if not self._written:
            self._written = WRITES_NOTHING.fullmatch(text) is None


def connect_all(port: int, numbers: range) -> list[Caller]:
    """Callers of a bare server, who need not log on."""
    return [Caller.connect(port) for _ in numbers]


def log_on_all(port: int, numbers: range) -> list[Caller]:
    """Bring callers to the black jack table, a few at a time."""
    with ThreadPoolExecutor(LOGGING_ON_AT_ONCE) as threads:
        return list(threads.map(lambda number: log_on(port, number), numbers))


def log_on(port: int, number: int) -> Caller:
    caller = Guest.connect(port)
    caller.until(b"Name:")
    caller.send(name_of(number).encode() + b"\r")
    caller.until(b"Password:")
    caller.send(PASSWORD.encode() + b"\r")
    caller.until(b"any key")
    caller.send(b" ")
    caller.until(b"oodbye")
    caller.send(b"b")
    caller.until(b"airness")
    return caller


def learn(caller: Caller, keys: Sequence[bytes]) -> list[Stroke]:
    """Press the keys in turn, while nobody else does, and find how long the replies are."""
    lengths: dict[bytes, list[int]] = {key: [] for key in keys}
    for _ in range(LESSONS):
        for key in keys:
            caller.send(key)
            lengths[key].append(_read_reply(caller))
    return [Stroke(key, sorted(found)[LESSONS // 2]) for key, found in lengths.items()]


def _read_reply(caller: Caller) -> int:
    length = 0
    while data := caller.wire.recv(READ):
        length += len(data)
        if caller.completes(data):
            return length
    raise ConnectionError("hung up")


class Keyboard:
    """Presses keys for a group of callers; all that comes to any connection of `everybody` is read.

    Each caller goes round the strokes alone, from where they left off.
    """

    def __init__(self, everybody: Sequence[Caller]) -> None:
        self._callers = {caller.wire.fileno(): caller for caller in everybody}
        self._poll = select.epoll()
        for number, caller in self._callers.items():
            caller.wire.setblocking(False)
            self._poll.register(number, select.EPOLLIN)
        self._strokes: Sequence[Stroke] = ()
        self._waits = array("d")
        self._next: Callable[[Caller], None] = self._send

    def close(self) -> None:
        """Leave the connections as they were before."""
        self._poll.close()
        for caller in self._callers.values():
            if caller.wire.fileno() >= 0:
                caller.wire.settimeout(PATIENCE)

    def rest(self, seconds: float) -> None:
        """Press nothing, and read what comes."""
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            self._read(0.01)

    def press_once(self, callers: Sequence[Caller], key: bytes) -> None:
        """Let every caller press one key, and see what comes of it."""
        self._begin([Stroke(key, 0)], _wait)
        for caller in callers:
            caller.step = 0
            self._send(caller)
        self._await_replies(callers)

    def press(
        self, callers: Sequence[Caller], strokes: Sequence[Stroke], seconds: float
    ) -> Pressed:
        """Let every caller press the next key as soon as they have seen the last."""
        self._begin(strokes, self._send)
        began = time.perf_counter()
        for caller in callers:
            caller.step = 0
            self._send(caller)
        until = began + seconds
        while (now := time.perf_counter()) < until:
            self._read(0.05)
        return self._end(callers, began, now)

    def press_at_leisure(
        self, callers: Sequence[Caller], strokes: Sequence[Stroke], seconds: float, gap: float
    ) -> Pressed:
        """Let each caller press a key every `gap` seconds, all of them in turn."""
        self._begin(strokes, _wait)
        for caller in callers:
            caller.step = 0
        began = now = time.perf_counter()
        step = gap / len(callers)
        pressed = 0
        while now < began + seconds:
            due = 1 + int((now - began) / step)
            for number in range(pressed, due):
                caller = callers[number % len(callers)]
                if not caller.waiting:
                    self._send(caller)
            pressed = due
            self._read(0)
            now = time.perf_counter()
        return self._end(callers, began, now)

    def _begin(self, strokes: Sequence[Stroke], then: Callable[[Caller], None]) -> None:
        self._strokes = strokes
        self._waits = array("d")
        self._next = then

    def _end(self, callers: Sequence[Caller], began: float, until: float) -> Pressed:
        """Wait for the replies that are under way, and bring everybody to the first stroke.

        What is pressed for that is pressed by all at once, so nobody asks how long it takes.
        """
        in_time = self._waits[:]
        self._next = self._send_to_the_end
        for caller in callers:
            if not caller.waiting:
                self._send_to_the_end(caller)
        self._await_replies(callers)
        whole = time.perf_counter() - began
        waits = in_time or self._waits  # a machine that is busy may have had no time at all
        return Pressed(len(self._waits), whole, len(in_time), until - began, waits)

    def _await_replies(self, callers: Sequence[Caller]) -> None:
        patience = time.perf_counter() + PATIENCE
        while any(caller.waiting for caller in callers):
            if time.perf_counter() > patience:
                late = next(caller for caller in callers if caller.waiting)
                key = self._strokes[late.step].key
                raise RuntimeError(f"no reply to {key!r}, after {late.heard!r}")
            self._read(0.05)

    def _send(self, caller: Caller) -> None:
        caller.waiting = True
        caller.sent = time.perf_counter()
        caller.wire.send(self._strokes[caller.step].key)

    def _send_to_the_end(self, caller: Caller) -> None:
        if caller.step:
            self._send(caller)

    def _read(self, seconds: float) -> None:
        count, callers = len(self._strokes), self._callers
        for number, _ in self._poll.poll(seconds):
            caller = callers[number]
            data = caller.wire.recv(READ)
            if not data:
                raise ConnectionError("the server hung up on a caller")
            if not caller.waiting:
                continue
            caller.heard = data
            if not caller.completes(data):
                continue
            caller.waiting = False
            self._waits.append(time.perf_counter() - caller.sent)
            caller.step = (caller.step + 1) % count
            self._next(caller)


def _wait(_: Caller) -> None:
    """Press nothing by yourself: the clock says when."""


def drop_all(callers: Sequence[Caller]) -> None:
    for caller in callers:
        caller.drop()


def fewer(callers: Sequence[Caller], count: int) -> list[Caller]:
    """So many of them, from all over."""
    return list(islice(callers[:: max(1, len(callers) // count)], count))
