"""Amounts as callers type and read them at the Vegas table: coins with a fraction."""

import pytest

from door.tables.vegas.table_round import figure, seconds_typed


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [("1.5", 90), (",5", 30), ("2", 120), ("0.33", 19), ("0.999", 59), ("1..", 0), ("", 0)],
)
def test_typed_amounts_are_rounded_down_to_seconds(typed: str, seconds: int) -> None:
    assert seconds_typed(typed, 60) == seconds


@pytest.mark.parametrize("coin", [60, 180, 600])
def test_a_shown_figure_typed_back_is_never_more(coin: int) -> None:
    for seconds in range(1, 3 * coin):
        assert seconds_typed(figure(seconds, coin), coin) <= seconds
