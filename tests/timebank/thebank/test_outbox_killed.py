"""THEBANK.EXT when its writer is really killed: once, or the sysop is asked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.timebank.books import Books
from tests.timebank.outbox import SOURCE, flush, line, put, states
from tests.timebank.thebank.victims import kill_delivering
from timebank.errors import NotDoubtful
from timebank.ledger.schema import instant
from timebank.thebank.outbox import Delivery, confirm_record, retry_record, undelivered

# The victims have books in a file.
pytestmark = pytest.mark.of_a_file


@pytest.fixture
def path(folder) -> Path:
    return folder / "THEBANK.EXT"


@pytest.fixture
def books(open_books, path) -> Books:
    """The books of a board with an external time bank."""
    return open_books(mode="external", thebank_ext=path)


# Where the process died -> whether the record was in the file, whole.
POINTS = {
    "file made": False,
    "committing": False,
    "noted": False,
    "nothing": False,
    "a byte": False,
    "half": False,
    "all": True,
    "synced": True,
    "done": True,
}
NEVER_BEGUN = ("file made", "committing")


def deliver_and_be_killed(books: Books, path: Path, point: str, before: bytes) -> bytes:
    """Return the file's expected content after the delivery."""
    if before:
        path.write_bytes(before)
    number = put(books, "Ann", 12)
    kill_delivering(path.parent, point)
    end = b"\r\n" if before and not before.endswith(b"\n") else b""
    expected = before + end + line(number)
    assert (path.read_bytes() == expected) == POINTS[point]
    return expected


# The file's earlier content; an existing file is not created.
BEFORE = [b"", b"; ours\r\n", b"; unfinished"]
CASES = [(b, p) for b in BEFORE for p in POINTS if not (b and p == "file made")]
THEIRS = b"Bob;5;Another door;2026-01-01 00:00;9\r\n"


class TestKilled:
    @pytest.mark.parametrize(("before", "point"), CASES)
    def test_the_record_is_in_the_file_exactly_once_afterwards(self, books, path, before, point):
        expected = deliver_and_be_killed(books, path, point, before)
        assert flush(books).problem is None
        assert path.read_bytes() == expected
        assert states(books) == ["appended"]

    @pytest.mark.parametrize("point", ["committing", "noted", "nothing", "all", "synced", "done"])
    def test_lines_appended_by_others_stay(self, books, path, point):
        before = b"; ours\r\n"
        deliver_and_be_killed(books, path, point, before)
        with path.open("ab") as file:
            file.write(THEIRS)
        assert flush(books).doubtful == ()
        added = [line(1), THEIRS] if POINTS[point] else [THEIRS, line(1)]
        assert path.read_bytes() == before + b"".join(added)

    def test_a_piece_followed_by_a_foreign_record_is_left_to_the_sysop(self, books, path):
        deliver_and_be_killed(books, path, "half", b"; ours\r\n")
        with path.open("ab") as file:
            file.write(THEIRS)
        before = path.read_bytes()
        assert flush(books).doubtful == (1,)
        assert path.read_bytes() == before

    @pytest.mark.parametrize(("before", "point"), CASES)
    def test_a_file_taken_away_meanwhile_is_a_question_for_the_sysop(
        self, books, path, before, point
    ):
        deliver_and_be_killed(books, path, point, before)
        path.unlink()
        delivery = flush(books)
        if point == "done":
            assert states(books) == ["appended"]
            assert not path.exists()
        elif point in NEVER_BEGUN:
            assert delivery == Delivery((1,), (), None)
            assert path.read_bytes() == line(1)
        else:
            assert delivery == Delivery((), (1,), None)
            assert flush(books) == Delivery((), (), None)
            assert not path.exists()

    @pytest.mark.parametrize("new", [b"", b"; new\r\n", b"; ours\r\n; and more\r\n"])
    @pytest.mark.parametrize("point", ["noted", "half", "all"])
    def test_a_new_file_of_the_same_name_is_no_proof(self, books, path, point, new):
        deliver_and_be_killed(books, path, point, b"; ours\r\n")
        path.rename(path.with_suffix(".BAK"))
        path.write_bytes(new)
        assert flush(books).doubtful == (1,)
        assert path.read_bytes() == new

    @pytest.mark.parametrize("left", [b"", THEIRS])
    def test_nor_is_an_empty_file_that_has_changed_since(self, books, path, left):
        # A new file may reuse the old one's inode and look the same.
        deliver_and_be_killed(books, path, "all", b"")
        path.write_bytes(left)
        assert flush(books).doubtful == (1,)
        assert path.read_bytes() == left


