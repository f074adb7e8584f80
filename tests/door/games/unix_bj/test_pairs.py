"""The UNIX game bj: which hands may be doubled and split, beside those in `sessions`."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.games.engine.shuffle import SEED_BYTES
from tests.door.at_the_teletype import at_the_teletype, teletype_toml
from tests.door.teletype import cards_of, played, seed_asking

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


# Where the manual pages may be read otherwise than the program


async def test_a_house_may_ask_about_doubles_of_the_hand_first_dealt_alone(tmp_path: Path) -> None:
    seed = seed_asking("Split pair? y", "Double down? y", "Hit? ")
    toml = teletype_toml(double_after_split=False)
    async with at_the_teletype(tmp_path, toml=toml) as ada:
        await ada.starts(seed)
        await ada.types("y")
        await ada.sees("Hit?")
        assert "Split pair? " in ada.letters
        assert "Double down?" not in ada.letters


async def test_a_house_may_play_split_aces_like_any_hand(tmp_path: Path) -> None:
    toml = teletype_toml(split_aces="play on")
    seed = next(filter(_deals_aces, (n.to_bytes(SEED_BYTES, "big") for n in range(10_000))))
    async with at_the_teletype(tmp_path, toml=toml) as ada:
        await ada.starts(seed)
        await ada.types("y")
        await ada.sees("Hit?")


def _deals_aces(seed: bytes) -> bool:
    """Whether the player has two aces at first, and the dealer's up card hides no natural."""
    up, _, *two = cards_of(seed, 0)[:4]
    return 1 < up.value < 10 and all(card.is_ace for card in two)
