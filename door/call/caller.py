"""Who is calling: the console, the purse, and the clock that runs against it.

Rooms and tables talk to a `Caller` and to nothing else. Every movement of his time goes through
`post`, which says how many seconds have ticked and adopts the purse that comes back; between two
entries the time left is the purse's less what has ticked since.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from door import wording
from door.call.console import PATIENCE_SECONDS, Console
from door.call.display import literal
from door.call.last_hand import LastHand
from door.clock import ROUNDING, seconds_begun
from door.errors import IdledOut, TakenOver, TimeUp
from timebank.callers import callers
from timebank.callers.notices import note_seen
from timebank.calls.calls import close_call, touch
from timebank.errors import BooksFailed, BooksUnavailable, CallClosed, OutcomeUnknown
from timebank.wagers.wagers import Played
from timebank.window.teller import deposit_before_leaving
from timebank.words import span

if TYPE_CHECKING:
    from datetime import datetime

    from door.call.books import Books
    from door.clock import Clock, Timer
    from door.config.config import Config
    from timebank.callers.callers import CallerRecord
    from timebank.calls.calls import Opened
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Purse, Receipt
    from timebank.settings.schedule import ClosedPeriod
    from timebank.settings.settings import BankSettings


# A flag to wait for: `asyncio.Event` for those of whom there are thousands.
#
# The library's keeps a queue of 760 bytes for tasks that wait, whether any does or not; each caller
# needs two such flags.


class Flag:
    """Down at first; whoever waits goes on when it is up."""

    __slots__ = ("_is_up", "_waiting")

    def __init__(self) -> None:
        """Begin down, with nobody waiting."""
        self._is_up = False
        self._waiting: tuple[asyncio.Future[None], ...] = ()

    def is_set(self) -> bool:
        """Whether it is up."""
        return self._is_up

    def set(self) -> None:
        """Put it up, and let all who wait go on."""
        self._is_up = True
        waiting, self._waiting = self._waiting, ()
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    def clear(self) -> None:
        """Put it down; who was let go on goes on."""
        self._is_up = False

    async def wait(self) -> None:
        """Return at once when it is up, else when it is put up."""
        if self._is_up:
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiting = (*(other for other in self._waiting if not other.done()), waiter)
        await waiter


POST_SECONDS = 60  # used time is posted at least this often (DESIGN, Elapsed)
WARNINGS = (300, 180, 120, 60)  # seconds left at which a caller is warned

T = TypeVar("T")
R = TypeVar("R", bound="Receipt | Played")
Limits = tuple[int | None, "datetime | None"]


class Caller:
    """A caller on a call."""

    asks_look = False  # whether he is to be asked what his terminal can show

    def __init__(
        self,
        console: Console,
        books: Books,
        config: Config,
        record: CallerRecord,
        node: int,
        opened: Opened,
        logged_on: float,
        new_seed: Callable[[], bytes],
    ) -> None:
        """Begin with what `open_call` gave; `logged_on` is the monotonic instant before it."""
        self.new_seed = new_seed
        self.console = console
        self.books = books
        self.config = config
        self.record = record
        self.node = node
        self.call_id = opened.call_id
        self.notices = opened.notices
        self.opening = opened.receipt
        self.clock: Clock = console.clock
        self.since: datetime = self.clock.now()
        self.place = "Log-on"
        self.statement = ""  # how he did at the table he came from
        self.hand_waits = False  # whether a hand that he plays alone is open
        self.coin = config.coin
        self.is_away = False  # at a table that another process keeps, which sees to his screen
        self.came_back_to = ""  # the game where an open hand waited for him
        self.ended = Flag()
        self.last_hand = LastHand(console)
        self.reads_notices = bool(opened.notices)  # those of the log-on, still on their way to them
        self.hands_over = False  # whether his node goes to the call that takes over this one
        self.on_tick: Callable[[], None] = _nothing
        self.status_waits = False  # for cards that are on their way
        self._logged_on = logged_on
        self._purse: Purse = opened.receipt.purse
        self._paid_until = self._purse.ticked + self._purse.online  # seconds after log-on
        self._asked = self._adopted = 0
        self._unanswered = 0  # operations that the books have under way for him
        self._waits_since = 0.0
        self._is_told_to_wait = False
        self._is_told_of_doubt = False
        self._grace_until: float | None = None
        self._touch_wanted = Flag()
        self._timer: Timer | None = None
        self._idle_warned = False
        self._next_warning = 0
        self._notice_day()

    # Time.

    @property
    def purse(self) -> Purse:
        """What his accounts held after the last entry, in seconds."""
        return self._purse

    @property
    def bank_settings(self) -> BankSettings:
        """Events, days and bank as they are for everybody now, whenever his call began."""
        return self.books.settings()

    @property
    def limits(self) -> Limits:
        """When somebody else wants him back: so many seconds after log-on, and by then."""
        return None, None

    def on_for(self) -> float:
        """Return the seconds since log-on."""
        return self.clock.monotonic() - self._logged_on

    def ticked(self) -> int:
        """Return the seconds since log-on as they are charged: one that has started counts whole.

        It is counted once a call, however many entries are made in it.
        """
        return seconds_begun(self.on_for())

    def spendable(self) -> int:
        """Return the seconds on line, less what has ticked since the last entry; never below 0."""
        return max(0, self._purse.online - max(0, self.ticked() - self._purse.ticked))

    def time_left(self) -> int:
        """Return the seconds of time left that the screen shows, never below 0.

        At 0 the last second runs; when it is over, so is the call (`time_is_up`). That may be
        sooner than all is spent (`LimitedCaller`).
        """
        return self.spendable()

    def time_is_up(self) -> bool:
        """Tell whether the last second that was paid for is over.

        A second is paid for when it starts, so the last one is the caller's to its end, unless an
        event begins in it.
        """
        if self.on_for() >= self._paid_until - ROUNDING:
            return True
        return self.spendable() == 0 and self.seconds_to_event() == 0

    def pot(self, coin: int) -> int:
        """Return how many whole coins of `coin` seconds he can spend."""
        return self.spendable() // coin

    def seconds_to_event(self) -> int | None:
        """Return the seconds to the next system event, 0 during one, `None` without any."""
        return self.bank_settings.schedule.seconds_to_event(self.clock.now())

    def event_has_begun(self) -> bool:
        """Tell whether an event closes the board, as far as his whole seconds can tell.

        Time left is rounded down when it is cut at an event and again as it ticks, so it may be up
        two seconds early.
        """
        to_event = self.seconds_to_event()
        return to_event is not None and to_event <= 2

    def grace(self, seconds: float) -> None:
        """Let the call go on without time for `seconds`, uncharged, but not into an event."""
        room = self.seconds_to_event()
        seconds = seconds if room is None else min(seconds, room)
        if seconds > 0:
            self._grace_until = self.clock.monotonic() + seconds
            self.console.lift(TimeUp)

    def end_grace(self) -> None:
        """End the uncharged time."""
        self._grace_until = None

    @property
    def may_go_on(self) -> bool:
        """Whether more time on line would let him stay."""
        return True

    # Coming and going.

    def news(self) -> list[str]:
        """Return what he should know as he comes in, pipe codes allowed."""
        return [*map(literal, self.notices), *wording.sentences(self.opening)]

    def time_up_words(self) -> str:
        """Return why the call ends for want of time, and when there is more."""
        closing = self.purse.closing
        schedule = self.bank_settings.schedule
        now = self.clock.now()
        if closing is not None and self.event_has_begun():
            back = wording.when(closing.end, schedule, now)
            return f"{closing.name} has begun. Please call back at {back}."
        tomorrow = wording.when(schedule.next_day(now), schedule, now)
        return f"Your time is up. The next day's minutes are yours from {tomorrow} on."

    async def farewell(self, reason: str) -> list[str]:
        """Return what is to be said of his minutes when he goes for `reason`."""
        if reason == "taken over" or self.record.preferences.get("auto_deposit") is not True:
            return []
        try:
            receipt = await self.post(deposit_before_leaving)
        except (CallClosed, BooksFailed):  # the end of the call will do it
            return []
        return [f"{row.why}." for row in receipt.rows if row.kind == "deposit"]

    async def close(self, reason: str) -> None:
        """Post what is left to post, and close the call in the books; `reason` is the sysop's."""
        with contextlib.suppress(CallClosed, BooksFailed):
            await self.post(
                lambda desk, call, ticked: close_call(desk, call, ticked, reason),
                call_ends=True,
            )

    # The books.

    async def post(
        self,
        operation: Callable[[Desk, int, int], R],
        *,
        is_his: bool = True,
        call_ends: bool = False,
    ) -> R:
        """Carry out `operation(desk, call_id, ticked)` and return its result once durable.

        The purse that comes back is adopted, unless a later one was. The entry also notes the hand
        whose end was seen. `is_his` as for `ask_books`, `call_ends` as for `LastHand.seen`.
        """
        adopt, ticked, seen = self.expect(), self.ticked(), self.last_hand.seen(call_ends=call_ends)

        def post(desk: Desk) -> R:
            result = operation(desk, self.call_id, ticked)
            if seen:
                note_seen(desk, self.record.id, seen)
            return result

        result = await self.ask_books(post, is_his=is_his)
        self.last_hand.noted(seen)
        adopt(result.receipt if isinstance(result, Played) else result)
        return result

    def expect(self) -> Callable[[Receipt], None]:
        """Return what adopts the receipt of an entry that is asked of the books right after this.

        For entries that others make for him, at a table he shares. A purse that is older than one
        adopted since is left alone.
        """
        self._asked += 1
        number = self._asked

        def adopt(receipt: Receipt) -> None:
            if receipt.ended:
                self.last_hand.ends(receipt.ended)
            if number > self._adopted:
                self._adopted = number
                self._adopt(receipt)

        return adopt

    async def ask_books(self, operation: Callable[[Desk], T], *, is_his: bool = True) -> T:
        """Carry out an operation that does not touch their purse.

        If it was the caller who asked for it, and not their clock, they are told when the disk has
        failed and nobody knows yet whether it counts.
        """
        with self._waiting():
            return await self.books.run(operation, self.tell_doubt if is_his else None)

    async def look_up(self, operation: Callable[[Desk], T]) -> T:
        """Read what may take long, beside the writer."""
        with self._waiting():
            return await self.books.read(operation)

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        """Count as one who waits for the books."""
        if not self._unanswered:
            self._waits_since = self.clock.monotonic()
        self._unanswered += 1
        try:
            yield
        finally:
            self._unanswered -= 1
            self._is_told_of_doubt = False

    def tell_doubt(self) -> None:
        """Say that nobody knows yet whether what he did counts, while it is found out."""
        if not self._is_told_of_doubt:
            self._is_told_of_doubt = True
            self.console.say(f"|12{wording.IN_DOUBT}")

    async def note_seen(self) -> None:
        """Note in the books that the end of their last hand was seen, when a visit is over.

        Unwritten, it is told once more.
        """
        number = self.last_hand.seen(call_ends=True)
        if number:
            with contextlib.suppress(BooksFailed):
                await self.ask_books(lambda desk: note_seen(desk, self.record.id, number))
                self.last_hand.noted(number)

    async def touch(self) -> Receipt:
        """Post the time used, and let the day and the events do their work."""
        return await self.post(touch, is_his=False)

    async def remember(self, preferences: Mapping[str, object]) -> None:
        """Keep preferences of his beside those he has."""
        merged = {**self.record.preferences, **preferences}
        self.record = await self.ask_books(
            lambda desk: callers.set_preferences(desk, self.record.id, merged)
        )

    # The clock that runs.

    def start_ticking(self) -> None:
        """Begin to tick: once a second the status line, warnings, idle time, entries due."""
        self.console.on_shown = self._look_at_the_end
        self._arm_warnings()
        self._tick()

    def stop_ticking(self) -> None:
        """Stop the clock; idle or without time, nothing happens to him any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def keep(self) -> None:
        """Make the entries that the clock asks for, until cancelled or the call is closed."""
        is_stuck = False
        while True:
            await self._touch_wanted.wait()
            self._touch_wanted.clear()
            try:
                self.tell(await self.touch())
            except CallClosed:
                self.console.interrupt(TakenOver("Another call of yours has taken over."))
                return
            except (BooksUnavailable, OutcomeUnknown):  # what he used is charged with the next one
                if not is_stuck:  # it is tried again every second
                    self.console.say("|12The books cannot be written just now; please wait.")
                is_stuck = True
            else:
                if is_stuck:
                    self.console.say("|10The books can be written again.")
                is_stuck = False
            self.check_time()

    def check_time(self) -> None:
        """Interrupt him when his time is up."""
        if self.time_is_up() and self._grace_until is None:
            self.console.interrupt(TimeUp("Your time is up."))

    def tell(self, receipt: Receipt) -> None:
        """Say what an entry moved besides time used, in the words of its rows."""
        said = wording.sentences(receipt)
        if said:
            self.console.say("\n".join(f"|14{sentence}" for sentence in said))

    @contextlib.contextmanager
    def suspense(self) -> Iterator[None]:
        """Keep back the status line while cards are on their way: it would tell the result."""
        self.status_waits = True
        try:
            yield
        finally:
            self.status_waits = False
        self.show_status()

    def show_status(self) -> None:
        """Show the status line as it is now, unless it is kept back."""
        if not self.status_waits:
            self.console.display.status(self.status_line())

    def status_line(self) -> str:
        """Return node, time left, pot, bank and next event, with pipe codes."""
        left = self.time_left()
        colour = "12" if left <= 60 else "14" if left <= 300 else "15"
        parts = [
            f"|17|11Node |15{self.node}",
            f"|11Time left |{colour}{wording.clock_time(left)}",
            f"|11Pot |15{wording.coins(self.pot(self.coin))}",
            self._bank_words(),
        ]
        closing = self._purse.closing
        if closing is not None:
            parts.append(f"|15{self._event_words(closing)[:26]}")
        return " |09\N{BOX DRAWINGS LIGHT VERTICAL} ".join(parts)

    # Inside.

    def _event_words(self, closing: ClosedPeriod) -> str:
        return wording.event_at(closing, self.bank_settings.schedule, self.clock.now())

    def _bank_words(self) -> str:
        if self.bank_settings.mode == "built-in":
            return f"|11Bank |15{wording.clock_time(self._purse.bank)}"
        if self.bank_settings.mode == "external":
            return "|11Bank |15elsewhere"
        return "|11No bank"

    def _adopt(self, receipt: Receipt) -> None:
        if any(row.kind == "external" for row in receipt.rows):
            self.books.outbox_waits.set()
        purse = self._purse = receipt.purse
        paid_until = purse.ticked + purse.online
        # What ticked when nothing was left is accounted for, and was not paid.
        self._paid_until = paid_until if purse.online else min(paid_until, self._paid_until)
        if not self.time_is_up():
            self.console.lift(TimeUp)
        self._notice_day()
        self._arm_warnings()
        if self._timer is not None:
            self.show_status()

    def _notice_day(self) -> None:
        self._next_day = self.bank_settings.schedule.next_day(self.clock.now())

    def _arm_warnings(self) -> None:
        """Choose the next warning: the largest one that time left is still above."""
        left = self.time_left()
        self._next_warning = next((limit for limit in WARNINGS if left > limit), 0)

    def _tick(self) -> None:
        until_next = 1.0 - (self.clock.monotonic() - self._logged_on) % 1.0
        self._timer = self.clock.call_later(until_next, self._tick)
        left = self.time_left()
        self.show_status()
        self.on_tick()
        self._warn(left)
        self._tell_to_wait()
        self._check_idle()
        if self._grace_until is not None and self.clock.monotonic() >= self._grace_until:
            self._grace_until = None
        if self._touch_is_due():
            self._touch_wanted.set()
        self.console.display.flush()

    def _warn(self, left: int) -> None:
        if not 0 < left <= self._next_warning:
            return
        self._arm_warnings()
        to_event = self.seconds_to_event()
        closing = self._purse.closing
        why = ""
        if closing is not None and to_event is not None and to_event <= left:
            now = self.clock.now()
            why = f" before {wording.event_at(closing, self.bank_settings.schedule, now)}"
        self.console.bell()
        self.console.say(f"|12{span(left)} left{why}.")

    def _tell_to_wait(self) -> None:
        """Say once why nothing goes on: another program has the books, or the disk hangs."""
        waited = self.clock.monotonic() - self._waits_since
        waits = self._unanswered > 0 and waited >= PATIENCE_SECONDS
        if waits and not (self._is_told_to_wait or self._is_told_of_doubt):
            self.console.say("|14The books are busy just now; please wait.")
        self._is_told_to_wait = waits

    def _check_idle(self) -> None:
        idle = self.clock.monotonic() - self.console.last_key
        calls = self.config.calls
        if idle >= calls.idle_limit_seconds:
            self.console.interrupt(IdledOut("No key was pressed for too long."))
        elif idle < calls.idle_warning_seconds:
            self._idle_warned = False
        elif not self._idle_warned:
            self._idle_warned = True
            remaining = math.ceil(calls.idle_limit_seconds - idle)
            self.console.bell()
            self.console.say(f"|12Are you there? The line is dropped in {span(remaining)}.")

    def _look_at_the_end(self) -> None:
        """Take the end of a hand for shown, unless its cards are still on their way."""
        if not self.status_waits:
            self.last_hand.shown()

    def _touch_is_due(self) -> bool:
        now = self.clock.now()
        to_event = self.seconds_to_event()
        closing = self._purse.closing
        return (
            self.ticked() - self._purse.ticked >= POST_SECONDS
            or (self.time_is_up() and self._grace_until is None)
            or now >= self._next_day
            or (to_event is not None and to_event < self.spendable())
            or (closing is not None and now >= closing.end)
        )


def _nothing() -> None:
    """Be what happens at a tick where a room asked for nothing."""
