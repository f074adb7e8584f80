"""Records for THEBANK.EXT, for the tests."""

from __future__ import annotations

from tests.timebank.books import Books
from tests.timebank.by_hand import ByHand
from timebank.ledger.transfers import ALLOTMENT, EXTERNAL, Movement, transfer
from timebank.thebank.outbox import Delivery, flush_outbox

SOURCE = "Black Jack For Time"


def put(books: Books, name: str, minutes: int) -> int:
    """Commit a record, as a clamp does; return its number."""
    passed_on = Movement(ALLOTMENT, EXTERNAL, minutes * 60, ByHand("external", "test"), None, None)
    ((number, *_),) = books.do(transfer, [passed_on])
    books.sql(
        "INSERT INTO outbox (number, name, minutes, source, at, state)"
        " VALUES (?, ?, ?, ?, ?, 'waiting')",
        *(number, name, minutes, SOURCE, int(books.now.timestamp())),
    )
    return number


def flush(books: Books) -> Delivery:
    return flush_outbox(books.database, books.settings, books.now)


def line(number: int, name: str = "Ann", minutes: int = 12) -> bytes:
    return b"%b;%d;Black Jack For Time;2026-06-01 12:00;%d\r\n" % (name.encode(), minutes, number)


def states(books: Books) -> list[str]:
    return [state for (state,) in books.sql("SELECT state FROM outbox ORDER BY number")]
