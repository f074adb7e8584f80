"""Wagers: a stake goes on the table with the bet and comes off it with the settlement.

Every function here writes the action into the journal and posts all that it causes in the one
transaction, so a hand on the screen is always a hand in the books. Amounts are in the unit of the
wager. Where several sit at a table, `table_wagers` does the same for all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from timebank.calls.calls import leave_no_call
from timebank.errors import CallerOnline, OutOfStep, RoundInPlay, RoundOver, TurnsUsed
from timebank.guests.departure import leave_without_call
from timebank.ledger.database import Desk
from timebank.ledger.entry import Posting, enter
from timebank.ledger.purse import Receipt
from timebank.wagers import rounds
from timebank.wagers.rounds import Json, Move, Settlement, Wager
from timebank.wagers.stakes import Stakes

__all__ = [
    "Json",
    "Move",
    "Placed",
    "Settlement",
    "Wager",
    "act",
    "place_bet",
    "stake_for",
    "stand_without_call",
]


@dataclass(frozen=True, slots=True)
class Placed:
    """A bet that was placed."""

    round_id: int
    receipt: Receipt


def place_bet(
    desk: Desk, call_id: int, ticked: int, wager: Wager, settlement: Settlement | None
) -> Placed:
    """Open a round with its stake; with a settlement when the deal itself decides it.

    Raises `CallClosed`, `RoundInPlay`, `TurnsUsed`, `NotEnough` and `ShoeGone`, and ValueError
    for a bet that is not above zero, a game that is not played for the unit, or a settlement that
    does not fit the stake.
    """
    posting = enter(desk, call_id, ticked)
    stakes = stake_for(posting, wager)
    if wager.shoe_id is not None:
        rounds.deal_from(desk, posting.caller_id, wager.shoe_id, wager)
    round_id = rounds.open_round(posting, wager, settlement, seat=1, lead=None)
    rounds.write_action(desk, call_id, Move(round_id, 0, wager.action, wager.cards_used))
    posting.round_id = round_id
    rounds.bet(stakes, wager)
    if settlement is None:
        return Placed(round_id, posting.finish(0, ""))
    rounds.settle(stakes, wager.game, settlement)
    receipt = posting.finish(rounds.winnings(stakes, settlement), wager.game)
    return Placed(round_id, rounds.ended(receipt, round_id, settlement))


def stake_for(posting: Posting, wager: Wager) -> Stakes:
    """Take a caller's stakes for a bet that he may place, and count it as a turn.

    Raises `RoundInPlay`, `TurnsUsed` and `NotEnough`, and ValueError as `place_bet`.
    """
    if wager.amount <= 0:
        raise ValueError(f"not a bet: {wager.amount}")
    if posting.in_play is not None:
        raise RoundInPlay(f"Hand {posting.in_play.round_id} is still in play.")
    if wager.unit == "second":
        turns = posting.turns.get(wager.game, 0)
        if wager.turns_limit is not None and turns >= wager.turns_limit:
            raise TurnsUsed(f"You have played all {wager.turns_limit} turns of today.")
        posting.turns[wager.game] = turns + 1
    stakes = Stakes(posting, wager.game, wager.unit, None, wager.purse)
    stakes.allow(wager.amount, wager.coin)
    return stakes


def act(
    desk: Desk, call_id: int, ticked: int, move: Move, settlement: Settlement | None
) -> Receipt:
    """Journal an action of the round in play, with its stake and the settlement it brings.

    Raises `CallClosed`, `RoundOver`, `OutOfStep` and `NotEnough`, and ValueError as `place_bet`.
    """
    return _proceed(enter(desk, call_id, ticked), [move], settlement)


def stand_without_call(
    desk: Desk,
    caller_id: int,
    round_id: int,
    moves: Sequence[Move],
    settlement: Settlement,
) -> Receipt:
    """End a hand that nobody returned to, and leave its caller a notice.

    The moves may not stake anything. Raises `CallerOnline` while the caller is on a live call
    (it is his hand then), and what `act` raises.
    """
    if not leave_no_call(desk, caller_id):
        raise CallerOnline("The caller is on line: the hand is his to finish.")
    if not settlement.final or any(move.stake for move in moves):
        raise ValueError("a hand that nobody returned to is only stood and settled")
    posting = Posting.of_caller(desk, caller_id, leave_without_call)
    if posting.in_play is None or posting.in_play.round_id != round_id:
        raise RoundOver("This hand is over.")
    receipt = _proceed(posting, moves, settlement)
    rounds.leave_notice(desk, caller_id, round_id)
    return receipt


def _proceed(posting: Posting, moves: Sequence[Move], settlement: Settlement | None) -> Receipt:
    """Journal the moves, post what they stake, settle, and finish the entry."""
    desk, hand = posting.desk, posting.in_play
    if hand is None or any(move.round_id != hand.round_id for move in moves):
        raise RoundOver("This hand is over.")
    if hand.shared:
        raise ValueError("several sit at this hand: act_at_table proceeds with it")
    posting.round_id = hand.round_id
    stakes = Stakes(posting, hand.game, hand.unit, hand.house_id)
    last = hand.sequence
    for move in moves:
        last += 1
        if move.sequence != last:
            raise OutOfStep("This hand has gone on meanwhile.")
        if move.stake:
            rounds.raise_stake(stakes, hand.game, move)
        rounds.write_action(desk, posting.call_id, move)
    if settlement is None:
        return posting.finish(0, "")
    rounds.settle(stakes, hand.game, settlement)
    rounds.write_settlement(desk, posting.caller_id, hand.round_id, settlement)
    receipt = posting.finish(rounds.winnings(stakes, settlement), hand.game)
    return rounds.ended(receipt, hand.round_id, settlement)
