"""A caller's own luck in the main menu: actual winnings next to the expected ones."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from door.call.markup import plain, wrap
from door.games.solver.played_hand import for_the_bank
from door.lobby.luck import lines_of, sentences
from door.lobby.sums import Sums
from tests.door.playing import Table, hand
from timebank.language import Viewer, speaking_to
from timebank.reports import house
from timebank.reports.house import FinishedHand, Luck, lucks_of


class InPlace(Sums):
    """A helper that computes at once in this process."""

    def lucks(self, hands: Iterable[FinishedHand]) -> asyncio.Future[list[Luck]]:
        answer: asyncio.Future[list[Luck]] = asyncio.get_running_loop().create_future()
        answer.set_result(lucks_of(hands, for_the_bank))
        return answer


async def test_luck_on_screen_equals_a_computation_from_the_hands(ada: Table) -> None:
    board = ada.board.server.board
    board.shared["sums"] = InPlace()
    await ada.bets(4, hand(ends="natural"))
    await ada.bets(2, hand("stay", ends="lose"))
    await ada.does("stay")
    await ada.gets_up()
    await ada.terminal.send("s").until("<L>uck")
    await ada.terminal.send("l").until("Your hands of the last 30 days.")
    with ada.board.books() as desk:
        (of_house,), _ = house.house(desk, for_the_bank, None, None, None)
    assert (of_house.hands, of_house.staked, of_house.house) == (2, 6 * 60, -6 * 60)
    picture = " ".join(ada.terminal.picture.split())
    assert "Black Jack For Time, 2 hands" in picture
    assert "You bet 6 minutes and won 6 minutes." in picture
    for sentence in sentences(of_house):
        assert sentence in picture


async def test_without_a_hand_there_is_nothing_to_work_out(ada: Table) -> None:
    await ada.gets_up()
    await ada.terminal.send("s").until("<L>uck")
    await ada.terminal.send("l").until("No hands finished in the last 30 days.")


async def test_the_helper_process_computes_the_same_luck() -> None:
    unknown = FinishedHand(1, "dice", "second", 7, "{}", 1, 60, 60, 60, "{}", ())
    sums = Sums()
    assert await sums.lucks([unknown, unknown]) == lucks_of([unknown, unknown], for_the_bank)
    await sums.close()


def test_luck_is_explained_without_knowledge_of_deviations() -> None:
    good = Luck(
        *("vegas", "second", None, 200, 120_000, -6_000),
        *(0, 600.0, -6_600.0, 0.0, (6_600 / 1.28) ** 2),
    )
    assert list(sentences(good)) == [
        "You bet 2000 minutes and won 100 minutes.",
        "By the odds, the hands as you played them lose 10 minutes on average.",
        "So you had good luck: 110 minutes more than that (1.3 standard deviations).",
        "About 10 in 100 callers who play such hands do as well or better.",
    ]
    rare = (6_000 / 3.1) ** 2
    bad = replace(good, unit="usd-cent", house=6_000, given=0.0, luck=6_000.0, _variance=rare)
    assert list(sentences(bad))[1:] == [
        "By the odds, the hands as you played them break even on average.",
        "So you had bad luck: $60 less than that (3.1 standard deviations).",
        "Fewer than 1 in 100 callers who play such hands do as badly or worse.",
    ]
    nothing_to_speak_of = replace(good, luck=-1.0)
    assert list(sentences(nothing_to_speak_of))[-1] == "So your luck was neither good nor bad."
    few = replace(bad, hands=25, unknown=20)
    assert list(sentences(few))[1] == "The odds of 20 hands are not known."
    assert "in 100" not in " ".join(sentences(few))
    rows = [row for line in lines_of([few]) for row in wrap(line, 38)]
    first = rows.index("|15Vegas|07, 25 hands") + 1
    assert all(plain(row).startswith("  ") for row in rows[first:])
    with speaking_to(Viewer("fr")):
        assert "écarts types : 1,3" in list(sentences(good))[2]
