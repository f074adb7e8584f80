"""Totals of blocks of transfers always equal the transfers' own sums."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pytest

from timebank.reports import totals
from timebank.reports.totals import KeptTotals, QuarterMoved
from timebank.window import corrections

MINUTE = 60


@pytest.fixture
def played(books, monkeypatch: pytest.MonkeyPatch):
    """Play some days as Ann and Bob; every four transfers are a block."""
    monkeypatch.setattr(totals, "BLOCK", 4)
    books.ann, books.bob = books.caller("Ann"), books.caller("Bob")
    for number in range(7):
        _a_day(books, number)
    return books


def _a_day(books, number: int) -> None:
    books.do(corrections.adjust, books.ann, (number + 3) * MINUTE, "a gift", "test")
    books.do(corrections.sysop_transfer, books.ann, books.bob, MINUTE, "a debt", "test")
    books.wait_until(books.now + timedelta(days=1))


def summed(rows: Iterable[QuarterMoved]) -> Counter[tuple[object, ...]]:
    sums = Counter[tuple[object, ...]]()
    for row in rows:
        sums[row[:-1]] += row.amount
    return sums


def agree(books, totals_kept: KeptTotals) -> None:
    for first in range(1, 20):
        plain = books.do(lambda desk, at=first: summed(totals.moved_by_quarter(desk, at)))
        assert books.do(lambda desk, at=first: summed(totals_kept.moved(desk, at))) == plain
        assert books.do(totals_kept.changes, first) == books.do(totals.changes, first)


def test_saved_totals_match_the_ledger_and_are_computed_once(
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
    kept._connected().execute("UPDATE blocks SET written = 'of others', moved = '[]'")
    agree(played, kept)
    kept.keep(played.do, 1)
    kept._connected().execute("UPDATE blocks SET changes = replace(changes, '0', '1')")
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
    (blocks,) = kept._connected().execute("SELECT count(*) FROM blocks").fetchone()
    assert blocks == 5
    kept.close()


def test_a_file_that_is_damaged_later_is_thrown_away_with_its_journal(
    played, tmp_path: Path
) -> None:
    file, journal = tmp_path / "totals.sqlite3", tmp_path / "totals.sqlite3-journal"
    kept = KeptTotals(file)
    kept.keep(played.do)
    kept.close()
    whole = file.read_bytes()
    file.write_bytes(whole[:4096] + bytes(len(whole) - 4096))
    journal.write_bytes(b"of another file")
    kept = KeptTotals(file)
    agree(played, kept)
    assert not journal.exists()
    kept.keep(played.do)
    assert kept.lasts()
    kept.close()
    assert blocks_in(file) == played.do(lambda desk: len(list(totals._full_blocks(desk, 1))))


def blocks_in(file: Path) -> int:
    with contextlib.closing(sqlite3.connect(file)) as read:
        (blocks,) = read.execute("SELECT count(*) FROM blocks").fetchone()
    return int(blocks)


def test_totals_of_another_version_are_recomputed(played, tmp_path: Path) -> None:
    file = tmp_path / "totals.sqlite3"
    with contextlib.closing(sqlite3.connect(file)) as earlier:
        earlier.execute("CREATE TABLE blocks (number INTEGER PRIMARY KEY, moved TEXT)")
        earlier.execute("INSERT INTO blocks VALUES (0, '[]')")
        earlier.execute("PRAGMA user_version = 2")
        earlier.commit()
    kept = KeptTotals(file)
    kept.keep(played.do)
    assert kept.lasts()
    agree(played, kept)
    kept.close()


def test_a_link_is_not_followed_and_a_missing_folder_saves_nothing(played, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    for target in (elsewhere, tmp_path / "there"):
        (tmp_path / "there").write_bytes(b"")
        file = tmp_path / f"{target.name}.sqlite3"
        file.symlink_to(target)
        kept = KeptTotals(file)
        kept.keep(played.do)
        assert not kept.lasts()
        agree(played, kept)
        kept.close()
    assert not elsewhere.exists()
    assert (tmp_path / "there").read_bytes() == b""
    kept = KeptTotals(tmp_path / "nowhere" / "totals.sqlite3")
    assert not kept.lasts()
    agree(played, kept)
    kept.close()


def test_the_file_is_private_and_roots_belongs_to_the_folders_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[int, int]] = []
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("os.fchown", lambda _, *owner: given.append(owner))
    file = tmp_path / "totals.sqlite3"
    kept = KeptTotals(file)
    assert kept.lasts()
    kept.close()
    assert file.stat().st_mode & 0o777 == 0o600
    owner = tmp_path.stat()
    assert given == [(owner.st_uid, owner.st_gid)]
