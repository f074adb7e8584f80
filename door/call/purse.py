"""What a caller has between two entries of the books: the last purse, less what has ticked since.

Time left is what the screen shows. It is what the caller can spend, unless another board wants them
back before that is used up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from door import wording
from door.call.markup import wrap
from door.clock import ROUNDING, seconds_begun
from timebank.language import _

if TYPE_CHECKING:
    from datetime import datetime

    from door.call.books import Books
    from door.clock import Clock
    from timebank.ledger.purse import Purse


@dataclass(slots=True, eq=False)
class TickingPurse:
    """The purse of one call; amounts are seconds.

    `posted` is what the accounts held after the last entry, at first after `open_call`; `logged_on`
    is the monotonic instant before that. `limit` says how many seconds after the log-on the
    caller's host wants them back, `until` when its next event begins: None where there is no host,
    or it does not say.
    """

    books: Books
    clock: Clock
    posted: Purse
    logged_on: float
    limit: int | None = None
    until: datetime | None = None
    _paid_until: int = field(init=False)  # seconds after log-on
    _asked: int = 0
    _adopted: int = 0

    def __post_init__(self) -> None:
        self._paid_until = self.posted.ticked + self.posted.online

    def on_for(self) -> float:
        return self.clock.monotonic() - self.logged_on

    def ticked(self) -> int:
        """Return the seconds since log-on as charged: a started one counts whole, once a call."""
        return seconds_begun(self.clock.monotonic() - self.logged_on)

    def spendable(self) -> int:
        """Return the seconds on line, less what has ticked since the last entry; never below 0."""
        posted, elapsed = self.posted, self.clock.monotonic() - self.logged_on
        return max(0, posted.online - max(0, seconds_begun(elapsed) - posted.ticked))

    def pot(self, coin: int) -> int:
        return self.spendable() // coin

    def can_stake(self, amount: int, coin: int) -> bool:
        """Whether so many seconds may be staked: the last coin stays on line, and no limit that
        they have set for themselves is passed."""
        own = self.posted.may_lose
        if amount and (self.posted.paused_until is not None or (own is not None and amount > own)):
            return False
        return not amount or self.spendable() - amount >= coin

    def paused_words(self) -> str:
        """Say that they have paused themselves, "" where they have not."""
        until = self.posted.paused_until
        if until is None:
            return ""
        if until <= self.clock.now():
            return _("Your pause goes on until the board is sure what time it is.")
        local = self.books.settings().schedule.local(until)
        told = _("You've paused yourself: you can bet again at {time}.")
        return told.format(time=f"{local:%Y-%m-%d %H:%M}")

    def turns(self, game: str) -> int:
        return self.posted.turns.get(game, 0)

    def time_left(self) -> int:
        """Return the seconds on the screen; at 0 the last one runs (see `time_is_up`)."""
        host = self._host_seconds()
        return self.spendable() if host is None else min(self.spendable(), host)

    def time_is_up(self) -> bool:
        """Whether the last second that was paid for, or that the host leaves, is over.

        A second is paid for when it starts, so the last one is the caller's to its end, unless an
        event begins in it.
        """
        if self.limit is not None and self.on_for() >= self.limit - ROUNDING:
            return True
        if self.on_for() >= self._paid_until - ROUNDING:
            return True
        return self.spendable() == 0 and self.seconds_to_event() == 0

    @property
    def may_go_on(self) -> bool:
        """Whether more time on line would let the caller stay: not when the host wants them."""
        return self._host_seconds() != 0

    def seconds_to_event(self, now: datetime | None = None) -> int | None:
        """Return the seconds to the next event, ours or the host's: 0 during one, None without."""
        now = now or self.clock.now()
        ours = self.books.settings().schedule.seconds_to_event(now)
        if self.until is None:
            return ours
        hosts = max(0, int((self.until - now).total_seconds()))
        return hosts if ours is None else min(hosts, ours)

    def seconds_to_end(self) -> int | None:
        """Return the seconds until an event or the host ends the call, whatever time is left; None
        if neither does."""
        ends = [end for end in (self.seconds_to_event(), self._host_seconds()) if end is not None]
        return min(ends, default=None)

    def event_has_begun(self) -> bool:
        """Whether an event closes the board, as far as whole seconds can tell.

        Time left is rounded down when it is cut at an event and again as it ticks, so it may be up
        two seconds early.
        """
        to_event = self.seconds_to_event()
        return to_event is not None and to_event <= 2

    def event_words(self, longest: int | None = None) -> str:
        """Name the next event and say when it begins, "" without one; of a name with which that
        takes more than `longest` characters there are as many words as fit."""
        closing, schedule = self.posted.closing, self.books.settings().schedule
        if closing is None:
            return ""
        time = wording.when(closing.start, schedule, self.clock.now())
        words, name = _("{event} at {time}"), closing.name
        if longest is not None:
            name = wrap(name, max(1, longest - len(words.format(event="", time=time))))[0]
        return words.format(event=name, time=time)

    def cut_from(self, win: int) -> int:
        """Return the seconds of a win that the next event leaves no room for."""
        to_event = self.seconds_to_event()
        if to_event is None or self.posted.closing is None:
            return 0
        return max(0, min(win, self.spendable() + win - to_event))

    def expect(self) -> Callable[[Purse], bool]:
        """Return what adopts the purse of an entry that is asked of the books right after this;
        False for one that is older than one adopted since."""
        self._asked += 1
        number = self._asked

        def adopt(purse: Purse) -> bool:
            is_newer = number > self._adopted
            if is_newer:
                self._adopted = number
                self.posted = purse
                paid_until = purse.ticked + purse.online
                # What ticked when nothing was left is accounted for, and was not paid.
                self._paid_until = paid_until if purse.online else min(paid_until, self._paid_until)
            return is_newer

        return adopt

    def _host_seconds(self) -> int | None:
        return None if self.limit is None else max(0, self.limit - self.ticked())
