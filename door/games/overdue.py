"""Hands that nobody returned to: stood at the end of the day after they were dealt.

The first process that opens the books, and then a running server now and again, finds them,
plays them out by standing, and leaves the caller a notice.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from door.games.rounds import found
from door.games.tables.play import close_when_done
from timebank.calls import clock
from timebank.errors import JournalDamaged, Refused
from timebank.wagers import journal, wagers

if TYPE_CHECKING:
    from door.call.books import Books
    from door.games.engine.journaled import TableRound
    from timebank.ledger.database import Desk
    from timebank.wagers.journal import StoredRound
    from timebank.wagers.rounds import Move

log = logging.getLogger("door.overdue")


async def stand_all(books: Books) -> int:
    """Stand every overdue hand; return how many, the seats of a table counted as one. None while
    the clock is in doubt: it may say too soon that their day is over."""
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
    before = found(stored)
    moves, after = play_out(before)
    wagers.stand(desk, moves, after.settlements(before.round))
    close_when_done(desk, after)


def play_out(hand: TableRound[Any]) -> tuple[list[Move], TableRound[Any]]:
    """Return what is done for those who are not there, to the end, and the round that comes out."""
    moves: list[Move] = []
    while not hand.over:
        hand, _, move = hand.after(hand.tossed() or hand.kind.absent(hand.round))
        moves.append(move)
    return moves, hand
