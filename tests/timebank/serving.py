"""A process that writes to the books as a server does, until its input ends.

Run as `python -m tests.timebank.serving DATABASE CALLERS`: so many callers log on and play hand
after hand through the one writer. Says "serving" once they all have played, and in the end how
many hands there were.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from tests import ROOT
from tests.timebank.books import place_bet, pushed, settings_for, wager
from timebank.callers import callers
from timebank.calls.calls import open_call
from timebank.errors import Refused
from timebank.ledger.database import Desk, Done, Writer
from timebank.ledger.sqlite.database import SqliteDatabase


class Server:
    """Plays for its callers: whoever has an answer asks again."""

    def __init__(self, path: Path, count: int) -> None:
        self.database = SqliteDatabase(path)
        self.database.open()
        settings = settings_for(path.parent, events=(), database=path)
        self.count = count
        self.hands = 0
        self.ending = False
        self.served = threading.Event()
        self.writer = Writer(
            self.database, lambda: settings, lambda: datetime.now(UTC), self.deliver
        )
        for number in range(count):
            self.writer.submit(partial(log_on, number=number), log_on)

    def deliver(self, group: list[Done]) -> None:
        for done in group:
            if done.error is not None and not isinstance(done.error, Refused):
                raise done.error
            self.hands += done.ticket is not log_on
            if self.hands >= self.count:
                self.served.set()
            if not self.ending:
                call_id = done.result if done.ticket is log_on else done.ticket
                self.writer.submit(partial(play, call_id=call_id), call_id)

    def serve(self) -> None:
        assert self.served.wait(60)
        print("serving", flush=True)
        sys.stdin.read()
        self.ending = True
        self.writer.close()
        self.database.close()
        print(self.hands)


def log_on(desk: Desk, number: int) -> int:
    name = f"Caller {number}"
    record = callers.find(desk, name) or callers.register(desk, name, "hash")
    return open_call(desk, record.id, number, "server", "192.0.2.1", False).call_id


def play(desk: Desk, call_id: int) -> None:
    place_bet(desk, call_id, 0, wager(60), pushed(60))


@contextmanager
def serving(path: Path, count: int = 5) -> Iterator[subprocess.Popen[str]]:
    """Run the process, from when it serves; a test may kill it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.timebank.serving", str(path), str(count)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "serving\n"
        yield process
    finally:
        process.stdin.close()
        process.stdout.read()
        process.stdout.close()
        code = process.wait(60)
    assert code <= 0  # killed or well


if __name__ == "__main__":
    Server(Path(sys.argv[1]), int(sys.argv[2])).serve()
