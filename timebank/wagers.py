"""Wagers: a stake goes on the table with the bet and comes off it with the settlement.

Every function here writes the action into the journal and posts all that it causes in the one
transaction, so a hand on the screen is always a hand in the books. What the actions, rules and
results mean is the table's business: they are stored as it gives them. Amounts are seconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from timebank.calls import leave_no_call
from timebank.database import Desk
from timebank.ledger import Account, house
from timebank.model import stamp
from timebank.notices import add_notice
from timebank.posting import Posting, Receipt, enter
from timebank.refusals import (
    CallerOnline,
    NotEnough,
    OutOfStep,
    RoundInPlay,
    RoundOver,
    ShoeGone,
    TurnsUsed,
)
from timebank.words import span, title

Json = Mapping[str, object]

# Made once: json.dumps with options of its own builds an encoder for every text.
encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Settlement:
    """What becomes of a stake: `lost` to the house, `returned`, and `won` from the house.

    A final one ends the round and must dispose of all that stands on the table. One that is not
    final (insurance lost in mid-hand) must leave something there.
    """

    lost: int
    returned: int
    won: int
    # One word or two joined by a hyphen: "natural", "dealer-charlie".
    outcome: str
    result: Json
    final: bool


@dataclass(frozen=True, slots=True)
class Wager:
    """A bet, with all that the journal must know to deal the hand again."""

    game: str
    amount: int
    # What must stay on line after any stake.
    coin: int
    # Turns a day of this game; None for no limit.
    turns_limit: int | None
    # None for a game without cards.
    shoe_id: int | None
    # The caller's words when he cut; None when he did not.
    cut: str | None
    rules: Json
    # The action that is number 0 of the round.
    action: Json
    # Cards that the deal itself takes from the shoe.
    cards_used: int = 0


@dataclass(frozen=True, slots=True)
class Placed:
    """A bet that was placed."""

    round_id: int
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Move:
    """One action of a round in play, with what it stakes."""

    round_id: int
    # One more than that of the action before; the bet is 0.
    sequence: int
    action: Json
    # Cards of the shoe used by the round so far.
    cards_used: int
    # Seconds put on the table by this action, 0 for none; one that stakes must say the next two.
    stake: int = 0
    # What the stake is: "insurance", "double", ...
    kind: str = ""
    # What must stay on line after any stake, above 0.
    coin: int = 0


def place_bet(
    desk: Desk, call_id: int, ticked: int, wager: Wager, settlement: Settlement | None
) -> Placed:
    """Open a round with its stake; with a settlement when the deal itself decides it.

    Raises `CallClosed`, `RoundInPlay`, `TurnsUsed`, `NotEnough` and `ShoeGone`, and ValueError
    for a bet that is not above zero or a settlement that does not fit the stake.
    """
    posting = enter(desk, call_id, ticked)
    if wager.amount <= 0:
        raise ValueError(f"not a bet: {wager.amount} seconds")
    if posting.in_play is not None:
        raise RoundInPlay(f"Hand {posting.in_play.round_id} is still in play.")
    turns = posting.turns.get(wager.game, 0)
    if wager.turns_limit is not None and turns >= wager.turns_limit:
        raise TurnsUsed(f"You have played all {wager.turns_limit} turns of today.")
    _leave_a_coin(posting, wager.amount, wager.coin)
    if settlement is not None:
        _check(settlement, wager.amount)
    if wager.shoe_id is not None:
        _deal_from(desk, posting.caller_id, wager.shoe_id, wager)
    round_id = _open_round(desk, posting, wager, settlement)
    _write_action(desk, call_id, Move(round_id, 0, wager.action, wager.cards_used))
    posting.turns[wager.game] = turns + 1
    posting.round_id = round_id
    game = title(wager.game)
    why = f"Bet {span(wager.amount)} at {game}"
    posting.move(posting.online, posting.stake, wager.amount, "stake", why)
    if settlement is None:
        return Placed(round_id, posting.finish(0, ""))
    if settlement.lost or settlement.won:
        _settle(posting, house(desk, wager.game, "second"), game, settlement)
    else:
        _settle(posting, None, game, settlement)
    return Placed(round_id, posting.finish(settlement.won, wager.game))


def act(
    desk: Desk, call_id: int, ticked: int, move: Move, settlement: Settlement | None
) -> Receipt:
    """Journal an action of the round in play, with its stake and the settlement it brings.

    Raises `CallClosed`, `RoundOver`, `OutOfStep` and `NotEnough`, and ValueError as `place_bet`.
    """
    posting = enter(desk, call_id, ticked)
    if move.stake:
        _leave_a_coin(posting, move.stake, move.coin)
    return _proceed(posting, [move], settlement)


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
    posting = Posting.of_caller(desk, caller_id)
    if posting.in_play is None or posting.in_play.round_id != round_id:
        raise RoundOver("This hand is over.")
    day, game = desk.connection.exec_driver_sql(
        "SELECT day, game FROM rounds WHERE id = ?", (round_id,)
    ).one()
    receipt = _proceed(posting, moves, settlement)
    net = settlement.won - settlement.lost
    result = "came out even"
    if net:
        result = f"{'won' if net > 0 else 'lost'} {span(abs(net))}"
    add_notice(
        desk,
        caller_id,
        f"Your hand of {day} at {title(game)} was left open, so it was stood for you:"
        f" you {result} ({_spoken(settlement.outcome)}).",
    )
    return receipt


def _proceed(posting: Posting, moves: Sequence[Move], settlement: Settlement | None) -> Receipt:
    """Journal the moves, post what they stake, settle, and finish the entry."""
    desk, hand = posting.desk, posting.in_play
    if hand is None or any(move.round_id != hand.round_id for move in moves):
        raise RoundOver("This hand is over.")
    posting.round_id, game, last, house_id = hand
    for move in moves:
        last += 1
        if move.sequence != last:
            raise OutOfStep("This hand has gone on meanwhile.")
        _write_action(desk, posting.call_id, move)
        if move.stake and (move.stake < 0 or not move.kind or move.coin <= 0):
            raise ValueError(f"not a stake: {move}")
        if move.stake:
            why = f"{_spoken(move.kind).capitalize()} for {span(move.stake)} at {title(game)}"
            posting.move(posting.online, posting.stake, move.stake, move.kind, why)
    if settlement is None:
        return posting.finish(0, "")
    _check(settlement, posting.balance["stake"])
    bank = Account(house_id, "house", "second") if house_id else house(desk, game, "second")
    _settle(posting, bank, title(game), settlement)
    desk.connection.exec_driver_sql(
        "UPDATE rounds SET lost = lost + ?, returned = returned + ?, won = won + ?,"
        " settled = ?, outcome = ?, result = ? WHERE id = ?",
        (
            settlement.lost,
            settlement.returned,
            settlement.won,
            *_ending(desk, settlement),
            hand.round_id,
        ),
    )
    return posting.finish(settlement.won, game)


def _leave_a_coin(posting: Posting, stake: int, coin: int) -> None:
    if posting.usable - stake < coin:
        raise NotEnough(
            f"You have {span(posting.usable)}, and {span(coin)} of it must stay in your pot."
        )


def _check(settlement: Settlement, standing: int) -> None:
    """Refuse a settlement that does not fit what stands on the table: it would be our bug."""
    parts = (settlement.lost, settlement.returned, settlement.won)
    settled = settlement.lost + settlement.returned
    fits = settled == standing if settlement.final else settled < standing
    if min(parts) < 0 or not fits:
        raise ValueError(f"{settlement} does not fit the {standing} seconds on the table")


def _deal_from(desk: Desk, caller_id: int, shoe_id: int, wager: Wager) -> None:
    """Commit the cut of a new shoe, and see that the shoe is this caller's for this game.

    A cut changes the order of the cards, so a shoe that was dealt from takes no other.
    """
    changed = desk.connection.exec_driver_sql(
        "UPDATE shoes SET cut = coalesce(cut, ?, '') WHERE id = ? AND caller_id = ? AND game = ?"
        " AND closed IS NULL AND (cut IS NULL OR cut = coalesce(?, cut))",
        (wager.cut, shoe_id, caller_id, wager.game, wager.cut),
    ).rowcount
    if not changed:
        raise ShoeGone("This shoe is done, or was cut already.")


def _open_round(desk: Desk, posting: Posting, wager: Wager, settlement: Settlement | None) -> int:
    lost, returned, won = 0, 0, 0
    ending: tuple[Any, ...] = (None, None, None)
    if settlement is not None:
        lost, returned, won = settlement.lost, settlement.returned, settlement.won
        ending = _ending(desk, settlement)
    number: int = desk.connection.exec_driver_sql(
        "INSERT INTO rounds (caller_id, game, day, call_id, shoe_id, start_position, bet, coin,"
        " rules, dealt, lost, returned, won, settled, outcome, result) VALUES (?, ?, ?, ?, ?,"
        " coalesce((SELECT start_position + (SELECT max(cards_used) FROM actions"
        " WHERE round_id = r.id) FROM rounds r WHERE r.shoe_id = ? ORDER BY r.id DESC LIMIT 1), 0),"
        " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            posting.caller_id,
            wager.game,
            posting.day,
            posting.call_id,
            wager.shoe_id,
            wager.shoe_id,
            wager.amount,
            wager.coin,
            encode(wager.rules),
            stamp(desk.now),
            lost,
            returned,
            won,
            *ending,
        ),
    ).lastrowid
    return number


def _ending(desk: Desk, settlement: Settlement) -> tuple[Any, ...]:
    if not settlement.final:
        return (None, None, None)
    return (stamp(desk.now), settlement.outcome, encode(settlement.result))


def _write_action(desk: Desk, call_id: int | None, move: Move) -> None:
    desk.connection.exec_driver_sql(
        "INSERT INTO actions (round_id, sequence, action, cards_used, call_id, at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            move.round_id,
            move.sequence,
            encode(move.action),
            move.cards_used,
            call_id,
            stamp(desk.now),
        ),
    )


def _settle(posting: Posting, bank: Account | None, game: str, settlement: Settlement) -> None:
    outcome = _spoken(settlement.outcome)
    about = f"at {game} ({outcome})" if outcome else f"at {game}"
    if bank is not None:
        posting.move(posting.stake, bank, settlement.lost, "lost", f"Lost {about}")
    why = f"Stake returned {about}"
    posting.move(posting.stake, posting.online, settlement.returned, "returned", why)
    if bank is not None:
        posting.move(bank, posting.online, settlement.won, "won", f"Won {about}")


def _spoken(word: str) -> str:
    return word.replace("-", " ")
