"""A hand of UNIX bj, printed again: the letters of the program, and what was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door.tables.reel import DECIDED_SECONDS, END_SECONDS, THINK_SECONDS
from door.tables.unix_bj.teletype import OPENING, Score, Teletype
from timebank.language import _
from timebank.wagers.rounds import VOID

if TYPE_CHECKING:
    from door.tables.reel import Filmed, Reel

CLEARED = "\x1b[0m\x1b[2J\x1b[H"


def film(reel: Reel, hand: Filmed) -> None:
    stored = hand.stored
    paper = Teletype("1975", stored.coin, Score())
    title = _("Hand {number}").format(number=stored.id)
    reel.mark(title)
    reel.write(f"{CLEARED}{title}: {stored.caller}, {stored.day}\r\n\r\n")
    reel.now += THINK_SECONDS
    _print(reel, OPENING)
    round_ = hand.after
    for step in hand.steps:
        if step.act is None:
            _print(reel, paper.deal(stored.start, step.hand.round, step.events))
        else:
            # A no to every question before that which was answered with yes, if any was.
            for question in paper.questions(round_):
                is_yes = question.yes == step.act.word
                reel.now += THINK_SECONDS
                reel.write(question.text)
                reel.now += DECIDED_SECONDS
                reel.write("y\r\n" if is_yes else "\r\n")
                if is_yes:
                    break
            _print(reel, paper.told(step.hand.round, step.events))
        round_ = step.hand.round
    reel.now += THINK_SECONDS
    if stored.outcome == VOID:
        reel.write(f"\r\n{_('The hand is void: it was never played to its end.')}\r\n")
    elif not hand.after.over:
        reel.write(f"\r\n{_('The hand is still in play.')}\r\n")
    reel.now += END_SECONDS


def _print(reel: Reel, letters: str) -> None:
    reel.write(letters.replace("\n", "\r\n"))
