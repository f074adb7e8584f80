"""One run of bj on paper: cards and answers in, every letter out, those that were typed included.

A test writes such a run as it looked, with `⏎` where the newline key was struck (which is how `y`
and a bare newline can be told apart from a question that nobody answered) and `␡` for DEL.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent

from door.games.blackjack import Action, Round, start
from door.games.blackjack_rules import UNIX_BJ, UNIX_BJ_STAKE
from door.games.cards import parse_cards
from door.tables.unix_bj_teletype import (
    OPENING,
    Prompts,
    Score,
    Teletype,
    decline,
    hand_start,
    is_yes,
)

DOLLAR = 100  # cents
STRUCK = "␡"


def paper(text: str) -> str:
    """The letters of a run that is written out as it looked."""
    return dedent(text).removeprefix("\n").replace("⏎", "").replace(STRUCK, "")


class _Del(Exception):
    """DEL was struck at a question."""


class Run:
    """The program, dealing hands whose cards stand in the order in which they leave the deck."""

    def __init__(
        self,
        prompts: Prompts = "1975",
        *,
        position: int = 0,
        action: int = 0,
        standing: int = 0,
    ) -> None:
        """Begin with `position` cards of the stream gone, and the score of earlier runs."""
        self.teletype = Teletype(prompts, DOLLAR, Score(action, standing))
        self.position = position
        self.text = OPENING

    def plays(self, *hands: str, typed: str = "") -> str:
        """Deal `hands`; return all that the paper shows then.

        `typed` has a word for each answer: what stood on the line before its newline, `⏎` for a
        bare one, and `␡` for DEL.
        """
        answers = iter(typed.split())
        try:
            for cards in hands:
                self._hand(cards, answers)
        except _Del:
            self.text += f"\n{self.teletype.account()}"
        assert not list(answers), f"not everything was asked:\n{self.text}"
        return self.text

    def _hand(self, cards: str, answers: Iterator[str]) -> None:
        begin = hand_start(self.position)
        round_, events = start(UNIX_BJ, parse_cards(cards), [UNIX_BJ_STAKE])
        self.text += self.teletype.deal(begin, round_, events)
        while not round_.over:
            round_, events = round_.apply(self._decides(round_, answers))
            self.text += self.teletype.told(round_, events)
        assert round_.cards_used == len(cards.split()), f"cards are left:\n{self.text}"
        self.position = begin + round_.cards_used

    def _decides(self, round_: Round, answers: Iterator[str]) -> Action:
        for question in self.teletype.questions(round_):
            self.text += question.text
            line = next(answers).replace("⏎", "")
            if line == STRUCK:
                raise _Del
            self.text += f"{line}\n"
            if is_yes(line):
                return question.yes
        return decline(round_)


def played(*hands: str, typed: str = "") -> str:
    """The paper of a first run that deals `hands`."""
    return Run().plays(*hands, typed=typed)
