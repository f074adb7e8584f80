"""The Vegas room: the tables of one server.

Tables open as callers come. The server takes a pit with the first caller (`tenure.py`), and the
rounds with it that an earlier server left there; it lets the pit go when nobody is at its tables.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from door.call.shared import Shared
from door.clock import sleep
from door.errors import HandElsewhere
from door.games.tables.words import turns_today
from door.games.vegas import standing
from door.games.vegas.game import VegasSettings
from door.games.vegas.round import GAME
from door.games.vegas.table import VegasTable
from door.games.vegas.tenure import RENEW_SECONDS, Hold, Tenure, pit_of, place_of, take_lowest
from timebank.errors import BooksFailed, JournalDamaged
from timebank.language import _, ngettext
from timebank.wagers import journal
from timebank.wagers.journal import FIRST_TABLE

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from timebank.ledger.database import Desk

log = logging.getLogger("door.tables")


class VegasRoom(Shared):
    """The tables of one server, numbered from 1."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self.tenure = Tenure(board)
        self._tables: dict[int, VegasTable] = {}
        self._tenure_changes = asyncio.Lock()
        self._unreadable: set[int] = set()  # rounds of other servers, named in the log
        self._job: asyncio.Task[None] | None = None

    @property
    def settings(self) -> VegasSettings:
        return VegasSettings.of(self._board.config.games)

    def table(self, number: int = FIRST_TABLE) -> VegasTable:
        table = self._tables.get(number)
        if table is None:
            table = self._tables[number] = VegasTable(self._board, number, self.own, self._lose)
        return table

    def guests(self) -> int:
        """Return how many callers are at all tables."""
        return sum(len(table.state.guests()) for table in self._tables.values())

    # The server's side.

    async def resume(self) -> None:
        if await self._board.books.read(lambda desk: journal.shared_rounds(desk, GAME)):
            await self.own()
            for table in list(self._tables.values()):
                await table.resume()
        self._job = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Close all tables: what is in play stays in the journal, for this server's return."""
        if self._job is not None:
            self._job.cancel()
            await asyncio.gather(self._job, return_exceptions=True)
        for table in self._tables.values():
            await table.stop()
        await self.tenure.let_go()

    async def look_after(self) -> None:
        """Stand the rounds of servers that have died."""
        async with self._tenure_changes:
            await standing.stand_left(self._board, self.tenure.hold, self._unreadable)

    async def own(self) -> Hold:
        """Return the pit of this server. The lowest that is free is taken where it has none, and
        the rounds that are in play there with it."""
        async with self._tenure_changes:
            if self.tenure.hold is not None:
                return self.tenure.hold
            hold, waiting = await self._board.books.run(self._take)
            self.tenure.hold = hold
        for number, leads in waiting.items():
            self.table(number).take_up_soon(leads)
        return hold

    def _take(self, desk: Desk) -> tuple[Hold, dict[int, list[int]]]:
        hold = take_lowest(desk, self._board.server_id)
        waiting = defaultdict[int, list[int]](list)
        for lead, table in journal.shared_rounds(desk, GAME).items():
            if pit_of(table) == hold.pit:
                waiting[place_of(table)].append(lead)
        return hold, waiting

    def _lose(self) -> None:
        """Close all tables: another server has had the pit, and has stood its rounds."""
        log.warning("another server has taken the Vegas tables of this one")
        self.tenure.lose()
        tables, self._tables = self._tables, {}
        for table in tables.values():
            table.close_lost()

    async def _keep(self) -> None:
        is_told = False
        while True:
            await sleep(self._board.clock, RENEW_SECONDS)
            try:
                await self._renew()
            except BooksFailed as error:
                if not is_told:  # once: it is tried again every few seconds
                    log.warning("the Vegas tables are not kept: %s", error)
                is_told = True
            except Exception:
                log.exception("the Vegas tables are not kept")
            else:
                is_told = False

    async def _renew(self) -> None:
        """Renew the lease of the pit, or let the pit go when nobody is at its tables."""
        async with self._tenure_changes:
            if self.tenure.hold is None:
                return
            if all(table.is_idle for table in self._tables.values()):
                await self.tenure.let_go()
                return
            if await self._board.books.run(self.tenure.renew):
                return
        self._lose()

    # Where callers sit.

    async def table_for(self, caller: Caller) -> VegasTable:
        """Return the table of a caller's open hand, else one with a seat; `HandElsewhere`."""
        return await self.find(caller.record.id) or self.table(self._choose())

    async def find(self, caller_id: int) -> VegasTable | None:
        """Return the table of a caller's open hand, which lies there as soon as the table is free;
        None without one. Raises `HandElsewhere`."""
        await self.own()
        found = await self._board.books.run(partial(self._hand_of, caller_id=caller_id))
        if found is None:
            return None
        lead, number = found
        if number is None:
            raise HandElsewhere
        table = self.table(number)
        table.take_up_soon([lead])
        await table.resume()
        return table

    def _hand_of(self, desk: Desk, caller_id: int) -> tuple[int, int | None] | None:
        """Return which round a caller plays and at which table of this server, None for another's;
        None for no round that can be read."""
        try:
            stored = journal.round_in_play(desk, caller_id)
        except JournalDamaged as damaged:
            log.error("hand %d at the Vegas table: %s", damaged.number, damaged)
            return None
        if stored is None or stored.game != GAME:
            return None
        shoe = stored.shoe
        if shoe is None or shoe.caller_id is not None:  # they played alone, in an earlier release
            return stored.lead, FIRST_TABLE
        if not self.tenure.has(shoe.table):
            return stored.lead, None
        return stored.lead, place_of(shoe.table)

    def _choose(self) -> int:
        """Return where somebody sits down who comes: at the first table in use that has a seat,
        else at one that is opened for them, else where the fewest wait."""
        seats = self.settings.seats
        taken = {
            number: 0 if (table := self._tables.get(number)) is None else table.crowd
            for number in range(FIRST_TABLE, self.settings.tables + 1)
        }
        free = [number for number, guests in taken.items() if 0 < guests < seats]
        unused = [number for number, guests in taken.items() if not guests]
        return next(iter(free + unused), min(taken, key=taken.__getitem__))


def room_of(board: Board) -> VegasRoom:
    room = board.shared["vegas"]
    assert isinstance(room, VegasRoom)
    return room


def table_of(board: Board, number: int = FIRST_TABLE) -> VegasTable:
    return room_of(board).table(number)


async def menu_words(board: Board, caller: Caller) -> str:
    turns = turns_today(caller, GAME, VegasSettings.of(board.config.games))
    others = room_of(board).guests()
    if not others:
        return _("nobody at the table; {turns}").format(turns=turns)
    words = ngettext("{number} caller there; {turns}", "{number} callers there; {turns}", others)
    return words.format(number=others, turns=turns)
