"""The news of the board for the menus that are on screens: one look at the books serves them all.

It is read without the writer, at most every few seconds and only while a menu is shown. It needs
running totals and the newest rows alone, so its cost does not grow with the books.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import select

from door.call.markup import hanging, literal
from door.call.shared import Shared
from timebank.callers import awards, fame, messages, standings
from timebank.callers.award_names import name_of
from timebank.callers.messages import OneLiner
from timebank.callers.standings import DaySpan, Standing
from timebank.calls.calls import OpenCall, open_calls
from timebank.errors import BooksFailed
from timebank.language import _
from timebank.ledger.schema import callers, calls
from timebank.ledger.sql import Reader, value
from timebank.wagers import tournaments
from timebank.words import day_time_words, field, span

if TYPE_CHECKING:
    from door.call.board import Board
    from timebank.ledger.database import Desk

EVERY_SECONDS = 5.0
LAST_CALLERS = 3
DEAL_KEY = "D"  # in the main menu; it leads to the tournament too
_ROWS = 12  # newest calls searched for the last callers

log = logging.getLogger("door.lobby")

_LAST: Reader[str] = value(
    lambda: (
        select(callers.c.name)
        .join(calls, calls.c.caller_id == callers.c.id)
        .where(calls.c.closed.is_not(None), callers.c.deleted.is_(None))
        .order_by(calls.c.id.desc())
        .limit(_ROWS)
    )
)


@dataclass(frozen=True)
class BoardNews:
    calls: Sequence[OpenCall] = ()
    leader: Standing | None = None
    best: Standing | None = None
    last_callers: Sequence[str] = ()  # their names, without those who are on
    one_liner: OneLiner | None = None
    award: tuple[str, str] | None = None  # the caller's name and the award's word
    tournament: datetime | None = None  # the end of the open one, in the board's time zone

    def lines(self, reader: str, *, one_liners: bool, ignored: Set[int]) -> list[str]:
        """Return the news as lines with pipe codes, the most important first.

        The one-liner is left out if its caller is in `ignored` or `one_liners` is False. An award
        of the caller `reader` is left out, because they have seen it.
        """
        lines = []
        line = self.one_liner
        if line is not None and one_liners and line.caller_id not in ignored:
            lines.append(hanging(field(f"|13{literal(line.name)}", f"|07{line.text}")))
        if self.tournament is not None:
            text = _("Tournament (D) until {time}").format(time=day_time_words(self.tournament))
            lines.append(f"|14{text}")
        for words, who in (
            (_("Today's leader: {name}, up {amount}"), self.leader),
            (_("Biggest hand today: {name}, {amount}"), self.best),
        ):
            if who is not None:
                text = words.format(name=literal(who.name), amount=span(who.seconds))
                lines.append(f"|11{text}")
        if self.award is not None and self.award[0] != reader:
            name, word = self.award
            text = _("{name} has earned an award: {award}.")
            lines.append(f"|14{text.format(name=literal(name), award=name_of(word))}")
        if self.last_callers:
            names = ", ".join(map(literal, self.last_callers))
            lines.append(f"|03{_('Last callers: {names}').format(names=names)}")
        return lines


def look(desk: Desk) -> BoardNews:
    today = desk.settings.schedule.day_of(desk.now)
    period = DaySpan(today, today)
    live = tuple(call for call in open_calls(desk) if call.live)
    here = {call.name for call in live}
    names = dict.fromkeys(name for name in _LAST.all(desk.connection) if name not in here)
    until = tournaments.outlook(desk).until
    return BoardNews(
        calls=live,
        leader=next(iter(standings.winners(desk, period, 1)), None),
        best=next(iter(fame.best_hands(desk, period, 1)), None),
        last_callers=tuple(names)[:LAST_CALLERS],
        one_liner=next(iter(messages.wall(desk, 1)), None),
        award=awards.latest(desk),
        tournament=None if until is None else desk.settings.schedule.local(until),
    )


class MenuPulse(Shared):
    """The latest news, shared by the menus of a process."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self.news = BoardNews()
        self.watchers: set[Callable[[], None]] = set()  # called when the news has changed
        self._looked_at: float | None = None  # monotonic
        self._look_task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Start a look if the last one is some seconds old."""
        if self._look_task is None and self._is_due():
            self._look_task = asyncio.create_task(self._renew())

    async def look(self) -> BoardNews:
        """Start a look if the last one is some seconds old, wait for it and return the news.

        If the books cannot be read, the news is as it was.
        """
        self.wake()
        if self._look_task is not None:
            await asyncio.wait({self._look_task})
        return self.news

    def _is_due(self) -> bool:
        now = self._board.clock.monotonic()
        return self._looked_at is None or now - self._looked_at >= EVERY_SECONDS

    async def _renew(self) -> None:
        self._looked_at = self._board.clock.monotonic()
        try:
            news = await self._board.books.read(look)
        except BooksFailed as error:
            log.info("the menu shows old news: %s", error)
            return
        finally:
            self._look_task = None
        before, self.news = self.news, news
        for refresh in tuple(self.watchers) if news != before else ():
            refresh()

    async def close(self) -> None:
        if self._look_task is not None:
            self._look_task.cancel()
            await asyncio.gather(self._look_task, return_exceptions=True)
