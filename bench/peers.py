"""Any telnet host, driven by one client: connect so many callers, press a key, wait for the answer.

    python -m bench --part peers HOST PORT [--pid PID] [--callers N] [--key TEXT]

The host is a black box: a key is answered when the first byte after it arrives. Choose a key that
shows something and leads nowhere, such as one letter at the question for a name; the next key is a
backspace, so that the line does not grow.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.processes import more_files
from bench.report import Row, median, percentile
from bench.telnet import Client

READ = 65536
QUIET_SECONDS = 1.0  # without a byte: the host waits for a key
SETTLE_SECONDS = 60.0  # for callers to get so far
ANSWER_SECONDS = 10.0  # for one key
PACE_SECONDS = 0.02  # between keys, of all callers together
LOOPBACK = ("127.", "::1", "localhost")
MILLI, MICRO = 1e3, 1e6


@dataclass(frozen=True)
class Peer:
    host: str
    port: int
    pid: int | None = None  # of the host, where its CPU and memory are asked for
    callers: int = 200
    keys: int = 1000
    key: bytes = b"x"


@dataclass
class Line:
    wire: socket.socket
    telnet: Client
    pressed: int = 0

    def read(self) -> int:
        """Read new bytes and answer telnet's requests; return how much was shown."""
        data = self.wire.recv(READ)
        if not data:
            raise ConnectionError("the host hung up")
        before = len(self.telnet.shown)
        answers = self.telnet.feed(data)
        if answers:
            self.wire.sendall(answers)
        shown = len(self.telnet.shown) - before
        self.telnet.shown = b""
        return shown

    def press(self, key: bytes) -> float | None:
        """Press a key, or take the last one back; return the wait, None where nothing came."""
        self.pressed += 1
        with contextlib.suppress(BlockingIOError):  # unrequested output is no answer
            self.wire.setblocking(False)
            self.read()
        self.wire.settimeout(ANSWER_SECONDS)
        began = time.perf_counter()
        self.wire.send(key if self.pressed % 2 else b"\b")
        try:
            while not self.read():
                continue
        except TimeoutError:
            return None
        return time.perf_counter() - began


def run(peer: Peer) -> Iterator[Row]:
    """Measure one host; raises `ValueError` for one that is not on this machine."""
    if not peer.host.startswith(LOOPBACK):
        raise ValueError("only a host on this machine may be driven: say 127.0.0.1")
    more_files()
    empty = _memory(peer.pid)
    with contextlib.ExitStack() as stack:
        began, cpu = time.perf_counter(), _cpu(peer.pid)
        lines = [_call(peer, stack) for _ in range(peer.callers)]
        connected = time.perf_counter() - began
        _settle(lines)
        yield Row(f"{peer.callers} callers: until all are connected", "s", connected)
        if peer.pid is not None:
            spent = (_cpu(peer.pid) - cpu) / peer.callers
            yield Row("a caller, until asked: CPU", "us", spent * MICRO)
            more = (_memory(peer.pid) - empty) / peer.callers
            yield Row("a caller who is on: memory", "kB", more)
        idle = _spent(peer.pid)
        yield from _keys(peer, lines, idle)


def _keys(peer: Peer, lines: list[Line], idle: float) -> Iterator[Row]:
    """Press keys, one at a time, and subtract the cost of idle callers.

    `idle` is in seconds of CPU for each second that passes.
    """
    began, cpu = time.perf_counter(), _cpu(peer.pid)
    waits = []
    for number in range(peer.keys):
        wait = lines[number % len(lines)].press(peer.key)
        if wait is not None:
            waits.append(wait)
        time.sleep(PACE_SECONDS)
    passed, spent = time.perf_counter() - began, _cpu(peer.pid) - cpu
    yield Row("keys answered", "%", 100 * len(waits) / peer.keys)
    if not waits:
        return
    yield Row("a key: p50", "ms", median(waits) * MILLI)
    yield Row("a key: p99", "ms", percentile(waits, 99) * MILLI)
    yield Row("a key: max", "ms", max(waits) * MILLI)
    if peer.pid is not None:
        yield Row("a key: CPU", "us", max(0.0, spent - idle * passed) / peer.keys * MICRO)
        yield Row("a caller and second, no key pressed: CPU", "us", idle / len(lines) * MICRO)


def _call(peer: Peer, stack: contextlib.ExitStack) -> Line:
    wire = socket.create_connection((peer.host, peer.port), ANSWER_SECONDS)
    wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Line(stack.enter_context(wire), Client(takes_part=True))


def _settle(lines: list[Line]) -> None:
    """Read until nothing has come for a while: everybody is asked something then."""
    with select.epoll() as poll:
        by_number = {line.wire.fileno(): line for line in lines}
        for number in by_number:
            poll.register(number, select.EPOLLIN)
        until = time.perf_counter() + SETTLE_SECONDS
        while ready := poll.poll(QUIET_SECONDS):
            for number, _ in ready:
                by_number[number].read()
            if time.perf_counter() > until:
                return  # a screen that never rests, such as one with a clock


def _spent(pid: int | None) -> float:
    """Return the CPU of a second without keys."""
    began, cpu = time.perf_counter(), _cpu(pid)
    time.sleep(2 * QUIET_SECONDS)
    return (_cpu(pid) - cpu) / (time.perf_counter() - began)


def _cpu(pid: int | None) -> float:
    """Seconds of CPU of a process so far, with all its threads."""
    if pid is None:
        return 0.0
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((each / "schedstat").read_text().split()[0]) for each in threads) / 1e9


def _memory(pid: int | None) -> float:
    """Kilobytes that are resident."""
    if pid is None:
        return 0.0
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024
