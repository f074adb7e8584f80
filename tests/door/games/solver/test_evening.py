"""Evenings: against every way that a few turns may go, against the bank, and against sums."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import pytest

from door.games.registry import GAMES
from door.games.solver.cache import odds_of
from door.games.solver.evening import Plan, evening, house

CLOSE = 1e-12
BJFT = GAMES["black-jack-for-time"]

# What a caller wins who can add no bet, one, two, or three. Not odds of any game.
NETS = (
    {-1.0: 0.5, 0.0: 0.125, 1.5: 0.375},
    {-2.0: 0.25, -1.0: 0.25, 1.0: 0.25, 1.5: 0.25},
    {-2.0: 0.5, 2.0: 0.5},
    {-4.0: 0.25, -1.0: 0.25, 1.5: 0.25, 4.0: 0.25},
)


def every_way(plan: Plan) -> dict[tuple[Fraction, Fraction], Fraction]:
    """How likely each pot is at the end and what was cut off, in minutes: every gain of every turn
    is tried, and each evening played with whole minutes by what docs/rules.md says of a bet."""
    found: dict[tuple[Fraction, Fraction], Fraction] = defaultdict(Fraction)
    places = range(max(map(len, NETS)))
    for ways in itertools.product(places, repeat=plan.turns):
        for state, chance in _played(plan, ways):
            found[state] += chance
    return dict(found)


def _played(
    plan: Plan, ways: tuple[int, ...]
) -> Iterator[tuple[tuple[Fraction, Fraction], Fraction]]:
    coin = Fraction(plan.coin_minutes)
    pot, cut, chance = plan.pot * coin, Fraction(0), Fraction(1)
    if plan.event is not None:
        pot = min(pot, Fraction(plan.event))
    for way in ways:
        stake = min(Fraction(plan.bet), (pot - coin) // coin) * coin
        if stake < plan.smallest_bet * coin:
            if way:  # nothing is dealt, so one way is all
                return
            continue
        left = pot - stake
        added = 0
        while left - stake >= coin and added < 3:
            left -= stake
            added += 1
        gains = list(NETS[added].items())
        if way >= len(gains):
            return
        gain, share = gains[way]
        chance *= Fraction(share)
        pot += Fraction(gain) * stake
        if plan.event is not None and pot > plan.event:
            cut += pot - plan.event
            pot = Fraction(plan.event)
    yield (pot, cut), chance


@pytest.mark.parametrize(
    "plan",
    [
        Plan(turns=4, pot=7, bet=2),
        Plan(turns=4, pot=20, bet=3, smallest_bet=2, event=24),
        Plan(turns=4, pot=6, bet=4, smallest_bet=3, coin_minutes=5, event=31),
        Plan(turns=3, pot=9, bet=2, coin_minutes=7, event=20),
        Plan(turns=3, pot=1, bet=1),
        Plan(turns=2, pot=9, bet=1, event=0),
    ],
    ids=str,
)
def test_an_evening_is_every_way_that_it_may_go(plan: Plan) -> None:
    found = evening(NETS, plan)
    wanted = every_way(plan)
    assert {(pot / 2, cut / 2) for pot, cut in found.states} == set(wanted)
    for (pot, cut), chance in found.states.items():
        assert chance == pytest.approx(float(wanted[Fraction(pot, 2), Fraction(cut, 2)]), abs=CLOSE)

    begins = plan.pot * plan.coin_minutes
    playable = begins if plan.event is None else min(begins, plan.event)
    for banked in (True, False):
        gains = [(pot + cut * banked - playable, chance) for (pot, cut), chance in wanted.items()]
        mean = sum(gain * chance for gain, chance in gains)
        square = sum((gain - mean) ** 2 * chance for gain, chance in gains)
        result = found.result(banked=banked)
        assert result.mean == pytest.approx(float(mean), abs=CLOSE)
        assert result.sd == pytest.approx(math.sqrt(square), abs=CLOSE)
        doubled = sum(chance for gain, chance in gains if gain >= begins)
        assert result.doubled == pytest.approx(float(doubled), abs=CLOSE)
    ruined = sum(
        chance
        for (pot, _), chance in wanted.items()
        if pot < (plan.smallest_bet + 1) * plan.coin_minutes
    )
    assert found.ruined == pytest.approx(float(ruined), abs=CLOSE)
    mean_cut = sum(cut * chance for (_, cut), chance in wanted.items())
    assert found.cut == pytest.approx(float(mean_cut), abs=CLOSE)
    cutting = sum(chance for (_, cut), chance in wanted.items() if cut)
    assert found.cutting == pytest.approx(float(cutting), abs=CLOSE)


def test_one_turn_of_a_large_pot_is_the_table_s_own_edge() -> None:
    odds = odds_of(BJFT, BJFT.kind.base)
    found = evening(odds.purses, Plan(turns=1, pot=60, bet=10)).result(banked=True)
    perfect = odds.strategies["perfect"]
    assert found.mean == pytest.approx(10 * perfect.mean, abs=CLOSE)
    assert found.sd == pytest.approx(10 * perfect.sd, abs=1e-10)


def test_whoever_cannot_add_to_a_bet_gains_less() -> None:
    for name in ("black-jack-for-time", "unix-bj", "vegas"):
        purses = odds_of(GAMES[name], GAMES[name].kind.base).purses
        means = [sum(gain * chance for gain, chance in net.items()) for net in purses]
        assert means == sorted(means)
        assert means[0] < means[-1]
        assert [sum(net.values()) for net in purses] == pytest.approx([1] * len(purses), abs=CLOSE)


@pytest.mark.parametrize("callers", [2, 3, 5])
def test_the_house_s_worst_evenings_are_counted_out(callers: int) -> None:
    result = evening(NETS, Plan(turns=2, pot=9, bet=2, event=11)).result(banked=True)
    sums: dict[float, float] = {0.0: 1.0}
    for _ in range(callers):
        after: dict[float, float] = defaultdict(float)
        for (total, chance), (gain, share) in itertools.product(
            sums.items(), result.chances.items()
        ):
            after[total + gain] += chance * share
        sums = after
    found = house(result, callers)
    assert found.mean == pytest.approx(-sum(total * chance for total, chance in sums.items()))
    for share, paid in ((20, found.pays_in_20), (100, found.pays_in_100)):
        reached = [
            total
            for total in sums
            if sum(chance for other, chance in sums.items() if other >= total) >= 1 / share
        ]
        assert paid == max(reached)


def test_what_no_table_pays_is_no_evening() -> None:
    with pytest.raises(ValueError, match="not half minutes"):
        evening(({-1.0: 0.5, 0.3: 0.5},), Plan(turns=1, pot=9, bet=1))


# Against the bank: rounds of the game itself, staked and settled in real books.
