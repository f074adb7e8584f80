"""The tutor at baccarat: the book's move on a 5, and the cost of the other."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from door.call.markup import without_capitals
from door.games.baccarat.round import BaccaratAction, start
from door.games.baccarat.rules import BACCARAT, NATURALS
from door.games.engine.cards import parse_cards
from door.tables.baccarat.book import advice
from tests.door.punting import at_baccarat, on_5, seed_where, shoe_of

CARDS = parse_cards("TS AS 2S 3S 4S 5S 6S 7S 8S 9S")  # by their values
SEED = seed_where(on_5(BaccaratAction.NO_CARD))


def test_the_gains_average_over_all_coups_that_may_follow() -> None:
    """Every bank and every third card, dealt through the game to a five of ten and five."""
    gains = dict.fromkeys(BaccaratAction, 0.0)
    left = [4 * 16] + [16] * 9
    left[0] -= 1
    left[5] -= 1
    deals = 0
    for deal in product(range(10), repeat=4):
        one, other, *_thirds = deal
        if (one + other) % 10 in NATURALS:
            continue
        weight, rest = 1, list(left)
        for value in deal:
            weight *= rest[value]
            rest[value] -= 1
        deals += weight
        cards = [CARDS[value] for value in (0, one, 5, *deal[1:])]
        coup, _events = start(BACCARAT, cards, 2)
        for action in (BaccaratAction.CARD, BaccaratAction.NO_CARD):
            totals = coup.apply(action)[0].totals
            gains[action] += weight * (totals.won - totals.lost) / 2
    coup, _events = start(BACCARAT, parse_cards("TS 4H 5S 2D 7H 8C"), 2)
    given = advice(coup)
    assert given.card == pytest.approx(gains[BaccaratAction.CARD] / deals, abs=1e-12)
    assert given.no_card == pytest.approx(gains[BaccaratAction.NO_CARD] / deals, abs=1e-12)
    assert given.best is BaccaratAction.CARD


async def test_the_book_speaks_before_the_5_and_after_a_worse_move(tmp_path: Path) -> None:
    coup, _events = start(BACCARAT, shoe_of(SEED), 2)
    given = advice(coup)
    assert given.best is BaccaratAction.CARD
    async with at_baccarat(tmp_path, SEED) as ada:
        await ada.caller.remember({"tutor": True})
        await ada.wagers_on_5(100)
        await ada.sees(given.sentence)
        await ada.answers("n")
        await ada.sees(given.verdict(BaccaratAction.NO_CARD))


@pytest.mark.parametrize("key", ["y", "n"])
async def test_without_a_tutor_there_is_no_advice(tmp_path: Path, key: str) -> None:
    async with at_baccarat(tmp_path, SEED) as ada:
        await ada.wagers_on_5(100)
        await ada.answers(key)
        assert "Book" not in ada.terminal.transcript


async def test_the_book_is_written_without_capitals_where_it_is_read_aloud(tmp_path: Path) -> None:
    coup, _events = start(BACCARAT, shoe_of(SEED), 2)
    given = advice(coup)
    async with at_baccarat(tmp_path, SEED) as ada:
        await ada.caller.remember({"tutor": True})
        await ada.presses("!").terminal.until_heard("Plain lines from now on.")
        await ada.wagers_on_5(100)
        assert without_capitals(given.sentence) in " ".join(ada.terminal.heard.split())
        await ada.presses("n ").terminal.until_heard("All keys (?)")
        said = " ".join(ada.terminal.heard.split())
        assert without_capitals(given.verdict(BaccaratAction.NO_CARD)) in said
