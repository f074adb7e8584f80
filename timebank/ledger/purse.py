"""The result of an operation on a caller's accounts: the purse after it, and its transfers."""

from __future__ import annotations

from datetime import date, datetime
from typing import NamedTuple

from timebank.language import N_, Phrase
from timebank.ledger.play_accounts import PlayMoney
from timebank.ledger.transfers import TransferRow
from timebank.settings.schedule import ClosedPeriod

WAITS = N_(
    "You can play the daily deal. Bets, loans and transfers wait until the sysop has let you in."
)


class Purse(NamedTuple):
    """A caller's balances after an operation. Amounts are seconds."""

    # Usable now; the time used since `ticked` is still included.
    online: int
    # Reserved for after the next event.
    held: int
    bank: int
    # On the table.
    stake: int
    # Zero or less: the debt to the bank.
    loan: int
    # Seconds since log-on that are charged or waived.
    ticked: int
    # The caller's day, to which the grant and the turns belong.
    day: date
    # The closed period at the time of the operation, or the next one; None without any.
    closing: ClosedPeriod | None
    # Turns taken today, by game; games not played are missing.
    turns: dict[str, int]
    # The caller may not bet before the sysop has approved them.
    waits: bool = False
    # How much may still be staked today by the caller's own limit; None without one.
    stake_left: int | None = None
    # The end of the caller's own pause from betting.
    paused_until: datetime | None = None
    # The summary of the caller's last hour is due.
    summary_is_due: bool = False


class Receipt(NamedTuple):
    """What an operation did: the purse after it, and the transfers of its entry, in order."""

    purse: Purse
    rows: tuple[TransferRow, ...]
    # The balances in the unit that was played for; None for time.
    play: PlayMoney | None = None
    # Sentences for the caller about facts that no transfer shows.
    remarks: tuple[Phrase, ...] = ()
    # The hand that ended with the entry; 0 for none. Its result is shown at the next log-on unless
    # the caller has seen it by then (notices.py).
    ended_round: int = 0
    # The awards that the caller has earned with the entry (callers/awards.py).
    awards: tuple[str, ...] = ()
