"""Who comes and goes, told to those who are on in a line: "Ann logs on."

The server that has a caller tells its own callers at once. Other processes find the call in the
books at their next look. What happens within a moment is told in one line, and more than two are a
number; so is what happens while more lines are due than `LINES_AT_ONCE` in `SPAN_SECONDS`. Callers
who are typing, or whose cards are on their way, are told once that is over.

Nothing of it is kept: whoever is not on hears nothing, and who has a call in the place of another
was on all the while.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from door.call.caller import AT_LOG_ON
from door.call.markup import literal
from timebank.language import _, ngettext, speaking_to

if TYPE_CHECKING:
    from door.call.board_clock import BoardClock
    from door.call.caller import Caller
    from door.clock import Timer

UNTOLD = "comings_untold"  # the preference of a caller who wants to hear of none
MOMENT = 0.5  # seconds in which what happens is told together
LINES_AT_ONCE = 4
TWO = 2  # are named; more are a number
SPAN_SECONDS = 20.0
AGAIN_SECONDS = 1.0  # until somebody who was busy is looked at again
AT_ONCE = 8  # callers who are told before it is the turn of others

News = dict[str, bool]  # by name, whether they have come, or gone


class Comings:
    """What the callers of one process are told of it."""

    def __init__(
        self,
        clock: BoardClock,
        callers: Callable[[], Sequence[Caller]],
        wanted: Callable[[], bool],
    ) -> None:
        """`callers` gives those who are on here; `wanted` says whether the sysop wants it."""
        self._clock = clock
        self._callers = callers
        self._wanted = wanted
        self._news: News = {}
        # The callers of other processes by their calls; None before the first look.
        self._elsewhere: dict[int, str] | None = None
        self._moved: set[str] = set()  # who called elsewhere in the place of a call here
        # What those have not been told yet who were busy.
        self._kept: WeakKeyDictionary[Caller, News] = WeakKeyDictionary()
        self._told: deque[float] = deque(maxlen=LINES_AT_ONCE)  # when lines were
        self._due: Timer | None = None
        self._telling: asyncio.Task[None] | None = None

    def came(self, caller: Caller) -> None:
        """Tell others of one who has logged on here, and had no call before."""
        self._tell_of(caller, has_come=True)

    def went(self, caller: Caller) -> None:
        """Tell others of one whose call is closed."""
        self._tell_of(caller, has_come=False)

    def takes_over(self, call_id: int) -> None:
        """Learn that a call here takes the place of one elsewhere."""
        if self._elsewhere is not None:
            self._elsewhere.pop(call_id, None)

    def moves(self, caller: Caller) -> None:
        """Learn that a call elsewhere takes the place of a caller's call here."""
        if caller.record.name not in (self._elsewhere or {}).values():
            self._moved.add(caller.record.name)

    def look(self, elsewhere: Mapping[int, str]) -> None:
        """Tell of callers of other processes who have come or gone since the last look."""
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
            _add(self._news, name, has_come=has_come)
        if news and self._listeners():
            self._begin(MOMENT)

    async def close(self) -> None:
        if self._due is not None:
            self._due.cancel()
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)

    def _tell_of(self, caller: Caller, *, has_come: bool) -> None:
        if not self._wanted():
            return
        _add(self._news, caller.record.name, has_come=has_come)
        self._begin(MOMENT)

    def _listeners(self) -> list[Caller]:
        if not self._wanted():
            return []
        return [each for each in self._callers() if not _is_deaf(each)]

    def _begin(self, seconds: float) -> None:
        """Tell what there is in some seconds, or later where many lines have been told of late."""
        if self._due is not None or self._telling is not None:
            return
        clock = self._clock
        if len(self._told) == LINES_AT_ONCE:
            seconds = max(seconds, self._told[0] + SPAN_SECONDS - clock.monotonic())
        self._due = clock.call_later(seconds, self._is_due)

    def _is_due(self) -> None:
        self._due = None
        self._telling = asyncio.create_task(self._tell())
        self._telling.add_done_callback(self._has_told)

    def _has_told(self, _telling: object) -> None:
        self._telling = None
        if self._news:
            self._begin(MOMENT)
        elif self._kept:
            self._begin(AGAIN_SECONDS)

    async def _tell(self) -> None:
        news, self._news = self._news, {}
        kept, self._kept = self._kept, WeakKeyDictionary()
        was_told = False
        for number, caller in enumerate(self._listeners(), 1):
            if caller.place == AT_LOG_ON:  # the menu will say who is on
                continue
            own = kept.pop(caller, {})
            for name, has_come in news.items():
                if name != caller.record.name:
                    _add(own, name, has_come=has_come)
            if own and caller.is_busy:
                self._kept[caller] = own
            elif own:
                with speaking_to(caller.console.viewer):
                    caller.console.screen.say(f"|03{sentence(own)}")
                was_told = True
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
        if was_told:
            self._told.append(self._clock.monotonic())


def _add(news: News, name: str, *, has_come: bool) -> None:
    """Add one who came or went; of who came and went there is nothing to tell."""
    if news.pop(name, has_come) == has_come:
        news[name] = has_come


def _is_deaf(caller: Caller) -> bool:
    return caller.console.keyboard.is_lost or caller.prefers(UNTOLD)


def sentence(news: Mapping[str, bool]) -> str:
    """Say who came and who went, one or two by name and more as a number.

    >>> sentence({"Ann": True}), sentence({"Ann": True, "Bob": False, "Cyd": False})
    ('Ann logs on.', 'Ann logs on. Bob and Cyd have left.')
    """
    came = [name for name, has_come in news.items() if has_come]
    went = [name for name, has_come in news.items() if not has_come]
    told = []
    if len(came) == 1:
        told.append(_("{name} logs on.").format(name=literal(came[0])))
    elif len(came) == TWO:
        told.append(_("{name} and {other} log on.").format(**_pair(came)))
    elif came:
        words = ngettext("{number} caller logs on.", "{number} callers log on.", len(came))
        told.append(words.format(number=len(came)))
    if len(went) == 1:
        told.append(_("{name} has left.").format(name=literal(went[0])))
    elif len(went) == TWO:
        told.append(_("{name} and {other} have left.").format(**_pair(went)))
    elif went:
        words = ngettext("{number} caller has left.", "{number} callers have left.", len(went))
        told.append(words.format(number=len(went)))
    return " ".join(told)


def _pair(names: Sequence[str]) -> dict[str, str]:
    return {"name": literal(names[0]), "other": literal(names[1])}
