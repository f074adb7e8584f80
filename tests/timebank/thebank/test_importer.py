"""Reading THEBANK.EXT: applied and refused lines."""

from __future__ import annotations

import pytest

from tests.timebank.books import in_english
from tests.timebank.importing import Board, record
from timebank.callers.notices import notices
from timebank.thebank.format import LONGEST_LINE


@pytest.fixture
def board(open_books) -> Board:
    """Create a board with Ann and Bob, who have ten minutes each, and a foreign file."""
    return Board(open_books())


class TestRecords:
    def test_of_plus_put_minutes_into_the_account_and_of_minus_take_them_out(self, board):
        board.write(record("Ann", 12), record("Bob", -3))
        report = board.take()
        assert (report.applied, report.seconds_in, report.seconds_out) == (2, 720, 180)
        assert (board.bank("Ann"), board.bank("Bob")) == (22, 7)
        assert (report.refused, report.waiting, report.problem) == (0, (), None)

    def test_are_entries_that_name_file_line_source_and_number(self, board):
        board.write(b"; first\r\n", record("Ann", 12, number=4711), record("Ann", -5))
        board.take()
        assert board.transfers() == [
            ("external", "bank", 720, "12 minutes from Big Door (BANK.EXT, line 2 of import 1,"
             " record 4711)"),
            ("bank", "external", 300, "5 minutes taken by Big Door (BANK.EXT, line 3 of import 1)"),
        ]  # fmt: skip

    def test_notify_the_callers_concerned(self, board):
        board.write(record("Ann", 12), record("Ann", -1))
        board.take()
        assert in_english(board.books.do(notices, board.callers["Ann"])) == (
            "12 minutes came into your time bank from Big Door.",
            "Big Door took 1 minute out of your time bank.",
        )

    def test_without_an_end_are_whole_at_the_end_of_a_dos_file(self, board):
        board.write(record("Ann", 12), b"Bob;1;x;2026-06-01 12:00\x1a")
        assert board.take().applied == 2
        assert board.bak_file(1).exists()

    def test_of_many_commits_are_all_applied(self, board):
        board.write(*[record("Ann", 1), b"; between\r\n", record("Ann", -1)] * 200)
        report = board.take()
        assert (report.applied, report.seconds_in, report.seconds_out) == (400, 12000, 12000)
        assert board.bank("Ann") == 10

    def test_may_fill_an_account_up_to_the_limit_and_empty_it(self, board):
        board.write(record("Ann", 1430), record("Bob", -10))
        assert board.take().applied == 2
        assert (board.bank("Ann"), board.bank("Bob")) == (1440, 0)


class TestNames:
    @pytest.mark.parametrize(
        ("name", "written"),
        [
            ("José Nuñez", b"Jos\x82 Nu\xa4ez"),
            ("José Nuñez", "José Nuñez".encode()),  # a program that knows only UTF-8
            ("José Nuñez", b"JOSE NUNEZ"),
            ("Łukasz", b"\\u0141ukasz"),
            ("Øystein", b"\\u00d8ystein"),
            ("Иван", b"\\u0418\\u0432\\u0430\\u043D"),
            ("Ann O'Neil", b"  ann  o`neil "),
        ],
    )
    def test_are_known_in_every_spelling(self, board, name, written):
        caller_id = board.books.caller(name)
        board.write(written + b";5;x;2026-06-01 12:00\r\n")
        assert board.take().applied == 1
        assert board.books.balances(caller_id)["bank"] == 300


