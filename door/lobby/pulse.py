"""What goes on at the board just now, for menus that are looked at: one look serves them all.

It is read beside the writer, at most every few seconds and only while somebody looks, from running
totals and the newest rows: what it costs does not grow with the books.
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
from timebank.words import moment, span

if TYPE_CHECKING:
    from door.call.board import Board
    from timebank.ledger.database import Desk

EVERY_SECONDS = 5.0
LAST_CALLERS = 3
DEAL_KEY = "D"  # of the menu: the tournament is behind the daily deal
_ROWS = 12  # calls that are looked at for them

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
class GoingsOn:
    on: Sequence[OpenCall] = ()
    leader: Standing | None = None
    best: Standing | None = None
    last: Sequence[str] = ()  # who called last, of those who are not on
    one_liner: OneLiner | None = None
    award: tuple[str, str] | None = None  # whose, and its word
    tournament: datetime | None = None  # until when one is open, by the clock of the board

    def lines(self, *, one_liners: bool, ignored: Set[int]) -> list[str]:
        """Return the news as lines with pipe codes, the best first, without the one-liner of a
        caller who is `ignored`."""
        told = []
        line = self.one_liner
        if line is not None and one_liners and line.caller_id not in ignored:
            said = f"|13{literal(line.name)}:|07 {line.text}"
            told.append(hanging(said))
        if self.tournament is not None:
            said = _("<{key}> Tournament until {time}")
            told.append(f"|14{said.format(time=moment(self.tournament), key=DEAL_KEY)}")
        for words, who in (
            (_("Today's leader: {name}, {amount} ahead"), self.leader),
            (_("Biggest win today: {name}, {amount}"), self.best),
        ):
            if who is not None:
                said = words.format(name=literal(who.name), amount=span(who.seconds))
                told.append(f"|11{said}")
        if self.award is not None:
            name, word = self.award
            said = _("{name} has earned an award: {award}.")
            told.append(f"|14{said.format(name=literal(name), award=name_of(word))}")
        if self.last:
            said = _("Last callers: {names}").format(names=", ".join(map(literal, self.last)))
            told.append(f"|03{said}")
        return told


def look(desk: Desk) -> GoingsOn:
    today = desk.settings.schedule.day_of(desk.now)
    period = DaySpan(today, today)
    on = tuple(call for call in open_calls(desk) if call.live)
    here = {call.name for call in on}
    names = dict.fromkeys(name for name in _LAST.all(desk.connection) if name not in here)
    until = tournaments.outlook(desk).until
    return GoingsOn(
        on=on,
        leader=next(iter(standings.winners(desk, period, 1)), None),
        best=next(iter(fame.best_hands(desk, period, 1)), None),
        last=tuple(names)[:LAST_CALLERS],
        one_liner=next(iter(messages.wall(desk, 1)), None),
        award=awards.latest(desk),
        tournament=None if until is None else desk.settings.schedule.local(until),
    )


class MenuPulse(Shared):
    """What the callers of a process share of it."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self.now = GoingsOn()
        self.watchers: set[Callable[[], None]] = set()  # called when there is news
        self._looked: float | None = None
        self._looking: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Look again soon, if the last look is some seconds old."""
        if self._looking is None and self._is_due():
            self._looking = asyncio.create_task(self._look_beside())

    async def look(self) -> GoingsOn:
        """Look now, if the last look is some seconds old, or wait for one that has begun; without
        the books, it is as it was."""
        self.wake()
        if self._looking is not None:
            await asyncio.wait({self._looking})
        return self.now

    def _is_due(self) -> bool:
        now = self._board.clock.monotonic()
        return self._looked is None or now - self._looked >= EVERY_SECONDS

    async def _look_beside(self) -> None:
        self._looked = self._board.clock.monotonic()
        try:
            found = await self._board.books.read(look)
        except BooksFailed as error:
            log.info("the menu does not say what goes on: %s", error)
            return
        finally:
            self._looking = None
        before, self.now = self.now, found
        for tell in tuple(self.watchers) if found != before else ():
            tell()

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
