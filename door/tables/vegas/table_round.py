"""A round of the Vegas table and the books: what is entered with it, and what a caller can pay.

Chairs count from 1 and may have gaps; places are what the engine calls seats: 0 for the first chair
that was dealt in.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from door.games.blackjack.round import BlackjackAction, BlackjackRound
from door.games.engine.journaled import TableRound
from door.games.vegas.game import VEGAS_KIND
from timebank.callers.notices import tell_hand
from timebank.calls.calls import live_call
from timebank.language import _
from timebank.words import span

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.tables.play import Work
    from timebank.ledger.database import Desk
    from timebank.wagers.rounds import Settlement
    from timebank.wagers.wagers import Played, Sitter

VegasRound: TypeAlias = TableRound[BlackjackRound]
GAME = VEGAS_KIND.name


def chair_at_turn(hand: VegasRound) -> int | None:
    """Return the chair that has to decide, None when the round is over."""
    turn = hand.round.turn
    return None if turn is None else hand.bets[turn.seat].seat


def enter_action(desk: Desk, work: Work, sitters: Mapping[int, Sitter]) -> Played:
    """Enter a decision, and leave word for those whose hands ended on another line."""
    played = work(desk, sitters)
    for chair, settlement in played.settled.items():
        if played.receipts[chair].ended:
            _tell_on_another_line(desk, sitters[chair], played.receipts[chair].ended, settlement)
    return played


def _tell_on_another_line(
    desk: Desk, sitter: Sitter, round_id: int, settlement: Settlement
) -> None:
    """Leave word for a caller who is on another call than the table knows of. Who is on no call at
    all finds a notice of the bank's."""
    if live_call(desk, sitter.caller_id) not in (None, sitter.call_id):
        words = stood_words(settlement.won - settlement.lost)
        tell_hand(desk, sitter.caller_id, round_id, words)


def stood_words(net: int) -> str:
    """Return what a caller is told who was not at the table when their round ended; `net` seconds.

    >>> stood_words(-60)
    'Your hand at Vegas was played out: you lost 1 minute.'
    """
    if not net:
        return _("Your hand at Vegas was played out: push.")
    words = (
        _("Your hand at Vegas was played out: you won {time}.")
        if net > 0
        else _("Your hand at Vegas was played out: you lost {time}.")
    )
    return words.format(time=span(abs(net)))


# What a caller can pay at the Vegas table, and how they say how much.


def affordable(hand: VegasRound, caller: Caller) -> list[BlackjackAction]:
    """Return what cards and rules allow and the pot can pay; its last coin stays in it. A second to
    spare is enough for insurance, which may be bought for any amount."""
    spare = max(0, caller.purse.spendable() - hand.coin)
    return [action for action in hand.round.legal() if _least(hand, action) <= spare]


def most_insured(hand: VegasRound, caller: Caller) -> int:
    return min(
        hand.round.amount(BlackjackAction.INSURANCE), max(0, caller.purse.spendable() - hand.coin)
    )


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


def _least(hand: VegasRound, action: BlackjackAction) -> int:
    amount = hand.round.amount(action)
    return min(amount, 1) if action is BlackjackAction.INSURANCE else amount