class TestRefusals:
    def refused(self, board: Board, line: bytes) -> str:
        """Have one line refused between two good ones; return its line of the log."""
        before = board.bank("Ann")
        board.write(record("Bob", 1), line, record("Bob", -1))
        report = board.take()
        assert (report.applied, report.refused) == (2, 1)
        assert board.bank("Ann") == before
        (in_english,) = board.errors()
        assert in_english.startswith("BANK.EXT, line 2 of import 1 was refused: ")
        assert report.refusals == (f"line 2 of import 1: {board.reason(in_english)}.",)
        return board.reason(in_english)

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            (record("Cid", 5), "no caller here is called Cid"),
            (b"\x1b[2J;5;x;2026-06-01 12:00\n", "no caller here is called  [2J"),
            (record("Ann", -11), "the account holds only 10 minutes"),
            (record("Ann", -(10**17)), "the account holds only 10 minutes"),
            (record("Ann", 1431), "the account holds 10 minutes, and 1440 minutes is the most"),
            (record("Ann", 10**17), "the account holds 10 minutes, and 1440 minutes is the most"),
            (record("Ann", 0), "it moves no minutes"),
            (b"rubbish\r\n", "it has 1 field instead of 5"),
            (b"\x00\xff\x80;\xfe\x00\x01;;\n", "its minutes are not a whole number"),
            (b"Ann;1;x;yesterday\r\n", "its time is not written YYYY-MM-DD HH:MM"),
            (b"A" * (LONGEST_LINE + 1) + b"\r\n", "it is longer than 1024 bytes"),
            (b"A" * 300_000 + b";1;x;2026-06-01 12:00\r\n", "it is longer than 1024 bytes"),
            (b"Ann;1;" + b"x" * 2000 + b";2026-06-01 12:00\r\n", "it is longer than 1024 bytes"),
        ],
    )
    def test_say_which_line_and_why(self, board, line, reason):
        assert self.refused(board, line) == reason

    def test_of_a_frozen_account(self, board):
        board.books.sql("UPDATE callers SET frozen = 1 WHERE name = 'Ann'")
        assert self.refused(board, record("Ann", 5)) == "the account of Ann is frozen"

    def test_of_a_locked_caller(self, board):
        board.books.change(barred=("ANN",))
        assert self.refused(board, record("Ann", -5)) == "Ann may not use the bank"

    def test_reach_the_log_of_the_sysop(self, board, caplog):
        board.write(b"rubbish\r\n")
        board.take()
        assert "line 1 of import 1: it has 1 field instead of 5: rubbish" in caplog.text
        assert board.books.sql("SELECT at, by, what FROM sysop_log") == [
            (
                int(board.books.now.timestamp()),
                "import",
                "BANK.EXT, line 1 of import 1 was refused: it has 1 field instead of 5: rubbish",
            )
        ]

    def test_show_the_line_without_control_characters(self, board):
        board.write(b"\x1b[31m|04Ann\x07\r\n")
        board.take()
        assert board.errors()[0].endswith(":  [31m|04Ann ")

    def test_in_masses_are_all_written_and_some_of_them_reported(self, board, caplog):
        board.write(*[b"rubbish %d\n" % n for n in range(500)])
        report = board.take()
        assert (report.refused, len(report.refusals)) == (500, 20)
        assert f"{board.path}: 480 more were refused." in report.sentences()
        assert len(board.errors()) == 500
        assert len(caplog.records) == 21

    def test_a_source_cannot_play_tricks_on_screens(self, board):
        board.write(b"Ann;1;\x1b[2J\x07" + b"y" * 200 + b";2026-06-01 12:00\r\n")
        board.take()
        ((_, _, _, why),) = board.transfers()
        assert why.startswith(f"1 minute from  [2J {'y' * 32}... (")


class TestTheAudit:
    @pytest.mark.parametrize(
        ("tampering", "finding"),
        [
            (
                "DELETE FROM import_lines",
                "transfer 3: It was imported, but no line of a file records it.",
            ),
            (
                "UPDATE imports SET bytes = 0",
                "import 1, line 1: It was applied, but the file was read only to byte 0.",
            ),
            (
                "UPDATE import_lines SET transfer_id = 1",
                "import 1, line 1: It names transfer 1, which is not an import.",
            ),
        ],
    )
    def test_finds_lines_and_transfers_that_do_not_go_together(self, board, tampering, finding):
        board.write(record("Ann", 1))
        board.take()
        board.books.sql(tampering)
        assert finding in board.books.audit()
