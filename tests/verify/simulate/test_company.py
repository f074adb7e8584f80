"""Short stories of callers with company, and faults in it that must be detected."""

from __future__ import annotations

from collections import Counter

import pytest

from verify.simulate import faults
from verify.simulate.__main__ import play
from verify.simulate.wrong import Wrong

pytestmark = pytest.mark.long

STEPS, PEOPLE = 60, 16
MOST_SEEDS = 100
WHAT = (
    *("deals sealed", "world deals", "decisions at the deal", "hands of the deal seen"),
    *("entries", "tournaments settled", "messages taken", "messages said to be taken"),
    *("duels won", "duels in time", "duels declined", "duels expired"),
    "_looks at uncharged minutes",
)


def test_deals_resume_and_every_message_and_prize_arrives_once() -> None:
    counted = Counter[str]()
    for seed in range(1, MOST_SEEDS + 1):
        story, error = play(seed, STEPS, PEOPLE, company=True)
        assert error is None, "\n".join([*story.told[-20:], str(error)])
        assert story.number == STEPS
        counted += story.counted
        if all(counted[what] for what in WHAT):
            return
    pytest.fail(f"nothing of {[what for what in WHAT if not counted[what]]}")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("shows_the_seed_of_an_open_deal", "is shown of a shoe that is open"),
        ("keeps_messages_twice", "comes twice"),
    ],
)
def test_a_fault_with_company_is_detected(fault: str, words: str) -> None:
    for seed in range(1, MOST_SEEDS + 1):
        with faults.put_in(fault):
            _story, error = play(seed, STEPS, PEOPLE, company=True)
        if isinstance(error, Wrong):
            assert words in str(error)
            return
    pytest.fail(f"{fault} is not found")
