"""Weighs the tries of deals and tournaments, and settles tournaments.

A board asks its tutor for the cost of a try's decisions (games/solver/tutor/costs.py). A command
without a tutor computes it itself.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from door.errors import HelperUnavailable
from door.games.blackjack import duplicate
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, BlackjackRules, rules_from_mapping
from door.games.solver.tutor import costs
from door.tables.tutor.tutor_process import TutorProcess
from timebank.wagers import deals, tournaments

if TYPE_CHECKING:
    from door.call.board import Board
    from door.tables.tutor.tutor_process import TutorProcess
    from timebank.wagers.tournaments import Tournament, Unweighed

log = logging.getLogger("door.tables")


def rules_of(stored: Mapping[str, Any]) -> BlackjackRules:
    return rules_from_mapping(stored, BLACK_JACK_FOR_TIME)


def weigh(unweighed: Unweighed) -> int:
    """Return the cost of a try, as `costs.cost_of` does (entry point `timebank.weigh`)."""
    return costs.cost_of(
        duplicate.played(rules_of(unweighed.rules), unweighed.seed, unweighed.acts, unweighed.hands)
    )


async def cost_of(
    thinking: TutorProcess, rules: BlackjackRules, seed: bytes, acts: Sequence[str], hands: int
) -> int:
    """Return the cost of a try by the tutor; raises `HelperUnavailable`."""
    lost = 0.0
    for decision in costs.decisions(duplicate.played(rules, seed, acts, hands)):
        lost += decision.lost(await thinking.ask(decision.spot))
    return costs.whole(lost)


async def weigh_tournament(board: Board) -> None:
    """Weigh the finished tries of the tournament.

    Raises `HelperUnavailable` and `BooksUnavailable`.
    """
    thinking = TutorProcess.among(board.shared)
    for each in await board.books.read(tournaments.unweighed):
        cost = await cost_of(thinking, rules_of(each.rules), each.seed, each.acts, each.hands)
        await board.books.run(
            partial(deals.weigh, seal=each.seal, caller_id=each.caller_id, cost=cost)
        )


async def settle_tournament(board: Board) -> Tournament | None:
    """Settle the tournament that is over and return it, `None` for none.

    Without an answer of the tutor it stays open until the next call. Raises `BooksUnavailable`.
    """
    if not await board.books.read(tournaments.is_due):
        return None
    try:
        await weigh_tournament(board)
    except HelperUnavailable as problem:
        log.warning("the tournament is over, but a try could not be weighed: %s", problem)
        return None
    settled = await board.books.run(tournaments.settle)
    if settled is not None:
        log.info("the tournament of %s is settled", settled.day)
        board.books.outbox_waits.set()
        # Other servers read it at their next look at the books.
        board.champion = await board.books.read(tournaments.champion)
    return settled
