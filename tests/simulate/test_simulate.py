"""A short slice of the simulation, always the same; and faults that it must find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from door.board import Board
from door.caller import Caller
from door.games.kinds import Act
from door.tables.play import Play, Step
from tests.simulate.__main__ import play
from tests.simulate.books import Wrong
from timebank.database import BooksUnavailable, Done, Writer
from timebank.posting import Posting

STEPS, PEOPLE = 80, 30


@pytest.mark.parametrize("seed", range(1, 4))
def test_nothing_goes_wrong_whatever_befalls_the_board(seed: int) -> None:
    story, error = play(seed, STEPS, PEOPLE)
    assert error is None, "\n".join([*story.told[-20:], str(error)])
    assert story.number == STEPS
    assert story.watch.kinds.total() > 20


def test_a_seed_tells_the_same_story_again() -> None:
    once, _ = play(7, 70, PEOPLE)
    again, _ = play(7, 70, PEOPLE)
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


FAULTS = (
    shows_what_is_not_durable,
    shows_the_seed_too_early,
    lets_time_reach_past_an_event,
    charges_more_than_has_passed,
    shows_more_time_than_there_is,
    leaves_calls_open,
    answers_although_nothing_was_committed,
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_found(fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: Any) -> None:
    fault(monkeypatch)
    errors = (play(seed, 250, PEOPLE)[1] for seed in range(1, 31))
    assert isinstance(next(filter(None, errors)), Wrong)
