"""THEBANK.EXT in a folder that the user of another program may write: nothing else is touched."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.timebank.books import Books
from tests.timebank.importing import Board, record
from tests.timebank.outbox import flush, line, put, states
from timebank import files
from timebank.thebank import importer

SECRET = b"postgresql://bjft:only-ours@db/bjft\n"
STRANGER = 54_321  # a user other than ours, and other than root

NEEDS_ROOT = "only root can give a file to another user"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason=NEEDS_ROOT)

Plant = Callable[[Path, Path], None]


def _symbolic(secret: Path, path: Path) -> None:
    path.symlink_to(secret)


def _dangling(secret: Path, path: Path) -> None:
    path.symlink_to(secret.with_name("not-there"))


def _hard(secret: Path, path: Path) -> None:
    os.link(secret, path)


def _pipe(_secret: Path, path: Path) -> None:
    os.mkfifo(path)


def _folder(_secret: Path, path: Path) -> None:
    path.mkdir()


PLANTED: dict[str, tuple[Plant, str]] = {
    "symbolic link": (_symbolic, files.IS_LINK),
    "dangling link": (_dangling, files.IS_LINK),
    "hard link": (_hard, "it has 2 names"),
    "pipe": (_pipe, files.IS_NO_FILE),
    "folder": (_folder, files.IS_NO_FILE),
}
planted = pytest.mark.parametrize(("plant", "why"), PLANTED.values(), ids=PLANTED)


@pytest.fixture
def secret(folder) -> Path:
    """A file of the board that no other user may read."""
    path = folder / "secret"
    path.write_bytes(SECRET)
    path.chmod(0o600)
    return path


@pytest.fixture
def board(open_books) -> Board:
    """A board with Ann and Bob, and a folder for BANK.EXT that its group may write."""
    board = Board(open_books())
    board.path.parent.chmod(0o770)
    return board


def untouched(secret: Path) -> None:
    assert secret.read_bytes() == SECRET
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def refused(problem: str | None, *parts: object) -> None:
    """Check that a problem is reported with all of these words."""
    assert all(str(part) in (problem or "") for part in parts), problem


def away(path: Path) -> None:
    if path.is_dir():
        path.rmdir()
    else:
        path.unlink()


class TestAnImport:
    @planted
    def test_that_is_planted_is_refused_and_left(self, board, secret, plant, why):
        plant(secret, board.path)
        before = board.path.lstat().st_ino
        refused(board.take().problem, board.path, why)
        assert board.path.lstat().st_ino == before
        assert board.names() == {"BANK.EXT"}
        untouched(secret)

    @planted
    def test_a_lock_that_is_planted_is_refused(self, board, secret, plant, why):
        lock = Path(f"{board.path}.lock")
        plant(secret, lock)
        board.write(record("Ann", 12))
        refused(board.take().problem, f"{lock} ", why)
        assert not secret.with_name("not-there").exists()
        away(lock)
        assert board.take().applied == 1

    @planted
    def test_a_bak_that_is_planted_is_refused(self, board, secret, plant, why):
        board.write(record("Ann", 12))
        board.take()
        board.bak_file(1).unlink()
        plant(secret, board.bak_file(1))
        refused(board.take().problem, board.bak_file(1), why)
        untouched(secret)

    def test_a_name_for_the_bak_that_is_planted_is_passed_over(self, board, secret):
        empty = secret.with_name("empty")
        empty.touch()
        board.bak_file(1).symlink_to(empty)
        board.write(record("Ann", 12))
        assert board.take().backups == (board.path.with_name("BANK.EXT.1-2.BAK"),)
        assert board.bak_file(1).is_symlink()

    @pytest.mark.parametrize("plant", [_symbolic, _hard, _pipe])
    def test_that_is_exchanged_meanwhile_is_left(self, board, secret, plant, monkeypatch):
        content = board.write(record("Ann", 12))
        aside = board.path.with_name("aside")
        advanced = importer.bookings.advance

        def advance(desk, row, state, kept):
            if state == "taking":
                os.rename(board.path, aside)
                plant(secret, board.path)
            return advanced(desk, row, state, kept)

        with monkeypatch.context() as patch:
            patch.setattr(importer.bookings, "advance", advance)
            refused(board.take().problem, board.path)
        assert not [name for name in board.names() if name.endswith(".taken")]
        untouched(secret)
        os.replace(aside, board.path)
        board.take()
        assert board.bank("Ann") == 22
        assert board.bak_file(1).read_bytes() == content

    def test_folders_on_the_way_may_be_links_of_the_sysop(self, board):
        content = board.write(record("Ann", 12))
        way = board.path.parent.with_name("way")
        way.symlink_to(board.path.parent.name)
        assert board.take(way / board.path.name).applied == 1
        assert board.bak_file(1).read_bytes() == content


@needs_root
def test_a_folder_may_forbid_listing():
    """A user who may traverse it and knows a name may open the file, as usual."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "THEBANK.EXT")
        path.write_bytes(b"a line")
        path.chmod(0o644)
        path.parent.chmod(0o711)
        os.seteuid(STRANGER)
        try:
            assert files.fault(path) is None
            assert files.fault(path.with_name("none")) is None
        finally:
            os.seteuid(0)