class TestTheSysopIsAsked:
    @pytest.fixture
    def number(self, books, path) -> int:
        """Create a record whose delivery is unknown."""
        number = put(books, "Ann", 12)
        kill_delivering(path.parent, "all")
        path.unlink()
        flush(books)
        return number

    def test_about_a_record_with_all_known_facts(self, books, path, number):
        (row,) = books.do(undelivered)
        assert (row.number, row.name, row.minutes, row.source) == (number, "Ann", 12, SOURCE)
        assert instant(row.at) == instant(int(books.now.timestamp()))
        assert (row.state, row.mark) == ("doubtful", f"{path} has been taken away")

    def test_in_the_log_too(self, books, path, caplog):
        put(books, "Ann", 12)
        kill_delivering(path.parent, "all")
        path.unlink()
        flush(books)
        assert "12 minutes for Ann (record 1)" in caplog.text

    def test_and_may_have_it_repeated(self, books, path, number):
        books.do(retry_record, number)
        assert flush(books) == Delivery((number,), (), None)
        assert path.read_bytes() == line(number)
        assert books.do(undelivered) == []

    def test_or_regard_it_as_delivered(self, books, path, number):
        books.do(confirm_record, number)
        assert flush(books) == Delivery((), (), None)
        assert not path.exists()
        assert books.do(undelivered) == []

    def test_once(self, books, number):
        books.do(retry_record, number)
        for resolve in (retry_record, confirm_record):
            with pytest.raises(NotDoubtful, match=f"Record {number} is not"):
                books.do(resolve, number)

    def test_while_other_records_go_on(self, books, path, number):
        other = put(books, "Bob", 3)
        assert flush(books) == Delivery((other,), (), None)
        assert path.read_bytes() == line(other, "Bob", 3)

    def test_also_when_the_file_is_taken_away_under_our_hands(self, books, path, monkeypatch):
        number = put(books, "Ann", 12)
        write = os.write

        def taken(file, data):
            path.rename(path.with_suffix(".BAK"))
            return write(file, data)

        monkeypatch.setattr(os, "write", taken)
        assert flush(books) == Delivery((), (number,), None)
        (row,) = books.do(undelivered)
        assert row.mark == f"{path} was taken away while it was written"

    def test_unless_the_record_is_in_a_rewritten_file(self, books, path):
        number = put(books, "Ann", 12)
        kill_delivering(path.parent, "all")
        rewritten = b"; sorted by another program\n" + line(number).replace(b"\r\n", b"\n")
        path.unlink()
        path.write_bytes(rewritten)
        assert flush(books) == Delivery((number,), (), None)
        assert path.read_bytes() == rewritten

    def test_nor_is_another_bodys_record_of_the_same_number_ours(self, books, path):
        number = put(books, "Ann", 12)
        path.write_bytes(b"; ours\r\n")
        kill_delivering(path.parent, "noted")
        theirs = b"Bob;5;Another door;2026-01-01 00:00;%d\r\n" % number
        with path.open("ab") as file:
            file.write(theirs)
        assert flush(books) == Delivery((number,), (), None)
        assert path.read_bytes() == b"; ours\r\n" + theirs + line(number)
