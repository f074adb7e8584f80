"""The best play by totals against all tables of totals, from shoes of three values."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, UNIX_BJ, VEGAS, rules_from_mapping
from door.games.registry import GAMES
from door.games.solver.blackjack import Matchup
from door.games.solver.cache import odds_of
from door.games.solver.hand_list import Total, every_hand
from door.games.solver.hand_tree import HandTree, UpCard
from tests.door.games.solver.every_deal import CHOICES

SEEDS = (*range(16), 209, 408)  # the last two have entries that are disputed to the end
ENTRIES = 13
CLOSE = 1e-12


def test_two_decks_where_ties_push() -> None:
    """The best table was found by going through all of them, without this program."""
    game = GAMES["black-jack-for-time"]
    rules = rules_from_mapping({"ties": "push", "decks": 2}, BLACK_JACK_FOR_TIME)
    totals = odds_of(game, rules).strategies["totals"].mean
    assert totals * 100 == pytest.approx(7.6329, abs=0.00005)


def tables(totals: set[Total]) -> Iterator[set[Total]]:
    """Every set of totals."""
    for chosen in product((False, True), repeat=len(totals)):
        yield {total for total, is_in in zip(sorted(totals), chosen, strict=True) if is_in}


class Playing:
    """The gains of tables under one up card, hand by hand."""

    def __init__(self, matchup: Matchup) -> None:
        self.matchup, self.main, self.hands = matchup, matchup.main, matchup.hands
        self.firsts = dict(matchup.decided_roots())
        self.halves = {
            value: matchup.half(value)
            for place, value in matchup.pairs.items()
            if self.main.clear[place]
        }
        for half in self.halves.values():
            half.weigh(half.places)
        self.doubled = {
            (tree, place): tree.doubled(place)
            for tree in (self.main, *self.halves.values())
            for place in (self.firsts if tree is self.main else tree.seconds)
            if tree.final_kinds[place] is None
            and matchup.may_double(place, from_split=tree is not self.main)
        }

        self.may_hit = {
            self.hands.totals[place]
            for place in self.main.places
            if self.main.final_kinds[place] is None and self.hands.cards[place].cards > 1
        }
        self.may_double = {self.hands.totals[place] for _, place in self.doubled}

    def best(self) -> float:
        return max(
            self.gain(worth, doubling)
            for hitting in tables(self.may_hit)
            for worth in [self.worth(hitting)]
            for doubling in tables(self.may_double)
        )

    def worth(self, hitting: set[Total]) -> dict[HandTree, list[float]]:
        hits = [total in hitting for total in self.hands.totals]
        return {tree: tree.worth(hits) for tree in (self.main, *self.halves.values())}

    def gain(
        self,
        worth: dict[HandTree, list[float]],
        doubling: set[Total],
        splits: set[int] | None = None,
    ) -> float:
        """Return the gain of a table that splits these pairs, or the profitable ones."""

        def played(tree: HandTree, place: int) -> float:
            doubles = (tree, place) in self.doubled and self.hands.totals[place] in doubling
            return self.doubled[tree, place] if doubles else worth[tree][place]

        gain = 0.0
        for place, times in self.firsts.items():
            unsplit = times * played(self.main, place)
            value = self.matchup.pairs.get(place)
            half = self.halves.get(value) if value is not None else None
            if half is None:
                gain += unsplit
                continue
            split = 2 * sum(played(half, second) for second in half.seconds)
            if splits is None:
                gain += max(split, unsplit)
            else:
                gain += split if value in splits else unsplit
        return gain


BASES = (BLACK_JACK_FOR_TIME, VEGAS, UNIX_BJ)


def drawn(seed: int) -> Playing:
    """Draw rules, a shoe and an up card with few enough tables to try all."""
    lot = random.Random(seed)
    while True:
        keys: Any = {
            key: lot.choice(values) for key, values in CHOICES.items() if lot.random() < 0.3
        }
        keys["split"] = ("never", "once")[seed % 2]
        rules = replace(lot.choice(BASES), **keys)
        places = lot.sample(range(10), 3)
        shoe = tuple(lot.randint(4, 8) if place in places else 0 for place in range(10))
        up = UpCard(rules, shoe, 1 + lot.choice(places))
        playing = Playing(Matchup(every_hand(rules, shoe), up))
        if len(playing.may_hit) > 4 and len(playing.may_hit) + len(playing.may_double) <= ENTRIES:
            return playing


@pytest.mark.parametrize("seed", SEEDS)
def test_no_table_of_totals_gains_more(seed: int) -> None:
    playing = drawn(seed)
    play, totals = playing.matchup.by_totals(), playing.hands.totals
    hitting = {total for total, hits in zip(totals, play.hits, strict=True) if hits}
    doubling = {totals[place] for place in play.doubles.union(*play.half_doubles.values())}
    gained = playing.gain(playing.worth(hitting), doubling, play.splits)
    assert gained == pytest.approx(playing.best(), abs=CLOSE)
