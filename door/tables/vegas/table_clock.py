"""The clock of the Vegas table: the bell, the countdown of a turn, seats that are kept.

One alarm at a time, because the table waits for one thing at a time. When it rings, what the time
was up for is noted in the state, and the table is asked to see what follows.
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

RETRY_SECONDS = 5.0  # until it is tried again what the books could not take


class TableClock:
    """What the table of one board waits for."""

    def __init__(self, board: Board, state: TableState, look: Callable[[], None]) -> None:
        self.bell_rang = False
        self._board = board
        self._state = state
        self._look = look
        self._timer: Timer | None = None
        self._bell_at: float | None = None
        self._retry: Alarm | None = None
        self._turn: tuple[object, ...] = ()
        self._told_turn: tuple[object, ...] = ()  # a turn is news once, not with every card
        self._turn_ends = 0.0

    def now(self) -> float:
        return self._board.clock.monotonic()

    def seconds_left(self) -> int:
        """Return the seconds until it rings, rounded up; 0 when it is off."""
        alarm = self._state.alarm
        return 0 if alarm is None else max(0, -int(-(alarm.at - self.now()) // 1))

    @property
    def waits_for_books(self) -> bool:
        """Whether nothing is to be tried before it rings."""
        return self._retry is not None

    def retry_later(self) -> None:
        """Ring when what the books could not take may be tried again."""
        self._retry = Alarm("retry", self.now() + RETRY_SECONDS)

    def way_back(self, seat: Chair) -> float:
        """Return until when a seat is kept whose caller lost the line: for the rest of their turn,
        or for as long as a turn lasts."""
        alarm = self._state.alarm
        if alarm is not None and alarm.what == "turn" and self._state.at_turn is seat:
            return alarm.at
        return self.now() + self._state.house.turn_seconds

    def set_bell(self) -> None:
        """Start the bell, once, when there is a bet that the others may follow."""
        if self._bell_at is None:
            seconds = self._state.house.bell_seconds
            self._bell_at = self.now() + seconds
            self._state.tell(news.BellSet(seconds))

    def clear_bell(self) -> None:
        """Let nobody wait for the bell."""
        self._bell_at, self.bell_rang = None, False

    def run(self) -> None:
        """Set the alarm for what the table waits for now."""
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
            return self._of_turn(seat)
        return None if self._bell_at is None else Alarm("bell", self._bell_at)

    def _of_turn(self, seat: Chair) -> Alarm | None:
        """Return how long the seat at turn may take: as long as it likes where nobody waits."""
        if seat.guest is None:
            return Alarm("return", seat.kept_until, seat.name)
        if not self._state.has_company:
            self._turn = self._told_turn = ()
            return None
        assert self._state.hand is not None  # it is somebody's turn
        turn = (self._state.hand.lead, self._state.hand.sequence, seat.guest)
        if turn != self._turn:
            self._turn = turn
            self._turn_ends = self.now() + self._state.house.turn_seconds
            if turn[::2] != self._told_turn:
                self._told_turn = turn[::2]
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
        """Note what the time is up for; what follows is the table's to do."""
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
            seat.kept_until = 0.0
        self._look()
