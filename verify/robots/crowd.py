"""Many robots in their own process, which starts on command and reports what they saw."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection

from bench.processes import more_files
from verify.robots.robot import Pace, Robot
from verify.robots.seen import Seen


@dataclass(frozen=True)
class Crowd:
    """The callers and their board: those with `numbers`, one after another."""

    names: Sequence[str]
    numbers: range
    port: int
    seed: int
    pace: Pace
    a_second: float  # first calls
    is_known: bool


class CrowdProcess:
    """The process of a crowd; it calls until `stop`."""

    def __init__(self, crowd: Crowd) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_run, args=(crowd, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def keys(self) -> int:
        """Return how many keys were pressed so far."""
        self._pipe.send("keys")
        answer: int = self._pipe.recv()
        return answer

    def hush(self) -> None:
        """Have all of them say goodbye; `seen` waits for it."""
        self._pipe.send("stop")

    def seen(self) -> list[Seen]:
        """Return everything they saw, after `hush`."""
        answer: list[Seen] = self._pipe.recv()
        self._process.join()
        return answer


def _run(crowd: Crowd, pipe: Connection) -> None:
    more_files()
    asyncio.run(_play(crowd, pipe))


async def _play(crowd: Crowd, pipe: Connection) -> None:
    stop = asyncio.Event()
    robots: list[Robot] = []
    gc.freeze()
    async with asyncio.TaskGroup() as group:
        group.create_task(_come(crowd, robots, stop, group))
        while (order := await asyncio.to_thread(pipe.recv)) != "stop":
            if order == "keys":
                pipe.send(sum(robot.seen.keys for robot in robots))
        stop.set()
    pipe.send([robot.seen for robot in robots])


async def _come(
    crowd: Crowd, robots: list[Robot], stop: asyncio.Event, group: asyncio.TaskGroup
) -> None:
    """Start their first calls, so many a second."""
    for number in crowd.numbers:
        robot = Robot(
            crowd.names[number],
            "127.0.0.1",
            crowd.port,
            crowd.seed + number,
            pace=crowd.pace,
            is_known=crowd.is_known,
            # The same one whenever this seed is run again.
            friend=crowd.names[(number * 7 + 1) % len(crowd.names)],
        )
        robots.append(robot)
        group.create_task(robot.play(stop))
        await asyncio.sleep(1 / crowd.a_second)
        if stop.is_set():
            return
