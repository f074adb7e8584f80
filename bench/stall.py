"""How long the event loop keeps callers waiting while the writer commits.

A separate process sends the time every millisecond, and the loop notes its age when it reads it.
The same loop without bettors is the baseline, turn by turn.
"""

from __future__ import annotations

import asyncio
import os
import select
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.bettors import Bettor, Room, StoppedClock, room
from bench.processes import environment
from bench.report import Goal, Row, Scale, median, percentile
from door.call.board_clock import BoardClock
from door.call.books import Books

A_SECOND = 300  # transactions
PING_SECONDS = 0.001
START_SECONDS = 60.0  # for the other process's first ping, on a busy machine
STAMP = struct.Struct("=q")
USUAL_GOAL = Goal("value", "<=", 2)
WORST_GOAL = Goal("value", "<=", 10)
MILLI = 1e3


def ping() -> None:
    """Write the monotonic nanoseconds to standard output until its reader closes."""
    try:
        while True:
            os.write(sys.stdout.fileno(), STAMP.pack(time.monotonic_ns()))
            time.sleep(PING_SECONDS)
    except BrokenPipeError:
        return


def run(scale: Scale, disk: Path, memory: Path | None) -> Iterator[Row]:
    places = {"disk": disk} if memory is None else {"disk": disk, "tmpfs": memory}
    for name, folder in places.items():
        with room(folder, scale.bettors, elapsed=1) as here, pings() as pipe:
            yield from asyncio.run(_measure(name, here, pipe, scale))


@contextmanager
def pings() -> Iterator[int]:
    """Yield the end of a pipe that receives the time every millisecond."""
    sender = subprocess.Popen(
        [sys.executable, "-c", "from bench.stall import ping; ping()"],
        stdout=subprocess.PIPE,
        env=environment(),
    )
    assert sender.stdout is not None
    try:
        if not select.select([sender.stdout], [], [], START_SECONDS)[0]:
            raise RuntimeError("nothing came from the other process")
        yield sender.stdout.fileno()
    finally:
        sender.stdout.close()
        sender.terminate()
        sender.wait()


async def _measure(name: str, here: Room, pipe: int, scale: Scale) -> list[Row]:
    books = Books(here.database, lambda: here.settings, BoardClock(StoppedClock()))
    ages: list[float] = []  # of the pings, in seconds, as they were read
    busy: list[list[float]] = []
    idle: list[list[float]] = []
    done = 0
    asyncio.get_running_loop().add_reader(pipe, note, pipe, ages)
    for _ in range(scale.rounds):
        ages.clear()
        await asyncio.sleep(scale.stall_seconds)
        await anything(ages)
        idle.append(ages[:])
        ages.clear()
        done += await play(books, here.bettors, scale.stall_seconds)
        await anything(ages)
        busy.append(ages[:])
    asyncio.get_running_loop().remove_reader(pipe)
    await books.close()
    rate = done / (scale.stall_seconds * scale.rounds)
    usual = [median(percentile(turn, 99) for turn in turns) * MILLI for turns in (busy, idle)]
    worst = [max(map(max, turns)) * MILLI for turns in (busy, idle)]
    return [
        Row(f"{name}: stall p99, {rate:.0f} tx/s or idle", "ms", usual[0], usual[1], USUAL_GOAL),
        Row(f"{name}: stall max, {rate:.0f} tx/s or idle", "ms", worst[0], worst[1], WORST_GOAL),
    ]


async def anything(ages: list[float]) -> None:
    """Wait for a ping: on a machine with much to do none may have come in a short turn."""
    while not ages:  # noqa: ASYNC110 - what reads them wakes nobody
        await asyncio.sleep(PING_SECONDS)


def note(pipe: int, ages: list[float]) -> None:
    """Note how old the pings are that have come, in seconds."""
    stamps = os.read(pipe, 512 * STAMP.size)
    now = time.monotonic_ns()
    ages.extend((now - stamp) / 1e9 for (stamp,) in STAMP.iter_unpack(stamps))


async def play(books: Books, bettors: list[Bettor], seconds: float) -> int:
    """Let all bettors together make this many transactions a second; return their number."""
    gap = len(bettors) / A_SECOND
    loop = asyncio.get_running_loop()
    began = loop.time()

    async def go_on(number: int, bettor: Bettor) -> int:
        done = 0
        due = began + gap * number / len(bettors)
        while due < began + seconds:
            await asyncio.sleep(due - loop.time())
            await books.run(bettor.next_operation())
            due += gap
            done += 1
        return done

    return sum(await asyncio.gather(*(go_on(*bettor) for bettor in enumerate(bettors))))
