"""The tries of deals and tournaments, weighed, and the tournament that waits for it.

A board asks its tutor what the decisions of a try cost (games/solver/tutor/costs.py); who has none
works it out in its place.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from door.errors import NoAdviceNow
from door.games.blackjack import duplicate
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, BlackjackRules, rules_from_mapping
from door.games.solver.tutor import costs
from door.tables.tutor.tutor_process import Thinking
from timebank.wagers import deals, tournaments

if TYPE_CHECKING:
    from door.call.board import Board
    from door.tables.tutor.tutor_process import Thinking
    from timebank.wagers.tournaments import Tournament, Unweighed

log = logging.getLogger("door.tables")


def rules_of(kept: Mapping[str, Any]) -> BlackjackRules:
    return rules_from_mapping(kept, BLACK_JACK_FOR_TIME)


def weigh(kept: Unweighed) -> int:
    """Weigh a try at once (entry point `timebank.weigh`), as `costs.cost_of`."""
    return costs.cost_of(duplicate.played(rules_of(kept.rules), kept.seed, kept.acts, kept.hands))


async def cost_of(
    thinking: Thinking, rules: BlackjackRules, seed: bytes, acts: Sequence[str], hands: int
) -> int:
    """Weigh a try by the tutor, as `weigh` does; raises `NoAdviceNow`."""
    lost = 0.0
    for met in costs.decisions(duplicate.played(rules, seed, acts, hands)):
        lost += met.lost(await thinking.ask(met.spot))
    return costs.whole(lost)


async def weigh_tournament(board: Board) -> None:
    """Weigh what is over of the tournament of now; raises `NoAdviceNow` and `BooksUnavailable`."""
    thinking = Thinking.among(board.shared)
    for each in await board.books.read(tournaments.unweighed):
        cost = await cost_of(thinking, rules_of(each.rules), each.seed, each.acts, each.hands)
        await board.books.run(
            partial(deals.weigh, seal=each.seal, caller_id=each.caller_id, cost=cost)
        )


async def settle_tournament(board: Board) -> Tournament | None:
    """Settle the tournament that is over, if there is one, for whoever comes first.

    Where the tutor does not answer it waits for who comes next. Raises `BooksUnavailable`.
    """
    if not await board.books.read(tournaments.is_due):
        return None
    try:
        await weigh_tournament(board)
    except NoAdviceNow as problem:
        log.warning("the tournament is over, and not every try is weighed: %s", problem)
        return None
    settled = await board.books.run(tournaments.settle)
    if settled is not None:
        log.info("the tournament of %s is settled", settled.day)
        board.books.outbox_waits.set()
        # Other servers see it at their next look at the books.
        board.champion = await board.books.read(tournaments.champion)
    return settled
