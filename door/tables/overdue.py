"""Hands that nobody returned to: stood at the end of the day after they were dealt.

The first process that opens the books, and then a running server now and again, finds them,
plays them out by standing, and leaves the caller a notice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from door.games.engine.journaled import play_out
from door.games.engine.replay import DEAL
from door.games.rounds import found
from door.tables.play import close_when_done
from timebank.calls import clock
from timebank.errors import JournalDamaged, Refused
from timebank.wagers import journal, wagers
from timebank.wagers.rounds import Move

if TYPE_CHECKING:
    from door.call.books import Books
    from door.games.engine.journaled import TableRound
    from timebank.ledger.database import Desk
    from timebank.wagers.journal import StoredRound
    from timebank.wagers.wagers import Played

log = logging.getLogger("door.overdue")


async def stand_all(books: Books) -> int:
    """Stand every overdue hand, and deal those that wait for their cards; return how many, the
    seats of a table counted as one."""
    done = 0
    for stored, do in (await books.run(_due)).values():
        try:
            await books.run(partial(do, stored=stored))
        except Refused as refused:  # its caller came back just now
            log.info("hand %d was left alone: %s", stored.id, refused)
            continue
        except JournalDamaged as damaged:
            log.error("hand %d is left open, but %s", stored.id, damaged)
            continue
        done += 1
        why = "stood: nobody returned to it" if do is stand else "dealt without a round of drand"
        log.info("hand %d was %s", stored.id, why)
    return done


def _due(desk: Desk) -> dict[int, tuple[StoredRound, Callable[..., object]]]:
    """Return by their leads what is to be done with which hands. None is overdue while the clock is
    in doubt: it may say too soon that their day is over."""
    overdue = journal.overdue(desk) if clock.is_certain(desk) else []
    return {
        **{stored.lead: (stored, deal) for stored in journal.undealt(desk)},
        **{stored.lead: (stored, stand) for stored in overdue},
    }


def stand(desk: Desk, stored: StoredRound, *, can_return: bool = True) -> Played:
    """Decline insurance, stand, and settle a hand, or all the hands of a table's round, in one
    transaction. Raises what `wagers.stand` raises."""
    before, dealt = _before(stored)
    moves, after = play_out(before)
    due = after.settlements(None if dealt else before.round)
    played = wagers.stand(desk, [*dealt, *moves], due, can_return=can_return)
    close_when_done(desk, after)
    return played


def deal(desk: Desk, stored: StoredRound) -> None:
    """Deal a hand whose cards were to come with a round of drand, by seed and phrases alone, as
    release 1.0 did where no relay had the round. Its caller plays it on."""
    hand, dealt = _before(stored)
    for move in dealt:
        wagers.act(desk, move, {}, hand.settlements(None))
    close_when_done(desk, hand)


def _before(stored: StoredRound) -> tuple[TableRound[Any], list[Move]]:
    """Return a round as it is in the books, and the deal that the books are yet to have of it."""
    hand = found(stored)
    if stored.cards_used:
        return hand, []
    used, seat = hand.round.cards_used, hand.bets[0].seat
    return hand._replace(sequence=1), [Move(hand.lead, 1, {"action": DEAL}, used, seat=seat)]
