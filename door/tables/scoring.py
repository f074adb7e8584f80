"""Weighs the tries of contests, and settles tournaments and duels.

A board asks its tutor for the cost of a try's decisions (games/solver/tutor/costs.py). A command
without a tutor computes it itself.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from door.errors import HelperUnavailable
from door.games.blackjack import duplicate
from door.games.blackjack.duplicate import HANDS, Duplicate
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, BlackjackRules, rules_from_mapping
from door.games.solver.tutor import costs
from door.tables.tutor.tutor_process import TutorProcess
from timebank.wagers import contests, duels, tournaments
from timebank.wagers.contests import WHOLE_BET
from timebank.words import percentage

if TYPE_CHECKING:
    from door.call.board import Board
    from timebank.wagers.contests import Contest
    from timebank.wagers.tournaments import Tournament

log = logging.getLogger("door.tables")


def rules_of(stored: Mapping[str, Any]) -> BlackjackRules:
    return rules_from_mapping(stored, BLACK_JACK_FOR_TIME)


def hands_of(contest: Contest) -> int:
    return contest.hands or HANDS


def played(contest: Contest, acts: Sequence[str]) -> Duplicate:
    """Deal a try again. Raises as `duplicate.replay`."""
    return duplicate.replay(rules_of(contest.rules), contest.seed, acts, hands_of(contest))


def weigh(contest: Contest, acts: Sequence[str]) -> int:
    """Return the cost of a try, as `costs.cost_of` does (entry point `timebank.weigh`)."""
    return costs.cost_of(played(contest, acts))


def percent(cost: int) -> str:
    """Return a stored cost in percent of a bet."""
    return percentage(cost * 100 / WHOLE_BET)


async def weigh_tries(board: Board, contest: Contest, most: int | None) -> AsyncIterator[int]:
    """Weigh the finished tries of a contest, at most so many, and yield the caller after each.

    Raises `HelperUnavailable` and `BooksUnavailable`.
    """
    thinking = TutorProcess.among(board.shared)
    for each in (await board.books.read(partial(contests.unweighed, seal=contest.seal)))[:most]:
        bets = 0.0
        for choice in costs.choices(played(contest, each.acts)):
            bets += choice.cost(await thinking.ask(choice.spot))
        number, cost = each.caller_id, costs.stored_cost(bets)
        weighed = partial(contests.weigh, seal=contest.seal, caller_id=number, cost=cost)
        await board.books.run(weighed)
        yield number


async def settle_tournament(board: Board) -> Tournament | None:
    """Settle the tournament that is over and return it, `None` for none.

    Without an answer of the tutor it stays open until the next call. Raises `BooksUnavailable`.
    """
    if not await board.books.read(tournaments.is_due):
        return None
    running = await board.books.read(tournaments.running)
    try:
        if running is not None:
            async for _caller in weigh_tries(board, running, None):
                pass
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


async def settle_duels(board: Board) -> bool:
    """Settle the duels that are due, and return whether one has ended.

    Without an answer of the tutor, duels with equal coins stay open until the next call. Raises
    `BooksUnavailable`.
    """
    has_ended = False
    for duel in await board.books.read(duels.due):
        try:
            async for _caller in weigh_tries(board, duel, None):
                pass
        except HelperUnavailable as problem:
            log.warning("the cost of a try at a duel is not known yet: %s", problem)
        settled = await board.books.run(partial(duels.settle, seal=duel.seal))
        has_ended |= settled is not None and settled.outcome is not None
    if has_ended:
        board.books.notices_wait.set()
    return has_ended
