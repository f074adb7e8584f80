"""The chain of digests: whatever is done to a transfer, the audit names it and what differs."""

from __future__ import annotations

import re

import pytest

from tests import ROOT
from tests.timebank.books import GAME
from tests.timebank.vandal import Vandal
from timebank.audit.accounts import audit
from timebank.keeping import backup
from timebank.ledger import transfers
from timebank.ledger.chain import GENESIS, digest
from timebank.ledger.reasons import Told
from timebank.ledger.transfers import ADJUSTMENT, Account, Head, Movement

pytestmark = pytest.mark.usefixtures("narrow_search")

FORMATS = ROOT / "docs" / "formats.md"
FIELDS = "id, place, size, at, amount, source, target, call_id, round_id, kind, facts"


@pytest.fixture
def books(open_books):
    """Books of sixteen transfers and more, some seconds apart."""
    books = open_books()
    call = books.call(books.caller("Ann"))
    for number in range(4):
        books.wait(30)
        call.win(600, 900 + number)
        call.lose(300)
    return books


def chained(books) -> list[str]:
    """What the audit finds that has to do with the chain, the first finding first."""
    words = re.compile(
        r"changed|rewritten|put in by hand|removed|written as|was written|fit the chain|No transfer"
    )
    return [line for line in books.audit() if words.search(line)]


def row_of(books, number):
    return books.sql(f"SELECT {FIELDS}, digest FROM transfers WHERE id = ?", number)[0]


def mended(books, number, **changes) -> str:
    """The digest that a row would have had with these fields; what a skilled forger writes."""
    names = FIELDS.split(", ")
    fields = dict(zip(names, row_of(books, number), strict=False)) | changes
    before = row_of(books, number - 1)[-1] if number > 1 else GENESIS
    return digest(before, *fields.values())


class TestTheChain:
    def test_begins_with_zeros_and_ends_with_the_last_row(self, books):
        last = books.sql("SELECT max(id) FROM transfers")[0][0]
        assert books.do(transfers.head) == Head(last, row_of(books, last)[-1])
        assert mended(books, 1) == row_of(books, 1)[-1]

    @pytest.mark.parametrize(
        "change",
        [
            {"id": 6},
            {"place": 1},
            {"size": 3},
            {"at": 1},
            {"amount": 901},
            {"source": 5},
            {"target": 8},
            {"call_id": None},
            {"round_id": 2},
            {"kind": "lost"},
            {"kind": "won W", "facts": "on"},
            {"facts": "Won"},
        ],
    )
    def test_depends_on_every_field(self, books, change):
        assert mended(books, 5, **change) != mended(books, 5)

    def test_is_told_apart_where_words_run_together(self):
        numbers = (1, 1, 1, 0, 60, 1, 6, None, None)
        assert digest(GENESIS, *numbers, "a b", "c") != digest(GENESIS, *numbers, "a", "b c")

    @pytest.mark.of_a_file
    def test_is_what_the_documents_say_it_is(self, books, monkeypatch, capsys):
        """The program in docs/formats.md, run as it stands there."""
        (program,) = re.findall(r"```python\n(.*?)```", FORMATS.read_text(encoding="utf-8"), re.S)
        assert len(program.splitlines()) <= 20
        monkeypatch.chdir(books.database.path.parent)
        exec(compile(program, "docs/formats.md", "exec"), {})
        head = books.do(transfers.head)
        assert capsys.readouterr().out == f"{head.number} {head.digest}\n"
        Vandal(books)("UPDATE transfers SET amount = 901 WHERE id = 7")
        with pytest.raises(AssertionError, match="7"):
            exec(compile(program, "docs/formats.md", "exec"), {})

    @pytest.mark.of_a_file
    def test_can_be_checked_by_another_program_after_a_restore(
        self, books, folder, monkeypatch, capsys
    ):
        copy = folder / "copy"
        backup.back_up(books.database, books.settings, books.now, copy)
        books.database.close()
        books.database.path.unlink()
        books.wait(3600)
        backup.restore(copy, books.settings, books.now)
        (program,) = re.findall(r"```python\n(.*?)```", FORMATS.read_text(encoding="utf-8"), re.S)
        monkeypatch.chdir(books.database.path.parent)
        for _ in range(2):
            exec(compile(program, "docs/formats.md", "exec"), {})
            head = books.do(transfers.head)
            assert capsys.readouterr().out == f"{head.number} {head.digest}\n"
            books.call(1, take_over=True).lose(60)
        Vandal(books)("UPDATE generations SET why = 'nothing'")
        with pytest.raises(AssertionError, match="generation"):
            exec(compile(program, "docs/formats.md", "exec"), {})

    def test_refuses_a_writer_who_read_its_end_too_early(self, books):
        bank = Account(8, "bank", "second")
        movement = Movement(ADJUSTMENT, bank, 60, Told("adjust", "because"), None, None)
        old = books.do(transfers.head)
        books.do(transfers.transfer, [movement])
        with pytest.raises(
            Exception,
            match=r"UNIQUE constraint failed: transfers\.id|unique constraint .transfers_pkey",
        ):
            books.do(transfers.transfer, [movement], old)
        assert books.audit() == []


