"""Reading THEBANK.EXT: moved files, waiting, and errors."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.timebank.importing import LATE, Board, record
from timebank import files
from timebank.thebank import format
from timebank.thebank.importer import import_all, import_file


@pytest.fixture
def board(open_books) -> Board:
    """Create a board with Ann and Bob, who have ten minutes each, and a foreign file."""
    return Board(open_books())


class TestTheFile:
    def test_is_renamed_to_a_numbered_bak(self, board):
        content = board.write(record("Ann", 12), b"rubbish\r\n", b"\x1a")
        report = board.take()
        assert report.backups == (board.bak_file(1),)
        assert board.bak_file(1).read_bytes() == content
        assert board.names() == {"BANK.EXT.1.BAK", "BANK.EXT.lock"}

    def test_never_takes_the_place_of_an_older_one(self, board):
        board.bak_file(1).write_bytes(b"older")
        board.write(record("Ann", 12))
        assert board.take().backups == (board.path.with_name("BANK.EXT.1-2.BAK"),)
        assert board.bak_file(1).read_bytes() == b"older"

    def test_of_the_same_content_is_another_one(self, board):
        for _ in range(2):
            board.write(record("Ann", 12))
            assert board.take().applied == 1
        assert board.bank("Ann") == 34
        assert board.bak_file(2).exists()

    def test_of_comments_alone_is_put_away_too(self, board):
        board.write(b"; nothing\r\n\r\n")
        assert board.take().applied == 0
        assert board.bak_file(1).exists()

    @pytest.mark.parametrize("content", [b"", b"\x1a"])
    def test_that_is_empty_stays(self, board, content):
        board.write(content)
        assert board.take().sentences() == (f"{board.path}: nothing new.",)
        assert board.path.read_bytes() == content

    def test_of_more_than_a_round_reads_is_read_by_several(self, board, monkeypatch):
        monkeypatch.setattr(format, "CHUNK", 64)
        monkeypatch.setattr(format, "MOST_READ", 128)
        board.write(*[record("Ann", 1)] * 10)
        applied = [board.take().applied for _ in range(4)]
        assert 0 < applied[0] < sum(applied) == 10
        assert (board.bank("Ann"), applied[-1]) == (20, 0)
        assert board.bak_file(1).exists()

    def test_that_claims_any_size_is_given_up_and_read_once_it_is_another(self, board):
        board.write(record("Ann", 12))
        os.truncate(board.path, format.MOST_READ + format.CHUNK + 1)  # with nothing written there
        assert (board.take().applied, board.bank("Ann")) == (1, 22)
        sentence = f"{board.path} is in the way of an import: no line ends within 64 MiB."
        assert board.take().problem == sentence
        board.write(record("Ann", 5))
        assert (board.take().problem, board.bank("Ann")) == (None, 27)


class TestAnUnfinishedLine:
    HALF = b"Bob;5;Big Door;2026-06-"
    REST = b"01 12:00\r\n"

    def test_waits_while_the_lines_before_it_are_applied(self, board):
        content = board.write(record("Ann", 12), self.HALF)
        report = board.take()
        assert report.applied == 1
        assert report.waiting == (f"{board.path}: line 2 has no end yet, and waits for it.",)
        assert board.path.read_bytes() == content
        assert board.take().applied == 0

    def test_is_applied_when_its_program_has_appended_the_rest(self, board):
        board.write(record("Ann", 12), self.HALF)
        board.take()
        board.append(self.REST)
        report = board.take()
        assert (report.applied, report.refused, report.waiting) == (1, 0, ())
        assert (board.bank("Ann"), board.bank("Bob")) == (22, 15)
        assert board.bak_file(1).read_bytes() == record("Ann", 12) + self.HALF + self.REST

    def test_that_looks_whole_waits_for_its_end_all_the_same(self, board):
        board.write(b"Ann;1;x;2026-06-01 12:00")
        assert board.take().applied == 0
        board.append(b";4711\r\n")
        assert board.take().applied == 1
        assert "record 4711" in board.transfers()[0][3]

    def test_of_absurd_length_waits_in_no_memory(self, board):
        board.write(b"x" * 2_000_000)
        assert board.take().waiting != ()
        board.append(b"\n")
        assert board.take().refusals == ("line 1 of import 1: it is longer than 1024 bytes.",)

    def test_is_read_after_another_program_removes_the_file(self, board):
        board.write(record("Ann", 12), self.HALF)
        board.take()
        board.path.unlink()
        board.take()
        board.write(record("Ann", 1))
        board.take()
        assert board.bank("Ann") == 23

    def test_in_a_file_that_was_replaced_since_says_nothing_of_the_new_one(self, board):
        board.write(record("Ann", 12), self.HALF)
        board.take()
        board.write(record("Bob", 1), record("Ann", 1), record("Ann", 1))
        assert board.take().applied == 3
        assert (board.bank("Ann"), board.bank("Bob")) == (24, 11)

    def test_can_be_ended_by_an_editor_that_rewrites_the_file(self, board):
        content = board.write(record("Ann", 12), self.HALF)
        board.take()
        board.path.unlink()
        board.write(content, self.REST)
        assert board.take().applied == 1
        assert board.bank("Ann") == 22

    def test_can_be_cut_off_by_an_editor(self, board):
        board.write(record("Ann", 12), self.HALF)
        board.take()
        board.write(record("Ann", 12))
        assert board.take().backups == (board.bak_file(1),)
        assert board.bank("Ann") == 22


class TestAProgramWithTheFileOpen:
    def test_may_go_on_writing_to_it(self, board):
        with board.path.open("ab", buffering=0) as file:
            file.write(record("Ann", 12))
            board.take()
            file.write(record("Ann", 1) + record("Bob", 1))
            assert board.take().applied == 2
        assert (board.bank("Ann"), board.bank("Bob")) == (23, 11)
        assert board.take().applied == 0

    def test_may_do_so_while_others_have_begun_a_new_one(self, board):
        with board.path.open("ab", buffering=0) as file:
            file.write(record("Ann", 12))
            board.take()
            board.append(record("Bob", 1))
            file.write(b"Ann;1;x;")
            report = board.take()
            assert report.applied == 1
            assert report.waiting == (
                f"{board.bak_file(1)}: line 2 has no end yet, and waits for it.",
            )
            file.write(b"2026-06-01 12:00\r\n")
            assert board.take().applied == 1
        assert (board.bank("Ann"), board.bank("Bob")) == (23, 11)

    def test_may_do_so_in_the_midst_of_the_renaming(self, board, monkeypatch):
        with board.path.open("ab", buffering=0) as file:
            file.write(record("Ann", 12))
            rename = os.rename

            def renamed(old, new, **folders):
                if old == board.path.name:
                    file.write(b"Bob;")
                rename(old, new, **folders)

            monkeypatch.setattr(os, "rename", renamed)
            assert board.take().applied == 1
            file.write(b"1;x;2026-06-01 12:00\r\n")
            assert board.take().applied == 1
        assert (board.bank("Ann"), board.bank("Bob")) == (22, 11)

    def test_may_cut_the_mark_at_its_end_off_first(self, board):
        with board.path.open("r+b" if board.path.exists() else "w+b", buffering=0) as file:
            file.write(record("Ann", 12) + b"\x1a")
            board.take()
            file.seek(-1, os.SEEK_END)
            file.write(record("Bob", 1) + b"\x1a")
            assert board.take().applied == 1
        assert board.bank("Bob") == 11

    def test_has_a_day_to_finish(self, board):
        with board.path.open("ab", buffering=0) as file:
            file.write(record("Ann", 12))
            board.take()
            board.books.wait(LATE - 1)
            file.write(record("Ann", 1))
            board.take()
            board.books.wait(LATE - 1)  # counted from the last line
            file.write(record("Ann", 1))
            board.take()
            board.books.wait(LATE)
            board.take()
            file.write(record("Ann", 1))
            assert board.take().applied == 0
        assert board.bank("Ann") == 24

    def test_and_never_ends_its_line_leaves_it_to_the_sysop(self, board):
        with board.path.open("ab", buffering=0) as file:
            file.write(record("Ann", 12))
            board.take()
            file.write(b"Bob;1")
        board.take()
        assert board.errors() == []
        board.books.wait(LATE)
        assert board.take().refusals == ("line 2 of import 1: its end has never come.",)
        assert board.take().refused == 0
        assert len(board.errors()) == 1

    def test_may_remove_a_bak(self, board):
        board.write(record("Ann", 12))
        board.take()
        board.bak_file(1).unlink()
        assert board.take().problem is None

    def test_cannot_change_a_bak_that_was_read(self, board):
        board.write(record("Ann", 12))
        board.take()
        board.bak_file(1).write_bytes(record("Ann", 99) + record("Ann", 99))
        (refusal,) = board.take().refusals
        assert "lines that were read before have changed" in refusal
        assert board.bank("Ann") == 22
        assert board.take().refused == 0


class TestIgnoredFiles:
    def problem(self, board: Board, path: Path) -> str:
        before = {name: (board.path.parent / name).stat().st_ino for name in board.names()}
        report = board.take(path)
        assert (report.applied, report.refused) == (0, 0)
        assert {name: (board.path.parent / name).stat().st_ino for name in before} == before
        assert report.problem is not None
        return report.problem

    def test_a_file_that_is_not_there(self, board):
        assert self.problem(board, board.path) == f"There is no file {board.path}."

    def test_a_folder_or_a_pipe(self, board):
        board.path.mkdir()
        assert self.problem(board, board.path) == f"{board.path} is not read: it is not a file."
        board.path.rmdir()
        os.mkfifo(board.path)
        assert self.problem(board, board.path) == f"{board.path} is not read: it is not a file."

    def test_the_root_of_all_folders(self, board):
        assert board.take(Path("/")).problem == "/ is not read: it is not a file."

    @pytest.mark.parametrize("link", [None, os.link, os.symlink])
    def test_the_file_that_we_write_ourselves(self, board, link):
        ours = board.path.with_name("OURS.EXT")
        ours.write_bytes(record("Ann", 12))
        board.books.change(thebank_ext=ours)
        path = ours
        if link:
            link(ours, board.path)
            path = board.path
        assert "which is ours to write" in self.problem(board, path)

    def test_a_file_with_an_undecodable_name(self, board):
        path = Path(os.fsdecode(os.fsencode(board.path.parent) + b"/B\xffNK.EXT"))
        path.write_bytes(record("Ann", 12))
        assert "rename it first" in self.problem(board, path)

    @pytest.mark.of_a_file
    def test_the_database(self, board):
        path = board.books.settings.database
        assert self.problem(board, path) == f"{path} is the database of this board."

    def test_a_bak_of_ours(self, board):
        board.write(record("Ann", 12))
        board.take()
        assert "it would be applied twice" in self.problem(board, board.bak_file(1))

    @pytest.mark.parametrize("mode", ["external", "none"])
    def test_any_file_on_a_board_with_a_foreign_bank(self, board, mode):
        board.write(record("Ann", 12))
        board.books.change(mode=mode, imports=(board.path,))
        assert "only a board of mode" in self.problem(board, board.path)
        assert import_all(board.books.database, board.books.settings, board.books.now) == []


class TestProblemsForTheSysop:
    def test_another_process_that_keeps_the_file(self, board, monkeypatch):
        monkeypatch.setattr(files, "LOCK_SECONDS", 0.05)
        board.write(record("Ann", 12))
        with files.locked(board.path):
            assert "another process has it locked" in (board.take().problem or "")
        assert board.take().applied == 1

    @pytest.mark.parametrize("call", ["rename", "fsync"])
    def test_a_disk_that_fails(self, board, monkeypatch, call):
        board.write(record("Ann", 12), b"rubbish\r\n")
        with monkeypatch.context() as patch:

            def failing(*_values, **_folders):
                raise OSError(5, "Input/output error")

            patch.setattr(os, call, failing)
            assert "Input/output error" in (board.take().problem or "")
        board.take()
        assert board.bank("Ann") == 22
        assert len(board.errors()) == 1
        assert board.bak_file(1).exists()

    @pytest.mark.of_a_file
    def test_books_that_are_locked(self, board):
        board.write(record("Ann", 12))
        with (
            board.impatient() as database,
            board.books.database.transaction(board.books.settings, board.books.now),
        ):
            report = import_file(database, board.books.settings, board.books.now, board.path)
        assert "The books can't be written right now" in (report.problem or "")
        assert board.take().applied == 1


class TestARound:
    def round(self, board: Board) -> list[tuple[str, int, str | None]]:
        reports = import_all(board.books.database, board.books.settings, board.books.now)
        return [(report.path.name, report.applied, report.problem) for report in reports]

    def test_takes_every_file_that_the_settings_name(self, board):
        other = board.path.with_name("OTHER.EXT")
        board.books.change(imports=(board.path, other, board.path.with_name("NONE.EXT")))
        assert self.round(board) == []
        board.write(record("Ann", 12))
        other.write_bytes(record("Ann", 1))
        assert self.round(board) == [("BANK.EXT", 1, None), ("OTHER.EXT", 1, None)]

    def test_finishes_a_file_removed_from_the_settings(self, board):
        with board.path.open("ab", buffering=0) as file:
            file.write(record("Ann", 12))
            board.take()
            file.write(record("Ann", 1))
        assert self.round(board) == [("BANK.EXT", 1, None)]

    def test_does_not_mourn_a_folder_that_is_gone(self, board):
        board.write(record("Ann", 12))
        board.take()
        board.path.parent.rename(board.path.parent.with_name("elsewhere"))
        assert self.round(board) == []

    def test_leaves_a_file_imported_by_hand(self, board):
        board.write(record("Ann", 12))
        board.take()
        board.write(record("Ann", 1))
        self.round(board)
        assert board.path.exists()
        assert board.bank("Ann") == 22

    def test_lets_one_file_wait_for_another_s_trouble(self, board):
        board.path.mkdir()
        other = board.path.with_name("OTHER.EXT")
        other.write_bytes(record("Ann", 1))
        board.books.change(imports=(board.path, other))
        assert self.round(board) == [
            ("BANK.EXT", 0, f"{board.path} is not read: it is not a file."),
            ("OTHER.EXT", 1, None),
        ]

    def test_says_when_the_books_are_out_of_reach(self, board):
        board.write(record("Ann", 1))
        settings = replace(board.books.settings, imports=(board.path,))
        with board.unreadable() as database:
            (report,) = import_all(database, settings, board.books.now)
        assert report.problem is not None
