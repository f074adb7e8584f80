"""One run of bj on paper: cards and answers in, every letter out, with the typed ones.

A test writes such a run as it looked, with `⏎` for the newline key and `␡` for DEL. So `y`, a bare
newline and an unanswered question differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from textwrap import dedent

from door.games.blackjack.round import BlackjackAction, BlackjackRound, start
from door.games.blackjack.rules import UNIX_BJ, UNIX_BJ_STAKE
from door.games.engine.cards import Card, parse_cards
from door.games.engine.shuffle import SEED_BYTES, run_on
from door.tables.unix_bj.teletype import (
    OPENING,
    Prompts,
    Score,
    Teletype,
    decline,
    hand_start,
    is_yes,
)
from tests.single_shoes import PHRASE

DOLLAR = 100  # cents
STRUCK = "␡"


def paper(text: str) -> str:
    """The letters of a run that is written out as it looked."""
    return dedent(text).removeprefix("\n").replace("⏎", "").replace(STRUCK, "")


class _Del(Exception):
    """DEL was struck at a question."""


class Run:
    """The program, dealing hands from cards in dealing order."""

    def __init__(
        self,
        prompts: Prompts = "1975",
        *,
        position: int = 0,
        action: int = 0,
        score: int = 0,
    ) -> None:
        """Begin after `position` cards of the stream, with the score of earlier runs."""
        self.teletype = Teletype(prompts, DOLLAR, Score(action, score))
        self.position = position
        self.text = OPENING

    def plays(self, *hands: str, typed: str = "") -> str:
        """Deal `hands`; return all text of the paper.

        `typed` has a word for each answer: the text before its newline, `⏎` for a bare one, and
        `␡` for DEL.
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
            self.text += self.teletype.print_events(round_, events)
        assert round_.cards_used == len(cards.split()), f"cards are left:\n{self.text}"
        self.position = begin + round_.cards_used

    def _decides(self, round_: BlackjackRound, answers: Iterator[str]) -> BlackjackAction:
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


def from_seed(
    seed: bytes,
    *lines: str,
    prompts: Prompts = "1975",
    action: int = 0,
    standing: int = 0,
    echo: bool = True,
    stands: bool = True,
    cut: str = PHRASE,
) -> str:
    """Return the paper of a run dealt from `seed`, up to the question after these `lines`.

    A last line `␡` is the interrupt key; with `stands`, the rest of the hand is answered with no.
    Without `echo` the paper omits the answers.
    """
    teletype = Teletype(prompts, DOLLAR, Score(action, standing))
    answers = iter(lines)
    text, position = OPENING, 0
    while True:
        position = hand_start(position)
        round_, events = start(UNIX_BJ, cards_of(seed, position, cut), [UNIX_BJ_STAKE])
        text += teletype.deal(position, round_, events)
        while not round_.over:
            chosen = decline(round_)
            for question in teletype.questions(round_):
                text += question.text
                line = next(answers, None)
                if line is None:
                    return text
                if line == STRUCK:
                    rest = _stood(teletype, round_) if stands else ""
                    return f"{text}\n{rest}{teletype.account()}"
                text += f"{line}\n" if echo else ""
                if is_yes(line):
                    chosen = question.yes
                    break
            round_, events = round_.apply(chosen)
            text += teletype.print_events(round_, events)
        position += round_.cards_used


def _stood(teletype: Teletype, round_: BlackjackRound) -> str:
    text = ""
    while not round_.over:
        round_, events = round_.apply(decline(round_))
        text += teletype.print_events(round_, events)
    return text


def cards_of(seed: bytes, position: int, cut: str = PHRASE) -> tuple[Card, ...]:
    return run_on(seed, cut, 1, 1, position, 66)


@cache
def seed_asking(*script: str, cut: str = PHRASE) -> bytes:
    """Return a seed whose first hand follows this script, such as ("Insurance? y", "Hit? ").

    The last question stays unanswered; "over" in its place means a finished hand.
    """
    for number in range(10_000, 200_000):
        seed = number.to_bytes(SEED_BYTES, "big")
        round_, _ = start(UNIX_BJ, cards_of(seed, 0, cut), [UNIX_BJ_STAKE])
        if _goes(round_, script):
            return seed
    raise AssertionError(f"no seed asks {script}")


def _goes(round_: BlackjackRound, script: Sequence[str]) -> bool:
    teletype = Teletype("1975", DOLLAR, Score())
    rest = list(script)
    while not round_.over:
        chosen = decline(round_)
        for question in teletype.questions(round_):
            wanted = rest.pop(0)
            if not wanted.startswith(question.text):
                return False
            if not rest:
                return True
            if is_yes(wanted.removeprefix(question.text)):
                chosen = question.yes
                break
        round_, _ = round_.apply(chosen)
    return rest == ["over"]
