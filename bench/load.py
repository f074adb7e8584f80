"""The load maker: many callers on raw sockets that press keys and wait for the replies.

It must be cheaper than the measured board, so it is one loop over epoll. It knows only two things
about terminals: the row of the output, and whether the cursor is shown. The board hides the cursor
while it serves a key, and shows it again after the next question. So a reply is complete when the
row of questions was written and the cursor is shown there. Neither the ticking status line nor the
early echo of a slow key counts as a reply.
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
# Output that leaves a row unchanged: colours, steps, the cursor shown or hidden, telnet's Go Ahead.
WRITES_NOTHING = re.compile(rb"(?:\x1b\[[0-9;?]*[A-JL-Za-z]|\xff\xf9|[\b\r])*")
HIDDEN, SHOWN = b"\x1b[?25l", b"\x1b[?25h"


class Stroke(NamedTuple):
    """A key, and how many bytes the reply to it usually has."""

    key: bytes
    length: int


class Pressed(NamedTuple):
    """The results of pressing keys for a while."""

    keys: int  # with a complete reply, the last ones included
    whole: float  # seconds until the last reply
    in_time: int  # keys with their reply within the allowed time
    seconds: float  # the allowed time
    waits: array[float]  # seconds from a key to the end of its reply: of those, if there are any
    bytes: int  # of all replies


class Caller:
    """One connection, as the load maker sees it: that of a bare server, or of the board."""

    __slots__ = ("group", "heard", "sent", "step", "waiting", "wire")

    def __init__(self, wire: socket.socket) -> None:
        self.wire = wire
        self.group: Group
        self.heard = b""  # the latest output
        self.step = 0
        self.sent = 0.0
        self.waiting = False

    @classmethod
    def connect(cls, port: int, source: str = HOST) -> Self:
        """Call from `source`, an address of this machine."""
        wire = socket.create_connection((HOST, port), PATIENCE, (source, 0))
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
        """Process output, and return whether it completes the reply."""
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
        """Follow the cursor through the output."""
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
    """Connect callers to a bare server, without log-on."""
    return [Caller.connect(port) for _ in numbers]


def log_on_all(port: int, numbers: range) -> list[Caller]:
    """Bring callers to the black jack table, a few at a time."""
    with ThreadPoolExecutor(LOGGING_ON_AT_ONCE) as threads:
        return list(threads.map(lambda number: log_on(port, number), numbers))


def log_on(port: int, number: int) -> Caller:
    return log_on_as(Guest.connect(port), number)


def log_on_as(caller: Caller, number: int) -> Caller:
    caller.until(b"Name:")
    caller.send(name_of(number).encode() + b"\r")
    caller.until(b"Password:")
    caller.send(PASSWORD.encode() + b"\r")
    caller.until(b"Press ")
    caller.send(b" ")
    caller.until(b"oodbye")
    caller.send(b"b")
    caller.until(b"airness")
    return caller


def learn(caller: Caller, keys: Sequence[bytes]) -> list[Stroke]:
    """Press the keys in turn, while all others rest, and measure the length of the replies."""
    lengths: dict[bytes, list[int]] = {key: [] for key in keys}
    for _ in range(LESSONS):
        for key in keys:
            caller.send(key)
            lengths[key].append(_read_reply(caller))
    return [Stroke(key, sorted(samples)[LESSONS // 2]) for key, samples in lengths.items()]


def _read_reply(caller: Caller) -> int:
    length = 0
    while data := caller.wire.recv(READ):
        length += len(data)
        if caller.completes(data):
            return length
    raise ConnectionError("hung up")


class Group:
    """Callers who press the same keys, each in their own round, and their results."""

    def __init__(
        self, callers: Sequence[Caller], strokes: Sequence[Stroke], gap: float = 0.0
    ) -> None:
        """Put them all before the first stroke; at leisure they press a key every `gap` seconds."""
        self.callers = callers
        self.strokes = strokes
        self.step = gap / len(callers)  # seconds from the key of one to that of the next
        self.due = 0  # the number of keys that were due
        self.waits = array("d")
        self.bytes = 0
        for caller in callers:
            caller.group, caller.step = self, 0

    def until_now(self, seconds: float) -> list[Caller]:
        """Return the callers whose key is due by this time since the last request."""
        before, self.due = self.due, 1 + int(seconds / self.step)
        return [self.callers[number % len(self.callers)] for number in range(before, self.due)]

    def next_after(self, seconds: float) -> float:
        """In how many seconds the next key is due."""
        return max(0.0, self.due * self.step - seconds)


class Keyboard:
    """Presses keys for callers; all that comes to any connection of `everybody` is read."""

    def __init__(self, everybody: Sequence[Caller]) -> None:
        self._callers = {caller.wire.fileno(): caller for caller in everybody}
        self._poll = select.epoll()
        for number, caller in self._callers.items():
            caller.wire.setblocking(False)
            self._poll.register(number, select.EPOLLIN)
        self._next: Callable[[Caller], None] = self._send

    def close(self) -> None:
        """Leave the connections as they were before."""
        self._poll.close()
        for caller in self._callers.values():
            if caller.wire.fileno() >= 0:
                caller.wire.settimeout(PATIENCE)

    def rest(self, seconds: float) -> None:
        """Press nothing, and read the output."""
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            self._read(0.01)

    def press_once(self, callers: Sequence[Caller], key: bytes) -> None:
        """Let every caller press one key, and wait for the replies."""
        group = Group(callers, [Stroke(key, 0)])
        self._next = _wait
        for caller in callers:
            self._send(caller)
        self._await_replies([group])

    def press(
        self, callers: Sequence[Caller], strokes: Sequence[Stroke], seconds: float
    ) -> Pressed:
        """Let every caller press the next key as soon as they have the last reply."""
        group = Group(callers, strokes)
        self._next = self._send
        began = time.perf_counter()
        for caller in callers:
            self._send(caller)
        until = began + seconds
        while (now := time.perf_counter()) < until:
            self._read(0.05)
        return self._end([group], began, now)[0]

    def press_at_leisure(
        self, groups: Sequence[Group], seconds: float, *, sleeps: bool = False
    ) -> list[Pressed]:
        """Let each caller press a key at regular times, in turn with the others of their group.

        A caller without the last reply by then skips the turn. Between two keys the load maker
        polls for replies, or `sleeps` until there is one and leaves its core to others.
        """
        self._next = _wait
        began = now = time.perf_counter()
        while now < began + seconds:
            for group in groups:
                for caller in group.until_now(now - began):
                    if not caller.waiting:
                        self._send(caller)
            self._read(min(each.next_after(now - began) for each in groups) if sleeps else 0)
            now = time.perf_counter()
        return self._end(groups, began, now)

    def _end(self, groups: Sequence[Group], began: float, until: float) -> list[Pressed]:
        """Wait for the open replies, and bring all callers to the first stroke.

        These keys are pressed at once, and their time does not count.
        """
        all_in_time = [group.waits[:] for group in groups]
        self._next = self._send_to_the_end
        for group in groups:
            for caller in group.callers:
                if not caller.waiting:
                    self._send_to_the_end(caller)
        self._await_replies(groups)
        whole = time.perf_counter() - began
        strokes = []
        for group, in_time in zip(groups, all_in_time, strict=True):
            waits = in_time or group.waits  # a busy machine may have had no time at all
            keys, seconds = len(group.waits), until - began
            strokes.append(Pressed(keys, whole, len(in_time), seconds, waits, group.bytes))
        return strokes

    def _await_replies(self, groups: Sequence[Group]) -> None:
        patience = time.perf_counter() + PATIENCE
        callers = [caller for group in groups for caller in group.callers]
        while any(caller.waiting for caller in callers):
            if time.perf_counter() > patience:
                late = next(caller for caller in callers if caller.waiting)
                key = late.group.strokes[late.step].key
                raise RuntimeError(f"no reply to {key!r}, after {late.heard!r}")
            self._read(0.05)

    def _send(self, caller: Caller) -> None:
        caller.waiting = True
        caller.sent = time.perf_counter()
        caller.wire.send(caller.group.strokes[caller.step].key)

    def _send_to_the_end(self, caller: Caller) -> None:
        if caller.step:
            self._send(caller)

    def _read(self, seconds: float) -> None:
        callers = self._callers
        for number, _ in self._poll.poll(seconds):
            caller = callers[number]
            data = caller.wire.recv(READ)
            if not data:
                raise ConnectionError("the server hung up on a caller")
            if not caller.waiting:
                continue
            group = caller.group
            group.bytes += len(data)
            caller.heard = data
            if not caller.completes(data):
                continue
            caller.waiting = False
            group.waits.append(time.perf_counter() - caller.sent)
            caller.step = (caller.step + 1) % len(group.strokes)
            self._next(caller)


def _wait(_: Caller) -> None:
    """Press nothing by yourself: the clock says when."""


def drop_all(callers: Sequence[Caller]) -> None:
    for caller in callers:
        caller.drop()


def fewer(callers: Sequence[Caller], count: int) -> list[Caller]:
    """So many of them, from all over."""
    return list(islice(callers[:: max(1, len(callers) // count)], count))
