"""The result of a try for a caller to paste anywhere: it tells no card and no move.

It has a square for each hand: played by the book, with a small slip, or with a big one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ansi.charset import Charset
from door.games.solver.tutor import costs
from door.tables.scoring import hands_of, percent, played
from timebank.language import _, ngettext
from timebank.wagers.contests import WHOLE_BET
from timebank.words import date_words

if TYPE_CHECKING:
    from datetime import date

    from door.tables.tutor.tutor_process import TutorProcess
    from timebank.wagers.contests import Contest

GAME = "Black Jack For Time"
BIG_SLIP = WHOLE_BET // 10  # the cost of a hand from which its slips are big
# By the book, a small slip, a big one.
SQUARES, COLOURED = "■▒░", "🟩🟨🟥"
# For `str.translate`: the colours of the squares on the screen.
IN_COLOUR = dict(zip(map(ord, SQUARES), ("|10■", "|14▒", "|12░"), strict=True))


async def hand_costs(thinking: TutorProcess, contest: Contest, acts: Sequence[str]) -> list[int]:
    """Return the cost of each hand of a try. Raises `HelperUnavailable`."""
    found = [0.0] * hands_of(contest)
    for choice in costs.choices(played(contest, acts)):
        found[choice.made.number - 1] += choice.cost(await thinking.ask(choice.spot))
    return [costs.stored_cost(each) for each in found]


def result_line(day: date, cost: int, by_hand: Sequence[int], charset: Charset | None) -> str:
    """Return the result of a try that costs `cost`, in short lines; without a charset in words.

    >>> from datetime import date
    >>> costs = [0, 90, 0, 1000, 0]
    >>> print(result_line(date(2026, 11, 28), 1090, costs, Charset.CP437))
    Black Jack For Time, 28 November 2026: 3/5 by the book, cost 10.9%
    ■▒■░■
    >>> print(result_line(date(2026, 11, 28), 1090, costs, None))
    Black Jack For Time, 28 November 2026: 3/5 by the book, cost 10.9%.
    Small slip in hand 2.
    Big slip in hand 4.
    """
    slips = [(each > 0) + (each >= BIG_SLIP) for each in by_hand]
    words = _("{game}, {date}: {number}/{all} by the book, cost {cost}").format(
        game=GAME,
        date=date_words(day),
        number=slips.count(0),
        all=len(slips),
        cost=percent(cost),
    )
    if charset is not None:
        squares = COLOURED if charset is Charset.UTF8 else SQUARES
        return f"{words}\n{''.join(squares[slip] for slip in slips)}"
    small, big = (
        [str(number) for number, slip in enumerate(slips, 1) if slip == size] for size in (1, 2)
    )
    sentences = [f"{words}."]
    if small:
        small_slips = ngettext(
            "Small slip in hand {hands}.", "Small slips in hands {hands}.", len(small)
        )
        sentences.append(small_slips.format(hands=", ".join(small)))
    if big:
        big_slips = ngettext("Big slip in hand {hands}.", "Big slips in hands {hands}.", len(big))
        sentences.append(big_slips.format(hands=", ".join(big)))
    return "\n".join(sentences)
