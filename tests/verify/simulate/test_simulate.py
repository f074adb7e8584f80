"""A short slice of the simulation, always the same; and some faults that it must find."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from unittest import mock

import pytest

from door.errors import CannotJoin
from tests.long import long
from timebank.errors import BooksUnavailable
from verify.simulate import evening, faults
from verify.simulate.__main__ import detect, play
from verify.simulate.life import Process
from verify.simulate.story import Story
from verify.simulate.world import Undone, World

STEPS, PEOPLE = 60, 30
SEEDS = (23, 24, 16)  # none of them has idle hours, in which every second is simulated
SEARCHED = range(23, 40)  # are played until all that is wanted has happened
# A seed that restores early, and as many steps as show it.
EARLY_RESTORE = (108, 92)


@cache
def story_of(seed: int) -> tuple[Story, Exception | None]:
    return play(seed, STEPS, PEOPLE)


@pytest.mark.parametrize("seed", [SEEDS[0], *map(long, SEEDS[1:])])
def test_the_books_stay_sound_whatever_happens_to_the_board(seed: int) -> None:
    story, error = story_of(seed)
    assert error is None, "\n".join([*story.told[-20:], str(error)])
    assert story.number == STEPS


@pytest.mark.long
def test_much_befalls_it_and_callers_of_other_boards_are_there() -> None:
    stories = [story_of(seed)[0] for seed in SEEDS]
    assert sum(story.watch.kinds.total() for story in stories) > 100
    assert sum(story.watch.second.visits for story in stories) > 10


def all_happen(*wanted: str, early: bool = False) -> bool:
    """Play seeds without a failure until each of these events has happened in one."""
    counted = Counter[str]()
    for seed in SEARCHED:
        story, error = play(seed, STEPS, PEOPLE, early=early)
        assert error is None, "\n".join([*story.told[-20:], str(error)])
        counted += story.counted
        if all(counted[what] for what in wanted):
            return True
    return False


@pytest.mark.long
def test_events_are_started_early() -> None:
    assert all_happen("_events started early", early=True)


@pytest.mark.long
def test_reports_to_callers_are_compared_with_the_books() -> None:
    kinds = ("settlements told", "settlements seen", "hands told at the teletype")
    assert all_happen(*kinds, "tables added up")


@pytest.mark.long
def test_backups_that_are_put_back_bring_nothing_a_second_time() -> None:
    seed, steps = EARLY_RESTORE
    story, error = play(seed, steps, PEOPLE)
    assert error is None, "\n".join([*story.told[-20:], str(error)])
    assert story.counted["restore_a_backup"]


@pytest.mark.long
def test_a_seed_tells_the_same_story_again() -> None:
    once, again = story_of(SEEDS[1])[0], play(SEEDS[1], STEPS, PEOPLE)[0]
    assert again.told == once.told
    assert again.shelf.hexdigest() == once.shelf.hexdigest()


def test_a_command_that_meets_locked_books_ends_the_step() -> None:
    story = mock.MagicMock()
    transaction = story.books_at_the_command_line().transaction
    transaction.side_effect = BooksUnavailable("locked")
    with pytest.raises(Undone), World.command(story, "nobody calls"):
        raise AssertionError("it has begun")
    story.tell.assert_called_once_with("nobody calls: locked")


def test_a_server_that_does_not_join_others_leaves_the_books_as_they_are(tmp_path: Path) -> None:
    """Nothing has killed it, so there are no files of that moment to restore."""
    opens, refusals = Process.open, [CannotJoin("what may live yet")]

    def refuses_once(process: Process) -> None:
        if refusals:
            raise refusals.pop()
        opens(process)

    with Story(SEEDS[0], tmp_path, PEOPLE, PEOPLE) as story:
        while not callers_of(story):
            evening._step(story)
        (killed,) = story.processes
        before = callers_of(story)
        killed.mortal.left, killed.mortal.dead = story.machine.disk.files(), True
        story.watch.close()
        with mock.patch.object(Process, "open", refuses_once):
            story._fall([], story.monotonic)
        assert not refusals
        assert callers_of(story) == before


def callers_of(story: Story) -> list[str]:
    with story.watch.reading() as file:
        return [name for (name,) in file.execute("SELECT name FROM callers")]


# The fault of each kind found soonest; `python -m verify.simulate --faults` searches for all.
QUICK = ("shows_the_seed_too_early", "begins_to_charge_a_second_late")


@pytest.mark.long
@pytest.mark.parametrize("fault", faults.FAULTS)
def test_a_fault_fits_the_program_that_it_is_put_into(fault: str) -> None:
    """One no longer fitted, and no search could find it, because the search itself failed there."""
    with faults.put_in(fault):
        assert faults.FAULTS[fault].steps > 0


@pytest.mark.long
@pytest.mark.parametrize("fault", QUICK)
def test_a_fault_is_detected(fault: str) -> None:
    assert detect(fault, None)
