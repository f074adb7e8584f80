"""An audit by several processes finds what that by one finds, and says so when one of them dies."""

from __future__ import annotations

import os
from datetime import datetime

import pytest

from tests.timebank.vandal import Vandal
from timebank.audit import jobs
from timebank.audit.accounts import Task
from timebank.errors import AuditBroken
from timebank.ledger.database import Desk

pytestmark = pytest.mark.long


def die(_: Desk) -> None:
    os._exit(9)


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
