"""The table of boards at the daily deal: the mean of each board's three best."""

from __future__ import annotations

from collections.abc import Sequence

from door.games.blackjack.world import world_shoe
from door.session.board_table import BoardResult, board_results, board_rows
from tests.world import World, newcomer
from timebank.callers.callers import register_of_board
from timebank.ledger.database import Desk
from timebank.wagers import contests, deals
from timebank.wagers.contests import ContestResult


def tries(board: str | None, *costs: int | None) -> list[ContestResult]:
    return [ContestResult(1, "Ann", 0, cost, (), board=board) for cost in costs]


def results(*tried: Sequence[ContestResult]) -> list[BoardResult]:
    return board_results([each for several in tried for each in several], "Here")


def test_the_three_best_of_each_board_count_and_equal_means_share_a_place() -> None:
    assert results(
        tries(None, 0, 300, 900, 5000), tries("Xibalba", 400, 400, 400), tries("Oil", 0, 1, 1)
    ) == [
        BoardResult(1, "Oil", 3, 1),
        BoardResult(2, "Here", 4, 400),
        BoardResult(2, "Xibalba", 3, 400),
    ]


def test_boards_with_fewer_stand_below_and_unweighed_tries_do_not_count() -> None:
    assert results(tries(None, 0, 0, None), tries("Xibalba", 9000, 9000, 9000)) == [
        BoardResult(1, "Xibalba", 3, 9000),
        BoardResult(None, "Here", 2, None),
    ]
    assert results() == []


def test_the_rows_fit_narrow_screens() -> None:
    found = [BoardResult(1, "W" * 40, 3, 12345), BoardResult(None, "Oil", 1, None)]
    for columns in (40, 80):
        _words, _empty, *rows = board_rows(found, columns)
        assert all(len(row) - 6 < columns for row in rows)
        assert rows[0].endswith("123.45%")
        assert rows[1].endswith("1 of 3")


async def test_callers_see_the_table_once_two_boards_have_played(board: World) -> None:
    def plays(desk: Desk) -> None:
        deal = deals.todays(desk, world_shoe)
        for name, cost in (("Eve", 100), ("Fay", 250), ("Guy", 400)):
            number = register_of_board(desk, f"{name} @Xibalba", "Xibalba", name).id
            contests.begin(desk, deal, number)
            contests.act(desk, deal, number, (), "stay", 5)
            contests.weigh(desk, deal.seal, number, cost)

    ada = await newcomer(board, "Ada")
    with board.books() as desk:
        plays(desk)
    await ada.send("d").until("Xibalba")
    assert "<B>oards" not in ada.picture
    ada.send("q")
    with board.books() as desk:
        ada_id = 1
        deal = deals.todays(desk, world_shoe)
        contests.begin(desk, deal, ada_id)
        contests.act(desk, deal, ada_id, (), "stay", 5)
        contests.weigh(desk, deal.seal, ada_id, 0)
    await ada.until("oodbye")
    await ada.send("d").until("<B>oards")
    await ada.send("b").until("1 of 3")
    assert "2.5%" in ada.picture
    with board.books() as desk:  # they were not played, which an audit would find
        desk.connection.exec_driver_sql("DELETE FROM deal_tries")
