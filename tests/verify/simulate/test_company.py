"""A short story of callers in company, and faults in what they do there that it must find."""

from __future__ import annotations

import pytest

from verify.simulate import faults
from verify.simulate.__main__ import play
from verify.simulate.wrong import Wrong

# Somebody is killed in it, muted, written to, and has played the deal.
SEED, STEPS, PEOPLE = 11, 60, 16


def test_the_deal_goes_on_where_it_was_and_every_message_arrives_once() -> None:
    story, error = play(SEED, STEPS, PEOPLE, company=True)
    assert error is None, "\n".join([*story.told[-20:], str(error)])
    assert story.number == STEPS
    for what in ("deals sealed", "decisions at the deal", "hands of the deal seen"):
        assert story.counted[what], what
    for what in ("messages taken", "messages said to be taken", "messages seen"):
        assert story.counted[what], what
    assert story.counted["killed"]
    assert story.counted["mute_or_let_speak"]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("shows_the_seed_of_an_open_deal", "is shown of a shoe that is open"),
        ("tells_again_and_again", "twice"),
    ],
)
def test_a_fault_in_company_is_found(fault: str, words: str) -> None:
    with faults.put_in(fault):
        _story, error = play(SEED, STEPS, PEOPLE, company=True)
    assert isinstance(error, Wrong)
    assert words in str(error)
