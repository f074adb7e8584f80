"""Who comes and goes, told to those who are on in a line: "Ann logs on."

The server or door process that has a caller tells its own callers, and by the bus all others, who
look the call up in the books: what they show is true, whoever sent the message. What happens within
a moment is told in one line, and more than two are a number; so is what happens while more lines
are due than `LINES_AT_ONCE` in `SPAN_SECONDS`. Whoever is typing, or whose cards are on their way,
is told once that is over.

Nothing of it is kept: whoever is not on hears nothing, and who has a call in the place of another
was on all the while.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from sqlalchemy import select

from door.call.caller import AT_LOG_ON
from door.call.display import literal
from door.servers import bus
from timebank.errors import BooksFailed
from timebank.language import _, ngettext, speaking_to
from timebank.ledger.schema import callers, calls
from timebank.ledger.sql import Prepared, among

if TYPE_CHECKING:
    from door.call.board_clock import BoardClock
    from door.call.books import Books
    from door.call.caller import Caller
    from door.clock import Timer
    from door.servers.bus import Bus
    from timebank.ledger.database import Desk

UNTOLD = "comings_untold"  # the preference of a caller who wants to hear of none
MOMENT = 0.5  # seconds in which what happens is told together
LINES_AT_ONCE = 4
TWO = 2  # are named; more are a number
SPAN_SECONDS = 20.0
AGAIN_SECONDS = 1.0  # until somebody who was busy is looked at again
MOST_LOOKED_UP = 200  # calls of other processes at a time; there is no more to tell of a crowd
AT_ONCE = 8  # callers who are told before it is the turn of others

News = dict[str, bool]  # by name, whether they have come, or gone

log = logging.getLogger("door.call")

_CALLS = Prepared(
    lambda: (
        select(calls.c.id, callers.c.name, calls.c.closed)
        .join(calls, calls.c.caller_id == callers.c.id)
        .where(among(calls.c.id, "calls"), callers.c.deleted.is_(None))
        .order_by(calls.c.id)
    )
)


class Comings:
    """What the callers of one process are told of it."""

    def __init__(
        self,
        messages: Bus,
        clock: BoardClock,
        books: Books,
        callers: Callable[[], Sequence[Caller]],
        wanted: Callable[[], bool],
    ) -> None:
        """`callers` gives those who are on here; `wanted` says whether the sysop wants it."""
        self._bus = messages
        self._clock = clock
        self._books = books
        self._callers = callers
        self._wanted = wanted
        self._news: News = {}
        # Of other processes, which are to be looked up: whether each is said to have begun.
        self._calls: dict[int, bool] = {}
        # What those have not been told yet who were busy.
        self._kept: WeakKeyDictionary[Caller, News] = WeakKeyDictionary()
        self._told: deque[float] = deque(maxlen=LINES_AT_ONCE)  # when lines were
        self._due: Timer | None = None
        self._telling: asyncio.Task[None] | None = None
        messages.subscribe(bus.COMINGS, self._hear)

    def came(self, caller: Caller) -> None:
        """Tell others of one who has logged on here, and had no call before."""
        self._tell_of(caller, has_come=True)

    def went(self, caller: Caller) -> None:
        """Tell others of one whose call is closed."""
        self._tell_of(caller, has_come=False)

    async def close(self) -> None:
        if self._due is not None:
            self._due.cancel()
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)

    def _tell_of(self, caller: Caller, *, has_come: bool) -> None:
        if not self._wanted():
            return
        self._bus.publish(bus.COMINGS, call=caller.call_id, came=has_come)
        _add(self._news, caller.record.name, has_come=has_come)
        self._begin(MOMENT)

    def _hear(self, facts: bus.Facts) -> None:
        call, came = facts.get("call"), facts.get("came")
        if not (type(call) is int and isinstance(came, bool) and self._listeners()):
            return
        if len(self._calls) < MOST_LOOKED_UP:
            self._calls[call] = came
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
        if self._news or self._calls:
            self._begin(MOMENT)
        elif self._kept:
            self._begin(AGAIN_SECONDS)

    async def _tell(self) -> None:
        said, self._calls = self._calls, {}
        if said:
            await self._look_up(said)
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
                    caller.console.say(f"|03{sentence(own)}")
                was_told = True
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
        if was_told:
            self._told.append(self._clock.monotonic())

    async def _look_up(self, said: Mapping[int, bool]) -> None:
        """Take what is said of calls of other processes as far as the books say it too."""
        try:
            found = await self._books.read(partial(_in_the_books, numbers=said))
        except BooksFailed as error:
            log.warning("nobody hears who came and went elsewhere: %s", error)
            return
        for number, (name, is_open) in found.items():
            if said[number] == is_open:
                _add(self._news, name, has_come=is_open)


def _add(news: News, name: str, *, has_come: bool) -> None:
    """Add one who came or went; of who came and went there is nothing to tell."""
    if news.pop(name, has_come) == has_come:
        news[name] = has_come


def _is_deaf(caller: Caller) -> bool:
    return caller.is_away or caller.console.is_lost or caller.prefers(UNTOLD)


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


def _in_the_books(desk: Desk, numbers: Iterable[int]) -> dict[int, tuple[str, bool]]:
    """Find out whose calls those are, and which of them are open."""
    found = _CALLS(desk.connection, calls=json.dumps(sorted(numbers)))
    return {number: (name, closed is None) for number, name, closed in found}
