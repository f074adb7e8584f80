"""A board that imports files, for the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.timebank.books import Books
from tests.timebank.by_hand import ByHand
from timebank.ledger.database import Database
from timebank.ledger.engines import books_of
from timebank.ledger.reasons import decode
from timebank.ledger.sentences import sentence
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.ledger.transfers import ADJUSTMENT, Account, Movement, transfer
from timebank.thebank.importer import WATCHED_SECONDS, ImportReport, import_file

LATE = WATCHED_SECONDS + 1
NAMES = ("Ann", "Bob")


def record(name: str, minutes: int, number: int | None = None) -> bytes:
    end = b"" if number is None else b";%d" % number
    return b"%b;%d;Big Door;2026-06-01 11:59%b\r\n" % (name.encode(), minutes, end)


class Board:
    """Books with Ann and Bob, who have ten minutes each, and the file BANK.EXT."""

    def __init__(self, books: Books) -> None:
        self.books = books
        self.path = books.settings.database.parent / "exchange" / "BANK.EXT"
        self.path.parent.mkdir(exist_ok=True)
        self.callers = {name: self._caller(name) for name in NAMES}

    def _caller(self, name: str) -> int:
        rows = self.books.sql("SELECT id FROM callers WHERE name = ?", name)
        if rows:
            return rows[0][0]
        caller_id = self.books.caller(name)
        ((number,),) = self.books.sql(
            "SELECT id FROM accounts WHERE caller_id = ? AND kind = 'bank'", caller_id
        )
        account = Account(number, "bank", "second")
        self.books.do(
            transfer,
            [Movement(ADJUSTMENT, account, 600, ByHand("test", "to begin with"), None, None)],
        )
        return caller_id

    def write(self, *pieces: bytes) -> bytes:
        content = b"".join(pieces)
        self.path.write_bytes(content)
        return content

    def append(self, content: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(content)

    def take(self, path: Path | None = None) -> ImportReport:
        """Do a round of imports and check the books."""
        books = self.books
        report = import_file(books.database, books.settings, books.now, path or self.path)
        assert books.audit() == []
        return report

    def bank(self, name: str) -> int:
        minutes, seconds = divmod(self.books.balances(self.callers[name])["bank"], 60)
        assert seconds == 0
        return minutes

    def transfers(self) -> list[tuple[str, str, int, str]]:
        """The transfers of imports: from, to, seconds and reason."""
        rows = self.books.sql(
            "SELECT s.kind, g.kind, t.amount, t.facts FROM transfers t"
            " JOIN accounts s ON s.id = t.source JOIN accounts g ON g.id = t.target"
            " WHERE t.kind = 'import' ORDER BY t.id"
        )
        return [
            (*ends, amount, sentence(decode("import", facts), amount, "second"))
            for *ends, amount, facts in rows
        ]

    def bak_file(self, number: int) -> Path:
        return self.path.with_name(f"BANK.EXT.{number}.BAK")

    def errors(self) -> list[str]:
        """The sysop's log of refused lines."""
        log = self.books.sql("SELECT what FROM sysop_log WHERE by = 'import' ORDER BY id")
        return [what for (what,) in log]

    def reason(self, line: str) -> str:
        return line.split(": ")[1]

    def names(self) -> set[str]:
        return {path.name for path in self.path.parent.iterdir()}

    @contextmanager
    def impatient(self) -> Iterator[Database]:
        """The same books, without waiting for locks."""
        database = books_of(self.books.settings, busy_seconds=0)
        yield database
        database.close()

    @contextmanager
    def unreadable(self) -> Iterator[Database]:
        database = SqliteDatabase(self.path.parent / "no" / "such" / "books")
        yield database
        database.close()
