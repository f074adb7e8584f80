"""The face of the time bank: everything that callers, tables and the lobby ask of it.

Every function takes the desk, an open transaction, first; whoever opens the transaction commits
it. Those that name a call also take `ticked`, the whole monotonic seconds since its log-on, and
see to it that the time used is posted, a new day begun, held time given back after its event and
nothing left on line beyond the next one. A `Refused` is a sentence for the caller.
"""

from __future__ import annotations

from timebank.calls import (
    LEASE_SECONDS,
    RENEW_SECONDS,
    OpenCall,
    Opened,
    close_call,
    close_dead_calls,
    close_orphaned_calls,
    open_call,
    open_calls,
    renew,
    touch,
)
from timebank.database import Desk
from timebank.history import Happening, history
from timebank.ledger import Row
from timebank.notices import add_notice, notices, unseen
from timebank.posting import Purse, Receipt
from timebank.sysop_hand import (
    adjust,
    freeze,
    sysop_deposit,
    sysop_transfer,
    sysop_withdraw,
    unfreeze,
)
from timebank.teller import accounts, allowance, borrow, deposit, repay, transfer, withdraw
from timebank.wagers import (
    Move,
    Placed,
    Settlement,
    Wager,
    act,
    place_bet,
    stand_without_call,
)
from timebank.window import Allowance, Allowed

__all__ = [
    "LEASE_SECONDS",
    "RENEW_SECONDS",
    "Allowance",
    "Allowed",
    "Desk",
    "Happening",
    "Move",
    "OpenCall",
    "Opened",
    "Placed",
    "Purse",
    "Receipt",
    "Row",
    "Settlement",
    "Wager",
    "accounts",
    "act",
    "add_notice",
    "adjust",
    "allowance",
    "borrow",
    "close_call",
    "close_dead_calls",
    "close_orphaned_calls",
    "deposit",
    "freeze",
    "history",
    "notices",
    "open_call",
    "open_calls",
    "place_bet",
    "renew",
    "repay",
    "stand_without_call",
    "sysop_deposit",
    "sysop_transfer",
    "sysop_withdraw",
    "touch",
    "transfer",
    "unfreeze",
    "unseen",
    "withdraw",
]
