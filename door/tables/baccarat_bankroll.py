"""The bankroll that a caller plays for the bank with: brought to the table, lost, and renewed.

Kept apart from the table, which asks for it at three moments and says what comes of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from door.tables import baccarat_words as words
from timebank.play_money import renew_bankroll, sit_down

if TYPE_CHECKING:
    from door.caller import Caller
    from door.tables.baccarat_dialogue import Dialogue
    from door.tables.baccarat_stakes import ForTheBank
    from timebank.purse import Receipt


async def face_the_bank(caller: Caller, said: Dialogue, stakes: ForTheBank) -> str:
    """Sit down with the bankroll of these stakes, to a bank that is whole again.

    Returns what the croupier says to that; raises `BooksUnavailable`.
    """
    unit = stakes.unit
    receipt = await caller.post(lambda desk, call, ticked: sit_down(desk, call, ticked, unit))
    stakes.is_faced = True
    return _said_to(said, stakes, receipt)


async def ask_for_another(caller: Caller, said: Dialogue, stakes: ForTheBank) -> str:
    """Renew a bankroll that is gone, if midnight has come since; the bank stays as it is.

    Returns what the croupier says to that; raises `BooksUnavailable`.
    """
    unit = stakes.unit
    receipt = await caller.post(lambda desk, call, ticked: renew_bankroll(desk, call, ticked, unit))
    return _said_to(said, stakes, receipt)


def _said_to(said: Dialogue, stakes: ForTheBank, receipt: Receipt) -> str:
    stakes.follow(receipt)
    welcomes = {"bankroll": said.new_bankroll, "renewal": said.renewed}
    welcome = "\n".join(
        welcomes[row.kind].format(amount=words.money(said, row.amount, stakes.unit))
        for row in receipt.rows
        if row.kind in welcomes
    )
    return welcome or stakes.gone(said)
