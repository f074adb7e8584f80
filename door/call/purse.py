"""A caller's purse between two entries: the last one of the books, less the seconds since.

Time left is the number on the screen. It is the spendable time, or less if the caller's host wants
them back earlier.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from door import wording
from door.call.markup import wrap
from door.clock import ROUNDING, seconds_begun
from timebank.language import _
from timebank.ledger.purse import WAITS
from timebank.words import date_time_words

if TYPE_CHECKING:
    from datetime import datetime

    from door.call.books import Books
    from door.clock import Clock
    from timebank.ledger.purse import Purse


@dataclass(slots=True, eq=False)
class TickingPurse:
    """The purse of one call; amounts are seconds.

    `posted` is the purse after the last entry, at first that of `open_call`; `logged_on` is the
    monotonic instant just before that. The caller's host wants them back `limit` seconds after the
    log-on, and its next event begins at `until`; each is None without a host, or if unknown.
    """

    books: Books
    clock: Clock
    posted: Purse
    logged_on: float
    limit: int | None = None
    until: datetime | None = None
    _paid_until: int = field(init=False)  # seconds after log-on
    _offered_at: int = 0  # seconds after log-on: when stakes were offered last
    _asked: int = 0
    _adopted: int = 0

    def __post_init__(self) -> None:
        self._paid_until = self.posted.ticked + self.posted.online

    def on_for(self) -> float:
        return self.clock.monotonic() - self.logged_on

    def ticked(self) -> int:
        """Return the seconds charged since log-on: each counts from its start."""
        return seconds_begun(self.clock.monotonic() - self.logged_on)

    def spendable(self) -> int:
        """Return the seconds on line, less what has ticked since the last entry; never below 0."""
        posted, elapsed = self.posted, self.clock.monotonic() - self.logged_on
        return max(0, posted.online - max(0, seconds_begun(elapsed) - posted.ticked))

    def pot(self, coin: int) -> int:
        return self.spendable() // coin

    def offer(self) -> None:
        """Note that stakes are offered now: what is offered holds for the time of a coin."""
        self._offered_at = self.ticked()

    @property
    def leeway(self) -> int:
        """Seconds since the last offer of stakes."""
        return self.ticked() - self._offered_at

    def offered(self, coin: int) -> int:
        """Return the seconds that may be staked, at the last offer or now.

        One coin must stay. It may lack the seconds that have passed since the offer.
        """
        return max(0, self.spendable() - max(1, coin - self.leeway))

    def can_stake(self, amount: int, coin: int) -> bool:
        """Return whether `amount` seconds of those `offered` may be staked.

        No limit that the caller has set for themselves is passed.
        """
        own = self.posted.stake_left
        if amount and (self.why_no_bets() or (own is not None and amount > own)):
            return False
        return amount <= self.offered(coin)

    def why_no_bets(self) -> str:
        """Return why the caller may not bet at all, "" if they may.

        They wait for the sysop's approval, or have paused themselves.
        """
        if self.posted.waits:
            return _(WAITS)
        until = self.posted.paused_until
        if until is None:
            return ""
        if until <= self.clock.now():
            return _("Your pause lasts until the board is sure what time it is.")
        local = self.books.settings().schedule.local(until)
        words = _("You've paused yourself: you can bet again on {time}.")
        return words.format(time=date_time_words(local))

    def turns(self, game: str) -> int:
        return self.posted.turns.get(game, 0)

    def time_left(self) -> int:
        """Return the seconds on the screen; at 0 the last one is running (see `time_is_up`)."""
        host = self._host_seconds()
        return self.spendable() if host is None else min(self.spendable(), host)

    def time_is_up(self) -> bool:
        """Return whether the last second that was paid for, or that the host allows, is over.

        A second is paid for when it starts, so the caller has the last one to its end, unless an
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
        """Return the seconds until an event or the host ends the call; None if neither does."""
        ends = [end for end in (self.seconds_to_event(), self._host_seconds()) if end is not None]
        return min(ends, default=None)

    def event_has_begun(self) -> bool:
        """Return whether an event has begun, or begins within two seconds.

        Time left is rounded down when it is cut at an event and again as it ticks, so it may end
        two seconds early.
        """
        to_event = self.seconds_to_event()
        return to_event is not None and to_event <= 2

    def event_words(self, longest: int | None = None) -> str:
        """Return name and time of the next event, "" without one.

        Only the name's first words are used if it would take more than `longest` characters.
        """
        closing, schedule = self.posted.closing, self.books.settings().schedule
        if closing is None:
            return ""
        time = wording.local_time(closing.start, schedule, self.clock.now())
        words, name = _("{event} at {time}"), str(closing.name)
        if longest is not None:
            name = wrap(name, max(1, longest - len(words.format(event="", time=time))))[0]
        return words.format(event=name, time=time)

    def cut_from(self, win: int) -> int:
        """Return the seconds of a win that would reach past the next event."""
        to_event = self.seconds_to_event()
        if to_event is None or self.posted.closing is None:
            return 0
        return max(0, min(win, self.spendable() + win - to_event))

    def expect(self) -> Callable[[Purse], bool]:
        """Return a function that adopts the purse of the next entry.

        Call this just before the books are asked for the entry. The function returns False for a
        purse that is older than the last one adopted.
        """
        self._asked += 1
        number = self._asked

        def adopt(purse: Purse) -> bool:
            is_newer = number > self._adopted
            if is_newer:
                self._adopted = number
                self.posted = purse
                paid_until = purse.ticked + purse.online
                # Seconds that ticked when nothing was left are in `ticked`, but were not paid for.
                self._paid_until = paid_until if purse.online else min(paid_until, self._paid_until)
            return is_newer

        return adopt

    def _host_seconds(self) -> int | None:
        return None if self.limit is None else max(0, self.limit - self.ticked())
