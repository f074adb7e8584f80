"""What the books say to whoever watches the board: few rows, however old the books are."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from timebank.callers import callers
from timebank.calls import calls
from timebank.keeping import last_audit, last_copy
from timebank.keeping.last_audit import LastAudit
from timebank.ledger import transfers
from timebank.ledger.database import Desk
from timebank.reports import extracts
from timebank.thebank import outbox
from timebank.wagers import journal


@dataclass(frozen=True)
class Watched:
    """Amounts are seconds of callers' time; play money is left out. `transfers`, `hands` and
    `calls` are the numbers of the last ones."""

    granted: int
    used: int
    transfers: int
    hands: int
    calls: int
    callers: int
    accounts: dict[str, int]  # by their kind
    houses: dict[str, int]  # by their game
    outbox_waiting: int
    outbox_in_doubt: int
    last_copy: float | None  # seconds since 1970
    last_audits: dict[str, LastAudit]  # by the command that audits


def watched(desk: Desk) -> Watched:
    kinds, houses = defaultdict[str, int](int), dict[str, int]()
    for balance in transfers.balances(desk):
        if balance.unit == "second":
            kinds[balance.kind] += balance.amount
            if balance.kind == "house" and balance.game is not None:
                houses[balance.game] = balance.amount
    records = outbox.undelivered(desk)
    doubtful = sum(record.state == "doubtful" for record in records)
    copy = last_copy.last_copy(desk.settings)
    return Watched(
        granted=-kinds["allotment"],
        used=kinds["elapsed"],
        transfers=extracts.last_number(desk),
        hands=journal.last_round(desk),
        calls=calls.last_number(desk),
        callers=callers.count(desk),
        accounts=dict(sorted(kinds.items())),
        houses=houses,
        outbox_waiting=len(records) - doubtful,
        outbox_in_doubt=doubtful,
        last_copy=None if copy is None else copy.at.timestamp(),
        last_audits={
            command: found
            for command in last_audit.NAMES
            if (found := last_audit.last_audit(desk.settings, command)) is not None
        },
    )
