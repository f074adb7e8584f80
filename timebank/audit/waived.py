"""The audit of waived seconds, which only a call whose caller has no time left is given.

While the audit follows the transfers, each `online` account notes in which calls it was empty.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping

from sqlalchemy import select

from timebank.audit.findings import Finding
from timebank.ledger.database import Desk
from timebank.ledger.schema import callers, calls
from timebank.ledger.sql import Prepared, Query


class Emptiness:
    """In which calls of its caller an account was empty, by the calls' numbers.

    An account that is emptied and filled within one entry counts only if a charge emptied it.
    """

    __slots__ = ("_began", "_entry", "_firsts", "_lasts")

    def __init__(self, *, is_empty: bool) -> None:
        self._began: int | None = 0 if is_empty else None
        self._entry: int | None = None
        # The call in which each empty time began, and the call and the instant that ended it.
        self._firsts: list[int] = []
        self._lasts: list[tuple[int, int]] = []

    def begin(self, call_id: int | None, entry: int, *, is_charge: bool) -> None:
        if self._began is None:
            before = self._lasts[-1][0] if self._lasts else 0
            self._began = call_id if isinstance(call_id, int) else before
            self._entry = None if is_charge else entry

    def end(self, call_id: int | None, entry: int, at: int) -> None:
        if self._entry == entry:
            self._began = self._entry = None
        elif isinstance(call_id, int) and self._began is not None:  # else the next call tells
            self._firsts.append(self._began)
            self._lasts.append((call_id, at))
            self._began = self._entry = None

    def has(self, call_id: int, opened: int, waived: int) -> bool:
        """Return whether the account may have been empty for so many seconds of a call.

        An account that was filled in the second in which the call was opened can have been empty
        for that second only.
        """
        if self._began is not None and self._began <= call_id:
            return True
        place = bisect_right(self._firsts, call_id) - 1
        if place < 0:
            return False
        last, at = self._lasts[place]
        if last == call_id:
            return self._firsts[place] == call_id or at != opened or waived == 1
        return last > call_id


def _waived() -> Query:
    return (
        select(calls.c.id, calls.c.caller_id, callers.c.name, calls.c.waived, calls.c.opened)
        .join(callers, callers.c.id == calls.c.caller_id)
        .where(calls.c.waived > 0)
        .order_by(calls.c.id)
    )


_WAIVED = Prepared(_waived)


def check_waived(desk: Desk, online: Mapping[int, Emptiness]) -> Iterator[Finding]:
    """Find calls with waived seconds whose caller had time left all along.

    `online` has the emptiness of each caller's account.
    """
    for number, caller_id, name, waived, opened in _WAIVED.long(desk.connection):
        account = online.get(caller_id)
        if account is not None and not account.has(number, opened, waived):
            said = f"{waived} seconds were not charged, and {name} had time left all along."
            yield Finding(f"call {number}", said)
