"""The rounds of a server that has died: every seat stands, once the lease of its pit has run out.

The server that leads does that. It takes the pit first, so that a server that was only stopped
writes nothing into these rounds when it goes on.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from door.games.engine.journaled import found, play_out
from door.games.tables.play import close_when_done
from door.games.vegas.kind import VEGAS_KIND
from door.games.vegas.round import GAME, enter_action
from door.games.vegas.tenure import LEASE_SECONDS, lease_of, pit_of
from timebank.errors import JournalDamaged, LeaseLost, Refused
from timebank.servers import leases
from timebank.wagers import journal, wagers
from timebank.wagers.wagers import Played, Sitter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from door.call.board import Board
    from door.games.vegas.round import VegasRound
    from door.games.vegas.tenure import Hold
    from timebank.ledger.database import Desk

log = logging.getLogger("door.tables")


def left(desk: Desk) -> dict[int, list[int]]:
    """Return the rounds in play whose pit nobody holds, nor held a moment ago, by their pits."""
    rounds = defaultdict[int, list[int]](list)
    for lead, table in journal.shared_rounds(desk, GAME).items():
        rounds[pit_of(table)].append(lead)
    return {pit: leads for pit, leads in rounds.items() if leases.has_run_out(desk, lease_of(pit))}


async def stand_left(board: Board, own: Hold | None, unreadable: set[int]) -> None:
    """Stand all rounds that are left, but none of the pit that this server has as its `own`: its
    lease may have run out while the machine slept. Rounds that cannot be read are named in the log
    once, and added to `unreadable`."""
    for pit, leads in (await board.books.read(left)).items():
        if set(leads) <= unreadable or (own is not None and pit == own.pit):
            continue
        name, server = lease_of(pit), board.server_id
        fence = await board.books.run(partial(_take, name=name, server_id=server))
        if fence is None:  # its server is back
            continue
        for lead in leads:
            try:
                stored = await board.books.run(partial(journal.stored_round, round_id=lead))
                if stored is not None and not all(seat.settled for seat in stored.seats):
                    hand = found(VEGAS_KIND, stored)
                    await board.books.run(partial(_stand, name=name, fence=fence, hand=hand))
            except (Refused, LeaseLost) as refused:
                log.info("hand %d at the Vegas table was left alone: %s", lead, refused)
            except JournalDamaged as damaged:
                unreadable.add(lead)
                log.error("hand %d at the Vegas table: %s", damaged.number, damaged)
            else:
                log.warning("hand %d at the Vegas table was stood: its server is gone", lead)
        await board.books.run(partial(leases.let_go, name=name, server_id=server))
        board.books.notices_wait.set()


def _take(desk: Desk, name: str, server_id: int) -> int | None:
    """Take a lease that has run out, and return its fence; None where it has not."""
    if not leases.has_run_out(desk, name):
        return None
    return leases.take(desk, name, server_id, LEASE_SECONDS)


def _stand(desk: Desk, name: str, fence: int, hand: VegasRound) -> None:
    """Stand and settle all hands of a round, under the lease of its pit."""
    leases.hold(desk, name, fence)
    (*moves, last), after = play_out(hand)

    def settle(desk: Desk, sitters: Mapping[int, Sitter]) -> Played:
        return wagers.act(desk, last, sitters, after.settlements(hand.round))

    sitters = {bet.seat: Sitter(bet.caller_id) for bet in hand.bets}
    for move in moves:
        wagers.act(desk, move, sitters, {})
    enter_action(desk, settle, sitters)
    close_when_done(desk, after)
