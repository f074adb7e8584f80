"""How long a process took for something, without the waits for a processor.

A busy machine cannot keep a promise in seconds. So the stopwatch leaves out the seconds in which
the process, or the test that watches it, waited for a processor. Linux reports these waits for
every thread; elsewhere all seconds count.
"""

from __future__ import annotations

import asyncio
import os
import time
from asyncio.subprocess import Process
from contextlib import suppress
from pathlib import Path

LOOK = 0.02  # seconds between two looks at a process, which cannot be read at its end


class Stopwatch:
    """Runs from its making on; `pid` is the process that must be quick."""

    def __init__(self, pid: int) -> None:
        self._began = time.monotonic()
        self._before = {number: waited_seconds(number) for number in (pid, os.getpid())}
        self._kept = dict.fromkeys(self._before, 0.0)

    def look(self) -> None:
        """Note how long both have been kept waiting so far."""
        for number, before in self._before.items():
            self._kept[number] = max(self._kept[number], waited_seconds(number) - before)

    @property
    def seconds(self) -> float:
        """The elapsed time less the observed waits for a processor."""
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


def waited_seconds(pid: int) -> float:
    """The seconds that the first thread of a process could have run and did not."""
    with suppress(OSError, IndexError):
        _, waited, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
        return int(waited) / 1e9
    return 0.0
