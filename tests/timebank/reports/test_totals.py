"""Totals of blocks of transfers: they are those of the transfers themselves, whatever is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pytest

from timebank.reports import totals
from timebank.reports.totals import KeptTotals, QuarterMoved
from timebank.window import sysop

MINUTE = 60


@pytest.fixture
def played(books, monkeypatch: pytest.MonkeyPatch):
    """Some days of Ann and Bob, of which every four transfers are a block."""
    monkeypatch.setattr(totals, "BLOCK", 4)
    books.ann, books.bob = books.caller("Ann"), books.caller("Bob")
    for number in range(7):
        _a_day(books, number)
    return books


def _a_day(books, number: int) -> None:
    books.do(sysop.adjust, books.ann, (number + 3) * MINUTE, "a gift", "test")
    books.do(sysop.sysop_transfer, books.ann, books.bob, MINUTE, "a debt", "test")
    books.wait_until(books.now + timedelta(days=1))


def summed(rows: Iterable[QuarterMoved]) -> Counter[tuple[object, ...]]:
    found = Counter[tuple[object, ...]]()
    for row in rows:
        found[row[:-1]] += row.amount
    return found


def agree(books, kept: KeptTotals) -> None:
    for first in range(1, 20):
        plain = books.do(lambda desk, at=first: summed(totals.moved_by_quarter(desk, at)))
        assert books.do(lambda desk, at=first: summed(kept.moved(desk, at))) == plain
        assert books.do(kept.changes, first) == books.do(totals.changes, first)


def test_what_is_kept_is_what_was_moved_and_is_worked_out_once(
    played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = KeptTotals(tmp_path / "totals.sqlite3")
    agree(played, kept)  # of nothing that is kept
    kept.keep(played.do, 6)
    agree(played, kept)
    kept.keep(played.do, 1)
    kept.close()
    worked_out = []
    real = totals._totals
    monkeypatch.setattr(
        totals, "_totals", lambda desk, number: worked_out.append(number) or real(desk, number)
    )
    again = KeptTotals(tmp_path / "totals.sqlite3")
    again.keep(played.do, 1)
    assert worked_out == []
    for number in (7, 8):
        _a_day(played, number)
    again.keep(played.do, 1)
    assert worked_out == [3]
    agree(played, again)
    again.close()


def test_totals_of_other_books_are_not_believed_and_a_damaged_file_is_none(
    played, tmp_path: Path
) -> None:
    file = tmp_path / "totals.sqlite3"
    kept = KeptTotals(file)
    kept.keep(played.do, 1)
    kept._kept_here().execute("UPDATE blocks SET written = 'of others', moved = '[]'")
    agree(played, kept)
    kept.keep(played.do, 1)
    kept._kept_here().execute("UPDATE blocks SET changes = replace(changes, '0', '1')")
    agree(played, kept)
    kept.close()
    file.write_bytes(b"no books at all" * 400)
    kept = KeptTotals(file)
    kept.keep(played.do, 1)
    agree(played, kept)
    kept.close()


def test_numbers_that_go_on_further_behind_a_restore_are_no_block(played, tmp_path: Path) -> None:
    if played.settings.server is not None:
        played.sql("SELECT setval(pg_get_serial_sequence('transfers', 'id'), 1000000)")
    else:
        played.sql("UPDATE sqlite_sequence SET seq = 1000000 WHERE name = 'transfers'")
    _a_day(played, 9)
    _a_day(played, 9)
    _a_day(played, 9)
    kept = KeptTotals(tmp_path / "totals.sqlite3")
    kept.keep(played.do, 1)
    agree(played, kept)
    (blocks,) = kept._kept_here().execute("SELECT count(*) FROM blocks").fetchone()
    assert blocks == 5
    kept.close()
