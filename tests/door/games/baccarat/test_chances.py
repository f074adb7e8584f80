"""What the bank's table is worth: every coup that eight decks can deal, through the engine.

Nothing is drawn at random. A coup is dealt from four cards; where the engine finds the shoe too
short, it is dealt again with each value that the next card may have. What a card counts is all
that matters, so one card stands for all of its value, and a coup weighs as many orders of cards
as it stands for.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from math import perm

import pytest

from door.games.baccarat.events import BaccaratOutcome
from door.games.baccarat.round import BaccaratAction, BaccaratRound, start
from door.games.baccarat.rules import BACCARAT, BaccaratRules
from door.games.engine.cards import Card
from door.games.engine.errors import ShoeTooShort
from tests.door.games.baccarat.coups import MOST_CARDS, card_of, house

pytestmark = pytest.mark.long

VALUES = range(10)
ONE_OF_EACH = {value: card_of(value) for value in VALUES}
PAIRS = [
    (first, second, 1 if first == second else 2)
    for first, second in combinations_with_replacement(VALUES, 2)
]

PUNTO_BANCO = {
    BaccaratOutcome.BANK: 2_292_252_566_437_888,
    BaccaratOutcome.PLAYER: 2_230_518_282_592_256,
    BaccaratOutcome.STAND_OFF: 475_627_426_473_216,
}
"""Orders of six cards out of 416 in which either wins, as published for eight decks."""


def finished(
    rules: BaccaratRules, values: tuple[int, ...], on_5: BaccaratAction
) -> Iterator[tuple[BaccaratRound, tuple]]:
    """Every coup that begins with cards of `values`, and the values of all of its cards."""
    shoe: tuple[Card, ...] = tuple(ONE_OF_EACH[value] for value in values)
    try:
        coup, _ = start(rules, shoe, 1)
        if not coup.over:
            coup, _ = coup.apply(on_5)
        yield coup, values
    except ShoeTooShort:
        for value in VALUES:
            yield from finished(rules, (*values, value), on_5)


def orders(values: tuple[int, ...], decks: int) -> int:
    """In how many orders a shoe begins with cards of these values, counted over six cards."""
    weight = 1
    for value, times in Counter(values).items():
        weight *= perm(decks * (16 if value == 0 else 4), times)
    left = MOST_CARDS - len(values)
    return weight * perm(decks * 52 - len(values), left)


def outcomes(
    rules: BaccaratRules, decks: int, on_5: BaccaratAction
) -> Counter[BaccaratOutcome | None]:
    """In how many orders of six cards the coup ends in each way."""
    counted: Counter[BaccaratOutcome | None] = Counter()
    for first, third, mine in PAIRS:
        for second, fourth, banks in PAIRS:
            dealt = (first, second, third, fourth)
            for coup, values in finished(rules, dealt, on_5):
                counted[coup.outcome] += mine * banks * orders(values, decks)
    return counted


@pytest.fixture(scope="module")
def eight_decks() -> Counter[BaccaratOutcome | None]:
    return outcomes(BACCARAT, 8, BaccaratAction.CARD)


def test_no_order_of_the_cards_is_left_out(eight_decks: Counter[BaccaratOutcome]) -> None:
    assert eight_decks.total() == perm(416, 6)


def test_with_every_option_drawn_it_is_punto_banco_to_the_last_order(
    eight_decks: Counter[BaccaratOutcome],
) -> None:
    assert eight_decks == PUNTO_BANCO


@pytest.mark.parametrize(
    ("outcome", "published"),
    [
        (BaccaratOutcome.BANK, "0.458597"),
        (BaccaratOutcome.PLAYER, "0.446247"),
        (BaccaratOutcome.STAND_OFF, "0.095156"),
    ],
)
def test_the_probabilities_are_those_that_are_published(
    eight_decks: Counter[BaccaratOutcome], outcome: BaccaratOutcome, published: str
) -> None:
    assert f"{float(Fraction(eight_decks[outcome], perm(416, 6))):.6f}" == published


@pytest.mark.parametrize("key", ["bank_option_3v9", "bank_option_5v4"])
def test_punto_banco_needs_both_options_drawn(key: str) -> None:
    """One pair of hands for each option: there standing changes who wins, and how often."""
    drawn = outcomes_of_pair(BACCARAT, key)
    stood = outcomes_of_pair(house(**{key: "stand"}), key)
    assert drawn != stood
    assert drawn.total() == stood.total()


def outcomes_of_pair(rules: BaccaratRules, key: str) -> Counter[BaccaratOutcome | None]:
    dealt = (0, 3, 0, 0, 9) if key == "bank_option_3v9" else (0, 5, 0, 0, 4)
    counted: Counter[BaccaratOutcome | None] = Counter()
    for coup, values in finished(rules, dealt, BaccaratAction.CARD):
        counted[coup.outcome] += orders(values, 8)
    return counted
