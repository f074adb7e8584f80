"""What a round of a beacon costs: its signature, the process that fetches it, and the board beside.

A relay on this machine has real rounds of drand's quicknet, which others have recorded. The wait
for a round to be published is no part of it: that is 2 to 5 seconds, by the network's clock.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bench.report import Goal, Row, Scale, median, percentile
from door.beacon import signed
from door.beacon.fetching import Fetching
from door.beacon.network import QUICKNET
from timebank.wagers.beacons import BeaconRound

# Of quicknet: docs/fairness.md has it among its vectors.
ROUND = 1000
SIGNATURE = (
    "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125"
    "e342b73a8dd2bacbe47e4b6b63ed5e39"
)
CHECKS = 50
IDLE = 0.02  # seconds that the loop is looked at without any fetching, for each round
FOREVER = 1e9
TICK = 0.001  # seconds between two looks at how late the loop is
# Of a loop on which nothing of a round is worked out.
LATE_GOAL = Goal("value", "<=", 5)
MILLI = 1e3
TICKS = os.sysconf("SC_CLK_TCK")


def run(scale: Scale) -> Iterator[Row]:
    for name, is_signed in (("drand-verify", signed._by_drand_verify), ("blst", signed._by_blst)):
        began = time.process_time()
        for _ in range(CHECKS):
            assert is_signed(QUICKNET.key, ROUND, SIGNATURE)
        spent = (time.process_time() - began) / CHECKS
        yield Row(f"a signature checked by {name}, CPU", "ms", spent * MILLI)
    yield from asyncio.run(_fetched(10 * scale.rounds))


async def _fetched(rounds: int) -> list[Row]:
    waits: list[float] = []
    idle, lateness = list[float](), list[float]()
    await _watch(idle, rounds * IDLE)
    with _relay() as url:
        began = time.perf_counter()
        await _fetch(fetching := Fetching(QUICKNET), url)
        first = time.perf_counter() - began
        number = fetching.process_id
        assert number is not None
        before = _spent(number)
        watch = asyncio.create_task(_watch(lateness))
        for _ in range(rounds):
            fetching._rounds.clear()  # each is asked for once
            began = time.perf_counter()
            await _fetch(fetching, url)
            waits.append(time.perf_counter() - began)
        watch.cancel()
        spent, resident = (_spent(number) - before) / rounds, _resident(number)
        await fetching.close()
    return [
        Row("the process started, and its first round", "ms", first * MILLI),
        Row("a round from a relay on this machine", "ms", median(waits) * MILLI),
        Row("the same, CPU of the process", "ms", spent * MILLI),
        Row(
            "how late the board's loop is meanwhile: p99",
            "ms",
            percentile(lateness, 99) * MILLI,
            percentile(idle, 99) * MILLI,
            LATE_GOAL,
        ),
        Row("resident memory of the process", "MB", resident),
    ]


async def _fetch(fetching: Fetching, url: str) -> None:
    wanted = BeaconRound(QUICKNET.key, ROUND, QUICKNET.published(ROUND))
    found = await fetching.fetch(wanted, [url], -1.0, 5.0)
    assert found.signature == SIGNATURE, found.failed


async def _watch(lateness: list[float], seconds: float = FOREVER) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        await asyncio.sleep(TICK)
        lateness.append(time.perf_counter() - began - TICK)


def _spent(number: int) -> float:
    """Return the seconds of CPU that a process has used (Linux)."""
    fields = Path(f"/proc/{number}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _resident(number: int) -> float:
    lines = Path(f"/proc/{number}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


@contextmanager
def _relay() -> Iterator[str]:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = json.dumps({"round": ROUND, "signature": SIGNATURE}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_said: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