class TestAnEditedRow:
    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ("amount = 960", "its amount was 901, and is 960"),
            ("source = 5", "its source account was 11, and is 5"),
            ("target = 8", "its target account was 6, and is 8"),
            ("kind = 'gift'", "its kind was won, and is gift"),
            ("call_id = NULL", "its call was 1, and is None"),
            ("round_id = 1", "its hand was 3, and is 1"),
            ("at = at + 7000", "its time was 1780315260, and is 1780322260"),
            ("place = 1", "its place in its entry was 2, and is 1"),
            ("size = 5", "its entry's size was 2, and is 5"),
        ],
    )
    def test_is_named_with_what_it_said(self, books, vandal, change, told):
        number = books.sql("SELECT id FROM transfers WHERE amount = 901")[0][0]
        vandal(f"UPDATE transfers SET {change} WHERE id = {number}")
        assert chained(books) == [f"transfer {number}: It was changed: {told}."]

    def test_is_named_whatever_a_day_can_hold(self, books, vandal, narrow_search):
        narrow_search.undo()
        number = books.do(transfers.head).number + 1
        books.do(transfers.transfer, [_gift(99_999)])
        vandal(f"UPDATE transfers SET amount = 60 WHERE id = {number}")
        assert chained(books) == [
            f"transfer {number}: It was changed: its amount was 99999, and is 60."
        ]

    def test_whose_reason_was_changed_is_named(self, books, vandal):
        vandal("UPDATE transfers SET facts = replace(facts, 'lose', 'push') WHERE id = 7")
        assert chained(books) == [
            "transfer 7: It does not continue transfer 6 as that stands: its reason or several of"
            " its fields were changed, or that one was rewritten with a digest of its own."
        ]

    def test_whose_digest_was_changed_is_named(self, books, vandal):
        right, wrong = row_of(books, 7)[-1], "f" * 64
        vandal(f"UPDATE transfers SET digest = '{wrong}' WHERE id = 7")
        assert chained(books) == [
            f"transfer 7: Its digest was changed: it is {wrong}, and was {right}.",
            "transfer 8: It does not fit the chain either.",
        ]

    def test_that_was_given_a_digest_that_fits_is_named_all_the_same(self, books, vandal):
        was = row_of(books, 7)[4]
        forged = mended(books, 7, amount=5000)
        vandal(f"UPDATE transfers SET amount = 5000, digest = '{forged}' WHERE id = 7")
        assert chained(books) == [
            f"transfer 7: It was rewritten: its amount was {was}, and is 5000."
        ]

    def test_the_first_one_can_be(self, books, vandal):
        vandal("UPDATE transfers SET amount = 7200 WHERE id = 1")
        assert chained(books)[0] == (
            "transfer 1: It was changed: its amount was 3600, and is 7200."
        )

    def test_whose_first_reason_was_changed_is_named(self, books, vandal):
        vandal("UPDATE transfers SET facts = '{}' WHERE id = 1")
        assert chained(books) == [
            "transfer 1: It is not what was written:"
            " its reason or several of its fields were changed."
        ]

    def test_is_the_first_of_many(self, books, vandal):
        vandal("UPDATE transfers SET amount = amount + 1 WHERE id > 3")
        found = chained(books)
        rows = books.sql("SELECT count(*) FROM transfers")[0][0]
        assert found[0].startswith("transfer 4: It was changed: its amount was ")
        assert found[1:-1] == [
            f"transfer {number}: It does not fit the chain either." for number in range(5, 14)
        ]
        assert found[-1] == f"ledger: {rows - 13} more transfers do not fit the chain."

    def test_whose_kind_is_no_text_is_named(self, books, vandal):
        vandal("UPDATE transfers SET kind = x'ff' WHERE id = 7")
        assert chained(books)[0].startswith("transfer 7: It was changed: its kind was ")


