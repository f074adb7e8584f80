"""The clock of the Vegas table: bell, turns, seats of absent callers, and retries.

The table waits for one event at a time, so there is one alarm at a time. When it rings, the clock
notes the result in the state and wakes the table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from door.tables.vegas import news
from door.tables.vegas.state import Alarm, Chair, TableState

if TYPE_CHECKING:
    from door.call.board import Board
    from door.clock import Timer

RETRY_SECONDS = 5.0  # after a failed write


class TableClock:
    """The clock of one table; `look` wakes the table."""

    def __init__(self, board: Board, state: TableState, look: Callable[[], None]) -> None:
        self.bell_rang = False
        self._board = board
        self._state = state
        self._look = look
        self._timer: Timer | None = None
        self._bell_at: float | None = None
        self._retry: Alarm | None = None
        self._turn: tuple[object, ...] = ()
        self._announced_turn: tuple[object, ...] = ()  # announced once a turn, not with every card
        self._turn_ends = 0.0

    def now(self) -> float:
        return self._board.clock.monotonic()

    def seconds_left(self) -> int:
        """Return the seconds until the alarm, rounded up; 0 without one."""
        alarm = self._state.alarm
        return 0 if alarm is None else max(0, -int(-(alarm.at - self.now()) // 1))

    @property
    def waits_for_books(self) -> bool:
        """Whether the table waits to retry a write."""
        return self._retry is not None

    def retry_later(self) -> None:
        """Ring in `RETRY_SECONDS` to retry a write."""
        self._retry = Alarm("retry", self.now() + RETRY_SECONDS)

    def return_deadline(self, seat: Chair) -> float:
        """Return until when a seat waits for its caller after a lost line.

        That is the end of their own turn, or else the length of a turn from now.
        """
        alarm = self._state.alarm
        if alarm is not None and alarm.what == "turn" and self._state.at_turn is seat:
            return alarm.at
        return self.now() + self._state.house.turn_seconds

    def set_bell(self) -> None:
        """Start the countdown to the bell, once a round."""
        if self._bell_at is None:
            seconds = self._state.house.bell_seconds
            self._bell_at = self.now() + seconds
            self._state.tell(news.BellSet(seconds))

    def clear_bell(self) -> None:
        """Stop the countdown to the bell."""
        self._bell_at, self.bell_rang = None, False

    def run(self) -> None:
        """Set the alarm for the event that the table waits for now."""
        alarm = self._next()
        if alarm != self._state.alarm:
            self._state.alarm = alarm
            self._set_timer(alarm)
            self._state.tell()

    def stop(self) -> None:
        self._state.alarm = None
        self._set_timer(None)

    def _next(self) -> Alarm | None:
        if self._retry is not None:
            return self._retry
        seat = self._state.at_turn
        if seat is not None:
            return self._turn_alarm(seat)
        return None if self._bell_at is None else Alarm("bell", self._bell_at)

    def _turn_alarm(self, seat: Chair) -> Alarm | None:
        """Return the alarm for the seat at turn; None where no other guest waits."""
        if seat.guest is None:
            return Alarm("return", seat.held_until, seat.name)
        if not self._state.has_several_guests:
            self._turn = self._announced_turn = ()
            return None
        assert self._state.hand is not None  # it is somebody's turn
        turn = (self._state.hand.lead, self._state.hand.sequence, seat.guest)
        if turn != self._turn:
            self._turn = turn
            self._turn_ends = self.now() + self._state.house.turn_seconds
            if turn[::2] != self._announced_turn:
                self._announced_turn = turn[::2]
                self._state.tell(news.TurnBegan(seat.name, self._state.house.turn_seconds))
        return Alarm("turn", self._turn_ends, seat.name)

    def _set_timer(self, alarm: Alarm | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if alarm is not None:
            ring = partial(self._ring, alarm)
            self._timer = self._board.clock.call_later(alarm.at - self.now(), ring)

    def _ring(self, alarm: Alarm) -> None:
        """Note the result of an alarm, and wake the table."""
        if alarm is not self._state.alarm:
            return
        self._state.alarm = None
        seat = self._state.at_turn
        if alarm.what == "bell":
            self.bell_rang = True
        elif alarm is self._retry:
            self._retry = None
        elif seat is not None and alarm.what == "turn":
            seat.silent = True
        elif seat is not None:
            seat.held_until = 0.0
        self._look()
