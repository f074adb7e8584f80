"""A Vegas round and the books: entering decisions, and what a caller can pay.

Chairs count from 1 and may have gaps. Places are the seats of the engine: 0 is the first chair with
a hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from door.games.blackjack.round import BlackjackAction, BlackjackRound
from door.games.engine.journaled import TableRound
from door.games.vegas.game import VEGAS_KIND
from timebank.callers.notices import Amount, Value, read, tell_hand, written
from timebank.calls.calls import live_call
from timebank.language import N_

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.tables.play import Work
    from timebank.ledger.database import Desk
    from timebank.wagers.rounds import Settlement
    from timebank.wagers.wagers import Played, Sitter

VegasRound: TypeAlias = TableRound[BlackjackRound]
GAME = VEGAS_KIND.name


def chair_at_turn(hand: VegasRound) -> int | None:
    """Return the chair at turn, None when the round is over."""
    turn = hand.round.turn
    return None if turn is None else hand.bets[turn.seat].seat


def enter_action(desk: Desk, work: Work, sitters: Mapping[int, Sitter]) -> Played:
    """Enter a decision, and leave a notice for callers whose hands ended on another call."""
    played = work(desk, sitters)
    for chair, settlement in played.settled.items():
        if played.receipts[chair].ended_round:
            _tell_on_another_line(
                desk, sitters[chair], played.receipts[chair].ended_round, settlement
            )
    return played


def _tell_on_another_line(
    desk: Desk, sitter: Sitter, round_id: int, settlement: Settlement
) -> None:
    """Leave a notice for a caller who is on another call than the one at the table.

    A caller without a call gets a notice from the bank.
    """
    if live_call(desk, sitter.caller_id) not in (None, sitter.call_id):
        text, values = _stood(settlement.won - settlement.lost)
        tell_hand(desk, sitter.caller_id, round_id, text, **values)


def stood_words(net: int) -> str:
    """Return the message for a caller who was away at the end of their round; `net` in seconds.

    >>> stood_words(-60)
    'Your hand at Vegas was played out: you lost 1 minute.'
    """
    return str(read(written(*_stood(net))))


def _stood(net: int) -> tuple[str, dict[str, Value]]:
    """Return the text of this message and its values, for a notice."""
    if not net:
        return N_("Your hand at Vegas was played out: push."), {}
    text = N_("Your hand at Vegas was played out: you lost {time}.")
    if net > 0:
        text = N_("Your hand at Vegas was played out: you won {time}.")
    return text, {"time": Amount(abs(net))}


# What a caller can pay, and the amounts that they type.


def affordable(hand: VegasRound, caller: Caller) -> list[BlackjackAction]:
    """Return the actions that the rules allow and the pot can pay.

    The last coin stays in the pot. One spare second is enough for insurance of any amount.
    """
    spare = caller.purse.offered(hand.coin)
    return [action for action in hand.round.legal() if _least(hand, action) <= spare]


def most_insured(hand: VegasRound, caller: Caller) -> int:
    return min(hand.round.amount(BlackjackAction.INSURANCE), caller.purse.offered(hand.coin))


def figure(seconds: int, coin: int) -> str:
    """Return seconds as coins, rounded down to hundredths.

    >>> figure(90, 60), figure(120, 60), figure(100, 60)
    ('1.5', '2', '1.66')
    """
    return f"{seconds * 100 // coin / 100:g}"


def seconds_typed(typed: str, coin: int) -> int:
    """Return the seconds of a typed amount of coins, rounded down; 0 for no number.

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
