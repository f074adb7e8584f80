"""From connecting to the first byte of the banner, and a burst of callers at once."""

from __future__ import annotations

import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.load import HOST, PATIENCE, READ, Caller, drop_all
from bench.processes import Child, environment, more_files
from bench.report import Goal, Row, Scale, median
from bench.telnet import Client

CALLERS_IN_THE_BOOKS = 1  # none logs on here

ANSWERING_GOAL = Goal("value", "<=", 5)
SILENT_GOAL = Goal("value", "<=", 550)
CROWD = 200  # connections at once next to a caller who presses keys
CROWDS = 5
KEY_SECONDS = 0.0005  # between the keys of one caller next to a crowd
KEY_GOAL = Goal("value", "<=", 8)
KEYS = (b"x", b"\b")  # typed and rubbed out at the log-on, each with its echo
MILLI, MICRO = 1e3, 1e6


class Visitor:
    """A connection that waits for the banner."""

    def __init__(self, wire: socket.socket, client: Client | None, began: float) -> None:
        self.wire = wire
        self.client = client  # None: it never answers
        self.began = began
        self.served = 0.0  # when the banner began to come
        self._silent = Client(takes_part=False)

    def read(self) -> None:
        data = self.wire.recv(READ)
        if not data:
            raise ConnectionError("hung up before the banner")
        client = self.client or self._silent
        answers = client.feed(data)
        if self.client is not None and answers:
            self.wire.sendall(answers)
        if client.shown:
            self.served = time.perf_counter()


class Burst(NamedTuple):
    """The results of many connections at once."""

    served: int
    seconds: float
    cpu: float  # seconds of the server for each


def run(scale: Scale, disk: Path) -> Iterator[Row]:
    more_files()
    with (
        tempfile.TemporaryDirectory(prefix="bench-", dir=disk) as folder,
        Child("bench.board", folder, str(CALLERS_IN_THE_BOOKS), scale.loop) as board,
        Child("bench.bare") as bare,
    ):
        yield from _one_by_one(board.port, bare.port, scale.connects)
        waits = [visitor.served - visitor.began for visitor in _at_once(board.port, scale.silent)]
        yield Row("banner, client silent", "ms", max(waits) * MILLI, None, SILENT_GOAL)
        ours = _burst(board, scale.burst)
        theirs = _burst(bare, scale.burst)
        all_of_them = Goal("value", ">=", scale.burst)
        yield Row(f"burst of {scale.burst}: served", "", ours.served, theirs.served, all_of_them)
        yield Row(f"burst of {scale.burst}: until the last", "s", ours.seconds, theirs.seconds)
        yield Row("a connect: CPU", "us", ours.cpu * MICRO, theirs.cpu * MICRO)
        crowded, quiet = _key_beside_crowds(board.port)
        what = f"the longest wait for a key beside {CROWD} who connect"
        yield Row(what, "ms", crowded * MILLI, quiet * MILLI, KEY_GOAL)


def _one_by_one(board: int, bare: int, count: int) -> Iterator[Row]:
    answering, refusing, baseline = [], [], []
    for _ in range(count):
        answering.append(wait_for_banner(board, Client(takes_part=True)))
        refusing.append(wait_for_banner(board, Client(takes_part=False)))
        baseline.append(wait_for_banner(bare, Client(takes_part=False)))
    for what, waits in (("answers", answering), ("refuses", refusing)):
        yield Row(
            f"banner, client {what}",
            "ms",
            median(waits) * MILLI,
            median(baseline) * MILLI,
            ANSWERING_GOAL,
        )


def wait_for_banner(port: int, client: Client) -> float:
    began = time.perf_counter()
    caller = Caller.connect(port)
    visitor = Visitor(caller.wire, client, began)
    while not visitor.served:
        visitor.read()
    caller.drop()
    return visitor.served - began


def crowd(port: int) -> None:
    """Connect this many at once for each line of standard input, and report when all are served."""
    more_files()
    print(flush=True)
    for _ in sys.stdin:
        _at_once(port, CROWD, answering=True, takes_part=True)
        print(flush=True)


def _key_beside_crowds(port: int) -> tuple[float, float]:
    """Press keys at the log-on; return the median of the longest waits, with crowds and without.

    The crowd is another process, because its own work would count as a wait.
    """
    typist = Caller.connect(port)
    _settle(typist.wire)
    code = "import sys; from bench.connect import crowd; crowd(int(sys.argv[1]))"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as others:
        assert others.stdin is not None
        assert others.stdout is not None
        others.stdout.readline()
        crowded, quiet = [], []
        for _ in range(CROWDS):
            began = time.perf_counter()
            others.stdin.write("\n")
            others.stdin.flush()
            waits = []
            while not select.select([others.stdout], [], [], 0)[0]:
                waits.append(_press(typist.wire, len(waits)))
            others.stdout.readline()
            crowded.append(max(waits))
            until = time.perf_counter() + (time.perf_counter() - began)
            waits = []
            while time.perf_counter() < until:
                waits.append(_press(typist.wire, len(waits)))
            quiet.append(max(waits))
        others.stdin.close()
    typist.drop()
    return median(crowded), median(quiet)


def _settle(wire: socket.socket) -> None:
    """Refuse all that is offered, and read the banner to its end."""
    client = Client(takes_part=False)
    while select.select([wire], [], [], 1)[0]:
        wire.sendall(client.feed(wire.recv(READ)) or b"")


def _press(wire: socket.socket, number: int) -> float:
    began = time.perf_counter()
    wire.send(KEYS[number % len(KEYS)])
    wire.recv(READ)
    waited = time.perf_counter() - began
    time.sleep(KEY_SECONDS)
    return waited


def _burst(child: Child, count: int) -> Burst:
    before = child.usage().cpu
    began = time.perf_counter()
    visitors = _at_once(child.port, count, answering=True)
    served = [visitor for visitor in visitors if visitor.served]
    last = max(visitor.served for visitor in served)
    return Burst(len(served), last - began, (child.usage().cpu - before) / len(served))


def _at_once(
    port: int, count: int, *, answering: bool = False, takes_part: bool = False
) -> Sequence[Visitor]:
    """Connect so many, all before the first is served, and wait until every one of them is."""
    visitors: dict[int, Visitor] = {}
    with select.epoll() as poll:
        for _ in range(count):
            wire = socket.socket()
            wire.setblocking(False)
            client = Client(takes_part=takes_part) if answering else None
            visitors[wire.fileno()] = Visitor(wire, client, time.perf_counter())
            wire.connect_ex((HOST, port))
            poll.register(wire, select.EPOLLIN)
        waiting = count
        patience = time.perf_counter() + PATIENCE
        while waiting and time.perf_counter() < patience:
            for number, _ in poll.poll(0.1):
                visitors[number].read()
                if visitors[number].served:
                    poll.unregister(number)
                    waiting -= 1
    drop_all([Caller(visitor.wire) for visitor in visitors.values()])
    return list(visitors.values())
