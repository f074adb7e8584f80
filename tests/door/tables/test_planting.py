"""Planted shoes of tests: all is as before once the last board has closed."""

from tests.single_shoes import planted
from timebank.wagers import chains, journal


def test_boards_that_close_in_any_order_leave_nothing_behind() -> None:
    before = journal.open_shoe, chains.take_link
    one, other = planted(), planted()
    one.__enter__()
    other.__enter__()
    assert journal.open_shoe is not before[0]
    one.__exit__(None, None, None)
    assert journal.open_shoe is not before[0], "the other is still open"
    other.__exit__(None, None, None)
    assert (journal.open_shoe, chains.take_link) == before
