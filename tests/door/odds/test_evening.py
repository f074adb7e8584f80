"""Evenings: against every way that a few turns may go, against the bank, and against sums."""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from door.games.engine.cards import deck
from door.games.engine.game import Act
from door.games.registry import GAMES
from door.odds.evening import Evening, Plan, evening, house
from door.odds.keeping import odds_of
from tests.timebank.books import Books
from timebank.wagers.rounds import Settlement

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


def test_a_thousand_callers_are_nearly_a_bell() -> None:
    result = evening(NETS, Plan(turns=5, pot=20, bet=2)).result(banked=True)
    found = house(result, 1000)
    assert found.sd == pytest.approx(result.sd * math.sqrt(1000))
    assert found.pays_in_20 == pytest.approx(-found.mean + 1.6449 * found.sd, rel=0.02)
    assert found.pays_in_100 == pytest.approx(-found.mean + 2.3263 * found.sd, rel=0.02)


def test_what_no_table_pays_is_no_evening() -> None:
    with pytest.raises(ValueError, match="not half minutes"):
        evening(({-1.0: 0.5, 0.3: 0.5},), Plan(turns=1, pot=9, bet=1))


# Against the bank: rounds of the game itself, staked and settled in real books.


@pytest.fixture
def laid(tmp_path: Path) -> Iterator[Callable[..., Books]]:
    opened: list[Books] = []

    def lay(**changes: Any) -> Books:
        opened.append(Books(tmp_path / str(len(opened)), **changes))
        return opened[-1]

    yield lay
    for each in opened:
        each.close()


@pytest.mark.parametrize("mode", ["built-in", "none"])
@pytest.mark.parametrize("seed", range(6))
def test_an_evening_at_the_bank_goes_as_it_is_reckoned(
    laid: Callable[..., Books], mode: str, seed: int
) -> None:
    drawn = random.Random(seed)
    books = laid(mode=mode)
    event = drawn.choice([25, 60, 80])
    first = books.now.replace(hour=3) + timedelta(days=1)
    books.wait_until(first - timedelta(minutes=event))
    call = books.call(books.caller("Ann"))
    plan = Plan(turns=12, pot=60, bet=drawn.choice([3, 10]), event=event)
    state = plan.playable, 0
    for _ in range(plan.turns):
        bet = plan.bet_of(state[0])
        if not bet:
            break
        gain = _round(call, bet, plan.may_add(state[0], bet), drawn)
        state = plan.after(state, bet, gain / (bet * 60))
        purse = call.purse
        assert purse.online * 2 == state[0] * 60
        assert purse.stake == 0
        assert purse.bank * 2 == (state[1] * 60 if mode == "built-in" else 0)
        assert purse.held == max(0, 60 - event) * 60
    forfeited = books.system().get("forfeit", 0)
    assert forfeited * 2 == (state[1] * 60 if mode == "none" else 0)
    assert books.audit() == []


def _round(call: Any, bet: int, more: int, drawn: random.Random) -> int:
    """Play a round at hazard, its double where the pot allows one; return the seconds it wins."""
    cards = list(deck(1))
    drawn.shuffle(cards)
    stake = bet * 60
    round_, _ = BJFT.kind.deal({}, cards, [stake], 1)
    call.bet(stake)
    staked = stake
    while not round_.over:
        open_words = list(BJFT.kind.open_words(round_))
        if more < 1 and "double" in open_words:
            open_words.remove("double")
        if "insurance" in open_words:
            open_words.remove("insurance")
        word = drawn.choice(open_words)
        if "double" in open_words:
            word = "double"
        round_, _ = BJFT.kind.act(round_, Act(word))
        totals = BJFT.kind.totals(round_, 0)
        added, staked = totals.staked - staked, totals.staked
        if round_.over:
            call.act(_settlement(totals), stake=added, kind="double" if added else "")
            return int(totals.won - totals.lost)
        call.act(stake=added, kind="double" if added else "")
    totals = BJFT.kind.totals(round_, 0)
    call.act(_settlement(totals))
    return int(totals.won - totals.lost)


def _settlement(totals: Any) -> Settlement:
    return Settlement(totals.lost, totals.returned, totals.won, "over", {}, True)


def test_nothing_is_lost_of_all_evenings() -> None:
    found: Evening = evening(
        odds_of(BJFT, BJFT.kind.base).purses, Plan(turns=20, pot=60, bet=10, event=60)
    )
    assert math.fsum(found.states.values()) == pytest.approx(1, abs=CLOSE)
    with_bank, without = (found.result(banked=banked) for banked in (True, False))
    assert with_bank.mean - without.mean == pytest.approx(found.cut)
    assert without.doubled == 0
