"""The end of a visit of another board's caller: what is gained is given back, the rest goes home.

It is part of the entry by which his call is closed, by himself, by a call that takes over, or by
whoever finds it dead. What a hand brings that is settled while he is on no call goes the same way,
but never to the host, which has nobody to give it to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from timebank.hosts_given import HOST_WAYS, THEBANK_EXT, keep_what_waits, write_down
from timebank.hosts_visit import debt_of
from timebank.ledger import EXTERNAL, Account
from timebank.words import MINUTE, span

if TYPE_CHECKING:
    from timebank.posting import Posting


def leave(posting: Posting, day: str) -> None:
    """Put on the last entry of a visit that it is over; `day` is the one on which it ended."""
    visit = posting.visit
    assert visit is not None  # called for visits alone
    visit.day = visit.day_on(day)
    _part(posting)
    if visit.way not in HOST_WAYS:
        keep_what_waits(posting)


def leave_without_call(posting: Posting) -> None:
    """Take out of the purse what came into it while its caller is on no call.

    Nothing is reckoned before the hand is over, or brings something back.
    """
    visit = posting.visit
    assert visit is not None  # called for visits alone
    balance = posting.balance
    comes_back = balance["online"] + balance["held"]
    if not comes_back and (balance["stake"] or not visit.staked):
        return
    today = posting.desk.settings.schedule.day_of(posting.desk.now).isoformat()
    visit.day = max(today, posting.day or "")
    visit.way = None
    _part(posting)


def _part(posting: Posting) -> None:
    visit, balance = posting.visit, posting.balance
    assert visit is not None  # called for visits alone
    debt = debt_of(posting.desk, posting.caller_id, visit.day)
    parting = visit.part(posting.purse, balance["stake"], posting.charged, debt)
    visit.parting, visit.changed = parting, True
    also = parting.also_brought
    why = f"{span(also)} more counted by the clock of {visit.board}"
    posting.move(EXTERNAL, posting.online, also, "brought", why)
    _gain(posting, parting.gain)
    why = f"{span(parting.put_back)} of your own put back in the bank"
    for account, amount in _out_of(posting, parting.put_back):
        posting.move(account, posting.bank, amount, "put back", why)
    for account, amount in _out_of(posting, parting.taken_home):
        why = f"{span(amount)} taken home to {visit.board}"
        posting.move(account, EXTERNAL, amount, "taken home", why)


def _out_of(posting: Posting, amount: int) -> list[tuple[Account, int]]:
    """Take an amount out of what is on line, and the rest of it out of what is held."""
    first = min(amount, posting.balance["online"])
    return [(posting.online, first), (posting.held, amount - first)]


def _gain(posting: Posting, gain: int) -> None:
    """Give back what was gained, to the host when it can take it, else to where we keep time."""
    visit, desk = posting.visit, posting.desk
    assert visit is not None  # called for visits alone
    if gain == 0:
        return
    why = f"{span(gain)} gained on the visit from {visit.board}"
    parts = _out_of(posting, gain)
    if visit.way is None or (visit.way == THEBANK_EXT and desk.settings.thebank_ext is None):
        for account, amount in parts:
            posting.put_away(account, amount, "gain", why, visit.board)
        return
    frozen = desk.connection.exec_driver_sql(
        "SELECT frozen FROM callers WHERE id = ?", (posting.caller_id,)
    ).scalar_one()
    # Seconds below a minute wait in the bank for the next that make it whole.
    waiting = 0 if frozen else posting.balance["bank"] % MINUTE
    for account, amount in parts:
        posting.move(account, posting.bank, amount, "gain", why)
    if visit.way == THEBANK_EXT:
        posting.pass_on(waiting + gain, visit.board)
        return
    whole = (waiting + gain) // MINUTE * MINUTE
    if whole:
        why = f"{span(whole)} given back to {visit.board}"
        posting.move(posting.bank, EXTERNAL, whole, "given back", why)
        write_down(posting, len(posting.movements) - 1, whole // MINUTE, visit.way)
