"""Faults that only books on a server can bring out: COMMITs that are guessed, its own guards."""

from __future__ import annotations

from typing import Any

import pytest

from timebank.keeping import restored_books
from timebank.ledger.postgres import database as served
from timebank.ledger.postgres import guards


def guesses_that_a_broken_commit_is_lost(patch: pytest.MonkeyPatch) -> None:
    """A COMMIT on a broken connection that is assumed lost without asking the server."""
    patch.setattr(served._PostgresDoubt, "settle", lambda self: False)


def guesses_that_a_broken_commit_is_there(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(served._PostgresDoubt, "settle", lambda self: True)


def takes_whoever_wrote_last_for_the_answer(patch: pytest.MonkeyPatch) -> None:
    """A look-up that is content with any transaction of the connection."""

    def is_committed(connection: Any, operation: Any) -> bool:
        asked = "SELECT last FROM operations WHERE key = %s"
        rows = served.postgres.driver(connection).execute(asked, [operation.key]).fetchone()
        return rows is not None

    patch.setattr(served.postgres, "is_committed", is_committed)


def loses_on_the_server_what_is_moved(patch: pytest.MonkeyPatch) -> None:
    """Table losses that leave the stake and arrive nowhere: the sums are not zero."""
    arrives = "WHERE id = moved.target"
    assert arrives in guards.MOVE_BALANCES.body
    body = guards.MOVE_BALANCES.body.replace(arrives, f"{arrives} AND moved.kind <> 'lost'")
    lost = guards.Function(guards.MOVE_BALANCES.name, body)
    functions = [lost if each is guards.MOVE_BALANCES else each for each in guards.FUNCTIONS]
    patch.setattr(guards, "FUNCTIONS", tuple(functions))
    served._definitions.cache_clear()
    patch.setattr(served, "_definitions", served._definitions.__wrapped__)


def gives_numbers_of_the_server_again(patch: pytest.MonkeyPatch) -> None:
    """A restore after which numbers continue from those of the copy."""
    patch.setattr(restored_books, "prior_books_in", lambda desk: restored_books.PriorBooks())


# With the first seed of each search: a seed that detects it soon saves the others.
FAULTS = {
    guesses_that_a_broken_commit_is_lost: 1,
    guesses_that_a_broken_commit_is_there: 4,
    takes_whoever_wrote_last_for_the_answer: 1,
    loses_on_the_server_what_is_moved: 1,
    gives_numbers_of_the_server_again: 2,
}
