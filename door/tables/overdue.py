"""Overdue hands: open hands are stood at the end of the day after their deal.

The first process that opens the books stands them, and then a running server does so from time to
time. Each caller gets a notice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from door.games.engine.journaled import play_out
from door.games.engine.replay import DEAL
from door.games.rounds import rebuild
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
    """Stand every overdue hand, and deal hands that wait for their cards. Return the number of
    rounds; the seats of a table count as one."""
    rounds = 0
    for stored, work in (await books.run(_due)).values():
        try:
            await books.run(partial(work, stored=stored))
        except Refused as refused:  # the caller has just come back
            log.info("hand %d was left alone: %s", stored.id, refused)
            continue
        except JournalDamaged as damaged:
            log.error("hand %d is left open, but %s", stored.id, damaged)
            continue
        rounds += 1
        why = "stood: nobody returned to it" if work is stand else "dealt without a round of drand"
        log.info("hand %d was %s", stored.id, why)
    return rounds


def _due(desk: Desk) -> dict[int, tuple[StoredRound, Callable[..., object]]]:
    """Return hands to work on and the function for each, by their leads.

    No hand is overdue while the clock is in doubt: their day may not be over yet.
    """
    overdue = journal.overdue_rounds(desk) if clock.is_certain(desk) else []
    return {
        **{stored.lead: (stored, deal) for stored in journal.undealt_rounds(desk)},
        **{stored.lead: (stored, stand) for stored in overdue},
    }


def stand(desk: Desk, stored: StoredRound, *, can_return: bool = True) -> Played:
    """Decline insurance, stand and settle all hands of a round in one transaction.

    Raises what `wagers.stand` raises.
    """
    before, dealt = _before(stored)
    moves, after = play_out(before)
    due = after.settlements(None if dealt else before.round)
    played = wagers.stand(desk, [*dealt, *moves], due, can_return=can_return)
    close_when_done(desk, after)
    return played


def deal(desk: Desk, stored: StoredRound) -> None:
    """Deal a hand that waits for a round of drand, with the seed and the phrases only.

    Release 1.0 did so when no relay had the round. The caller plays the hand on.
    """
    hand, dealt = _before(stored)
    for move in dealt:
        wagers.act(desk, move, {}, hand.settlements(None))
    close_when_done(desk, hand)


def _before(stored: StoredRound) -> tuple[TableRound[Any], list[Move]]:
    """Return a round from the books, and its deal where the books have none."""
    hand = rebuild(stored)
    if stored.cards_used:
        return hand, []
    used, seat = hand.round.cards_used, hand.bets[0].seat
    return hand._replace(sequence=1), [Move(hand.lead, 1, {"action": DEAL}, used, seat=seat)]
