"""The tutor at UNIX bj: its advice is printed between the program's lines."""

from __future__ import annotations

from pathlib import Path

from door.call.markup import without_capitals
from door.games.blackjack.phases import BlackjackAction
from door.games.blackjack.round import start
from door.games.blackjack.rules import UNIX_BJ, UNIX_BJ_STAKE
from door.games.solver.tutor import tutor
from tests.door.at_the_teletype import Player, at_the_teletype
from tests.door.games.solver.advised import advice_on
from tests.door.teletype import cards_of, seed_asking
from tests.terminal import REFUSING

SPLIT = seed_asking("Split pair? y", "Double down? y", "Hit? ")


async def asked_of(ada: Player) -> tutor.Advice:
    """Return the tutor's view of their first decision, once it was printed."""
    await ada.terminal.wait_for(lambda _: "Book: " in ada.plain, "the book")
    round_, _events = start(UNIX_BJ, cards_of(SPLIT, 0), [UNIX_BJ_STAKE])
    return advice_on(round_, round_.legal())


async def test_the_advice_of_the_book_precedes_the_question(tmp_path: Path) -> None:
    async with at_the_teletype(tmp_path) as ada:
        await ada.caller.remember({"tutor": True})
        await ada.starts(SPLIT)
        advice = await asked_of(ada)
        assert advice.sentence in ada.plain
        assert ada.plain.endswith("Split pair? ")


async def test_the_book_is_written_without_capitals_where_it_is_read_aloud(tmp_path: Path) -> None:
    async with at_the_teletype(tmp_path, profile=REFUSING) as ada:
        await ada.caller.remember({"tutor": True})
        await ada.starts(SPLIT)
        advice = await asked_of(ada)
        assert without_capitals(advice.sentence) in " ".join(ada.plain.split())


async def test_a_worse_move_is_judged_and_a_good_one_is_not(tmp_path: Path) -> None:
    async with at_the_teletype(tmp_path) as ada:
        await ada.caller.remember({"tutor": True})
        await ada.starts(SPLIT)
        advice = await asked_of(ada)
        verdicts = {action: tutor.judge(advice, action) for action in advice.values}
        assert verdicts[advice.best] is None
        verdict = verdicts[BlackjackAction.STAY]
        assert verdict is not None
        await ada.types("", "", "")  # no split, no double, no card
        assert verdict in ada.plain