class TestARemovedRow:
    def test_whose_number_was_closed_up_is_missed(self, books, vandal):
        vandal(
            "DELETE FROM transfers WHERE id IN (7, 8)",
            "UPDATE transfers SET id = id - 2 WHERE id > 8",
            "UPDATE sqlite_sequence SET seq = seq - 2 WHERE name = 'transfers'",
        )
        assert chained(books)[0] == (
            "transfer 7: It was written as transfer 9: 2 rows before it are removed."
        )


class TestAnInsertedRow:
    def test_at_the_end_is_named(self, books, vandal):
        last = books.do(transfers.head).number
        vandal(
            "INSERT INTO transfers (place, size, at, kind, amount, source, target, facts, digest)"
            f" VALUES (1, 1, 0, 'gift', 60, 5, 8, 'because', '{'0' * 64}')",
        )
        (found,) = chained(books)
        assert found.startswith(f"transfer {last + 1}: It does not continue transfer {last}")
        assert found.endswith("or it was never written by this program.")

    def test_in_between_is_named(self, books, vandal):
        vandal(
            "UPDATE transfers SET id = -id - 1 WHERE id > 6",
            "UPDATE transfers SET id = -id WHERE id < 0",
            "INSERT INTO transfers"
            " (id, place, size, at, kind, amount, source, target, facts, digest)"
            f" VALUES (7, 1, 1, 0, 'gift', 60, 5, 8, 'because', '{'0' * 64}')",
        )
        assert chained(books)[0] == (
            "transfer 7: It was put in by hand: the next row was written as transfer 7."
        )


class TestReorderedRows:
    def swap(self, vandal, one, other):
        vandal(
            f"UPDATE transfers SET id = -1 WHERE id = {one}",
            f"UPDATE transfers SET id = {one} WHERE id = {other}",
            f"UPDATE transfers SET id = {other} WHERE id = -1",
        )

    @pytest.mark.parametrize("other", [8, 12])
    def test_are_named_with_the_place_they_had(self, books, vandal, other):
        self.swap(vandal, 7, other)
        assert chained(books)[0] == (
            f"transfer 7: It was written as transfer {other}: the order was changed."
        )

    def test_that_left_their_digests_in_place_are_named(self, books, vandal):
        ours, theirs = row_of(books, 7)[-1], row_of(books, 12)[-1]
        self.swap(vandal, 7, 12)
        vandal(
            f"UPDATE transfers SET digest = '{ours}' WHERE id = 7",
            f"UPDATE transfers SET digest = '{theirs}' WHERE id = 12",
        )
        assert chained(books) == [
            "transfer 7: What was written here is in transfer 12 now.",
            "transfer 12: It does not fit the chain either.",
        ]


class TestADigestNotedDown:
    def audit(self, books, since):
        with books.database.reading(books.settings, books.now) as desk:
            return [str(finding) for finding in audit(desk, since)]

    def test_is_continued_by_honest_books(self, books):
        noted = books.do(transfers.head).digest
        books.call(1, take_over=True).lose(300)
        assert self.audit(books, noted) == []
        assert self.audit(books, GENESIS) == []

    def test_that_nobody_wrote_is_a_finding(self, books):
        assert self.audit(books, "e" * 64) == [
            f"ledger: No transfer has the digest {'e' * 64}: these books do not continue those that"
            " it was noted down from."
        ]

    def test_gives_away_books_that_were_written_anew(self, books, vandal):
        """A forger who makes every digest after the change fits the chain, but not the note."""
        noted = books.do(transfers.head)
        vandal("UPDATE transfers SET facts = 'otherwise' WHERE id = 2")
        before = row_of(books, 1)[-1]
        for number in range(2, noted.number + 1):
            before = digest(before, *row_of(books, number)[:-1])
            vandal(f"UPDATE transfers SET digest = '{before}' WHERE id = {number}")
        assert books.audit() == []
        assert len(self.audit(books, noted.digest)) == 1

    def test_gives_away_books_whose_end_was_cut_off_without_a_trace(self, books, vandal):
        call = books.call(books.caller("Bob"), node=2)
        with books.database.reading(books.settings, books.now) as desk:
            before = transfers.head(desk).number
        call.post(lambda desk, *_: transfers.transfer(desk, [_gift()]))
        noted = books.do(transfers.head)
        vandal(
            f"DELETE FROM transfers WHERE id > {before}",
            "UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = 'transfers'",
            "UPDATE accounts SET balance = balance + 60 WHERE id = 5",
            "UPDATE accounts SET balance = balance - 60 WHERE id = 8",
        )
        assert books.audit() == []
        assert len(self.audit(books, noted.digest)) == 1


def _gift(seconds: int = 60) -> Movement:
    return Movement(
        ADJUSTMENT, Account(8, "bank", "second"), seconds, Told("adjust", f"for {GAME}"), None, None
    )
