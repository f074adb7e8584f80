"""Bets and actions at a table of one seat or several: a round for each seat, and one journal.

The round of the first seat is the lead, which keeps the journal of all actions. Every function
writes an action and all its consequences in one transaction, for all seats or for none. So a hand
on the screen is always a hand in the books. Amounts are in the unit of the wager.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

from sqlalchemy import BindParameter, and_, bindparam, func, or_, select

from timebank import errors
from timebank.callers import awards
from timebank.callers.award_names import BANK
from timebank.calls.calls import close_if_dead, live_call
from timebank.guests.departure import leave_without_call
from timebank.language import Phrase
from timebank.ledger import schema
from timebank.ledger.database import Desk
from timebank.ledger.entries.posting import Posting, enter
from timebank.ledger.entries.reading import InPlay
from timebank.ledger.failures import is_broken
from timebank.ledger.purse import Receipt
from timebank.ledger.reasons import BetPlaced
from timebank.ledger.sql import DeferredWrite, Prepared, Query
from timebank.wagers import rounds
from timebank.wagers.rounds import Move, Settlement, Wager
from timebank.wagers.stakes import Stakes

# A single seat needs no savepoint: its transaction is all or nothing.
ONE_IS_ENOUGH = nullcontext()


class Sitter(NamedTuple):
    """The caller in a seat, the caller's known call, and its seconds since log-on (`ticked`).

    `call_id` is None if that call has ended. Then another live call of the caller is looked for,
    and the time used on it is not charged here. The stake was offered `leeway` seconds ago: they
    may be taken from the coin that must stay, so that the offer holds.
    """

    caller_id: int
    call_id: int | None = None
    ticked: int | None = None
    leeway: int = 0


class Played(NamedTuple):
    """The result of bets or of an action."""

    # The round that keeps the journal.
    lead: int
    # By seat: of all bettors; or of the acting seat, and of the settled seats.
    receipts: Mapping[int, Receipt]
    # The settlements that were made, by seat.
    settled: Mapping[int, Settlement]

    @property
    def receipt(self) -> Receipt:
        """The receipt of a caller who sits alone."""
        (receipt,) = self.receipts.values()
        return receipt


def place(
    desk: Desk,
    wager: Wager,
    sitters: Mapping[int, Sitter],
    settlements: Mapping[int, Settlement],
) -> Played:
    """Open a round for each seat that bets. If the deal decides the hands, settle all of them.

    `settlements` are empty, or have every seat. Raises `CallClosed`, `RoundInPlay`, `TurnsUsed`,
    `OwnLimit` and `NotEnough` for a seat, named in `Refused.seat`; and `ShoeGone`. Raises
    ValueError for a bet that is not above zero, a game that is not played for the unit, or a
    settlement that does not fit its stake.
    """
    seats = sorted(wager.amounts)
    if not seats:
        raise ValueError("a table has one bet for each seat, and one at least")
    if settlements:
        _check_all_seats(settlements.keys(), wager.amounts.keys())
    lead: int | None = None
    receipts: dict[int, Receipt] = {}
    with _all_or_nothing(desk) if len(seats) > 1 else ONE_IS_ENOUGH:
        for seat in seats:
            try:
                posting = _enter(desk, sitters[seat])
                stakes = _stakes_for(posting, wager, wager.amounts[seat])
            except errors.Refused as refused:
                refused.seat = seat
                raise
            settlement = settlements.get(seat)
            cut = None
            if lead is None and wager.shoe_id is not None:
                wager, cut = _dealt_from(desk, wager, wager.shoe_id, posting.caller_id)
            number = rounds.open_round(
                posting, wager, settlement, seat=seat, lead=lead, together=len(settlements)
            )
            if cut is not None:
                rounds.check_cut(cut)
            if lead is None:
                lead = number
                move = Move(number, 0, wager.action, wager.cards_used)
                rounds.write_action(desk, posting.call_id, move)
            posting.set_round(number)
            stakes.put_down(wager.amounts[seat], BetPlaced(wager.game))
            receipts[seat] = _finish(posting, stakes, wager.game, settlement)
    assert lead is not None  # of the first seat
    return Played(lead, receipts, settlements)


def act(
    desk: Desk,
    move: Move,
    sitters: Mapping[int, Sitter],
    settlements: Mapping[int, Settlement],
) -> Played:
    """Journal an action of a seat, with its stake, and make the settlements that follow from it.

    Final settlements end the round, so they must have every open seat. A settlement of a seat that
    is over already is ignored: its caller was deleted, which made it void. A caller who is not
    among the `sitters` is treated as one without a known call. Callers on no call get a notice
    about their settled hands.

    Raises `RoundOver`, `OutOfStep`, `OwnLimit` and `NotEnough`. Raises `CallClosed` if the acting
    call has ended, or if a caller on no call would stake something. Raises ValueError for
    settlements that do not fit the stakes.
    """
    entry = _lone_entry(desk, move, sitters)
    if entry is None:
        return _proceed(desk, _read_table(desk, move.round_id), [move], sitters, settlements)
    if settlements:
        _check_all_seats(settlements.keys(), {move.seat})
    receipts = {move.seat: _carry_out(entry, move, settlements.get(move.seat), 1)}
    return Played(move.round_id, receipts, settlements)


def stand(
    desk: Desk,
    moves: Sequence[Move],
    settlements: Mapping[int, Settlement],
    *,
    can_return: bool = True,
) -> Played:
    """End an abandoned round by moves without stakes. The last move brings the settlements.

    Raises `CallerOnline` if a caller who sits alone is on a live call and `can_return` to the hand.
    Raises the errors of `act`.
    """
    is_final = all(settlement.final for settlement in settlements.values())
    if not moves or not is_final or any(move.stake for move in moves):
        raise ValueError("a hand that nobody returned to is only stood and settled")
    table = _read_table(desk, moves[0].round_id)
    if can_return and len(table.chairs) == 1:
        (chair,) = table.chairs.values()
        if not close_if_dead(desk, chair.caller_id):
            raise errors.CallerOnline(Phrase("The caller is online: the hand is theirs to finish."))
    return _proceed(desk, table, moves, {}, settlements)


# Bets.


def _enter(desk: Desk, sitter: Sitter) -> Posting:
    """Begin the entry of a caller on a live call; raises `CallClosed` if there is none."""
    call_id, ticked = sitter.call_id, sitter.ticked or 0
    if call_id is None:
        call_id, ticked = live_call(desk, sitter.caller_id), 0
    if call_id is None:
        raise errors.CallClosed(Phrase("This call has ended."))
    posting = enter(desk, call_id, ticked)
    posting.leeway = sitter.leeway
    if posting.caller_id != sitter.caller_id:
        raise ValueError(f"call {call_id} is not that of caller {sitter.caller_id}")
    return posting


def _stakes_for(posting: Posting, wager: Wager, amount: int) -> Stakes:
    """Check that a caller may place a bet, count it as a turn, and return the stakes."""
    if amount <= 0:
        raise ValueError(f"not a bet: {amount}")
    if posting.in_play is not None:
        raise errors.RoundInPlay(
            Phrase("Hand {number} is still in play.", number=posting.in_play.round_id)
        )
    if wager.unit == "second":
        turns = posting.state.turns.get(wager.game, 0)
        if wager.turns_limit is not None and turns >= wager.turns_limit:
            raise errors.TurnsUsed(
                Phrase.counted(
                    "You have played your turn for today.",
                    "You have played all {number} turns for today.",
                    wager.turns_limit,
                )
            )
        posting.count_turn(wager.game)
    stakes = Stakes(posting, wager.game, wager.unit, None, wager.purse)
    stakes.allow(amount, wager.coin)
    return stakes


def _dealt_from(desk: Desk, wager: Wager, shoe_id: int, first: int) -> tuple[Wager, DeferredWrite]:
    """Write the cut of a shoe; return the wager with the start of its rounds, and the cut.

    The shoe is shared, or belongs to the caller `first`, who must then bet alone. A shared shoe
    must be at the position where the table left it. Raises `ShoeGone`.
    """
    is_alone = len(wager.amounts) == 1
    if not (is_alone or wager.is_shoe_shared):
        raise errors.ShoeGone(Phrase("This shoe belongs to a caller who plays alone."))
    cut = rounds.cut(desk, None if wager.is_shoe_shared else first, shoe_id, wager)
    if wager.start is None and is_alone:
        return wager, cut  # the row's default is the position of the shoe
    gone = rounds.position(desk, shoe_id)
    if wager.start is not None and wager.start < gone:
        raise errors.ShoeGone(Phrase("Those cards have been dealt already."))
    if wager.start not in (None, gone) and wager.is_shoe_shared:
        raise errors.ShoeGone(Phrase("Cards were dealt from this shoe in the meantime."))
    return wager if wager.start is not None else wager._replace(start=gone), cut


# Rounds in play.


class _Chair(NamedTuple):
    round_id: int
    caller_id: int
    is_open: bool


class _Table(NamedTuple):
    """A round in play, by its seats, and the number of its last action."""

    lead: int
    sequence: int
    chairs: Mapping[int, _Chair]


def _table() -> Query:
    lead: BindParameter[int] = bindparam("lead")
    hand, action = schema.rounds.c, schema.actions.c
    last = select(func.max(action.sequence)).where(action.round_id == lead)
    return select(
        *(hand.seat, hand.id, hand.caller_id, hand.settled),
        last.scalar_subquery().label("sequence"),
    ).where(or_(and_(hand.id == lead, hand.lead.is_(None)), hand.lead == lead))


_TABLE = Prepared(_table)


def _lone_entry(desk: Desk, move: Move, sitters: Mapping[int, Sitter]) -> Posting | None:
    """Begin the entry of a caller who sits alone. It knows the round, so no other read is needed.

    None if the table has other seats, or the round is another caller's: see `_read_table`.
    """
    sitter = sitters.get(move.seat)
    if sitter is None or sitter.call_id is None or len(sitters) > 1:
        return None
    entry = _enter(desk, sitter)
    hand = entry.in_play
    if hand is None or hand.shared or hand.round_id != move.round_id:
        return None
    _refuse_out_of_step(move, hand.sequence)
    return entry


def _read_table(desk: Desk, lead: int) -> _Table:
    """Read the seats of a round; raises `RoundOver` if none of them is in play."""
    rows = _TABLE(desk.connection, lead=lead).all()
    chairs = {row.seat: _Chair(row.id, row.caller_id, row.settled is None) for row in rows}
    if not any(chair.is_open for chair in chairs.values()):
        raise errors.RoundOver(Phrase("This hand is over."))
    return _Table(lead, rows[0].sequence, chairs)


def _proceed(
    desk: Desk,
    table: _Table,
    moves: Sequence[Move],
    sitters: Mapping[int, Sitter],
    settlements: Mapping[int, Settlement],
) -> Played:
    """Journal the moves, and make an entry for the last one's seat and for each settled seat."""
    for sequence, move in enumerate(moves, table.sequence):
        _refuse_out_of_step(move, sequence)
        if move.seat not in table.chairs:
            raise ValueError(f"nobody plays seat {move.seat}")
    *before, last = moves
    is_open = {seat for seat, chair in table.chairs.items() if chair.is_open}
    due = {seat: each for seat, each in settlements.items() if table.chairs[seat].is_open}
    if ends := {seat for seat, each in due.items() if each.final}:
        _check_all_seats(ends, is_open)
    receipts: dict[int, Receipt] = {}
    with _all_or_nothing(desk) if len(table.chairs) > 1 else ONE_IS_ENOUGH:
        for move in before:
            rounds.write_action(desk, None, move)
        if last.seat not in is_open:
            if last.stake:
                raise errors.RoundOver(Phrase("This hand is over."))
            rounds.write_action(desk, None, last)
        # The acting seat comes first, because only that one can be refused.
        for seat in (last.seat, *sorted(due.keys() - {last.seat})):
            if seat not in is_open:
                continue
            acts = last if seat == last.seat else None
            posting = _posting(desk, table.chairs[seat], sitters.get(seat), acts)
            receipts[seat] = _carry_out(posting, acts, due.get(seat), len(due))
    return Played(table.lead, receipts, due)


