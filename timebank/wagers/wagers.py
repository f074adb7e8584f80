"""Wagers of several callers who sit at one table: one round for each seat, one journal for all.

The round of the first seat is the lead: all actions are journaled under it. Every function here is
done for all seats in one transaction, or for none of them. Amounts are in the unit of the wager.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sqlalchemy import BindParameter, and_, bindparam, func, or_, select

from timebank.calls.calls import leave_no_call, live_call
from timebank.errors import CallClosed, OutOfStep, Refused, RoundOver, SeatRefused, ShoeGone
from timebank.guests.departure import leave_without_call
from timebank.ledger.database import Desk
from timebank.ledger.entry import Posting, enter
from timebank.ledger.purse import Receipt
from timebank.ledger.schema import actions, rounds, shoes
from timebank.ledger.sql import Prepared, Query
from timebank.ledger.sqlite import is_broken
from timebank.wagers import rounds as hands
from timebank.wagers.rounds import Move, Settlement, Wager
from timebank.wagers.single import stake_for
from timebank.wagers.stakes import Stakes
from timebank.words import Unit


@dataclass(frozen=True, slots=True)
class Sitter:
    """Who sits in a seat, and the call he is known to be on, with its seconds since log-on.

    None for one whose call is gone. He may be back on another call, which is looked for, and the
    time used on that one is not charged here.
    """

    caller_id: int
    call_id: int | None
    ticked: int | None


@dataclass(frozen=True, slots=True)
class SeatBet:
    """What is bet on a seat; `turns_limit` as in a `Wager`."""

    seat: int
    sitter: Sitter
    amount: int
    turns_limit: int | None


@dataclass(frozen=True, slots=True)
class TablePlaced:
    """Bets that were placed: the round that keeps the journal, and round and receipt by seat."""

    lead: int
    rounds: dict[int, int]
    receipts: dict[int, Receipt]


def place_table_bets(
    desk: Desk,
    wager: Wager,
    bets: Sequence[SeatBet],
    settlements: Mapping[int, Settlement] | None,
) -> TablePlaced:
    """Open the rounds of a table; with settlements of all seats when the deal itself decides them.

    `wager` is what all have in common: its amount and its limit of turns are not looked at. Its
    shoe, if any, must be the table's or that of a caller who plays alone, and not a card further
    than `wager.start` unless that is None. Raises `ShoeGone`, and `SeatRefused` for the first seat
    that may not bet: `CallClosed` for one whose caller is on no call, else what `place_bet` raises.
    ValueError as there, and for two bets on a seat or none at all.
    """
    ordered = sorted(bets, key=lambda bet: bet.seat)
    if not ordered or len({bet.seat for bet in ordered}) < len(ordered):
        raise ValueError("a table has one bet for each seat, and one at least")
    _refuse_some(settlements, {bet.seat for bet in ordered})
    with _all_or_nothing(desk):
        bettors = {bet.sitter.caller_id for bet in ordered}
        common = replace(wager, start=_start(desk, wager, bettors))
        placed = TablePlaced(0, {}, {})
        for bet in ordered:
            settlement = settlements[bet.seat] if settlements else None
            try:
                number, receipt = _place(desk, common, bet, placed.lead or None, settlement)
            except Refused as refusal:
                raise SeatRefused(bet.seat, refusal) from refusal
            placed = replace(placed, lead=placed.lead or number)
            placed.rounds[bet.seat] = number
            placed.receipts[bet.seat] = receipt
        return placed


def act_at_table(
    desk: Desk,
    move: Move,
    seat: int,
    sitters: Mapping[int, Sitter],
    settlements: Mapping[int, Settlement] | None,
) -> dict[int, Receipt]:
    """Journal an action of a seat under the lead, with its stake and the settlements it brings.

    `move.round_id` is the lead. Final settlements end the round, and come for all seats at once;
    one of a seat that is over already (its caller was deleted) is passed over. Who is not among
    the `sitters` is looked for like one whose call is gone. A seat that is settled while its caller
    is on no call leaves him a notice. Returns the receipts of `seat` and of those settled.

    Raises `RoundOver`, `OutOfStep`, `NotEnough`, and `CallClosed` when the call that acts has ended
    or one on no call would stake something; ValueError for settlements that do not fit the stakes.
    """
    with _all_or_nothing(desk):
        table = _Table(desk, move.round_id)
        if move.sequence != table.sequence + 1:
            raise OutOfStep("This hand has gone on meanwhile.")
        chair = table.chairs.get(seat)
        if chair is None:
            raise ValueError(f"nobody plays seat {seat}")
        due = {
            number: settlement
            for number, settlement in (settlements or {}).items()
            if table.chairs[number].is_open
        }
        is_open = {number for number, chair in table.chairs.items() if chair.is_open}
        _refuse_some({number: each for number, each in due.items() if each.final} or None, is_open)
        if not chair.is_open:
            if move.stake:
                raise RoundOver("This hand is over.")
            hands.write_action(desk, None, move)
        receipts: dict[int, Receipt] = {}
        # Whoever acts comes first: he alone can be refused.
        for number in sorted({seat, *due} & is_open, key=lambda number: (number != seat, number)):
            sitter = sitters.get(number)
            posting = _posting(desk, table.chairs[number], sitter, acts=number == seat)
            acts = move if number == seat else None
            receipts[number] = _proceed(posting, table, number, acts, due.get(number))
        return receipts


@dataclass(frozen=True, slots=True)
class _Chair:
    """A seat in a round."""

    round_id: int
    caller_id: int
    is_open: bool


class _Table:
    """A round in play, by its seats."""

    def __init__(self, desk: Desk, lead: int) -> None:
        """Read it; raises `RoundOver` when no seat of it is in play."""
        self.chairs: dict[int, _Chair] = {}
        self.game = ""
        self.unit: Unit = "second"
        self.sequence = 0
        for seat, number, caller_id, is_open, *same in _TABLE(desk.connection, lead=lead):
            self.chairs[seat] = _Chair(number, caller_id, bool(is_open))
            self.game, self.unit, self.sequence = same
        if not any(chair.is_open for chair in self.chairs.values()):
            raise RoundOver("This hand is over.")


def _table() -> Query:
    """Choose all seats of the round that one leads, with how far its journal is."""
    lead: BindParameter[int] = bindparam("lead")
    hand = rounds.c
    last = select(func.max(actions.c.sequence)).where(actions.c.round_id == lead)
    return select(
        *(hand.seat, hand.id, hand.caller_id, hand.settled.is_(None), hand.game, hand.unit),
        last.scalar_subquery(),
    ).where(or_(and_(hand.id == lead, hand.lead.is_(None)), hand.lead == lead))


_TABLE = Prepared(_table)
_OWNER = Prepared(lambda: select(shoes.c.caller_id).where(shoes.c.id == bindparam("shoe_id")))


@contextmanager
def _all_or_nothing(desk: Desk) -> Iterator[None]:
    """Undo what was written for some when another is refused, whatever becomes of the rest."""
    run = desk.connection.exec_driver_sql
    run("SAVEPOINT seats")
    try:
        yield
    except BaseException as error:
        # A disk that fails takes the whole transaction with it, and no savepoint may be left.
        if not is_broken(error):
            run("ROLLBACK TO seats")
            run("RELEASE seats")
        raise
    run("RELEASE seats")


def _refuse_some(settlements: Mapping[int, Settlement] | None, seats: set[int]) -> None:
    """Refuse to end a round for some of its seats only: it would be our bug."""
    if settlements is not None and set(settlements) != seats:
        raise ValueError(f"seats {sorted(settlements)} of {sorted(seats)} are settled")


def _start(desk: Desk, wager: Wager, bettors: set[int]) -> int:
    """Commit the cut of the shoe, and tell where in it the round begins."""
    if wager.shoe_id is None:
        return wager.start or 0
    owner = _OWNER(desk.connection, shoe_id=wager.shoe_id).scalar()
    if owner is not None and bettors != {owner}:
        raise ShoeGone("This shoe is that of a caller who plays alone.")
    hands.deal_from(desk, owner, wager.shoe_id, wager)
    gone = hands.position(desk, wager.shoe_id)
    if wager.start not in (None, gone):
        raise ShoeGone("The shoe is not where it was: cards of it were dealt meanwhile.")
    return gone


def _place(
    desk: Desk, common: Wager, bet: SeatBet, lead: int | None, settlement: Settlement | None
) -> tuple[int, Receipt]:
    """Open the round of one seat; the first one begins the journal."""
    posting = _bettor(desk, bet.sitter)
    wager = replace(common, amount=bet.amount, turns_limit=bet.turns_limit)
    stakes = stake_for(posting, wager)
    number = hands.open_round(posting, wager, settlement, seat=bet.seat, lead=lead)
    if lead is None:
        move = Move(number, 0, wager.action, wager.cards_used)
        hands.write_action(desk, posting.call_id, move)
    posting.round_id = number
    hands.bet(stakes, wager)
    if settlement is None:
        return number, posting.finish(0, "")
    hands.settle(stakes, wager.game, settlement)
    receipt = posting.finish(hands.winnings(stakes, settlement), wager.game)
    return number, hands.ended(receipt, number, settlement)


def _bettor(desk: Desk, sitter: Sitter) -> Posting:
    """Begin the entry of one who bets; raises `CallClosed` for one who is on no live call."""
    call_id, ticked = sitter.call_id, sitter.ticked or 0
    if call_id is None:
        call_id, ticked = live_call(desk, sitter.caller_id), 0
    if call_id is None:
        raise CallClosed("This call has ended.")
    return _his(enter(desk, call_id, ticked), sitter)


def _posting(desk: Desk, chair: _Chair, sitter: Sitter | None, *, acts: bool) -> Posting:
    """Begin the entry of a seat in play, on whatever call its caller is on now, if any."""
    if sitter is not None and sitter.call_id is not None:
        try:
            posting = _his(enter(desk, sitter.call_id, sitter.ticked or 0), sitter)
        except CallClosed:
            if acts:
                raise
        else:
            return posting
    if leave_no_call(desk, chair.caller_id):
        return Posting.of_caller(desk, chair.caller_id, leave_without_call)
    call_id = live_call(desk, chair.caller_id)
    assert call_id is not None  # he is on a live one
    return enter(desk, call_id, 0)


def _his(posting: Posting, sitter: Sitter) -> Posting:
    if posting.caller_id != sitter.caller_id:
        raise ValueError(f"call {posting.call_id} is not that of caller {sitter.caller_id}")
    return posting


def _proceed(
    posting: Posting, table: _Table, seat: int, move: Move | None, settlement: Settlement | None
) -> Receipt:
    """Journal what a seat does, if anything, settle it, and finish its entry."""
    desk, chair, game = posting.desk, table.chairs[seat], table.game
    hand = posting.in_play
    assert hand is not None  # the row says so
    assert hand.round_id == chair.round_id
    posting.round_id = chair.round_id
    stakes = Stakes(posting, game, table.unit, hand.house_id)
    if move is not None:
        if move.stake:
            if posting.call_id is None:
                raise CallClosed("This call has ended.")
            hands.raise_stake(stakes, game, move)
        hands.write_action(desk, posting.call_id, move)
    if settlement is None:
        return posting.finish(0, "")
    hands.settle(stakes, game, settlement)
    hands.write_settlement(desk, chair.caller_id, chair.round_id, settlement)
    receipt = posting.finish(hands.winnings(stakes, settlement), game)
    if settlement.final and posting.call_id is None:
        hands.leave_notice(desk, chair.caller_id, chair.round_id)
    return hands.ended(receipt, chair.round_id, settlement)
