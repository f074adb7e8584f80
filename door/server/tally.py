"""What a server counts of itself since its start, for those who watch it: `door metrics` asks."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from door.call.board import Board

# Upper ends of the classes of delays, in milliseconds; what is later is in one more.
LAGS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
LOOK_SECONDS = 0.25


class LoopLag:
    """By how much the event loop is late: what a key waits, whoever presses it.

    It is measured from the first question on, so that a board that nobody watches does not do it.
    """

    def __init__(self) -> None:
        self._classes = [0] * (len(LAGS) + 1)
        self._seconds = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def counts(self) -> dict[str, Any]:
        """Return how many looks were late by how much, and their delays' sum in milliseconds."""
        if self._timer is None:
            self._look_later()
        return {"classes": list(self._classes), "sum": int(self._seconds * 1000)}

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look_later(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + LOOK_SECONDS
        self._timer = loop.call_at(due, self._look, due)

    def _look(self, due: float) -> None:
        late = max(0.0, asyncio.get_running_loop().time() - due)
        self._classes[bisect_left(LAGS, late * 1000)] += 1
        self._seconds += late
        self._look_later()


def tally(board: Board, lag: LoopLag) -> dict[str, object]:
    """Count what there is and was on this server; spans are milliseconds."""
    callers = board.callers()
    load, reception = board.books.load(), board.reception
    return {
        "callers": len(callers),
        "log_ons": max(0, len(board.consoles) - len(callers)),
        "draining": board.draining,
        "keys": board.keys_of_gone + sum(console.keys_heard for console in board.consoles),
        "let_in": reception.let_in,
        "refused": reception.refused,
        "turned_away": reception.turned_away,
        "queue": load.waiting,
        "groups": load.groups,
        "operations": load.operations,
        "writing": int(load.seconds * 1000),
        "lag": lag.counts(),
    }
