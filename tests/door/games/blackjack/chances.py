"""Hypothesis strategies: shoes, houses and stakes as a hand may meet them."""

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st

from door.games.blackjack.rules import (
    BLACK_JACK_FOR_TIME,
    UNIX_BJ,
    VEGAS,
    rules_from_mapping,
)
from door.games.engine.cards import Card, deck

unhurried = settings(deadline=None)
"""A machine that is busy with other tests is no fault of a hand."""

flags = st.booleans()
paid = st.sampled_from(["at once", "after dealer"])
pays = st.sampled_from([1, 1.5, 2, 2.5, 3, 7])


def sensible(house: dict[str, object]) -> bool:
    return not (house.get("hit_on_21") and house.get("twenty_one_paid") == "at once")


houses = st.fixed_dictionaries(
    {},
    optional={
        "ties": st.sampled_from(["dealer", "push"]),
        "insurance_rounding": st.sampled_from(["exact", "down"]),
        "insurance_unit": st.sampled_from([1, 60, 300]),
        "insurance_pays": st.integers(1, 3),
        "insurance_on_natural": flags,
        "peek_under_ace": flags,
        "hit_on_21": flags,
        "natural_paid": paid,
        "charlie_paid": paid,
        "twenty_one_paid": paid,
        "twenty_one_beats": st.sampled_from(["lower totals", "all totals"]),
        "five_card_21": st.sampled_from(["twenty-one", "charlie"]),
        "win_pays": pays,
        "natural_pays": pays,
        "twenty_one_pays": pays,
        "charlie_pays": pays,
        "doubled_21_pays": pays,
        "dealer_over": st.sampled_from(["pays", "push"]),
    },
).filter(sensible)

stakes = st.integers(1, 500).map(lambda half: 2 * half)


_TELLING = tuple(card for card in deck(1) if card.rank in "A234T")
_OTHERS = tuple(card for card in deck(1) if card not in _TELLING)


def shoes() -> st.SearchStrategy[tuple[Card, ...]]:
    """A deck in random order, or one with aces, low cards and tens on top: naturals, insurance
    and Charlies are rare in the first and common in the second."""
    telling = st.permutations(_TELLING).map(lambda top: (*top, *_OTHERS))
    return st.one_of(st.permutations(deck(1)).map(tuple), telling)


choices = st.lists(st.integers(0, 5), min_size=8, max_size=8)
"""Which of the legal actions is taken, turn by turn."""


PRESETS = (BLACK_JACK_FOR_TIME, UNIX_BJ, VEGAS)

variations = st.fixed_dictionaries(
    {},
    optional={
        "ties": st.sampled_from(["dealer", "push"]),
        "insurance_on_natural": flags,
        "peek_under_ace": flags,
        "hit_on_21": flags,
        "natural_paid": paid,
        "split": st.sampled_from(["never", "once"]),
        "split_cards": st.sampled_from(["as played", "both first"]),
        "split_aces": st.sampled_from(["play on", "one card"]),
        "split_21": st.sampled_from(["twenty-one", "natural"]),
        "double": st.sampled_from(["always", "10-11"]),
        "double_after_split": flags,
        "insurance": st.sampled_from(["half", "up to half"]),
        "dealer": st.sampled_from(["stand 17", "hit soft 17", "hit 17 with an ace", "hit 17"]),
        "deal": st.sampled_from(["seats first", "dealer first"]),
        "charlie": flags,
    },
)

vegas_houses = st.fixed_dictionaries(
    {},
    optional={
        "decks": st.integers(1, 8),
        "penetration": st.integers(1, 100),
        "dealer": st.sampled_from(["stand 17", "hit soft 17", "hit 17 with an ace", "hit 17"]),
        "double": st.sampled_from(["always", "10-11"]),
        "double_after_split": flags,
        "split_cards": st.sampled_from(["as played", "both first"]),
        "split_aces": st.sampled_from(["play on", "one card"]),
        "split_21": st.sampled_from(["twenty-one", "natural"]),
        "insurance_on_natural": flags,
        "natural_pays": pays,
    },
)
"""What a sysop may write under [games.vegas]."""

presets = st.sampled_from(PRESETS)

tables = st.one_of(
    presets,
    st.builds(lambda base, changes: replace(base, **changes), presets, variations),
    houses.map(lambda house: rules_from_mapping(house, BLACK_JACK_FOR_TIME)),
)
"""The rules of the three games as they are, with anything in them changed, and as a sysop may."""

bets = st.lists(stakes, min_size=1, max_size=7)
"""What each seat stakes, one to seven of them."""


def long_shoes() -> st.SearchStrategy[tuple[Card, ...]]:
    """Shoes for any round of seven seats: a decisive top, then many decks.

    A card may appear twice, as in a shuffle of several decks.
    """
    tops = st.lists(st.sampled_from(_TELLING), max_size=40)
    return st.builds(
        lambda top, rest: (*top, *(rest * 7)),
        tops,
        st.permutations(deck(1)),
    )
