"""What a caller can pay at the Vegas table, and how he says how much."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from door.games.blackjack import Action

if TYPE_CHECKING:
    from door.caller import Caller
    from door.tables.vegas_round import TableRound


def affordable(hand: TableRound, caller: Caller) -> list[Action]:
    """Return what cards and rules allow and the pot can pay; its last coin stays in it.

    Insurance may be bought for any amount, so a second to spare is enough for it.
    """
    spare = max(0, caller.spendable() - hand.coin)
    return [action for action in hand.round.legal() if _least(hand, action) <= spare]


def most_insured(hand: TableRound, caller: Caller) -> int:
    """Return for how many seconds he may insure."""
    return min(hand.round.amount(Action.INSURANCE), max(0, caller.spendable() - hand.coin))


def figure(seconds: int, coin: int) -> str:
    """Return an amount in coins as a caller may type it, rounded down to hundredths.

    >>> figure(90, 60), figure(120, 60), figure(100, 60)
    ('1.5', '2', '1.66')
    """
    return f"{seconds * 100 // coin / 100:g}"


def seconds_typed(typed: str, coin: int) -> int:
    """Return the seconds in an amount that was typed in coins, rounded down; 0 for no number.

    >>> seconds_typed("1.5", 60), seconds_typed(",5", 60), seconds_typed("1..", 60)
    (90, 30, 0)
    """
    try:
        return int(Fraction(typed.replace(",", ".")) * coin)
    except ValueError:
        return 0


def _least(hand: TableRound, action: Action) -> int:
    amount = hand.round.amount(action)
    return min(amount, 1) if action is Action.INSURANCE else amount
