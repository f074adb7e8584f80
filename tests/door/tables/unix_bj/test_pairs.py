"""The UNIX game bj: houses with other rules for doubling and splitting."""

from __future__ import annotations

from pathlib import Path

from door.games.engine.shuffle import SEED_BYTES
from tests.door.at_the_teletype import at_the_teletype, teletype_toml
from tests.door.teletype import cards_of, seed_asking


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
