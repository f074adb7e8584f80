"""Tries at daily deals and tournaments out of the books, each played and weighed again: whether it
came to what they say.

A try takes a millisecond, a third of it to weigh it. A deal takes 5 ms besides: all who play it
meet the same decisions, fifteen or so, which the tutor works out once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from door.games.blackjack import duplicate
from door.games.blackjack.duplicate import HANDS
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, BlackjackRules, rules_from_mapping
from door.games.engine import shuffle
from door.games.engine.errors import GameError
from door.games.solver.tutor import costs
from timebank.audit.findings import Finding
from timebank.wagers import deals
from timebank.wagers.deals import WHOLE_BET

if TYPE_CHECKING:
    from timebank.ledger.database import Desk
    from timebank.wagers.deals import KeptTry


def audit(desk: Desk, since_hand: int = 1, part: int = 0, parts: int = 1) -> list[Finding]:
    """Check the tries at all deals; with the number of a hand, those at deals that may have changed
    since the hand before it was dealt. Of several parts, from 0, one has every so many of them."""
    return [
        Finding(f"{'daily deal' if deal.daily else 'tournament'} {deal.day}", words)
        for deal in deals.kept(desk, since_hand)[part::parts]
        for words in _wrong(desk, deal)
    ]


def _wrong(desk: Desk, deal: deals.KeptDeal) -> Iterator[str]:
    if not shuffle.fits(deal.seed, deal.seal):
        yield "its seed does not fit its seal."
    try:
        rules = rules_from_mapping(json.loads(deal.rules), BLACK_JACK_FOR_TIME)
    except (GameError, ValueError, TypeError, AttributeError) as error:
        yield f"its rules cannot be read: {str(error).rstrip('.')}."
        return
    for each in deals.kept_tries(desk, deal.seal):
        if words := _differs(rules, deal, each):
            yield f"the try of {each.name} {words}."


def _differs(rules: BlackjackRules, deal: deals.KeptDeal, kept: KeptTry) -> str:
    """Say in what a try is another one when it is played again; nothing where it is the same."""
    try:
        again = duplicate.played(rules, deal.seed, kept.acts.split(), deal.hands or HANDS)
    except (GameError, ValueError, TypeError, AttributeError) as error:
        return f"cannot be played again: {str(error).rstrip('.')}"
    if kept.score is None:
        return "is over, but has no score" if again.is_over else ""
    if not again.is_over:
        return f"has a score, but hand {again.number} is still in play"
    if again.score != kept.score:
        return f"has won {kept.score} coins in the books, replayed it is {again.score}"
    if kept.cost is not None and (cost := costs.cost_of(again)) != kept.cost:
        booked, weighed = _percent(kept.cost), _percent(cost)
        return f"costs {booked} of a bet in the books, weighed again it is {weighed}"
    return ""


def _percent(cost: int) -> str:
    return f"{cost * 100 / WHOLE_BET:.2f}%"
