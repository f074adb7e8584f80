"""Short stories of callers who use the bank over midnights, and a fault in their earnings."""

from __future__ import annotations

from collections import Counter

import pytest

from verify.simulate.__main__ import detect, play

STEPS, PEOPLE = 60, 16
MOST_SEEDS = 100
WHAT = (
    *(f"_{way}s of savers" for way in ("deposit", "withdraw", "borrow", "repay")),
    "_days ended with a frozen account and earnings",
    "_days ended with a stake of two days before",
)


def test_earnings_stay_the_callers_through_every_act_at_the_bank() -> None:
    story, error = play(1, STEPS, PEOPLE, savers=True)
    assert error is None, "\n".join([*story.told[-20:], str(error)])
    assert story.number == STEPS


@pytest.mark.long
def test_savers_try_every_rule_about_earnings() -> None:
    counted = Counter[str]()
    for seed in range(1, MOST_SEEDS + 1):
        story, error = play(seed, STEPS, PEOPLE, savers=True)
        assert error is None, "\n".join([*story.told[-20:], str(error)])
        counted += story.counted
        if all(counted[what] for what in WHAT):
            return
    pytest.fail(f"nothing of {[what for what in WHAT if not counted[what]]}")


@pytest.mark.long
def test_a_fault_in_earnings_is_detected() -> None:
    assert detect("banks_what_a_frozen_caller_earned", None)
