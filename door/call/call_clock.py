"""A call's clock: each second it updates the status line, warns and checks for idle callers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from door.clock import ROUNDING
from door.errors import IdledOut, TimeUp
from door.flag import Flag
from timebank.language import Phrase, _, speaking_to
from timebank.words import span

if TYPE_CHECKING:
    from datetime import datetime

    from door.call.books import Books
    from door.call.console import Console
    from door.call.grace import Grace
    from door.call.patience import Patience
    from door.call.purse import TickingPurse
    from door.call.status_line import StatusLine
    from door.clock import Timer
    from door.config.config import Calls

TIME_UP = Phrase("You're out of time.")
POST_SECONDS = 60  # used time is posted at least this often
WARNINGS = (300, 180, 120, 60)  # seconds left at which a caller is warned
GRACE_WARNING = 60
BEAT_SECONDS = 0.02  # callers' clocks tick together in beats: waking up costs more than a tick


def _nothing() -> None:
    """Do nothing: the `on_tick` of a room that has none."""


@dataclass(slots=True, eq=False)
class CallClock:
    """Ticks each second from `start` to `stop`. A room may set `on_tick`."""

    console: Console
    books: Books
    calls: Calls
    purse: TickingPurse
    status: StatusLine
    patience: Patience
    on_tick: Callable[[], None] = _nothing
    warnings: list[str] = field(default_factory=list)  # messages that time has made wrong
    # Raised when an entry is due: to post used time, or for a new day or an event.
    entry_is_due: Flag = field(default_factory=Flag)
    _timer: Timer | None = None
    day_grace: Grace | None = None  # while the call goes on for it
    _idle_warned: bool = False
    _grace_warned: bool = True  # False while more than `GRACE_WARNING` is left
    _next_warning: int = 0
    _next_day: datetime = field(init=False)

    def __post_init__(self) -> None:
        self._next_day = self._day_after()

    def start(self) -> None:
        self._arm_warnings()
        self._tick()

    def stop(self) -> None:
        """Stop: neither idle time nor used-up time ends the call any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def look_for_events(self) -> None:
        """Make an entry due now, as changed events may leave the caller other time."""
        self.entry_is_due.set()

    def purse_changed(self) -> None:
        if not self.purse.time_is_up():
            self.console.keyboard.lift(TimeUp)
        self._next_day = self._day_after()
        self._arm_warnings()
        if self._timer is not None:
            self.status.show()

    def check_time(self) -> None:
        if self._has_to_end():
            self.console.keyboard.interrupt(TimeUp(TIME_UP))

    def use_grace(self, grace: Grace | None) -> None:
        """Let the call go on for the grace of the day, and show it; None ends it."""
        self.day_grace = self.status.grace = grace
        if grace is not None:
            self.console.keyboard.lift(TimeUp)
        self.status.show()

    def _has_to_end(self) -> bool:
        return self.purse.time_is_up() and not self._has_grace()

    def _has_grace(self) -> bool:
        grace = self.day_grace
        return grace is not None and not grace.is_over() and self.purse.seconds_to_end() != 0

    def _day_after(self) -> datetime:
        return self.books.settings().schedule.next_day(self.console.clock.now())

    def _arm_warnings(self) -> None:
        """Choose the next warning: the largest one below the time left."""
        left = self.purse.time_left()
        self._next_warning = next((limit for limit in WARNINGS if left > limit), 0)

    def _tick(self) -> None:
        purse = self.purse
        self._arm()
        left = purse.time_left()
        self.status.show()
        self.status.show_figures()  # at most once a second
        self.on_tick()
        self._warn(left)
        self.patience.look()
        self._check_idle()
        self._warn_of_grace()
        if self._is_entry_due(left):
            self.entry_is_due.set()
        self._flush()

    def _arm(self) -> None:
        """Wait for the first beat of the next second.

        A second is charged just after the instant at which it begins, so a tick at that very
        instant is corrected at once.
        """
        now = self.console.clock.monotonic()
        over = (now - self.purse.logged_on) % 1.0
        if over < ROUNDING:
            wait, then = 2 * ROUNDING, self._correct
        else:
            due = now + 1.0 - over
            beat = math.ceil((due - ROUNDING) / BEAT_SECONDS) * BEAT_SECONDS
            wait, then = max(beat, due) - now, self._tick
        self._timer = self.console.clock.call_later(wait, then)

    def _correct(self) -> None:
        self._arm()
        self.status.show()
        self.on_tick()
        self._flush()

    def _flush(self) -> None:
        """Send the changes of a tick, unless a key is awaited: then the console sends them."""
        if not self.console.screen.awaits_key:
            self.console.display.flush()

    def _warn(self, left: int) -> None:
        if not 0 < left <= self._next_warning:
            return
        self._arm_warnings()
        to_event, event = self.purse.seconds_to_event(), self.purse.event_words()
        is_near = event and to_event is not None and to_event <= left
        self.console.screen.bell()
        words = _("{time} left before {event}.") if is_near else _("{time} left.")
        with speaking_to(self.console.viewer):
            self.warnings.append(f"|12{words.format(time=span(left), event=event)}")
            self.console.screen.say(self.warnings[-1])

    def _warn_of_grace(self) -> None:
        grace = self.day_grace
        if grace is None or self.purse.time_left():
            return
        left = grace.left()
        if left > GRACE_WARNING:
            self._grace_warned = False
        elif not self._grace_warned:
            self._grace_warned = True
            self.console.screen.bell()
            with speaking_to(self.console.viewer):
                self.console.screen.say(f"|12{_('{time} left.').format(time=span(left))}")

    def _check_idle(self) -> None:
        console, calls = self.console, self.calls
        idle = console.clock.monotonic() - console.keyboard.last_key
        if idle >= calls.idle_limit_seconds:
            console.keyboard.interrupt(IdledOut(Phrase("Disconnected: no key pressed.")))
        elif idle < calls.idle_warning_seconds:
            self._idle_warned = False
        elif not self._idle_warned:
            self._idle_warned = True
            remaining = math.ceil(calls.idle_limit_seconds - idle)
            console.screen.bell()
            words = _("Still there? Disconnecting in {time}.").format(time=span(remaining))
            console.screen.say(f"|12{words}")

    def _is_entry_due(self, left: int) -> bool:
        """Return whether an entry is due, with `left` seconds on the screen."""
        purse = self.purse
        if self.day_grace is not None and self.day_grace.wants_more():
            return True
        if not left and self._has_to_end():
            return True
        if purse.ticked() - purse.posted.ticked >= POST_SECONDS:
            return True
        now, closing = self.console.clock.now(), purse.posted.closing
        if now >= self._next_day or (closing is not None and now >= closing.end):
            return True
        to_event = purse.seconds_to_event(now)
        return to_event is not None and to_event < purse.spendable()
