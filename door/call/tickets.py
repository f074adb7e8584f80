"""Tickets that let a caller back in after a lost line, without a name and a password.

Whoever has a ticket is let in, so one is worth little: it works once, for the caller of one call,
while that call is open or for some minutes after its line was lost. However else a call ends (the
caller logs off, is idle, is kicked, calls from elsewhere), its ticket is void; so it is with a new
password, a lock, and sysop powers, which are the password's alone. Only a digest is kept here, in
the memory of this server: nothing is written down, and another server asks for name and password.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from timebank.callers.callers import CallerRecord

GOOD_SECONDS = 600.0  # after the line was lost
MOST_TICKETS = 10_000
TICKET_BYTES = 32


@dataclass(frozen=True)
class Ticket:
    """What one stands for: the caller, and the password that they had logged on with."""

    caller_id: int
    call_id: int
    password_hash: str

    def lets_in(self, record: CallerRecord) -> bool:
        """Whether it is still good for this caller, as the books have them now."""
        return (
            record.id == self.caller_id
            and record.password_hash == self.password_hash
            and not record.locked
            and not record.powers
        )


class Tickets:
    def __init__(self, now: Callable[[], float]) -> None:
        """`now` is the monotonic second."""
        self._now = now
        # By the digest of each: what it stands for, and until when; None while its call is open.
        self._tickets: OrderedDict[bytes, tuple[Ticket, float | None]] = OrderedDict()
        self._of_callers: dict[int, bytes] = {}  # no caller has two

    def __len__(self) -> int:
        return len(self._tickets)

    def issue(self, record: CallerRecord, call_id: int) -> str:
        """Make the ticket of a call."""
        self.void(record.id)
        self._make_room()
        text = secrets.token_urlsafe(TICKET_BYTES)
        digest = _digest(text)
        self._tickets[digest] = Ticket(record.id, call_id, record.password_hash), None
        self._of_callers[record.id] = digest
        return text

    def redeem(self, text: str) -> Ticket | None:
        """Take a ticket, which is void from now on; None for one that is not good."""
        found = self._tickets.get(_digest(text))
        if found is None:
            return None
        ticket, until = found
        self.void(ticket.caller_id)
        return ticket if until is None or self._now() < until else None

    def call_ended(self, caller_id: int, call_id: int, *, line_lost: bool) -> None:
        """Void the ticket of a call, or leave it some minutes where the line was lost."""
        digest = self._of_callers.get(caller_id)
        if digest is None or self._tickets[digest][0].call_id != call_id:
            return
        if line_lost:
            ticket, _ = self._tickets.pop(digest)
            self._tickets[digest] = ticket, self._now() + GOOD_SECONDS
        else:
            self.void(caller_id)

    def void(self, caller_id: int) -> None:
        """Void a caller's ticket, if they have one."""
        digest = self._of_callers.pop(caller_id, None)
        if digest is not None:
            del self._tickets[digest]

    def _make_room(self) -> None:
        """Forget those at the front that are over, and the oldest where there are too many."""
        now = self._now()
        while self._tickets:
            ticket, until = next(iter(self._tickets.values()))
            is_over = until is not None and until <= now
            if not is_over and len(self._tickets) < MOST_TICKETS:
                return
            self.void(ticket.caller_id)


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "replace")).digest()
