"""A COMMIT fails at the disk, in its own process: every later report must be true."""

from __future__ import annotations

import os
import queue
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import ROOT
from tests.failing_disk import (
    FIRST_SYNC_LOG,
    SECOND_SYNC_LOG,
    SYNC_LOG,
    THEN_WRITE_LOG,
    WRITE_LOG,
    FailingDisk,
)
from tests.long import long
from tests.timebank import clerk
from timebank.errors import BooksUnavailable

pytestmark = pytest.mark.of_a_file

PATIENCE = 120  # seconds; a busy machine starts a process slowly
DONE, REFUSED, IN_DOUBT, UNKNOWN = "done", "BooksUnavailable", "InDoubt", "OutcomeUnknown"


class Clerk:
    """A process that writes into the books, on a disk that fails."""

    def __init__(self, folder: Path, disk: FailingDisk) -> None:
        self.disk = disk
        self.process = subprocess.Popen(
            [sys.executable, "-m", clerk.__name__, folder],
            cwd=ROOT,
            env={**os.environ, **disk.environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()
        assert self.reply() == "ready"

    def asks(self, what: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()

    def reply(self) -> str:
        return self._lines.get(timeout=PATIENCE)

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self._lines.put(line.strip())

    def reply_to(self, what: str) -> str:
        self.asks(what)
        return self.reply()

    def is_killed(self) -> None:
        self.process.kill()
        self.process.wait()

    def ends(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0


@pytest.fixture
def clerk_of(books, folder) -> Iterator:
    """Start processes that work in the books, which this process does not open meanwhile."""
    books.caller("Ann")
    books.close()
    begun: list[Clerk] = []

    @contextmanager
    def start():
        begun.append(Clerk(folder, FailingDisk(folder)))
        yield begun[-1]

    yield start
    for each in begun:
        each.is_killed()
        if each.process.stdin is not None:
            each.process.stdin.close()


def in_the_books(books) -> list[str]:
    """Return the rows that the next process reads after recovery."""
    return [text for (text,) in books.sql("SELECT text FROM notices ORDER BY id")]


@pytest.mark.parametrize("way", ["write", long("transact")])
def test_a_transaction_refused_for_one_failed_sync_is_absent_after_a_kill(
    books, clerk_of, way: str
) -> None:
    with clerk_of() as ann:
        assert ann.reply_to("transact one") == "done one"
        ann.disk.fail(FIRST_SYNC_LOG)
        assert ann.reply_to(f"{way} two") == f"{REFUSED} two"
        ann.is_killed()
    assert in_the_books(books) == ["one"]


@pytest.mark.long
@pytest.mark.parametrize("sync", [FIRST_SYNC_LOG, SECOND_SYNC_LOG])
def test_the_first_commit_of_a_restarted_log_can_be_refused_too(books, clerk_of, sync: str) -> None:
    """The first sync is that of the log's header, and the second that of the frames."""
    with clerk_of() as ann:
        ann.disk.fail(sync)
        assert ann.reply_to("transact one") == f"{REFUSED} one"
        ann.is_killed()
    assert in_the_books(books) == []


@pytest.mark.long
def test_a_failing_disk_delays_the_outcome_and_all_other_work(books, clerk_of) -> None:
    with clerk_of() as ann:
        assert ann.reply_to("write one") == "done one"
        with ann.disk.failing(SYNC_LOG):
            assert ann.reply_to("write two") == f"{IN_DOUBT} two"
            ann.disk.fail(SYNC_LOG, WRITE_LOG)
            assert ann.reply_to("write three") == f"{REFUSED} three"
            assert ann.reply_to("write four") == f"{REFUSED} four"
        assert ann.reply() == f"{REFUSED} two"
        assert ann.reply_to("write five") == "done five"
        ann.is_killed()
    assert in_the_books(books) == ["one", "five"]


@pytest.mark.long
def test_a_kill_during_the_doubt_leaves_an_unreported_outcome(books, clerk_of) -> None:
    with clerk_of() as ann:
        assert ann.reply_to("write one") == "done one"
        ann.disk.fail(SYNC_LOG)
        assert ann.reply_to("write two") == f"{IN_DOUBT} two"
        ann.is_killed()
    assert in_the_books(books) in (["one"], ["one", "two"])


@pytest.mark.long
def test_frames_that_could_not_be_written_are_no_doubt(books, clerk_of) -> None:
    """As on a full disk, the failure is certain at once, before a byte is written."""
    with clerk_of() as ann:
        assert ann.reply_to("write one") == "done one"
        with ann.disk.failing(WRITE_LOG):
            assert ann.reply_to("write two") == f"{REFUSED} two"
            assert ann.reply_to("transact three") == f"{REFUSED} three"
        ann.is_killed()
    assert in_the_books(books) == ["one"]


@pytest.mark.long
def test_a_hurried_process_reports_an_unknown_outcome(books, clerk_of) -> None:
    with clerk_of() as ann:
        assert ann.reply_to("write one") == "done one"
        ann.disk.fail(SYNC_LOG)
        assert ann.reply_to("write two") == f"{IN_DOUBT} two"
        ann.asks("hurry")
        assert ann.reply() == f"{UNKNOWN} two"
        assert ann.reply_to("transact three") == f"{UNKNOWN} three"
        ann.is_killed()


@pytest.mark.long
def test_the_writer_ends_with_its_process_however_the_disk_is(books, clerk_of) -> None:
    with clerk_of() as ann:
        assert ann.reply_to("write zero") == "done zero"
        ann.disk.fail(SYNC_LOG)
        assert ann.reply_to("write one") == f"{IN_DOUBT} one"
        ann.ends()
        assert ann.reply() == f"{UNKNOWN} one"


@pytest.mark.long
def test_a_transaction_possibly_revived_elsewhere_stays_unreported(books, clerk_of) -> None:
    """It finds the index of the log in pieces, as a process that is killed may leave it."""
    index = books.database.path.with_name(f"{books.database.path.name}-shm")
    with clerk_of() as ann:
        assert ann.reply_to("write one") == "done one"
        # The frames of "two" cannot be overwritten.
        ann.disk.fail(SYNC_LOG, THEN_WRITE_LOG)
        assert ann.reply_to("write two") == f"{IN_DOUBT} two"
        with index.open("r+b") as file:
            file.write(bytes(96))
        ann.disk.mend()
        assert ann.reply() == f"{UNKNOWN} two"
        assert ann.reply_to("write three") == "done three"
        ann.is_killed()
    assert in_the_books(books) == ["one", "two", "three"]


def test_a_refused_commit_leaves_no_transaction_in_a_connection(books, monkeypatch) -> None:
    books.caller("Ann")

    def is_full(_connection: object) -> None:
        full = sqlite3.OperationalError("database or disk is full")
        full.sqlite_errorname = "SQLITE_FULL"  # type: ignore[misc]
        raise full

    with monkeypatch.context() as patch:
        patch.setattr(books.database.engine.dialect, "do_commit", is_full)
        with pytest.raises(BooksUnavailable):
            books.sql("UPDATE callers SET muted = muted")
    books.caller("Ben")
