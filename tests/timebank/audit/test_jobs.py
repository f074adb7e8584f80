"""An audit by several processes finds what that by one finds, and says so when one of them dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import datetime

import pytest

from tests import ROOT
from tests.terminal import PATIENCE
from tests.timebank.vandal import Vandal
from timebank.audit import jobs
from timebank.audit.accounts import Task
from timebank.errors import AuditBroken
from timebank.ledger.database import Desk

pytestmark = pytest.mark.long


def die(_: Desk) -> None:
    os._exit(9)


def be_done(_: Desk) -> None:
    os.write(1, b"1 of 2\n")


def work(_: Desk) -> None:
    os.write(1, b"1 of 2\n")
    signal.pause()


def test_the_same_is_found_in_the_same_order(open_books) -> None:
    books = open_books()
    call = books.call(books.caller("Ann"))
    call.win(600, 900)
    call.lose(300)
    Vandal(books)("UPDATE transfers SET amount = amount + 1 WHERE id = 2")
    now: datetime = books.do(lambda desk: desk.now)
    alone = books.audit()
    assert len(alone) > 1
    together = jobs.check(books.settings, now, Task(), 2).findings
    assert [str(finding) for finding in together] == alone


def test_a_process_that_dies_is_told_and_not_taken_for_books_in_order(open_books) -> None:
    books = open_books()
    now: datetime = books.do(lambda desk: desk.now)
    with pytest.raises(AuditBroken, match="so the audit is not finished"):
        jobs.run(books.settings, now, 2, [die])


def test_nothing_of_the_folder_it_is_started_in_is_imported(
    open_books, tmp_path, monkeypatch
) -> None:
    books = open_books()
    now: datetime = books.do(lambda desk: desk.now)
    for name in ("pickle", "runpy", "timebank"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not ours')")
    monkeypatch.chdir(tmp_path)
    assert jobs.check(books.settings, now, Task(), 2).findings == []


AN_AUDIT = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from tests.timebank.audit import test_jobs
from tests.timebank.books import settings_for
from timebank.audit import jobs
from timebank.ledger.engines import books_of
settings = settings_for(Path(sys.argv[1]))
books_of(settings).open()
try:
    jobs.run(settings, datetime.now(UTC), 2, [test_jobs.be_done, test_jobs.work])
except KeyboardInterrupt:
    sys.exit(1)
"""


@pytest.mark.parametrize("end", [os.kill, os.killpg], ids=["killed", "Ctrl-C"])
def test_its_processes_end_with_the_command_and_show_no_traceback(tmp_path, end) -> None:
    """One of them at work, and one that has done its part."""
    with subprocess.Popen(
        [sys.executable, "-c", AN_AUDIT, tmp_path],
        cwd=ROOT,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as audit:
        try:
            assert audit.stdout is not None
            assert [audit.stdout.readline() for _ in range(2)] == [b"1 of 2\n"] * 2
            end(audit.pid, signal.SIGKILL if end is os.kill else signal.SIGINT)
            _, said = audit.communicate(timeout=PATIENCE)  # until all of them have let go of it
        finally:
            os.killpg(audit.pid, signal.SIGKILL)
    assert b"Traceback" not in said, said.decode()