def _posting(desk: Desk, chair: _Chair, sitter: Sitter | None, acts: Move | None) -> Posting:
    """Begin the entry of a seat in play, on the caller's present call or on none."""
    if sitter is not None and sitter.caller_id != chair.caller_id:
        raise errors.RoundOver(Phrase("This hand is over."))
    if sitter is not None and sitter.call_id is not None:
        try:
            return _enter(desk, sitter)
        except errors.CallClosed:
            if acts is not None:
                raise
    if close_if_dead(desk, chair.caller_id):
        return Posting.of_caller(desk, chair.caller_id, leave_without_call)
    return _enter(desk, Sitter(chair.caller_id))


def _carry_out(
    posting: Posting, move: Move | None, settlement: Settlement | None, together: int
) -> Receipt:
    """Journal a move of a seat in play, and settle it as one of the seats settled `together`."""
    hand = posting.in_play
    assert hand is not None  # the seat is open
    posting.set_round(hand.round_id)
    stakes = Stakes(posting, hand.game, hand.unit, hand.house_id)
    if move is not None:
        if move.stake:
            if posting.call_id is None:
                raise errors.CallClosed(Phrase("This call has ended."))
            rounds.raise_stake(stakes, hand.game, move)
        rounds.write_action(posting.desk, posting.call_id, move)
    receipt = _finish(posting, stakes, hand.game, settlement, hand, together)
    if receipt.ended_round and posting.call_id is None:
        rounds.leave_notice(posting.desk, posting.caller_id, hand.round_id)
    return receipt


