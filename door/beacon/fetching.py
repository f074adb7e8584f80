"""Rounds of the beacon for a board, from a process beside it.

The process is started with the first round that is asked for, and again when it has died; it ends
with the board. Each round is fetched once, however many wait for it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections import OrderedDict
from collections.abc import Sequence

from door.beacon.network import Network
from door.beacon.process import UNREACHABLE
from door.beside import Beside, command
from timebank.wagers.beacons import BeaconRound

COMMAND = command("door.beacon.process")
KEPT = 64  # rounds, a hundred bytes each
GRACE = 5.0  # seconds beyond those that the process has; its start is in them

log = logging.getLogger("door.beacon")


class Fetching:
    """The process, and what it is asked for."""

    def __init__(self, network: Network, command: Sequence[str] = COMMAND) -> None:
        self._network, self._command = network, command
        self._process: Beside | None = None
        self._starting = asyncio.Lock()
        self._hearing: asyncio.Task[None] | None = None
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, str]]] = {}
        self._rounds: OrderedDict[int, asyncio.Task[BeaconRound]] = OrderedDict()

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.number

    async def fetch(
        self, beacon: BeaconRound, urls: Sequence[str], due: float, seconds: float
    ) -> BeaconRound:
        """Return a round with its signature, or with why there is none. It is due in `due` seconds,
        and is tried for `seconds` from then on. Never raises but when it is cancelled."""
        task = self._rounds.get(beacon.number)
        if task is None or task.cancelled():
            task = asyncio.create_task(self._fetched(beacon, urls, due, seconds))
            self._rounds[beacon.number] = task
            if len(self._rounds) > KEPT:
                self._rounds.popitem(last=False)
        found = await asyncio.shield(task)
        if found.failed and self._rounds.get(beacon.number) is task:
            del self._rounds[beacon.number]
        return found

    async def close(self) -> None:
        for task in self._rounds.values():
            task.cancel()
        await asyncio.gather(*self._rounds.values(), return_exceptions=True)
        await self._end()

    async def _fetched(
        self, beacon: BeaconRound, urls: Sequence[str], due: float, seconds: float
    ) -> BeaconRound:
        question = {
            "urls": list(urls),
            "chain": self._network.chain,
            "key": beacon.key,
            "number": beacon.number,
            "due": due,
            "seconds": seconds,
        }
        try:
            async with asyncio.timeout(max(0.0, due) + seconds + GRACE):
                said = await self._asked(question)
        except Exception as error:  # each loop says in its own way that a pipe is closed
            log.warning("round %d was not fetched: %r", beacon.number, error)
            return beacon.without(UNREACHABLE)
        if "signature" in said:
            return beacon.signed(said["signature"])
        log.warning("round %d was not had: %s", beacon.number, said["why"])
        return beacon.without(said["failed"])

    async def _asked(self, question: dict[str, object]) -> dict[str, str]:
        process = await self._begun()
        number = next(self._numbers)
        answer: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            await process.say(json.dumps({"id": number, **question}).encode() + b"\n")
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def _begun(self) -> Beside:
        """Return the process, another one where it has died."""
        async with self._starting:
            process = self._process
            if process is None or self._hearing is None or self._hearing.done():
                await self._end()
                process = self._process = Beside(self._command)
                await process.open()
                self._hearing = asyncio.create_task(self._hear(process))
            return process

    async def _hear(self, process: Beside) -> None:
        """Pass answers on until the process has ended; whoever waits then gets none."""
        try:
            while True:
                said = json.loads(await process.hear())
                answer = self._waiting.get(said.pop("id"))
                if answer is not None and not answer.done():
                    answer.set_result(said)
        except Exception as error:
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(error)

    async def _end(self) -> None:
        """End the process, if there is one; it holds nothing that would be lost."""
        hearing, self._hearing = self._hearing, None
        if hearing is not None:
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)
        process, self._process = self._process, None
        if process is not None:
            await process.end()
