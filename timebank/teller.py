"""What a caller does at the bank's own window."""

from __future__ import annotations

from timebank.database import Desk
from timebank.posting import Receipt, enter
from timebank.refusals import NoRoom, NotEnough
from timebank.words import MINUTE, span


def withdraw(desk: Desk, call_id: int, ticked: int, seconds: int) -> Receipt:
    """Move whole minutes from the bank to the time left, never past the next event.

    Raises `CallClosed`, `NotEnough`, `NoRoom`, and ValueError for an amount that is not a whole
    number of minutes above zero.
    """
    if seconds <= 0 or seconds % MINUTE:
        raise ValueError(f"not whole minutes: {seconds} seconds")
    posting = enter(desk, call_id, ticked)
    if seconds > posting.balance["bank"]:
        raise NotEnough(f"Your bank account holds {span(posting.balance['bank'])}.")
    if posting.limit is not None:
        room = max(0, posting.limit - posting.balance["online"]) // MINUTE * MINUTE
        if seconds > room:
            most = f"Only {span(room)} of it" if room else "None of it"
            raise NoRoom(f"{most} could be used before {posting.event}.")
    posting.move(posting.bank, posting.online, seconds, "withdrawal", f"{span(seconds)} withdrawn")
    return posting.finish(0, "")
