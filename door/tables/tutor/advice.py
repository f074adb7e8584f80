"""One caller's tutor, which advises before a decision and judges it afterwards.

The caller never waits for the tutor. A decision made before the answer is judged when the answer
arrives.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING

from door.errors import HelperUnavailable
from door.games.solver.tutor import tutor
from timebank.language import N_, _

if TYPE_CHECKING:
    import asyncio

    from door.games.blackjack.round import BlackjackAction, BlackjackRound
    from door.games.solver.tutor.tutor import Decision
    from door.tables.tutor.tutor_process import TutorProcess, Weighed


UNAVAILABLE = N_("The book is unavailable right now.")

log = logging.getLogger("door.tables")


class _Question:
    """One decision, from its opening until the tutor has judged it."""

    def __init__(
        self, round_: BlackjackRound, asked: Decision, answer: asyncio.Future[Weighed]
    ) -> None:
        self.round = round_
        self.asked = asked
        self.answer = answer
        self.chosen: BlackjackAction | None = None  # the caller's action, once taken


class Tutor:
    """One caller's tutor; only one decision is open at a time."""

    def __init__(
        self,
        thinking: TutorProcess,
        say: Callable[[str], None],
        at_turn: Callable[[], BlackjackRound | None],
        unsay: Callable[[str], object] = str,
    ) -> None:
        """Speak through `say`; `at_turn` returns the round while it is the caller's turn.

        `unsay` takes advice away once the caller has decided.
        """
        self._thinking = thinking
        self._say, self._unsay, self._said = say, unsay, ""
        self._at_turn = at_turn
        self._open: _Question | None = None
        self._has_judged = False  # since the last advice
        self._unanswered: list[_Question] = []

    def watch(self, round_: BlackjackRound, affordable: Collection[BlackjackAction]) -> None:
        """Ask for advice on the open decision of a round, once for each decision."""
        if self._open is not None and round_ is self._open.round:
            return
        asked = tutor.decision(round_, affordable)
        self._open = _Question(round_, asked, self._thinking.ask(asked.spot))
        self._unanswered.append(self._open)
        self._open.answer.add_done_callback(partial(self._answered, self._open))

    @property
    def is_thinking(self) -> bool:
        """Whether the advice on the open decision is still to come."""
        return self._open in self._unanswered

    def judge(self, chosen: BlackjackAction) -> None:
        """Say what the book would have done if that is better than `chosen`, now or when the answer
        arrives."""
        question, self._open = self._open, None
        self._unsay(self._said)
        if question is None:
            return
        question.chosen = chosen
        if question not in self._unanswered:
            self._pass_judgement(question)

    def leave(self) -> None:
        self._open = None
        for question in self._unanswered:
            question.answer.cancel()

    def _answered(self, question: _Question, answer: asyncio.Future[Weighed]) -> None:
        self._unanswered.remove(question)
        if answer.cancelled():
            return
        problem = answer.exception()
        if problem is not None:
            if not isinstance(problem, HelperUnavailable):
                log.error("the tutor has no advice", exc_info=problem)
            if question is self._open:
                self._say(f"|07{_(UNAVAILABLE)}")
        elif question.chosen is not None:
            self._pass_judgement(question)
        elif question is self._open and question.round is self._at_turn():
            advice, hand = tutor.advised(question.asked, answer.result()), question.round.hand
            is_next = self._has_judged and hand is not None and len(hand.cards) > 2
            self._has_judged = False
            self._said = f"|11{advice.words(is_next=is_next)}"
            self._say(self._said)

    def _pass_judgement(self, question: _Question) -> None:
        answer = question.answer
        if question.chosen is None or answer.exception() is not None:
            return
        advice = tutor.advised(question.asked, answer.result())
        verdict = tutor.judge(advice, question.chosen)
        if verdict is not None:
            self._has_judged = True
            self._say(f"|11{verdict}")
