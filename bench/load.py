"""The load maker: many callers on raw sockets, pressing keys and waiting for what they show.

It must be cheaper than what it measures, so it is one loop over epoll and knows nothing of
terminals: a reply is complete when the bytes come that end it, which `learn` has found out by
pressing the same keys slowly. The status line that ticks in between is told apart and left out,
and so are colours and jumps, which depend on whether it has ticked.
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

from bench.board import PASSWORD, name_of
from bench.telnet import Client

HOST = "127.0.0.1"
PATIENCE = 15.0  # seconds; a reply that takes longer has failed
READ = 65536
QUIET = 0.1  # seconds without a byte after which a reply is taken for complete
# Bytes. A key may be echoed before it is answered, and then more of a row is sent anew.
LONGEST_END = 4
LESSONS = 3
ATTEMPTS = 5
LOGGING_ON_AT_ONCE = 8
# The status line, from the jump into it to the jump out of it, and whatever is not text.
LEFT_OUT = re.compile(
    rb"\x1b\[24[0-9;]*H.*?(?=\x1b\[[0-9;]*H|\Z)|\x1b\[[0-9;?]*[A-Za-z]|[\b\r]", re.DOTALL
)


class Stroke(NamedTuple):
    """A key, the bytes that end the reply to it, and how many bytes it usually has."""

    key: bytes
    end: bytes
    length: int


class Pressed(NamedTuple):
    """What came of pressing keys for a while."""

    keys: int  # whose reply has come, the last ones included
    whole: float  # seconds until the last had come
    in_time: int  # keys whose reply came before the time was over
    seconds: float  # that this time was
    waits: array[float]  # seconds from each key to the end of its reply


class Caller:
    """One connection, as the load maker sees it."""

    __slots__ = ("sent", "step", "tail", "waiting", "wire")

    def __init__(self, wire: socket.socket) -> None:
        self.wire = wire
        self.step = 0
        self.sent = 0.0
        self.tail = b""
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

    def until_quiet(self) -> bytes:
        """Read what comes until nothing comes any more, and return what matters of it."""
        self.wire.settimeout(QUIET)
        told = b""
        try:
            while data := self.wire.recv(READ):
                told += data
        except TimeoutError:
            return LEFT_OUT.sub(b"", told)
        finally:
            self.wire.settimeout(PATIENCE)
        raise ConnectionError("hung up")

    def drop(self) -> None:
        """Break the connection, so that no port waits for the rest of a minute."""
        if self.wire.fileno() >= 0:
            self.wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.wire.close()


def connect_all(port: int, numbers: range) -> list[Caller]:
    """Callers of a bare server, who need not log on."""
    return [Caller.connect(port) for _ in numbers]


def log_on_all(port: int, numbers: range) -> list[Caller]:
    """Bring callers to the black jack table, a few at a time."""
    with ThreadPoolExecutor(LOGGING_ON_AT_ONCE) as threads:
        return list(threads.map(lambda number: log_on(port, number), numbers))


def log_on(port: int, number: int) -> Caller:
    caller = Caller.connect(port)
    caller.until(b"Name:")
    caller.send(name_of(number).encode() + b"\r")
    caller.until(b"Password:")
    caller.send(PASSWORD.encode() + b"\r")
    caller.until(b"any key")
    caller.send(b" ")
    caller.until(b"ood-bye")
    caller.send(b"b")
    caller.until(b"lace Bet")
    return caller


def learn(caller: Caller, keys: Sequence[bytes]) -> list[Stroke]:
    """Press the keys in turn, slowly, and find the bytes that every reply to each ends with.

    Where one end was cut short, because a reply took a rest on its way, all is learnt anew.
    """
    for _ in range(ATTEMPTS):
        caller.until_quiet()
        told: list[list[bytes]] = [[] for _ in keys]
        for _ in range(LESSONS):
            for key, replies in zip(keys, told, strict=True):
                caller.send(key)
                replies.append(caller.until_quiet())
        ends = [_common_end([reply[-LONGEST_END:] for reply in replies]) for replies in told]
        if all(ends):
            lengths = [sorted(map(len, replies))[LESSONS // 2] for replies in told]
            return list(map(Stroke, keys, ends, lengths))
    raise RuntimeError(f"no end that can be told in the replies to {keys!r}: {told!r}")


def _common_end(replies: Sequence[bytes]) -> bytes:
    first = replies[0]
    for start in range(len(first)):
        if all(reply.endswith(first[start:]) for reply in replies):
            return first[start:]
    return b""


class Keyboard:
    """Presses keys for a group of callers; all that comes to any connection of `everybody` is read.

    Each of the callers goes round the strokes on his own, from where he left off.
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

    def press(
        self, callers: Sequence[Caller], strokes: Sequence[Stroke], seconds: float
    ) -> Pressed:
        """Let every caller press his next key as soon as he has seen the last."""
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
        """Wait for the replies that are under way, and bring everybody to the first stroke."""
        in_time = len(self._waits)
        self._next = self._send_to_the_end
        for caller in callers:
            if not caller.waiting:
                self._send_to_the_end(caller)
        while any(caller.waiting for caller in callers):
            if time.perf_counter() > until + PATIENCE:
                late = next(caller for caller in callers if caller.waiting)
                raise RuntimeError(f"no end of a reply, after {late.tail!r}")
            self._read(0.05)
        whole = time.perf_counter() - began
        return Pressed(len(self._waits), whole, in_time, until - began, self._waits)

    def _send(self, caller: Caller) -> None:
        caller.waiting = True
        caller.tail = b""
        caller.sent = time.perf_counter()
        caller.wire.send(self._strokes[caller.step].key)

    def _send_to_the_end(self, caller: Caller) -> None:
        if caller.step:
            self._send(caller)

    def _read(self, seconds: float) -> None:
        strokes, count, callers = self._strokes, len(self._strokes), self._callers
        for number, _ in self._poll.poll(seconds):
            caller = callers[number]
            data = caller.wire.recv(READ)
            if not data:
                raise ConnectionError("the server hung up on a caller")
            if not caller.waiting:
                continue
            data = LEFT_OUT.sub(b"", data)
            tail = caller.tail + data if caller.tail else data
            if not tail.endswith(strokes[caller.step].end):
                caller.tail = tail[-LONGEST_END:]
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
