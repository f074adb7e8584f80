"""Samples of each game for robots and fuzzers, which know no rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Samples(NamedTuple):
    """Samples of one game.

    `hands` are finished hands in the form of `door replay`. `habits` map words of a question to the
    weight of each letter. `taste` is the weight of the game for robots that prefer another one.
    """

    hands: tuple[Mapping[str, Any], ...]
    habits: Mapping[str, Mapping[str, int]]
    taste: int = 5


_BET_TEN = {"game": "black-jack-for-time", "stake": 10, "shoe": "3H JS TH 3D 5C 9D"}
_AT_VEGAS = {"B": 20, "A": 25, "H": 8, "S": 12, "D": 4, "P": 4, "K": 2, "R": 1, "C": 1, "T": 1}
_RED_DOG = {"game": "red-dog", "stake": 10}

SAMPLES: Mapping[str, Samples] = {
    "black-jack-for-time": Samples(
        hands=(
            {**_BET_TEN, "rules": {}, "actions": ["hit", "hit"]},
            {**_BET_TEN, "stake": 2.5, "shoe": "TS 9D KS 8C", "actions": ["stay"]},
            {**_BET_TEN, "actions": ["double"]},
        ),
        habits={
            "<B>et": {"B": 80, "R": 1, "F": 3, "C": 1, "U": 1, "T": 2, "Q": 4},
            "<H>it": {"H": 40, "S": 45, "D": 12, "P": 10},
        },
    ),
    "baccarat": Samples(
        hands=(
            {"game": "baccarat", "stake": 100, "shoe": "2H 3S 3D 2C 9D 8H", "actions": ["card"]},
        ),
        habits={
            "<S>hoe": {"B": 70, "M": 4, "L": 3, "S": 2, "C": 1, "R": 1, "F": 3, "T": 2, "Q": 4},
            "<S>abot": {"B": 70, "M": 4, "L": 5, "S": 2, "C": 1, "R": 1, "F": 3, "T": 2, "Q": 4},
        },
    ),
    "unix-bj": Samples(
        hands=(
            {
                "game": "unix-bj",
                "stake": 2,
                "shoe": "AS AD 8H 8C TD 9C 5S 6D 2C 3C",
                "actions": ["insurance:1", "split", "hit", "stay"],
            },
        ),
        habits={"<P>lay": {"P": 60, "M": 2, "F": 4, "Q": 15}},
    ),
    "vegas": Samples(
        hands=(
            {
                "game": "vegas",
                "seats": [{"stake": 1}, {"stake": 0.5}],
                "shoe": "TS 9D KS 8C 8H 7D 5C 6S 2D 3D 4H",
                "actions": ["1:stay", "2:hit"],
            },
        ),
        habits={"Tal<k>": _AT_VEGAS},
        taste=2,
    ),
    "red-dog": Samples(
        hands=(
            {**_RED_DOG, "shoe": "5H 9S 7D", "actions": ["raise"]},
            {**_RED_DOG, "shoe": "2H AS AD", "rules": {"decks": 6}, "actions": ["stay"]},
            {**_RED_DOG, "shoe": "7H 7S 7D", "actions": []},
            {**_RED_DOG, "stake": 0.5, "shoe": "KH AS", "actions": []},
        ),
        habits={"<R>aise": {"R": 30, "S": 40}},
    ),
}
