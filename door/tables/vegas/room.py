"""The Vegas room: the tables of one server, which open as callers arrive.

The server takes a pit at its start (`pits.py`), with the rounds that an earlier server left there.
It keeps the pit until it ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from door.call.books import NOT_IN_TIME
from door.call.markup import wrap
from door.call.page import Page
from door.call.scene import LAYOUT_COLUMNS
from door.call.shared import Shared
from door.clock import until
from door.errors import HandElsewhere
from door.games.vegas.game import VegasSettings
from door.tables.vegas import pits
from door.tables.vegas.pits import Hold
from door.tables.vegas.seat import VegasVisit
from door.tables.vegas.table import VegasTable
from door.tables.vegas.table_round import GAME
from door.tables.words import turns_today
from timebank.errors import BooksUnavailable, JournalDamaged, Refused
from timebank.language import N_, Phrase, _, ngettext
from timebank.wagers import journal
from timebank.wagers.journal import FIRST_TABLE

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from timebank.ledger.database import Desk

log = logging.getLogger("door.tables")

T = TypeVar("T")

STOOD_ELSEWHERE = N_("The dealer stands your hand at Vegas; you'll hear how it ended.")
UNREACHED = N_(
    "The table can't be reached just now. Any open hand is kept for you: please try again in a "
    "minute."
)
MESSAGE_SECONDS = 30.0  # then the menu comes without a key


class VegasRoom(Shared):
    """The tables of one server, numbered from 1."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self.hold: Hold | None = None  # the pit, while this server has one
        self._tables: dict[int, VegasTable] = {}
        self._hold_changes = asyncio.Lock()
        self._damaged: set[int] = set()  # rounds of other servers, named in the log

    @property
    def settings(self) -> VegasSettings:
        return VegasSettings.among(self._board.config.games)

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
        await self.own()
        for table in list(self._tables.values()):
            await table.resume()

    async def stop(self) -> None:
        """Close all tables; open rounds stay in the journal."""
        for table in self._tables.values():
            await table.stop()

    async def look_after(self, *, leads: bool) -> None:
        """Renew the lease of the pit; a server that `leads` stands the rounds of dead servers."""
        if not self._board.server_id:
            return
        async with self._hold_changes:
            if self.hold is not None and not await self._renew(self.hold):
                self._lose()
        if leads:
            await self._stand_abandoned()

    async def own(self) -> Hold:
        """Return the pit of this server, or take the lowest free pit and its open rounds."""
        async with self._hold_changes:
            if self.hold is not None:
                return self.hold
            hold, waiting = await self._board.books.run(self._take)
            self.hold = hold
        for number, leads in waiting.items():
            self.table(number).take_up_soon(leads)
        return hold

    def _take(self, desk: Desk) -> tuple[Hold, dict[int, list[int]]]:
        hold = pits.take_lowest(desk, self._board.server_id)
        waiting = defaultdict[int, list[int]](list)
        for lead, table in journal.shared_rounds(desk, GAME).items():
            if hold.has(table):
                waiting[pits.place_of(table)].append(lead)
        return hold, waiting

    async def _renew(self, hold: Hold) -> bool:
        server = self._board.server_id
        return await self._board.books.run(partial(pits.renew, hold=hold, server_id=server))

    def _lose(self) -> None:
        """Make all tables start over in another pit, after another server has held this one."""
        if self.hold is not None:
            log.warning("another server has taken the Vegas tables of this one")
            self.hold = None
        for table in self._tables.values():
            table.look()

    async def _stand_abandoned(self) -> None:
        books = self._board.books
        left = await books.read(partial(pits.abandoned_rounds, unreadable=self._damaged))
        for lead, pit in left.items():
            try:
                is_stood = await books.run(partial(pits.stand, lead=lead, pit=pit))
            except Refused as refused:
                log.info("hand %d at the Vegas table was left alone: %s", lead, refused)
            except JournalDamaged as damaged:
                self._damaged.add(lead)
                log.error("hand %d at the Vegas table: %s", damaged.number, damaged)
            else:
                if is_stood:
                    log.warning("hand %d at the Vegas table was stood: its server is gone", lead)
                    books.notices_wait.set()

    # The table of a caller.

    async def table_for(self, caller: Caller) -> VegasTable:
        """Return the table of a caller's open hand, else one to sit at; raises `HandElsewhere`."""
        return await self.find(caller.record.id) or self.table(self._choose())

    async def find(self, caller_id: int) -> VegasTable | None:
        """Return the table of a caller's open hand, None without one; raises `HandElsewhere`.

        The table takes the round up as soon as it is free.
        """
        await self.own()
        location = await self._board.books.run(partial(self._hand_of, caller_id=caller_id))
        if location is None:
            return None
        lead, number = location
        if number is None:
            raise HandElsewhere
        table = self.table(number)
        table.take_up_soon([lead])
        await table.resume()
        return table

    def _hand_of(self, desk: Desk, caller_id: int) -> tuple[int, int | None] | None:
        """Return a caller's open round and its table, None as the table of another server.

        Return None without a readable round.
        """
        try:
            stored = journal.round_in_play(desk, caller_id)
        except JournalDamaged as damaged:
            log.error("hand %d at the Vegas table: %s", damaged.number, damaged)
            return None
        if stored is None or stored.game != GAME:
            return None
        assert self.hold is not None  # `find` has called `own`
        return stored.lead, self.hold.place_of_round(stored)

    def _choose(self) -> int:
        """Return the table for a new guest.

        The first table in use with a free seat, else the first empty one, else the least crowded.
        """
        seats = self.settings.seats
        taken = {
            number: 0 if (table := self._tables.get(number)) is None else table.crowd
            for number in range(FIRST_TABLE, self.settings.tables + 1)
        }
        free = [number for number, guests in taken.items() if 0 < guests < seats]
        unused = [number for number, guests in taken.items() if not guests]
        return next(iter(free + unused), min(taken, key=taken.__getitem__))


