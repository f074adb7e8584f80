"""Short stories of callers who use the bank over midnights, and a fault in what is left to them."""

from __future__ import annotations

from collections import Counter

import pytest

from verify.simulate.__main__ import found, play

STEPS, PEOPLE = 60, 16
MOST_SEEDS = 100
WHAT = (
    *(f"_{way}s of savers" for way in ("deposit", "withdraw", "borrow", "repay")),
    "_days ended with a frozen account and earnings",
    "_days ended with a stake of two days before",
)


def test_what_callers_earned_is_theirs_whatever_else_they_do_at_the_bank() -> None:
    story, error = play(1, STEPS, PEOPLE, savers=True)
    assert error is None, "\n".join([*story.told[-20:], str(error)])
    assert story.number == STEPS


@pytest.mark.long
def test_savers_do_all_that_the_rules_of_what_is_earned_are_about() -> None:
    counted = Counter[str]()
    for seed in range(1, MOST_SEEDS + 1):
        story, error = play(seed, STEPS, PEOPLE, savers=True)
        assert error is None, "\n".join([*story.told[-20:], str(error)])
        counted += story.counted
        if all(counted[what] for what in WHAT):
            return
    pytest.fail(f"nothing of {[what for what in WHAT if not counted[what]]}")


@pytest.mark.long
def test_a_fault_in_what_is_earned_is_found() -> None:
    assert found("banks_what_a_frozen_caller_earned", None)
