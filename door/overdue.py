"""Hands that nobody returned to: stood at the end of the day after they were dealt.

The first process that opens the books, and then a running server now and again, finds them,
plays them out by standing, and leaves the caller a notice.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from door.games.blackjack import Action
from door.games.blackjack_events import Event
from door.tables.journaled import is_done, rebuild, settlement_of
from timebank import bank, journal
from timebank.refusals import Refused

if TYPE_CHECKING:
    from door.books import Books
    from timebank.database import Desk
    from timebank.journal import StoredRound

log = logging.getLogger("door.overdue")


async def stand_all(books: Books) -> int:
    """Stand every overdue hand; return how many."""
    stood = 0
    for stored in await books.run(journal.overdue):
        try:
            await books.run(partial(stand, stored=stored))
        except Refused as refused:  # its caller came back just now
            log.info("hand %d was left alone: %s", stored.id, refused)
            continue
        except journal.JournalDamaged as damaged:
            log.error("hand %d is overdue, but %s", stored.id, damaged)
            continue
        stood += 1
        log.info("hand %d was stood: nobody returned to it", stored.id)
    return stood


def stand(desk: Desk, stored: StoredRound) -> None:
    """Decline insurance, stand, and settle one hand in one entry."""
    round_ = rebuild(stored)
    moves: list[bank.Move] = []
    events: list[Event] = []
    while not round_.over:
        legal = round_.legal()
        action = Action.NO_INSURANCE if Action.NO_INSURANCE in legal else Action.STAY
        round_, happened = round_.apply(action)
        events.extend(happened)
        moves.append(
            bank.Move(
                round_id=stored.id,
                sequence=len(stored.actions) + len(moves),
                action={"action": str(action)},
                stake=0,
                kind="",
                coin=0,
                cards_used=round_.cards_used,
            )
        )
    settlement = settlement_of(round_, events)
    assert settlement is not None  # a round that ends settles its hand
    bank.stand_without_call(desk, stored.caller_id, stored.id, moves, settlement)
    if stored.shoe is not None and is_done(stored.shoe, round_):
        journal.close_shoe(desk, stored.shoe.id)
