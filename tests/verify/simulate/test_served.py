"""A short slice of the simulation with its books on a server, and a fault that it must find."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.timebank.cluster import Cluster
from tests.timebank.conftest import cluster
from timebank.callers import sysop_log
from timebank.errors import OutcomeUnknown
from timebank.settings.settings import BankSettings
from verify.simulate import faults_served
from verify.simulate.__main__ import detect, play
from verify.simulate.server import COMMITS, BooksServer, Client, Served, ServedBooks, on_server
from verify.simulate.story import Story
from verify.simulate.wrong import Wrong

pytestmark = pytest.mark.long

__all__ = ["cluster"]

STEPS, PEOPLE = 100, 12
WANTED = ("killed", "COMMITs broken after they counted", "COMMITs looked up", "audit")

FIRST, MOST_SEEDS = 9, 12  # are played until all that is wanted has happened
IN_COMPANY = ("decisions at the deal", "entries", "messages taken")


def stories_with(
    wanted: tuple[str, ...], steps: int, people: int, cluster: Cluster, *, company: bool = False
) -> list[Story]:
    """Play seeds without a failure until each of these events has happened in one."""
    stories: list[Story] = []
    counted = Counter[str]()
    for seed in range(FIRST, FIRST + MOST_SEEDS):
        story, error = play(seed, steps, people, cluster=cluster, company=company)
        assert error is None, "\n".join([*story.told[-20:], str(error)])
        assert story.number == steps
        stories.append(story)
        counted += story.counted
        if all(counted[what] for what in wanted):
            return stories
    pytest.fail(f"nothing of {[what for what in wanted if not counted[what]]}")


@pytest.fixture(scope="module")
def stories(cluster: Cluster) -> list[Story]:
    return stories_with(WANTED, STEPS, PEOPLE, cluster)


def test_every_report_is_true_whatever_the_server_does(stories: list[Story]) -> None:
    assert sum(story.watch.kinds.total() for story in stories) > 20


def test_a_seed_tells_the_same_story_again(stories: list[Story], cluster: Cluster) -> None:
    again, error = play(FIRST, STEPS, PEOPLE, cluster=cluster)
    assert error is None
    assert again.told == stories[0].told
    assert again.shelf.hexdigest() == stories[0].shelf.hexdigest()


def test_every_report_to_callers_with_company_is_true(cluster: Cluster) -> None:
    assert stories_with(IN_COMPANY, 40, 10, cluster, company=True)


@pytest.fixture
def served(cluster: Cluster, tmp_path: Path) -> Iterator[tuple[ServedBooks, Client]]:
    """The books of a process on a server; each COMMIT takes effect, and its connection breaks."""
    now = datetime(2026, 11, 3, tzinfo=UTC)
    least: Any = SimpleNamespace(random=lambda: 0.0)
    server = BooksServer(cluster, now.timestamp)
    disk = Served(server, tmp_path, least, Counter[str]())
    client = Client(disk, least, time.monotonic)
    with on_server(server, time.monotonic):
        books = ServedBooks(server.place, client)
        books.open()
        disk.trouble = COMMITS
        yield books, client
        books.close()
        client.hang_up()
    server.throw_away()


def write(books: ServedBooks) -> None:
    settings = BankSettings(database=Path("books"), zone=ZoneInfo("UTC"), events=())
    with books.transaction(settings, datetime(2026, 11, 3, tzinfo=UTC)) as desk:
        sysop_log.note(desk, "test", None, "written")


def test_an_unknown_outcome_is_not_compared_with_the_next_one_of_the_writer(
    served: tuple[ServedBooks, Client],
) -> None:
    books, client = served
    with pytest.raises(OutcomeUnknown):
        write(books)
    client.has_found_out(is_there=False)


def test_a_wrong_outcome_of_a_transaction_without_the_writer_is_detected(
    served: tuple[ServedBooks, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    faults_served.guesses_that_a_broken_commit_is_lost(monkeypatch)
    with pytest.raises(Wrong, match="told of as False, and it is True"):
        write(served[0])


def test_a_guessed_commit_is_detected(cluster: Cluster) -> None:
    assert detect("guesses_that_a_broken_commit_is_there", None, cluster)
