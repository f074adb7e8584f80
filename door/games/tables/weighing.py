"""What the decisions of a try cost against the book, and the tournament that waits for it.

A cost is what the best move would have won more, on average, in ten-thousandths of a bet
(`deals.WHOLE_BET`), added up over all decisions. A board asks its tutor; who has none works it out
in its place.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from door.errors import NoAdviceNow
from door.games.blackjack import duplicate
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, BlackjackRules, rules_from_mapping
from door.games.blackjack.tutor import tutor
from door.games.blackjack.tutor.hands import values
from door.games.blackjack.tutor.thinking import thinking_of
from timebank.wagers import deals, tournaments
from timebank.wagers.deals import WHOLE_BET

if TYPE_CHECKING:
    from door.call.board import Board
    from door.games.blackjack.round import BlackjackAction
    from door.games.blackjack.tutor.thinking import Thinking, Weighed
    from timebank.wagers.tournaments import Tournament, Unweighed

log = logging.getLogger("door.tables")


def rules_of(kept: Mapping[str, Any]) -> BlackjackRules:
    return rules_from_mapping(kept, BLACK_JACK_FOR_TIME)


def weigh(kept: Unweighed) -> int:
    """Weigh a try at once (entry point `timebank.weigh`): some milliseconds for each decision."""
    met = _decisions(rules_of(kept.rules), kept.seed, kept.acts, kept.hands)
    cost = sum(_lost(asked, values(asked.spot), action) for asked, action in met)
    return round(cost * WHOLE_BET)


async def cost_of(
    thinking: Thinking, rules: BlackjackRules, seed: bytes, acts: Sequence[str], hands: int
) -> int:
    """Weigh a try by the tutor, as `weigh` does; raises `NoAdviceNow`."""
    cost = 0.0
    for asked, action in _decisions(rules, seed, acts, hands):
        cost += _lost(asked, await thinking.ask(asked.spot), action)
    return round(cost * WHOLE_BET)


def _decisions(
    rules: BlackjackRules, seed: bytes, acts: Sequence[str], hands: int
) -> Iterator[tuple[tutor.Decision, BlackjackAction]]:
    for hand, action in duplicate.played(rules, seed, acts, hands).decisions:
        yield tutor.decision(hand, hand.legal()), action


def _lost(asked: tutor.Decision, weighed: Weighed, action: BlackjackAction) -> float:
    told = tutor.advised(asked, weighed)
    return told.values[told.best] - told.values[action]


async def weigh_tournament(board: Board) -> None:
    """Weigh what is over of the tournament of now; raises `NoAdviceNow` and `BooksUnavailable`."""
    thinking = thinking_of(board)
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
    return settled
