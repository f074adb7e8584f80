"""The chain of digests: the audit names every change to a transfer."""

from __future__ import annotations

import re

import pytest

from tests import ROOT
from tests.timebank.books import GAME
from tests.timebank.by_hand import ByHand
from tests.timebank.vandal import Vandal
from timebank.audit.accounts import audit
from timebank.keeping import backup
from timebank.ledger import transfers
from timebank.ledger.chain import GENESIS, digest
from timebank.ledger.transfers import ADJUSTMENT, Account, Head, Movement

UNFIT = (
    ": It does not continue {}. One of the two was changed, moved or inserted by hand,"
    " or a row between them is missing."
)
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
    """Return the audit's findings about the chain, in order."""
    words = re.compile(r"does not continue|fit the chain|No transfer")
    return [line for line in books.audit() if words.search(line)]


def unfit(number: int, before: str | None = None) -> str:
    """Return the audit's sentence about the first row that does not fit."""
    return f"transfer {number}" + UNFIT.format(before or f"transfer {number - 1}")


def row_of(books, number):
    return books.sql(f"SELECT {FIELDS}, digest FROM transfers WHERE id = ?", number)[0]


def mended(books, number, **changes) -> str:
    """Return the digest of a row with these fields, as a skilled forger writes it."""
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

    def test_separates_fields_that_look_alike_when_joined(self):
        numbers = (1, 1, 1, 0, 60, 1, 6, None, None)
        assert digest(GENESIS, *numbers, "a b", "c") != digest(GENESIS, *numbers, "a", "b c")

    @pytest.mark.of_a_file
    def test_matches_the_formula_of_the_documents(self, books, monkeypatch, capsys):
        """The test runs the program in docs/formats.md."""
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

    def test_refuses_a_writer_with_an_outdated_end(self, books):
        bank = Account(8, "bank", "second")
        movement = Movement(ADJUSTMENT, bank, 60, ByHand("adjust", "because"), None, None)
        old = books.do(transfers.head)
        books.do(transfers.transfer, [movement])
        with pytest.raises(
            Exception,
            match=r"UNIQUE constraint failed: transfers\.id|unique constraint .transfers_pkey",
        ):
            books.do(transfers.transfer, [movement], old)
        assert books.audit() == []


class TestABrokenLink:
    @pytest.mark.parametrize(
        "change",
        [
            "amount = 960",
            "source = 5",
            "target = 8",
            "kind = 'gift'",
            "kind = x'ff'",
            "call_id = NULL",
            "round_id = 1",
            "at = at + 7000",
            "place = 1",
            "size = 5",
            "facts = replace(facts, 'win', 'push')",
        ],
    )
    def test_is_named_whatever_field_was_changed(self, books, vandal, change):
        number = books.sql("SELECT id FROM transfers WHERE amount = 901")[0][0]
        vandal(f"UPDATE transfers SET {change} WHERE id = {number}")
        assert chained(books) == [unfit(number)]

    def test_is_named_by_a_changed_digest_and_so_is_the_next_one(self, books, vandal):
        vandal(f"UPDATE transfers SET digest = '{'f' * 64}' WHERE id = 7")
        assert chained(books) == [unfit(7), "transfer 8: It does not fit the chain either."]

    def test_is_the_next_one_where_a_digest_was_made_that_fits(self, books, vandal):
        forged = mended(books, 7, amount=5000)
        vandal(f"UPDATE transfers SET amount = 5000, digest = '{forged}' WHERE id = 7")
        assert chained(books) == [unfit(8)]

    def test_may_be_the_first_one(self, books, vandal):
        vandal("UPDATE transfers SET amount = 7200 WHERE id = 1")
        assert chained(books) == [unfit(1, "the beginning")]

    def test_is_the_first_of_many(self, books, vandal):
        vandal("UPDATE transfers SET amount = amount + 1 WHERE id > 3")
        findings = chained(books)
        rows = books.sql("SELECT count(*) FROM transfers")[0][0]
        assert findings[0] == unfit(4)
        assert findings[1:-1] == [
            f"transfer {number}: It does not fit the chain either." for number in range(5, 14)
        ]
        assert findings[-1] == f"ledger: {rows - 13} more transfers do not fit the chain."

    def test_is_named_after_rows_were_deleted_and_renumbered(self, books, vandal):
        vandal(
            "DELETE FROM transfers WHERE id IN (7, 8)",
            "UPDATE transfers SET id = -id WHERE id > 8",
            "UPDATE transfers SET id = -id - 2 WHERE id < 0",
            "UPDATE sqlite_sequence SET seq = seq - 2 WHERE name = 'transfers'",
        )
        assert chained(books)[0] == unfit(7)

    def test_is_one_that_was_put_in_at_the_end(self, books, vandal):
        last = books.do(transfers.head).number
        vandal(
            "INSERT INTO transfers (place, size, at, kind, amount, source, target, facts, digest)"
            f" VALUES (1, 1, 0, 'gift', 60, 5, 8, 'because', '{'0' * 64}')",
        )
        assert chained(books) == [unfit(last + 1)]

    def test_is_one_that_was_put_in_between(self, books, vandal):
        vandal(
            "UPDATE transfers SET id = -id - 1 WHERE id > 6",
            "UPDATE transfers SET id = -id WHERE id < 0",
            "INSERT INTO transfers"
            " (id, place, size, at, kind, amount, source, target, facts, digest)"
            f" VALUES (7, 1, 1, 0, 'gift', 60, 5, 8, 'because', '{'0' * 64}')",
        )
        assert chained(books)[0] == unfit(7)

    @pytest.mark.parametrize("other", [8, 12])
    def test_is_one_that_changed_places(self, books, vandal, other):
        vandal(
            "UPDATE transfers SET id = -1 WHERE id = 7",
            f"UPDATE transfers SET id = 7 WHERE id = {other}",
            f"UPDATE transfers SET id = {other} WHERE id = -1",
        )
        assert chained(books)[0] == unfit(7)


class TestARecordedDigest:
    def audit(self, books, since):
        with books.database.reading(books.settings, books.now) as desk:
            return [str(finding) for finding in audit(desk, since)]

    def test_is_continued_by_honest_books(self, books):
        noted = books.do(transfers.head).digest
        books.call(1, take_over=True).lose(300)
        assert self.audit(books, noted) == []
        assert self.audit(books, GENESIS) == []

    def test_that_no_row_has_is_a_finding(self, books):
        assert self.audit(books, "e" * 64) == [
            f"ledger: No transfer has the digest {'e' * 64}, so these books do not continue the"
            " ones that had it."
        ]

    def test_reveals_rewritten_books(self, books, vandal):
        """A forger who recomputes every later digest fits the chain, but not the note."""
        noted = books.do(transfers.head)
        vandal("UPDATE transfers SET facts = 'otherwise' WHERE id = 2")
        before = row_of(books, 1)[-1]
        for number in range(2, noted.number + 1):
            before = digest(before, *row_of(books, number)[:-1])
            vandal(f"UPDATE transfers SET digest = '{before}' WHERE id = {number}")
        assert books.audit() == []
        assert len(self.audit(books, noted.digest)) == 1

    def test_reveals_books_with_a_cut_end(self, books, vandal):
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
        ADJUSTMENT,
        Account(8, "bank", "second"),
        seconds,
        ByHand("adjust", f"for {GAME}"),
        None,
        None,
    )