async def menu_words(board: Board, caller: Caller) -> str:
    turns = turns_today(caller, GAME, VegasSettings.among(board.config.games))
    others = VegasRoom.among(board.shared).guests()
    if not others:
        return _("nobody at the table; {turns}").format(turns=turns)
    words = ngettext("{number} caller there; {turns}", "{number} callers there; {turns}", others)
    return words.format(number=others, turns=turns)


class RoomVisit:
    """One caller's visit to the room, which finds them a table."""

    def __init__(self, board: Board, caller: Caller) -> None:
        self._board = board
        self._caller = caller
        self._room = VegasRoom.among(board.shared)

    async def visit(self) -> None:
        try:
            table = await self._in_time(self._room.table_for(self._caller))
        except HandElsewhere:
            await self._tell(_(STOOD_ELSEWHERE))
            return
        except BooksUnavailable:
            await self._tell(_(UNREACHED))
            return
        await VegasVisit(self._board, self._caller, table).visit()

    async def has_open_hand(self) -> bool:
        caller_id = self._caller.record.id
        try:
            table = await self._in_time(self._room.find(caller_id))
        except HandElsewhere:
            return True
        return table is not None and table.state.place_of(caller_id) is not None

    async def stand_open_hand(self) -> None:
        try:
            table = await self._in_time(self._room.table_for(self._caller))
        except HandElsewhere:
            self._caller.console.screen.say(f"|14{_(STOOD_ELSEWHERE)}")
        else:
            await VegasVisit(self._board, self._caller, table).stand_open_hand()

    async def _in_time(self, looking: Awaitable[T]) -> T:
        """Return the result of `looking`; `BooksUnavailable` after the caller's longest wait."""
        try:
            async with until(self._board.clock, self._caller.console.keyboard.answer_by()):
                return await looking
        except TimeoutError as late:
            raise BooksUnavailable(Phrase(NOT_IN_TIME)) from late

    async def _tell(self, words: str) -> None:
        """Show why there is no table, until a key or for `MESSAGE_SECONDS`.

        Keys typed ahead were meant for the table and are dropped.
        """
        console = self._caller.console
        console.keyboard.forget_keys()
        console.display.stage(Page("Vegas", wrap(words, LAYOUT_COLUMNS - 2)))
        console.display.prompt(console.pager.press())
        await console.keyboard.pause(MESSAGE_SECONDS)
        if console.keyboard.next_key() is not None:
            await console.keyboard.key()
        console.display.answered()
