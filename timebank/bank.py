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
from timebank.hands import Move, Settlement, Wager
from timebank.history import Happening, history
from timebank.hosts import Brought, host_caller, open_host_call
from timebank.hosts_claims import Claim, claim, debt_after, done, in_doubt, not_done
from timebank.hosts_given import GivenBack, owed
from timebank.hosts_visit import Arrival, Parting
from timebank.journal import (
    Shoe,
    StoredRound,
    StoredSeat,
    close_shoe,
    open_shoe,
    open_table_shoe,
    table_rounds,
)
from timebank.ledger import Row
from timebank.notices import add_notice, note_seen, notices, tell_hand, unseen
from timebank.play_accounts import PlayMoney
from timebank.play_money import Tally, bankrolls, renew_bankroll, sit_down, tally
from timebank.purse import Purse, Receipt
from timebank.sysop_hand import (
    adjust,
    freeze,
    sysop_deposit,
    sysop_transfer,
    sysop_withdraw,
    unfreeze,
)
from timebank.table_wagers import (
    SeatBet,
    Sitter,
    TablePlaced,
    act_at_table,
    place_table_bets,
)
from timebank.teller import (
    accounts,
    allowance,
    allowance_to,
    borrow,
    deposit,
    deposit_before_leaving,
    repay,
    transfer,
    withdraw,
)
from timebank.wagers import Placed, act, place_bet, stand_without_call
from timebank.window import Allowance, Allowed

__all__ = [
    "LEASE_SECONDS",
    "RENEW_SECONDS",
    "Allowance",
    "Allowed",
    "Arrival",
    "Brought",
    "Claim",
    "Desk",
    "GivenBack",
    "Happening",
    "Move",
    "OpenCall",
    "Opened",
    "Parting",
    "Placed",
    "PlayMoney",
    "Purse",
    "Receipt",
    "Row",
    "SeatBet",
    "Settlement",
    "Shoe",
    "Sitter",
    "StoredRound",
    "StoredSeat",
    "TablePlaced",
    "Tally",
    "Wager",
    "accounts",
    "act",
    "act_at_table",
    "add_notice",
    "adjust",
    "allowance",
    "allowance_to",
    "bankrolls",
    "borrow",
    "claim",
    "close_call",
    "close_dead_calls",
    "close_orphaned_calls",
    "close_shoe",
    "debt_after",
    "deposit",
    "deposit_before_leaving",
    "done",
    "freeze",
    "history",
    "host_caller",
    "in_doubt",
    "not_done",
    "note_seen",
    "notices",
    "open_call",
    "open_calls",
    "open_host_call",
    "open_shoe",
    "open_table_shoe",
    "owed",
    "place_bet",
    "place_table_bets",
    "renew",
    "renew_bankroll",
    "repay",
    "sit_down",
    "stand_without_call",
    "sysop_deposit",
    "sysop_transfer",
    "sysop_withdraw",
    "table_rounds",
    "tally",
    "tell_hand",
    "touch",
    "transfer",
    "unfreeze",
    "unseen",
    "withdraw",
]
