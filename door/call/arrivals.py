"""Announces log-ons and log-offs to the callers who are on: "Ann logs on."

Each server announces its own callers at once. Other processes find the calls in the books at their
next look. Events within `BATCH_SECONDS` share one line, and three or more names become a number. A
caller gets at most `MAX_LINES` lines in `WINDOW_SECONDS`. Callers who are typing or being dealt to
get the line afterwards, and so do callers whose other messages leave it no room.

Nothing is stored for callers who are not on. A caller who takes over their own call counts as on
all the time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from sys import intern
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from door.call.caller import AT_LOG_ON
from door.call.markup import literal
from timebank.language import _, ngettext, speaking_to

if TYPE_CHECKING:
    from door.call.board_clock import BoardClock
    from door.call.caller import Caller
    from door.clock import Timer

MUTED = "comings_untold"  # preference: show this caller no announcements
BATCH_SECONDS = 0.5
MAX_LINES = 4
MOST_NAMED = 2
WINDOW_SECONDS = 20.0
BUSY_RETRY_SECONDS = 1.0
CALLERS_PER_TURN = 8  # sent to before the event loop gets a turn

News = dict[str, bool]  # by name: True for a log-on, False for a log-off


class Arrivals:
    """The announcements of one process."""

    def __init__(
        self,
        clock: BoardClock,
        callers: Callable[[], Sequence[Caller]],
        wanted: Callable[[], bool],
    ) -> None:
        """`callers` returns the callers on here; `wanted` whether the sysop has them announced."""
        self._clock = clock
        self._callers = callers
        self._wanted = wanted
        self._pending: News = {}
        # The callers of other processes by their calls; None before the first look.
        self._elsewhere: dict[int, str] | None = None
        self._moved: set[str] = set()  # names of callers whose call here was taken over elsewhere
        self._deferred: WeakKeyDictionary[Caller, News] = WeakKeyDictionary()  # to busy callers
        self._sent_at: deque[float] = deque(maxlen=MAX_LINES)
        self._timer: Timer | None = None
        self._flush_task: asyncio.Task[None] | None = None

    def announce_arrival(self, caller: Caller) -> None:
        """Announce a caller who has logged on here and had no call before."""
        self._announce(caller, has_come=True)

    def announce_departure(self, caller: Caller) -> None:
        """Announce that a caller's call here is closed."""
        self._announce(caller, has_come=False)

    def forget_elsewhere(self, call_id: int) -> None:
        """Leave out the end of a call elsewhere that a call here has taken over."""
        if self._elsewhere is not None:
            self._elsewhere.pop(call_id, None)

    def note_moved(self, caller: Caller) -> None:
        """Leave out the start of a call elsewhere that has taken over the caller's call here."""
        if caller.record.name not in (self._elsewhere or {}).values():
            self._moved.add(caller.record.name)

    def look(self, elsewhere: Mapping[int, str]) -> None:
        """Announce callers of other processes who have come or gone since the last look."""
        before, self._elsewhere = self._elsewhere, dict(elsewhere)
        moved, self._moved = self._moved, set()
        if before is None or not self._wanted():
            return
        silent = moved | {caller.record.name for caller in self._callers()}
        gone = {call_id: name for call_id, name in before.items() if call_id not in elsewhere}
        come = {call_id: name for call_id, name in elsewhere.items() if call_id not in before}
        news: News = {}
        for names, has_come in ((gone.values(), False), (come.values(), True)):
            for name in names:
                if name not in silent:
                    _add(news, name, has_come=has_come)
        for name, has_come in news.items():
            _add(self._pending, name, has_come=has_come)
        if news and self._audience():
            self._schedule(BATCH_SECONDS)

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._flush_task is not None:
            self._flush_task.cancel()
            await asyncio.gather(self._flush_task, return_exceptions=True)

    def _announce(self, caller: Caller, *, has_come: bool) -> None:
        if not self._wanted():
            return
        _add(self._pending, caller.record.name, has_come=has_come)
        self._schedule(BATCH_SECONDS)

    def _audience(self) -> list[Caller]:
        if not self._wanted():
            return []
        here = (each for each in self._callers() if not each.console.keyboard.is_lost)
        return [each for each in here if not each.prefers(MUTED)]

    def _schedule(self, delay: float) -> None:
        """Flush after `delay` seconds, or when the window has room for another line."""
        if self._timer is not None or self._flush_task is not None:
            return
        clock = self._clock
        if len(self._sent_at) == MAX_LINES:
            delay = max(delay, self._sent_at[0] + WINDOW_SECONDS - clock.monotonic())
        self._timer = clock.call_later(delay, self._start_flush)

    def _start_flush(self) -> None:
        self._timer = None
        self._flush_task = asyncio.create_task(self._flush())
        self._flush_task.add_done_callback(self._after_flush)

    def _after_flush(self, _flush_task: object) -> None:
        self._flush_task = None
        if self._pending:
            self._schedule(BATCH_SECONDS)
        elif self._deferred:
            self._schedule(BUSY_RETRY_SECONDS)

    async def _flush(self) -> None:
        news, self._pending = self._pending, {}
        deferred, self._deferred = self._deferred, WeakKeyDictionary()
        was_sent = False
        for number, caller in enumerate(self._audience(), 1):
            if caller.place == AT_LOG_ON:  # the menu will name who is on
                continue
            own = deferred.pop(caller, {})
            for name, has_come in news.items():
                if name != caller.record.name:
                    _add(own, name, has_come=has_come)
            if own and _say(caller, own):
                was_sent = True
            elif own:
                self._deferred[caller] = own
            if number % CALLERS_PER_TURN == 0:
                await asyncio.sleep(0)
        if was_sent:
            self._sent_at.append(self._clock.monotonic())


def _add(news: News, name: str, *, has_come: bool) -> None:
    """Add an arrival or departure; an arrival and a departure cancel each other out."""
    if news.pop(name, has_come) == has_come:
        news[name] = has_come


def _say(caller: Caller, news: News) -> bool:
    """Announce the news, and return True, unless the caller is busy or has no room for the line."""
    with speaking_to(caller.console.viewer):
        # All callers who read the line keep the same string.
        text = intern(f"|03{announcement(news)}")
    return not caller.is_busy and caller.console.screen.say_beside(text)


def announcement(news: Mapping[str, bool]) -> str:
    """Name the callers who came and who left, or count them if they are more than two.

    >>> announcement({"Ann": True}), announcement({"Ann": True, "Bob": False, "Cyd": False})
    ('Ann logs on.', 'Ann logs on. Bob and Cyd have left.')
    """
    came = [name for name, has_come in news.items() if has_come]
    left = [name for name, has_come in news.items() if not has_come]
    sentences = []
    if len(came) == 1:
        sentences.append(_("{name} logs on.").format(name=literal(came[0])))
    elif len(came) == MOST_NAMED:
        sentences.append(_("{name} and {other} log on.").format(**_pair(came)))
    elif came:
        words = ngettext("{number} caller logs on.", "{number} callers log on.", len(came))
        sentences.append(words.format(number=len(came)))
    if len(left) == 1:
        sentences.append(_("{name} has left.").format(name=literal(left[0])))
    elif len(left) == MOST_NAMED:
        sentences.append(_("{name} and {other} have left.").format(**_pair(left)))
    elif left:
        words = ngettext("{number} caller has left.", "{number} callers have left.", len(left))
        sentences.append(words.format(number=len(left)))
    return " ".join(sentences)


def _pair(names: Sequence[str]) -> dict[str, str]:
    return {"name": literal(names[0]), "other": literal(names[1])}
