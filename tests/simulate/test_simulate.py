"""A short slice of the simulation, always the same; and faults that it must find."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest

from door.board import Board
from door.caller import Caller
from door.games.kinds import Act
from door.host_caller import LimitedCaller
from door.run import arrival
from door.tables.play import Play, Step
from tests.simulate.__main__ import play
from tests.simulate.wrong import Wrong
from timebank import files, hosts, hosts_claims, import_books
from timebank.database import BooksUnavailable, Desk, Done, Writer
from timebank.hosts_visit import Visit
from timebank.posting import Posting

STEPS, PEOPLE = 80, 30
SEEDS = range(2, 5)

story_of = cache(partial(play, steps=STEPS, people=PEOPLE))


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_goes_wrong_whatever_befalls_the_board(seed: int) -> None:
    story, error = story_of(seed)
    assert error is None, "\n".join([*story.told[-20:], str(error)])
    assert story.number == STEPS


def test_much_befalls_it_and_callers_of_other_boards_are_there() -> None:
    stories = [story_of(seed)[0] for seed in SEEDS]
    assert sum(story.watch.kinds.total() for story in stories) > 100
    assert sum(story.watch.second.visits for story in stories) > 10


def test_a_seed_tells_the_same_story_again() -> None:
    once, again = story_of(SEEDS[0])[0], play(SEEDS[0], STEPS, PEOPLE)[0]
    assert again.told == once.told
    assert again.shelf.hexdigest() == once.shelf.hexdigest()


# Faults that are put into the program: the simulation must find each of them.


def shows_what_is_not_durable(patch: pytest.MonkeyPatch) -> None:
    """A table that draws the next card although the books could not be written."""
    real = Play.act

    async def act(self: Play, move: Act, stake: int, stake_kind: str) -> Step:
        try:
            return await real(self, move, stake, stake_kind)
        except BooksUnavailable:
            after, events = self.kind.act(self.round, move)
            return self._adopt(self.round, after, events, self.caller.opening, None)

    patch.setattr(Play, "act", act)


def shows_the_seed_too_early(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Play, "is_shoe_done", property(lambda self: self.shoe is not None))


def lets_time_reach_past_an_event(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Posting, "clamp", lambda self, winnings, source: None)


def charges_more_than_has_passed(patch: pytest.MonkeyPatch) -> None:
    real = Caller.ticked
    patch.setattr(Caller, "ticked", lambda self: real(self) * 21 // 20)


def shows_more_time_than_there_is(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Caller, "time_left", lambda self: self.spendable() + 1)


def leaves_calls_open(patch: pytest.MonkeyPatch) -> None:
    async def close_call(self: Board, caller: Caller, reason: str) -> None:
        caller.ended.set()

    patch.setattr(Board, "close_call", close_call)


def answers_although_nothing_was_committed(patch: pytest.MonkeyPatch) -> None:
    real = Writer._commit

    def commit(self: Writer, group: list[Any]) -> list[Done]:
        answers = real(self, group)
        return [Done(each.ticket, None, None) if each.error else each for each in answers]

    patch.setattr(Writer, "_commit", commit)


def gives_back_twice(patch: pytest.MonkeyPatch) -> None:
    """A claim that the next visit can make again."""
    real = hosts_claims.claim

    def claim(desk: Desk, call_id: int) -> hosts_claims.Claim | None:
        claimed = real(desk, call_id)
        desk.connection.exec_driver_sql(
            "UPDATE given_back SET state = 'waiting' WHERE state = 'writing'"
        )
        return claimed

    patch.setattr(hosts_claims, "claim", claim)


def forgets_debts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(hosts, "debt_of", lambda desk, caller_id, day: 0)


def saves_the_minutes_of_hosts(patch: pytest.MonkeyPatch) -> None:
    """A window that takes deposits of what was brought."""
    patch.setattr(Visit, "ahead", lambda self, purse, charged, debt: purse)


def forgets_the_events_of_hosts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(arrival, "_until", lambda understood, now: None)


def lets_guests_stay_on(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LimitedCaller, "_host_seconds", lambda self: None)


def applies_records_twice(patch: pytest.MonkeyPatch) -> None:
    real = import_books._apply

    def apply(*parts: Any) -> tuple[int, int]:
        real(*parts)
        return real(*parts)

    patch.setattr(import_books, "_apply", apply)


def passes_on_twice(patch: pytest.MonkeyPatch) -> None:
    real = files.write_all
    patch.setattr(files, "write_all", lambda file, data: real(file, data + data))


# With the seed at which the search for each begins: one that finds it soon spares the others.
FAULTS: dict[Callable[[pytest.MonkeyPatch], None], int] = {
    shows_what_is_not_durable: 7,
    shows_the_seed_too_early: 1,
    lets_time_reach_past_an_event: 2,
    charges_more_than_has_passed: 1,
    shows_more_time_than_there_is: 1,
    leaves_calls_open: 1,
    answers_although_nothing_was_committed: 1,
    gives_back_twice: 1,
    forgets_debts: 1,
    saves_the_minutes_of_hosts: 5,
    forgets_the_events_of_hosts: 1,
    lets_guests_stay_on: 5,
    applies_records_twice: 5,
    passes_on_twice: 4,
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_found(fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: Any) -> None:
    fault(monkeypatch)
    first = FAULTS[fault]
    errors = (play(seed, 250, PEOPLE)[1] for seed in range(first, first + 30))
    assert isinstance(next(filter(None, errors)), Wrong)
