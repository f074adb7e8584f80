"""The audit of waived seconds, which a call gets only while its caller has no time left.

The audit follows the transfers and notes for each `online` account the calls in which it was empty.
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
    """The calls, by number, in which a caller's account was empty.

    An account that is emptied and refilled within one entry counts only if a charge emptied it.
    """

    __slots__ = ("_began", "_entry", "_firsts", "_lasts")

    def __init__(self, *, is_empty: bool) -> None:
        self._began: int | None = 0 if is_empty else None
        self._entry: int | None = None
        # For each empty time: the call in which it began, and the call and instant that ended it.
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
        # A transfer without a call ends nothing: the next call's charge shows it.
        elif isinstance(call_id, int) and self._began is not None:
            self._firsts.append(self._began)
            self._lasts.append((call_id, at))
            self._began = self._entry = None

    def has(self, call_id: int, opened: int, waived: int) -> bool:
        """Return whether the account can have been empty for `waived` seconds of a call.

        An account that was filled in the second in which the call opened can have been empty for
        that second only.
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
    """Find calls with waived seconds whose caller had time left throughout.

    `online` maps each caller's number to their account.
    """
    for number, caller_id, name, waived, opened in _WAIVED.run_long(desk.connection):
        account = online.get(caller_id)
        if account is not None and not account.has(number, opened, waived):
            sentence = f"{waived} seconds were not charged, but {name} always had time left."
            yield Finding(f"call {number}", sentence)
