"""Short stories of callers who use the bank over midnights, and a fault in what is left to them."""

from __future__ import annotations

from collections import Counter

import pytest

from verify.simulate.__main__ import found, play

STEPS, PEOPLE = 60, 16
FIRST, MOST_SEEDS = 124, 6  # the first has all of it, as long as no prompt changes
WHAT = (
    *(f"_{way}s of savers" for way in ("deposit", "withdraw", "borrow", "repay")),
    "_days ended with a frozen account and earnings",
    "_days ended with a stake of two days before",
)


def test_what_callers_earned_is_theirs_whatever_else_they_do_at_the_bank() -> None:
    counted = Counter[str]()
    for seed in range(FIRST, FIRST + MOST_SEEDS):
        story, error = play(seed, STEPS, PEOPLE, savers=True)
        assert error is None, "\n".join([*story.told[-20:], str(error)])
        assert story.number == STEPS
        counted += story.counted
        if all(counted[what] for what in WHAT):
            return
    pytest.fail(f"nothing of {[what for what in WHAT if not counted[what]]}")


def test_a_fault_in_what_is_earned_is_found() -> None:
    assert found("banks_what_a_frozen_caller_earned", None)
