"""A short slice of the simulation with its books on a server, and a fault that it must find."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.timebank.cluster import Cluster
from tests.timebank.conftest import cluster
from verify.simulate.__main__ import found, play
from verify.simulate.story import Story

__all__ = ["cluster"]

# A seed in which processes are killed, and a connection breaks in a COMMIT that counts.
SEED, STEPS, PEOPLE = 129, 60, 12

# In company: the first seed has all of it, as long as no prompt changes.
FIRST, MOST_SEEDS = 9, 6
IN_COMPANY = ("decisions at the deal", "entries", "messages taken")


@pytest.fixture(scope="module")
def story(cluster: Cluster) -> Story:
    story, error = play(SEED, STEPS, PEOPLE, cluster=cluster)
    assert error is None, "\n".join([*story.told[-20:], str(error)])
    return story


def test_nothing_told_is_untrue_whatever_befalls_the_server(story: Story) -> None:
    assert story.number == STEPS
    assert story.watch.kinds.total() > 20
    for what in ("killed", "COMMITs broken after they counted", "COMMITs looked up", "audit"):
        assert story.counted[what], what


def test_a_seed_tells_the_same_story_again(story: Story, cluster: Cluster) -> None:
    again, error = play(SEED, STEPS, PEOPLE, cluster=cluster)
    assert error is None
    assert again.told == story.told
    assert again.shelf.hexdigest() == story.shelf.hexdigest()


def test_nor_is_anything_that_callers_in_company_are_told(cluster: Cluster) -> None:
    counted = Counter[str]()
    for seed in range(FIRST, FIRST + MOST_SEEDS):
        story, error = play(seed, 40, 10, cluster=cluster, company=True)
        assert error is None, "\n".join([*story.told[-20:], str(error)])
        counted += story.counted
        if all(counted[what] for what in IN_COMPANY):
            return
    pytest.fail(f"nothing of {[what for what in IN_COMPANY if not counted[what]]}")


def test_a_commit_that_is_guessed_is_found(cluster: Cluster) -> None:
    assert found("guesses_that_a_broken_commit_is_there", None, cluster)
