"""The tutor's advice at once, which tables compute in another process."""

from __future__ import annotations

from collections.abc import Collection

from door.games.blackjack.round import BlackjackAction, BlackjackRound
from door.games.solver.tutor.hand_value import values
from door.games.solver.tutor.tutor import Advice, advised, decision


def advice_on(round_: BlackjackRound, affordable: Collection[BlackjackAction]) -> Advice:
    question = decision(round_, affordable)
    return advised(question, values(question.spot))
