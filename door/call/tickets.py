"""Tickets that let a caller back in after a lost line, without name and password.

Anyone who has a ticket is let in, so it works only once, for the caller of one call, from a page of
the same origin, while that call is open or for some minutes after its line was lost. If the call
ends in any other way (log-off, idle, kicked, take-over), its ticket is void. So it is after a new
password or a lock, and callers with sysop powers get none. Only a digest is kept, in the memory of
this server. Another server asks for name and password.
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
    """The caller, call and origin of a ticket, and the password hash at its log-on."""

    caller_id: int
    call_id: int
    password_hash: str
    origin: str

    def lets_in(self, record: CallerRecord) -> bool:
        """Return whether the ticket is still good for this caller, as the books have them now."""
        return (
            record.id == self.caller_id
            and record.password_hash == self.password_hash
            and not record.locked
            and not record.powers
        )


class Tickets:
    def __init__(self, now: Callable[[], float]) -> None:
        """`now` returns the monotonic second."""
        self._now = now
        # By digest: the ticket and its expiry, None while its call is open.
        self._tickets: OrderedDict[bytes, tuple[Ticket, float | None]] = OrderedDict()
        self._digests: dict[int, bytes] = {}  # by caller; none has two tickets

    def __len__(self) -> int:
        return len(self._tickets)

    def issue(self, record: CallerRecord, call_id: int, origin: str) -> str:
        """Make the ticket of a call from a page of `origin`."""
        self.void(record.id)
        self._make_room()
        text = secrets.token_urlsafe(TICKET_BYTES)
        digest = _digest(text)
        self._tickets[digest] = Ticket(record.id, call_id, record.password_hash, origin), None
        self._digests[record.id] = digest
        return text

    def redeem(self, text: str, origin: str) -> Ticket | None:
        """Return the ticket and void it; None for one unknown, expired or of another origin."""
        entry = self._tickets.get(_digest(text))
        if entry is None:
            return None
        ticket, until = entry
        self.void(ticket.caller_id)
        is_good = ticket.origin == origin and (until is None or self._now() < until)
        return ticket if is_good else None

    def call_ended(self, caller_id: int, call_id: int, *, line_lost: bool) -> None:
        """Void the ticket of a call, or let it expire in some minutes if the line was lost."""
        digest = self._digests.get(caller_id)
        if digest is None or self._tickets[digest][0].call_id != call_id:
            return
        if line_lost:
            ticket, _ = self._tickets.pop(digest)
            self._tickets[digest] = ticket, self._now() + GOOD_SECONDS
        else:
            self.void(caller_id)

    def void(self, caller_id: int) -> None:
        """Void a caller's ticket, if they have one."""
        digest = self._digests.pop(caller_id, None)
        if digest is not None:
            del self._tickets[digest]

    def _make_room(self) -> None:
        """Void expired tickets, and the oldest ones if there are too many."""
        now = self._now()
        while self._tickets:
            ticket, until = next(iter(self._tickets.values()))
            is_over = until is not None and until <= now
            if not is_over and len(self._tickets) < MOST_TICKETS:
                return
            self.void(ticket.caller_id)


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "replace")).digest()
