"""Faults that are put into the bank itself, so that it is seen that a run finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from timebank.ledger.postgres import dialect


def guesses_it_is_there() -> None:
    """A COMMIT that broke off is taken for done."""
    dialect.was_done = lambda connection, operation: True


def guesses_it_is_not() -> None:
    """A COMMIT that broke off is taken for not done, with no question asked."""
    dialect.was_done = lambda connection, operation: False


def does_not_wait_for_standby() -> None:
    """A COMMIT is done when the primary has it: whatever comes next may not."""
    real = dialect.set_up

    def set_up(connection: Any) -> None:
        real(connection)
        connection.execute("SET synchronous_commit = local")

    dialect.set_up = set_up


LIES: dict[str, Callable[[], None]] = {
    each.__name__.replace("_", "-"): each
    for each in (
        guesses_it_is_there,
        guesses_it_is_not,
        does_not_wait_for_standby,
    )
}