def _finish(
    posting: Posting,
    stakes: Stakes,
    game: str,
    settlement: Settlement | None,
    hand: InPlay | None = None,
    together: int = 1,
) -> Receipt:
    """Make a settlement, if there is one, and finish the entry.

    `hand` is the hand in play; None for a new one, whose row has the settlement already.
    """
    if settlement is None:
        return posting.finish()
    round_id = posting.round_id
    assert round_id is not None  # `Posting.set_round` was called
    rounds.settle(stakes, game, settlement)
    if hand is not None:
        rounds.write_settlement(posting, hand, settlement, together)
    # Loans and events take their parts of winnings, but only of time.
    won = settlement.won if stakes.unit == "second" else 0
    if stakes.is_bank_broken:
        posting.awards += awards.earn(posting.desk, posting.caller_id, BANK)
    return posting.finish(won, game, ended_round=round_id if settlement.final else 0)


# All seats or none.


def _refuse_out_of_step(move: Move, last: int) -> None:
    if move.sequence != last + 1:
        raise errors.OutOfStep(Phrase("This hand has moved on in the meantime."))


def _check_all_seats(settled: Set[int], seats: Set[int]) -> None:
    """Raise ValueError, a bug, unless the settled seats are all seats of the round."""
    if settled != seats:
        raise ValueError(f"seats {sorted(settled)} of {sorted(seats)} are settled")


@contextmanager
def _all_or_nothing(desk: Desk) -> Iterator[None]:
    """Undo all writes of the block if it fails, but not the transaction around it."""
    run = desk.connection.exec_driver_sql
    run("SAVEPOINT seats")
    try:
        yield
    except BaseException as error:
        # A failed disk ends the whole transaction, and its savepoints may be gone.
        if not is_broken(error):
            run("ROLLBACK TO seats")
            run("RELEASE seats")
        raise
    run("RELEASE seats")
