"""A step of a round settles exactly the bets decided since the step before."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from door.games.engine.game import Totals
from door.games.engine.journaled import settlement_of
from timebank.wagers.rounds import Settlement

KIND = SimpleNamespace(
    totals=lambda round_, seat: round_.totals,
    outcome=lambda round_, seat: "win",
    result=lambda round_, seat: {"cards": "AS KD"},
)


def at(lost: int, returned: int, won: int, *, over: bool = False) -> SimpleNamespace:
    """Return a round with these bets settled."""
    return SimpleNamespace(totals=Totals(180, lost, returned, won), over=over)


@pytest.mark.parametrize(
    ("before", "moved"),
    [
        (None, (30, 150, 240)),
        (at(0, 0, 0), (30, 150, 240)),
        (at(30, 0, 0), (0, 150, 240)),
        (at(30, 60, 90), (0, 90, 150)),
    ],
)
def test_the_last_step_settles_the_remaining_bets(before, moved):
    settlement = settlement_of(KIND, before, at(30, 150, 240, over=True), 0)
    assert settlement == Settlement(*moved, "win", {"cards": "AS KD"}, True)


def test_a_step_in_mid_hand_settles_a_part_without_an_outcome():
    settlement = settlement_of(KIND, at(0, 60, 90), at(30, 60, 150), 0)
    assert settlement == Settlement(30, 0, 60, "", {}, False)


def test_a_step_that_brings_nothing_settles_nothing():
    assert settlement_of(KIND, at(0, 60, 90), at(0, 60, 90), 0) is None