@needs_root
class TestOwners:
    def test_a_strangers_file_is_read_where_its_owner_may_write(self, board):
        board.write(record("Ann", 12))
        os.chown(board.path, STRANGER, -1)
        assert board.take().applied == 1

    @pytest.mark.parametrize("owns", ["file", "folder"])
    def test_where_all_may_write_only_the_folder_s_owner_is_believed(self, board, owns):
        board.path.parent.chmod(0o1777)
        board.write(record("Ann", 12))
        os.chown(board.path, STRANGER, -1)
        if owns == "folder":
            os.chown(board.path.parent, STRANGER, -1)
            assert board.take().applied == 1
            return
        refused(board.take().problem, f"{board.path} ", f"it belongs to user {STRANGER}")
        assert board.names() == {"BANK.EXT"}
        assert board.bank("Ann") == 10


class TestARecordOfOurs:
    @pytest.fixture
    def path(self, folder) -> Path:
        shared = folder / "shared"
        shared.mkdir()
        shared.chmod(0o770)
        return shared / "THEBANK.EXT"

    @pytest.fixture
    def books(self, open_books, path) -> Books:
        return open_books(mode="external", thebank_ext=path)

    @planted
    def test_waits_while_something_is_planted(self, books, path, secret, plant, why):
        plant(secret, path)
        number = put(books, "Ann", 12)
        refused(flush(books).problem, f"{path} cannot be written: ", why)
        assert states(books) == ["waiting"]
        untouched(secret)
        assert not secret.with_name("not-there").exists()
        away(path)
        assert flush(books).appended == (number,)
        assert path.read_bytes() == line(number)

    @planted
    def test_waits_while_its_lock_is_planted(self, books, path, secret, plant, why):
        lock = Path(f"{path}.lock")
        plant(secret, lock)
        put(books, "Ann", 12)
        refused(flush(books).problem, f"{lock} cannot be written: ", why)
        assert not path.exists()

    @pytest.mark.parametrize(
        ("folder_mode", "mode"),
        [(0o700, 0o600), (0o750, 0o640), (0o770, 0o660), (0o755, 0o644), (0o777, 0o664)],
    )
    def test_may_be_read_by_readers_of_the_folder(self, books, path, folder_mode, mode):
        path.parent.chmod(folder_mode)
        put(books, "Ann", 12)
        before = os.umask(0o077)
        try:
            flush(books)
        finally:
            os.umask(before)
        assert stat.S_IMODE(path.stat().st_mode) == mode

    @needs_root
    def test_is_of_the_folder_s_group(self, books, path):
        os.chown(path.parent, -1, STRANGER)
        put(books, "Ann", 12)
        flush(books)
        assert path.stat().st_gid == STRANGER
