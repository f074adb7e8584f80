"""Hands that nobody returned to: stood at the end of the day after they were dealt.

The first process that opens the books, and then a running server now and again, finds them,
plays them out by standing, and leaves the caller a notice.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from door.games.engine.journaled import undealt
from door.games.rounds import found, kind_of
from door.games.tables.play import close_when_done
from timebank.calls import clock
from timebank.errors import JournalDamaged, Refused
from timebank.wagers import beacons, journal, wagers

if TYPE_CHECKING:
    from door.call.books import Books
    from door.games.engine.journaled import TableRound
    from door.games.tables.beacons import Rounds
    from timebank.ledger.database import Desk
    from timebank.wagers.beacons import BeaconRound
    from timebank.wagers.journal import StoredRound
    from timebank.wagers.rounds import Move

log = logging.getLogger("door.overdue")


async def stand_all(books: Books, rounds: Rounds) -> int:
    """Stand every overdue hand; return how many, the seats of a table counted as one. None while
    the clock is in doubt: it may say too soon that their day is over."""
    stood = 0
    leads = {stored.lead: stored for stored in await books.run(_overdue)}
    for stored in leads.values():
        try:
            beacon = await _beacon(rounds, stored)
            await books.run(partial(stand, stored=stored, beacon=beacon))
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


async def _beacon(rounds: Rounds, stored: StoredRound) -> BeaconRound | None:
    """Return what comes of the round that a hand waits for; None for one that is dealt, and for one
    that is looked at next time: the beacon has failed just now."""
    shoe = stored.shoe
    if shoe is None or shoe.beacon is None or not shoe.beacon.is_awaited or rounds.paused():
        return None
    return await rounds.outcome(shoe.beacon, is_new=False)


def stand(desk: Desk, stored: StoredRound, beacon: BeaconRound | None = None) -> None:
    """Decline insurance, stand, and settle a hand, or all the hands of a table's round, in one
    transaction. One that waits for a round of a beacon is dealt first, with what came of that;
    `NotDealtYet` where nobody has asked for it."""
    waits = undealt(kind_of(stored), stored)
    if waits is None or beacon is None:
        before = found(stored)
        moves, after = play_out(before)
        wagers.stand(desk, moves, after.settlements(before.round))
    else:
        beacons.settle(desk, waits.shoe.id, waits.beacon, beacon)
        dealt, _, move = waits.dealt(beacon)
        moves, after = play_out(dealt)
        wagers.stand(desk, [move, *moves], after.settlements(None))
    close_when_done(desk, after)


def play_out(hand: TableRound[Any]) -> tuple[list[Move], TableRound[Any]]:
    """Return what is done for those who are not there, to the end, and the round that comes out."""
    moves: list[Move] = []
    while not hand.over:
        hand, _, move = hand.after(hand.tossed() or hand.kind.absent(hand.round))
        moves.append(move)
    return moves, hand
