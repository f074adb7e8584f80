"""Hands that nobody returned to: stood at the end of the day after they were dealt.

The first process that opens the books, and then a running server now and again, finds them,
plays them out by standing, and leaves the caller a notice.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from door.games.engine.journaled import is_done, settlement_of
from door.games.rounds import kind_of, rebuild
from timebank.calls import clock
from timebank.errors import JournalDamaged, Refused
from timebank.wagers import journal
from timebank.wagers.rounds import Move
from timebank.wagers.single import stand_without_call
from timebank.wagers.wagers import Sitter, act_at_table

if TYPE_CHECKING:
    from door.call.books import Books
    from door.games.engine.game import Kind
    from timebank.ledger.database import Desk
    from timebank.wagers.journal import StoredRound

log = logging.getLogger("door.overdue")


async def stand_all(books: Books) -> int:
    """Stand every overdue hand; return how many, the seats of a table counted as one.

    None while the clock is in doubt: it may say too soon that their day is over.
    """
    stood = 0
    leads = {stored.lead: stored for stored in await books.run(_overdue)}
    for stored in leads.values():
        try:
            await books.run(partial(stand, stored=stored))
        except Refused as refused:  # its caller came back just now
            log.info("hand %d was left alone: %s", stored.id, refused)
            continue
        except JournalDamaged as damaged:
            log.error("hand %d is overdue, but %s", stored.id, damaged)
            continue
        stood += 1
        log.info("hand %d was stood: nobody returned to it", stored.id)
    return stood


def _overdue(desk: Desk) -> list[StoredRound]:
    return journal.overdue(desk) if clock.is_certain(desk) else []


def stand(desk: Desk, stored: StoredRound) -> None:
    """Decline insurance, stand, and settle a hand, or all the hands of a table's round, in one
    transaction."""
    kind, before = kind_of(stored), rebuild(stored)
    moves, after = play_out(kind, stored, before)
    if kind.most_seats > 1:
        _stand_table(desk, kind, stored, moves, after)
    else:
        settlement = settlement_of(kind, before, after, 0)
        assert settlement is not None  # a round that ends settles its hand
        stand_without_call(desk, stored.caller_id, stored.id, moves, settlement)
    if stored.shoe is not None and is_done(
        kind, stored.shoe, stored.rules, after, len(stored.seats)
    ):
        journal.close_shoe(desk, stored.shoe.id)


def play_out(kind: Kind, stored: StoredRound, round_: Any) -> tuple[list[Move], Any]:
    """Return what is done for those who are not there, to the end, and the round that comes out."""
    assert stored.shoe is not None  # `rebuild` has asked
    shoe = stored.shoe
    moves: list[Move] = []
    while not round_.over:
        act = kind.by_chance(round_, shoe.seed, shoe.cut or "", shoe.position)
        act = act or kind.absent(round_)
        round_, _ = kind.act(round_, act)
        if act.seat is not None:
            act = act._replace(seat=stored.seats[act.seat - 1].seat)
        moves.append(
            Move(
                round_id=stored.lead,
                sequence=stored.sequence + 1 + len(moves),
                action=act.entry(),
                cards_used=round_.cards_used,
            )
        )
    return moves, round_


def _stand_table(
    desk: Desk, kind: Kind, stored: StoredRound, moves: list[Move], after: Any
) -> None:
    """Journal the moves under the table's round; with the last one every seat is settled."""
    sitters = {seat.seat: Sitter(seat.caller_id, None, None) for seat in stored.seats}
    settled = {
        seat.seat: settlement
        for place, seat in enumerate(stored.seats)
        if not seat.settled and (settlement := settlement_of(kind, None, after, place))
    }
    for number, move in enumerate(moves, start=1):
        acting = move.action.get("seat", stored.seat)
        assert isinstance(acting, int)
        ending = settled if number == len(moves) else None
        act_at_table(desk, move, acting, sitters, ending)
