"""A word for those who wait longer than one should: another program has the books, say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from door.clock import Clock
    from door.console import Console

PATIENCE_SECONDS = 3  # who waits so long is told why


@contextmanager
def patience(clock: Clock, say: Callable[[], None]) -> Iterator[None]:
    """Call `say` once if what is done inside is not done after `PATIENCE_SECONDS`."""
    timer = clock.call_later(PATIENCE_SECONDS, say)
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def at_the_door(clock: Clock, console: Console) -> Iterator[None]:
    """Tell a caller who is not on a call yet that he has to wait: for the books, or for others.

    The clock of a call tells the others.
    """
    with patience(clock, lambda: console.say("|14The board is busy just now; please wait.")):
        yield
