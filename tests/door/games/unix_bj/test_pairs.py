"""The UNIX game bj: which hands may be doubled and split, beside those in `sessions`."""

from __future__ import annotations

import pytest

from tests.door.teletype import played

# Double down


@pytest.mark.parametrize(
    ("two", "total"), [("AD 8C", 19), ("4D 5C", 9), ("7D 5C", 12)], ids=["soft", "nine", "twelve"]
)
def test_no_double_down_on_other_totals(two: str, total: int) -> None:
    run = played(f"TH 7C {two}", typed="⏎")
    assert f"{two.replace(' ', '+')}\n\nHit? \nYou have {total}\n" in run


# Split pair


def test_a_pair_is_split_once() -> None:
    run = played("7H KC 8D 8C 8H 8S", typed="y ⏎ ⏎")
    assert run.count("Split pair? ") == 1
    assert "8H\n\nHit? \nYou have 16\n8S\n\nHit? \nYou have 16\n" in run


@pytest.mark.parametrize("first", "TJQK")
@pytest.mark.parametrize("second", "TJQK")
def test_ten_jack_queen_and_king_are_all_ten(first: str, second: str) -> None:
    run = played(f"7H TC {first}D {second}S", typed="⏎ ⏎")
    assert run.endswith(
        f"{first}D+{second}S\n\nSplit pair? \nHit? \nYou have 20\n"
        "Dealer has TC = 17\n\nYou win $2\n"
    )
