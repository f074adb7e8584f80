"""An evening at a table: how much a caller has after so many turns, and what the house pays.

A caller bets the same every turn, or what the pot still allows, plays as it is best, and doubles
or splits where the pot allows that too: the last coin is never staked. What a win brings past the
next event is cut off. No time ticks away: it would take from the pot and from the room before the
event alike.

A state is counted in half minutes, for a table pays half coins; results are minutes.
"""

from __future__ import annotations

import cmath
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

MINUTE = 2
"""In half minutes."""

Nets = Sequence[Mapping[float, float]]
"""`Odds.purses`."""

_MISSED = 1e-12  # of all evenings of a house
_UNHEARD_OF = 1e-20  # what is less likely is left out: all of it together is less than 1e-12

State = tuple[int, int]
"""What a caller has to play with, and what was cut off."""


@dataclass(frozen=True)
class Plan:
    """What is played: coins of so many minutes. `pot` is what the caller comes with, `event` how
    many minutes there are before the next event, None where none is to come."""

    turns: int
    pot: int
    bet: int
    smallest_bet: int = 1
    coin_minutes: int = 1
    event: int | None = None

    @property
    def coin(self) -> int:
        """In half minutes."""
        return self.coin_minutes * MINUTE

    @property
    def playable(self) -> int:
        """What of the pot an event leaves; the rest is held until it is over."""
        pot = self.pot * self.coin
        return pot if self.event is None else min(pot, self.event * MINUTE)

    def bet_of(self, pot: int) -> int:
        """What is bet out of this, in coins; 0 when it is too little for the smallest bet."""
        most = min(self.bet, pot // self.coin - 1)
        return most if most >= self.smallest_bet else 0

    def may_add(self, pot: int, bet: int) -> int:
        """How many more bets the pot allows, the last coin left."""
        return (pot - self.coin) // (bet * self.coin) - 1

    def after(self, state: State, bet: int, gain: float) -> State:
        """What a bet of so many coins leaves that wins `gain` for each of them."""
        pot, cut = state
        pot += _whole(gain * bet * self.coin)
        surplus = 0 if self.event is None else max(0, pot - self.event * MINUTE)
        return pot - surplus, cut + surplus


@dataclass(frozen=True)
class Ends:
    """What comes of what a caller has: in minutes, above what they came with."""

    mean: float
    sd: float
    doubled: float  # the chance of twice as much or more
    chances: Mapping[float, float] = field(repr=False)


@dataclass(frozen=True)
class House:
    """What the house wins of some callers, who each play by themselves: in minutes."""

    callers: int
    mean: float
    sd: float
    pays_in_20: float  # at least so much in one evening of 20
    pays_in_100: float


@dataclass(frozen=True)
class Evening:
    plan: Plan
    states: Mapping[State, float]

    def result(self, *, banked: bool) -> Ends:
        """What is left of it: with what was cut off, where that is banked, or without."""
        chances: dict[float, float] = defaultdict(float)
        for (pot, cut), chance in self.states.items():
            chances[(pot + cut * banked - self.plan.playable) / MINUTE] += chance
        mean = _mean(chances)
        square = math.fsum((gain - mean) ** 2 * chance for gain, chance in chances.items())
        pot = self.plan.pot * self.plan.coin_minutes
        doubled = math.fsum(chance for gain, chance in chances.items() if gain >= pot)
        return Ends(mean, math.sqrt(square), doubled, dict(sorted(chances.items())))

    @property
    def ruined(self) -> float:
        """The chance that nothing more can be bet."""
        return math.fsum(
            chance for (pot, _), chance in self.states.items() if not self.plan.bet_of(pot)
        )

    @property
    def cut(self) -> float:
        """The minutes that are cut off on average."""
        return math.fsum(cut * chance for (_, cut), chance in self.states.items()) / MINUTE

    @property
    def cutting(self) -> float:
        """The chance that something is cut off."""
        return math.fsum(chance for (_, cut), chance in self.states.items() if cut)


def evening(nets: Nets, plan: Plan) -> Evening:
    """Go through the turns with every pot there may be."""
    states: dict[State, float] = {(plan.playable, 0): 1.0}
    for _ in range(plan.turns):
        after: dict[State, float] = defaultdict(float)
        for state, chance in states.items():
            bet = plan.bet_of(state[0])
            if not bet:
                after[state] += chance
                continue
            for gain, share in nets[min(plan.may_add(state[0], bet), len(nets) - 1)].items():
                after[plan.after(state, bet, gain)] += chance * share
        states = {state: chance for state, chance in after.items() if chance > _UNHEARD_OF}
    return Evening(plan, states)


def house(result: Ends, callers: int) -> House:
    """What the house has of callers who each end like this, whatever the others do."""
    gains = {_whole(gain * MINUTE): chance for gain, chance in result.chances.items()}
    least = min(gains)
    step = math.gcd(*(gain - least for gain in gains)) or 1
    chances = [0.0] * ((max(gains) - least) // step + 1)
    for gain, chance in gains.items():
        chances[(gain - least) // step] = chance
    first, together = _added(chances, callers)
    paid = [
        (least * callers + step * place) / MINUTE for place in range(first, first + len(together))
    ]
    return House(
        callers,
        -result.mean * callers,
        result.sd * math.sqrt(callers),
        _at_least(paid, together, 1 / 20),
        _at_least(paid, together, 1 / 100),
    )


def _at_least(amounts: Sequence[float], chances: Sequence[float], share: float) -> float:
    """The most that as much or more is reached of with a chance of `share`."""
    above = accumulate(reversed(chances))
    place = next(number for number, chance in enumerate(above) if chance >= share)
    return amounts[-1 - place]


def _added(chances: Sequence[float], times: int) -> tuple[int, list[float]]:
    """How often a sum comes of so many that each come like this, and which sum is the first of
    those. By a power of the transform, over those sums that nearly all are among: what is not,
    `_MISSED` at most, is counted as others, and rounding is less."""
    first, last = _nearly_all(chances, times)
    size = 1 << (last - first).bit_length()
    around = [0.0] * size
    for place, chance in enumerate(chances):
        around[place % size] += chance
    powers = [wave**times for wave in _transform(around, 1)]
    sums = [max(0.0, each.real / size) for each in _transform(powers, -1)]
    return first, [sums[place % size] for place in range(first, last + 1)]


def _nearly_all(chances: Sequence[float], times: int) -> tuple[int, int]:
    """Between which sums all but `_MISSED` of them are."""
    top = (len(chances) - 1) * times
    return top - _nearly_most(chances[::-1], times), _nearly_most(chances, times)


def _nearly_most(chances: Sequence[float], times: int) -> int:
    """A sum that is passed with less than half of `_MISSED`, by Chernoff's bound: for any tilt, the
    chance to be above a sum is at most the mean of exp(tilt * (what it comes to - that sum))."""
    most = len(chances) - 1
    bound = most * times
    for tilt in (2.0**power / len(chances) for power in range(-8, 6)):
        mean = math.fsum(
            chance * math.exp(tilt * (place - most)) for place, chance in enumerate(chances)
        )
        above = times * most + (times * math.log(mean) - math.log(_MISSED / 2)) / tilt
        bound = min(bound, math.ceil(above))
    return bound


def _transform(values: Sequence[complex], sign: int) -> list[complex]:
    """The Fourier transform of a list whose length is a power of two; with -1 the way back, times
    the length."""
    size = len(values)
    if size == 1:
        return list(values)
    turns = [cmath.exp(sign * 2j * math.pi * place / size) for place in range(size // 2)]
    bits = size.bit_length() - 1
    found = [values[int(f"{place:0{bits}b}"[::-1], 2)] for place in range(size)]
    half = 1
    while half < size:
        step = turns[:: size // (2 * half)]
        for start in range(0, size, 2 * half):
            low = found[start : start + half]
            high = [
                each * turn
                for each, turn in zip(found[start + half : start + 2 * half], step, strict=True)
            ]
            found[start : start + half] = [a + b for a, b in zip(low, high, strict=True)]
            found[start + half : start + 2 * half] = [a - b for a, b in zip(low, high, strict=True)]
        half *= 2
    return found


def _mean(chances: Mapping[float, float]) -> float:
    return math.fsum(gain * chance for gain, chance in chances.items())


def _whole(amount: float) -> int:
    """An amount that no table splits further."""
    whole = round(amount)
    if whole != amount:
        raise ValueError(f"not half minutes: {amount}")
    return whole
