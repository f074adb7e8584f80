"""Banners across the felt: at every size of screen they leave the dealer's cards in view."""

from __future__ import annotations

import pytest

from ansi.canvas import Canvas
from door.call.scene import Area
from door.games.engine.cards import parse_cards
from door.tables.baccarat.scene import BaccaratScene
from door.tables.black_jack_for_time.scene import BlackJackScene
from door.tables.red_dog.scene import RedDogScene
from door.tables.scene import Banner, TableScene
from tests.door.games.baccarat.coups import play, shoe_of_points

SIZES = pytest.mark.parametrize(
    ("columns", "rows"), [(40, 22), (40, 25), (60, 24), (80, 24), (100, 30), (132, 50), (160, 60)]
)
BELOW = {True: 6, False: 4}  # rows below the scene, by whether the screen is narrow
FOUR = "7C 8D 9H TS"


def picture(scene: TableScene | BaccaratScene, columns: int, rows: int) -> list[str]:
    canvas = Canvas(columns, rows)
    area = Area(0, columns - 1, rows - 1 - BELOW[columns < 79])
    scene.paint(canvas, area)
    return [canvas.text(row) for row in range(area.rows)]


def suits_in(lines: list[str]) -> list[int]:
    """Return in which rows the cards of `FOUR` show their suits, from the top."""
    return [row for row, line in enumerate(lines) for sign in line if sign in "♣♦♥♠"]


@SIZES
@pytest.mark.parametrize("coins", [0, 12])
def test_at_blackjack_the_upper_hand_stays_whole(columns: int, rows: int, coins: int) -> None:
    scene = BlackJackScene(coin=60, turns_limit=None, is_dealt=True)
    scene.dealer, scene.mine = list(parse_cards(FOUR)), list(parse_cards("2C 3D"))
    before = picture(scene, columns, rows)
    scene.banner = Banner("YOU WIN +12", coins)
    after = picture(scene, columns, rows)
    last = next(row for row, line in enumerate(before) if "Your hand" in line)
    changed = [row for row, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    assert changed
    ends = max(row for row, line in enumerate(before[:last]) if "┘" in line)
    assert min(changed) > ends


@SIZES
@pytest.mark.parametrize("coins", [0, 12])
def test_at_red_dog_all_three_cards_stay_whole(columns: int, rows: int, coins: int) -> None:
    scene = RedDogScene(coin=60, turns_limit=None, is_dealt=True)
    scene.cards = list(parse_cards("7C 9H 8D"))
    before = picture(scene, columns, rows)
    scene.banner = Banner("YOU WIN +12", coins)
    after = picture(scene, columns, rows)
    changed = [row for row, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    assert changed
    assert min(changed) > max(row for row, line in enumerate(before) if "┘" in line[: columns // 2])


@SIZES
def test_at_baccarat_all_cards_stay_whole(columns: int, rows: int) -> None:
    scene = BaccaratScene(played="Played in dollars")
    for event in play(shoe_of_points(0, 0, 5, 1)).events:
        scene.follow(event)
    before = picture(scene, columns, rows)
    scene.banner = "You lose $10,000"
    after = picture(scene, columns, rows)
    assert suits_in(after) == suits_in(before)
    assert sum(line.count("┘") for line in after) == sum(line.count("┘") for line in before)
    assert any("You lose $10,000" in line for line in after)
