"""A machine full of robots that call the board through its front, until a signal."""

from __future__ import annotations

import asyncio
import json
import pickle
import random
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from verify.robots import HASTY, Robot, Seen

# They stay until they are cut off, and come back soon.
PACE = replace(HASTY, think=(0.1, 0.6), stays=(3600.0, 7200.0), away=(0.2, 2.0), patience=5.0)
TELLS = 1.0  # seconds between two records of the keys


async def play(plan: Mapping[str, Any]) -> None:
    """Play until a SIGTERM, then write down everything they saw."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    chance = random.Random(plan["seed"])
    host, port, names = plan["host"], plan["port"], plan["names"]
    robots = [
        Robot(
            name,
            host,
            port,
            chance.getrandbits(32),
            pace=PACE,
            is_known=True,
            friend=names[0],
            taste="company" if number < plan["sociable"] else None,
        )
        for number, name in enumerate(names)
    ]
    folder = Path(plan["folder"])
    noting = asyncio.create_task(_note(robots, folder / "keys"))
    await asyncio.gather(*(robot.play(stop) for robot in robots))
    noting.cancel()
    (folder / "seen").write_bytes(pickle.dumps([robot.seen for robot in robots]))


async def _note(robots: list[Robot], file: Path) -> None:
    """Record repeatedly the time of the last sight of the books, and the number of keys."""
    with file.open("a", buffering=1) as out:
        while True:
            hands = sum(len(robot.seen.settlements) for robot in robots)
            keys = sum(robot.seen.keys for robot in robots)
            out.write(json.dumps([time.monotonic(), keys, hands]) + "\n")
            await asyncio.sleep(TELLS)


def seen(folder: Path) -> list[Seen]:
    traces: list[Seen] = pickle.loads((folder / "seen").read_bytes())
    return traces


def notes(folder: Path) -> list[tuple[float, int, int]]:
    """Read back instants, with the keys pressed and the hands seen until then."""
    file = folder / "keys"
    lines = file.read_text().split("\n")[:-1] if file.exists() else []
    return [tuple(json.loads(line)) for line in lines]


if __name__ == "__main__":
    asyncio.run(play(json.loads(sys.argv[1])))
