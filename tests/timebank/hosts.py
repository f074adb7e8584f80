"""Other boards and their callers, for tests: hosts with clocks that really tick."""

from __future__ import annotations

from datetime import datetime

from tests.timebank.books import Books, Call, as_written
from timebank.calls.arrival import HostTerms, host_caller, open_host_call
from timebank.guests import claims
from timebank.guests.claims import Claim, mark_written
from timebank.ledger.visit import GuestArrival, debt_of

BOARD = "Xibalba"
MINUTE = 60
HOUR = 3600


def brought(
    seconds: int | None = HOUR,
    *,
    allowance: int = HOUR,
    share: int = 100,
    until: datetime | None = None,
    shows_losses: bool = False,
    way: str | None = None,
) -> HostTerms:
    """Return a host's data; by default its caller has an hour and nothing can be given back."""
    return HostTerms(seconds, allowance, share, until, shows_losses, way)


class HostCall(Call):
    """A call of another board's caller, as the door process knows it."""

    def __init__(
        self,
        books: Books,
        caller_id: int,
        what: HostTerms,
        *,
        node: int = 1,
        process: str = "p",
        take_over: bool = False,
    ):
        self.books = books
        self.caller_id = caller_id
        self.logged_on = books.uptime
        self.opened = books.do(
            open_host_call, caller_id, node, process, "192.0.2.1", what, take_over
        )
        self.id = self.opened.call_id
        self.receipt = self.opened.receipt
        self.sequence = 0

    @property
    def arrival(self) -> GuestArrival:
        return self.opened.arrival

    def claim(self) -> Claim | None:
        return self.books.do(claims.take_claim, self.id)

    def close_and_give(self) -> int:
        """Hang up and write the debt into the host's file; return the minutes written."""
        self.close()
        claim = self.claim()
        if claim is None:
            return 0
        assert self.books.do(mark_written, claim)
        return claim.minutes


def known(books: Books, alias: str = "Ann", key: str = "7", board: str = BOARD) -> int:
    """Return the number here of a caller of another board."""
    return books.do(host_caller, board, key, alias).id


def comes(
    books: Books,
    caller_id: int,
    seconds: int | None = HOUR,
    *,
    node: int = 1,
    process: str = "p",
    take_over: bool = False,
    **more,
) -> HostCall:
    """Bring a caller with the time of their host."""
    what = brought(seconds, **more)
    return HostCall(books, caller_id, what, node=node, process=process, take_over=take_over)


def debt(books: Books, caller_id: int) -> int:
    """Return what the caller owes the host today."""
    day = books.settings.schedule.day_of(books.now).isoformat()
    with books.database.reading(books.settings, books.now) as desk:
        return debt_of(desk, caller_id, day)


def last_visit(books: Books, caller_id: int) -> dict[str, object]:
    """The row of a caller's last visit."""
    with books.database.reading(books.settings, books.now) as desk:
        return dict(
            as_written(desk.connection)(
                "SELECT * FROM visits WHERE caller_id = ? ORDER BY id DESC", (caller_id,)
            )
            .mappings()
            .first()
        )
