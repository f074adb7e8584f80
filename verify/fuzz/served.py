"""The board as `door serve` runs it, in a process of its own, with a watch on its event loop.

    python -m verify.fuzz.served FOLDER [uvloop]

It answers orders on its input (bench/processes.py): `watch` forgets what was measured so far,
`memory` does the same and counts every byte until the next `watch`, which makes everything slower;
`report` says what was measured, `quiet` how many lines and tasks are left.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import shutil
import signal
import sys
import time
import tracemalloc
from asyncio import base_events
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.board import register_all
from bench.processes import obey
from door.config import config as settings
from door.config import privacy
from door.server.server import quickest, serve
from tests.certificates import put_into
from timebank.ledger.sqlite.database import SqliteDatabase

CALLERS = 64
SECRET = "swordfish"  # of the board that sends its callers by rlogin

SYSOP_TOML = f"""
events = []
[board]
name = "The Target"
[[listeners]]
kind = "telnet"
host = "127.0.0.1"
port = 0
[[listeners]]
kind = "rlogin"
host = "127.0.0.1"
port = 0
[boards.moth]
addresses = ["127.0.0.1"]
secret = "{SECRET}"
[calls]
nodes = 500
minutes_per_day = 600
logon_seconds = 86400
idle_warning_seconds = 43200
idle_limit_seconds = 86400
[games.black-jack-for-time]
turns_per_day = 0
"""
# Where there is a program that makes a certificate.
TELNETS = """
[[listeners]]
kind = "telnets"
host = "127.0.0.1"
port = 0
certificate = "{certificate}"
key = "{key}"
"""


class Watch:
    """How long one round of the event loop kept everybody else waiting.

    Processor time of its thread: what other processes take of the machine does not count, nor what
    the loop waits.
    """

    def __init__(self) -> None:
        """Begin with nothing measured."""
        self.longest = 0.0
        self.total = 0.0
        self.rounds = 0
        self.bytes_before = 0
        self._began: float | None = None
        self._next: asyncio.Handle | None = None

    def install(self) -> None:
        """Measure every round of the loops of this process from now on, if they are asyncio's."""
        usual: Callable[[Any], None] = vars(base_events.BaseEventLoop)["_run_once"]

        def run_once(loop: Any) -> None:
            began = time.thread_time()
            usual(loop)
            self._note(time.thread_time() - began)

        # The loop has no better place to be watched from: a handle is one of many in a round.
        setattr(base_events.BaseEventLoop, "_run_once", run_once)  # noqa: B010  # a private name

    def tick(self) -> None:
        """Measure every round of the running loop, which is not asyncio's, until `stop`.

        It comes round without a pause meanwhile, for there is always this to be done.
        """
        began, self._began = self._began, time.thread_time()
        if began is not None:
            self._note(self._began - began)
        self._next = asyncio.get_running_loop().call_soon(self.tick)

    def stop(self) -> None:
        """Tick no more."""
        if self._next is not None:
            self._next.cancel()
        self._began = self._next = None

    def forget(self) -> None:
        """Measure from here on."""
        self.longest = self.total = 0.0
        self.rounds = 0

    def _note(self, took: float) -> None:
        self.rounds += 1
        self.total += took
        self.longest = max(self.longest, took)


async def main(folder: Path) -> None:
    """Serve until the input ends."""
    file = folder / "sysop.toml"
    toml = SYSOP_TOML
    if shutil.which("openssl"):
        certificate, key = put_into(folder)
        toml += TELNETS.format(certificate=certificate, key=key)
    file.write_text(toml, encoding="utf-8")
    config = settings.load(file)
    _prepare(config)
    logging.basicConfig(filename=folder / "log", level=logging.INFO)
    watch = Watch()
    watch.install()
    ports: list[int] = []
    listening = asyncio.Event()

    def announce(words: str) -> None:
        if words.startswith("It listens"):
            ports.append(int(words.rstrip(".").rpartition(" ")[2]))
        listening.set()

    board = asyncio.create_task(serve(config, announce))
    ready = asyncio.create_task(listening.wait())
    await asyncio.wait((board, ready), return_when=asyncio.FIRST_COMPLETED)
    await asyncio.sleep(0)
    orders = {
        "ports": lambda _: ports,
        "watch": lambda _: _begin(watch, count_bytes=False),
        "memory": lambda _: _begin(watch, count_bytes=True),
        "report": lambda _: _report(watch),
        "tasks": lambda _: len(asyncio.all_tasks()),
    }
    await obey(ports[0], orders)
    os.kill(os.getpid(), signal.SIGTERM)
    await board


def _prepare(config: settings.Config) -> None:
    privacy.make_folder(config)
    database = SqliteDatabase(config.database)
    database.open()
    register_all(database, config, CALLERS)
    database.close()


def _begin(watch: Watch, *, count_bytes: bool) -> None:
    watch.stop()
    if not (count_bytes or isinstance(asyncio.get_running_loop(), base_events.BaseEventLoop)):
        watch.tick()
    if not count_bytes:
        tracemalloc.stop()
    elif not tracemalloc.is_tracing():
        tracemalloc.start()
    gc.collect()
    tracemalloc.reset_peak()
    watch.forget()
    watch.bytes_before = tracemalloc.get_traced_memory()[0]


def _report(watch: Watch) -> dict[str, float]:
    """Seconds of the longest round and of all, rounds, and the most bytes beyond those before."""
    watch.stop()
    peak = max(0, tracemalloc.get_traced_memory()[1] - watch.bytes_before)
    return {
        "longest": watch.longest,
        "total": watch.total,
        "rounds": watch.rounds,
        "peak": peak,
    }


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=quickest() if "uvloop" in sys.argv else None) as runner:
        runner.run(main(Path(sys.argv[1])))
