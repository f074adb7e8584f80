"""How long a process took for something, had the machine had nothing else to do.

What a process promises in seconds it cannot keep while others hold the processors. So seconds in
which it, or the test that watches it, could run and was not let are not counted. Linux tells them
for every thread; elsewhere all seconds count.
"""

from __future__ import annotations

import asyncio
import os
import time
from asyncio.subprocess import Process
from contextlib import suppress
from pathlib import Path

LOOK = 0.02  # seconds between two looks at a process, of which nothing can be read at its end


class Stopwatch:
    """Runs from its making on; `pid` is the process that must be quick."""

    def __init__(self, pid: int) -> None:
        self._began = time.monotonic()
        self._before = {number: kept_waiting(number) for number in (pid, os.getpid())}
        self._kept = dict.fromkeys(self._before, 0.0)

    def look(self) -> None:
        """Note how long both have been kept waiting so far."""
        for number, before in self._before.items():
            self._kept[number] = max(self._kept[number], kept_waiting(number) - before)

    @property
    def seconds(self) -> float:
        """What has gone by, less what was waited for a processor as far as it was looked at."""
        self.look()
        return time.monotonic() - self._began - sum(self._kept.values())

    async def until_the_end(self, process: Process, patience: float) -> float:
        """Wait for the end of the process, at most `patience` seconds; return `seconds`."""
        end = asyncio.ensure_future(process.wait())
        try:
            async with asyncio.timeout(patience):
                while not (await asyncio.wait([end], timeout=LOOK))[0]:
                    self.look()
        finally:
            end.cancel()
        return self.seconds


def kept_waiting(pid: int) -> float:
    """The seconds that the first thread of a process could have run and did not."""
    with suppress(OSError, IndexError):
        _, waited, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
        return int(waited) / 1e9
    return 0.0
