"""What comes of an operation on a caller's accounts: the purse after it, and what was moved."""

from __future__ import annotations

from datetime import date, datetime
from typing import NamedTuple

from timebank.language import Phrase
from timebank.ledger.play_accounts import PlayMoney
from timebank.ledger.transfers import TransferRow
from timebank.settings.schedule import ClosedPeriod


class Purse(NamedTuple):
    """What a caller has after an operation. Amounts are seconds."""

    # Usable now; what has ticked since `ticked` is still in it.
    online: int
    # The caller's, but behind the next event.
    held: int
    bank: int
    # On the table.
    stake: int
    # Zero or less: what they owe.
    loan: int
    # Seconds since log-on that are accounted for.
    ticked: int
    # The caller's day; the grant and the turns are of this one.
    day: date
    # The closed period that contains the moment of the operation, else the next; None without.
    closing: ClosedPeriod | None
    # Turns taken today, by game; a game that was not played is missing.
    turns: dict[str, int]
    # The most that may be staked yet by a limit that they have set for themselves; None without.
    stake_left: int | None = None
    # Until when they have paused themselves.
    paused_until: datetime | None = None
    # They are to hear how they have done in the last hour.
    summary_is_due: bool = False


class Receipt(NamedTuple):
    """What an operation did: the purse after it, and the rows that its entry moved, in order."""

    purse: Purse
    rows: tuple[TransferRow, ...]
    # What they have in the unit that was played for; None when that was time.
    play: PlayMoney | None = None
    # Sentences for the caller about what no row tells.
    remarks: tuple[Phrase, ...] = ()
    # The hand that ended with it, 0 for none. Until its caller has seen how, it is to be told at
    # the next log-on (notices.py).
    ended_round: int = 0
