"""The Vegas room: its tables, and which server deals at each.

Tables open as callers come. A server deals at those whose lease it has, and renews that while
anybody is there; callers of all others are brought to it (`company.py`). A table whose server is
gone is taken up by the first that notices: its round goes on from the journal.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections import ChainMap
from collections.abc import Awaitable, Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from door.call.shared import Shared
from door.clock import sleep
from door.errors import NoServer, NoTable, TableMoved
from door.flag import Flag
from door.games.tables.words import turns_today
from door.games.vegas.game import VegasSettings
from door.games.vegas.passing import COUNT, asked
from door.games.vegas.round import GAME
from door.games.vegas.table import VegasTable
from door.games.vegas.tenure import LATE_SECONDS, RENEW_SECONDS, holders
from timebank.errors import BooksFailed, BooksUnavailable, JournalDamaged
from timebank.language import _, ngettext
from timebank.wagers import journal
from timebank.wagers.journal import FIRST_TABLE

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.games.vegas.passing import Visitor
    from timebank.ledger.database import Desk

LOOK_SECONDS = 2.0  # how often it is looked at whose tables are

log = logging.getLogger("door.tables")


@dataclass(frozen=True)
class Away:
    """A table at which another server deals."""

    number: int
    server: int


class Follower(Protocol):
    """Somebody from here who is at a table of another server."""

    def leave(self) -> None:
        """Learn that this server deals there no more."""

    def waits(self, *, is_late: bool) -> None:
        """Learn whether nothing was heard of this server for longer than there should be."""


class Whose(NamedTuple):
    """Who deals where: by table the servers that do, those whose server should have renewed its
    lease, and those with a round in play from the shoe that all share."""

    holders: Mapping[int, Away]
    late: Set[int]
    in_play: Set[int]


class VegasRoom(Shared):
    """The tables of one board, as one of its servers knows them."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._tables: dict[int, VegasTable] = {}
        self._followed: dict[Follower, Away] = {}  # where each is
        self._elsewhere: set[int] = set()  # tables of other servers, when it was looked at last
        self._successor: int | None = None  # the server that has our tables from now on
        self._looked_at = -math.inf  # when, by the clock
        self._is_calm = False  # no other server had a table when it was looked at last
        self._look_now = Flag()
        self._jobs: list[asyncio.Task[None]] = []

    @property
    def settings(self) -> VegasSettings:
        return VegasSettings.of(self._board.config.games)

    def table(self, number: int = FIRST_TABLE) -> VegasTable:
        """Return a table as it is here; whether it is ours is asked when it is wanted."""
        table = self._tables.get(number)
        if table is None or table.has_moved:
            table = self._tables[number] = VegasTable(self._board, number)
        return table

    def guests(self) -> int | None:
        """Return how many callers are at all tables; None where other servers know that."""
        if self._elsewhere or self._board.serves_one:
            return None
        return sum(len(table.state.guests()) for table in self._tables.values())

    @property
    def has_looked_lately(self) -> bool:
        """Whether those who are elsewhere would know if their server did nothing any more."""
        return self._board.clock.monotonic() - self._looked_at < 3 * LOOK_SECONDS

    # The server's side.

    async def resume(self) -> None:
        await self._look()
        renewal, look = (partial(self._passed, each) for each in (RENEW_SECONDS, LOOK_SECONDS))
        self._jobs = [
            asyncio.create_task(self._each_time(renewal, self._keep)),
            asyncio.create_task(self._each_time(look, self._look_around)),
            asyncio.create_task(self._each_time(self._is_told, self._look)),
        ]

    async def hand_on(self) -> None:
        """Leave all tables to a server that stays, if any can be reached; callers follow."""
        with contextlib.suppress(BooksFailed):
            await self._board.peers.look()
        for peer in self._board.peers.others:
            if not peer.draining:
                with contextlib.suppress(NoServer):
                    await self._asked_for_crowds(peer.id)
                    self._successor = peer.id
                    break
        else:
            return
        for table in list(self._tables.values()):
            if table.tenure.is_held:
                table.move_away()
                await table.tenure.let_go()

    def is_silent(self, away: Away) -> None:
        """Note that a server does not answer: nothing is left to it."""
        if away.server == self._successor:
            self._successor = None

    async def stop(self) -> None:
        """Close all tables: what is in play stays in the journal, for whoever takes it up."""
        for job in self._jobs:
            job.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)
        for table in self._tables.values():
            await table.stop()
        for table in self._tables.values():
            await table.tenure.let_go()

    async def _is_told(self) -> None:
        await self._look_now.wait()
        self._look_now.clear()

    async def _passed(self, seconds: float) -> None:
        await sleep(self._board.clock, seconds)

    async def _each_time(
        self, waited: Callable[[], Awaitable[None]], work: Callable[[], Awaitable[None]]
    ) -> None:
        is_told = False
        while True:
            await waited()
            try:
                await work()
            except BooksFailed as error:
                if not is_told:  # once: it is tried again every few seconds
                    log.warning("nobody looks after the tables of Vegas here: %s", error)
                is_told = True
            except Exception:
                log.exception("a look after the tables of Vegas failed")
            else:
                is_told = False

    async def _keep(self) -> None:
        """Renew what is ours and in use, and let go of what is not in use."""
        ours = [table for table in self._tables.values() if table.tenure.is_held]
        used = [table for table in ours if not table.is_idle]
        for table in ours:
            if table.is_idle:
                await table.tenure.let_go()
        if not used:
            return
        renewals = [table.tenure.renew for table in used]
        fences = await self._board.books.run(lambda desk: [renew(desk) for renew in renewals])
        for table, fence in zip(used, fences, strict=True):
            table.renewed(fence)

    async def _look_around(self) -> None:
        """Look, unless there is nobody who could have a table."""
        if self._board.peers.others or not self._is_calm:
            await self._look()

    async def _look(self) -> None:
        """See whose the tables are: leave those that have moved, and take up what nobody plays."""
        whose = await self._board.books.read(_whose)
        ours = {number for number, table in self._tables.items() if table.tenure.is_held}
        self._looked_at = self._board.clock.monotonic()
        self._elsewhere = whose.holders.keys() - ours
        self._is_calm = not (self._elsewhere or whose.in_play - ours)
        for follower, away in list(self._followed.items()):
            if whose.holders.get(away.number) != away:
                follower.leave()
            else:
                follower.waits(is_late=away.number in whose.late)
        if self._successor is None:
            for number in sorted(whose.in_play - whose.holders.keys() - ours):
                await self._take_up(number)

    async def _take_up(self, number: int) -> None:
        try:
            await self.table(number).resume()
        except TableMoved:  # another server was faster
            return

    # Where callers sit.

    async def place_for(self, caller: Caller) -> VegasTable | Away:
        """Return the table of a caller's hand, or one with a seat for them: as it is here, where it
        is ours or could be had, else where it is. `NoTable` while nobody may deal there."""
        try:
            number = await caller.ask_books(partial(_table_of_hand, caller_id=caller.record.id))
        except BooksUnavailable:  # the table itself waits for them
            number = FIRST_TABLE
        return await self.at(number or await self._choose())

    async def place_of(self, visitor: Visitor) -> VegasTable | Away:
        """Return where somebody sits who is passed on: wherever they would if they come from a
        door; here, if anywhere, if another server sends them to this table."""
        if visitor.table is None:
            number = await self._board.books.run(
                partial(_table_of_hand, caller_id=visitor.caller_id)
            )
            return await self.at(number or await self._choose())
        where = await self.at(visitor.table)
        if isinstance(where, Away):
            raise NoTable
        return where

    async def at(self, number: int) -> VegasTable | Away:
        """Return a table as it is here, where it is ours or could be had, else where it is;
        `NoTable` while nobody may deal there."""
        if self._successor is not None:
            return await self._whereabouts(number) or Away(number, self._successor)
        table = self.table(number)
        try:
            await table.resume()
        except TableMoved as elsewhere:
            away = await self._whereabouts(number)
            if away is None:
                raise NoTable from elsewhere
            return away
        except BooksFailed:  # whoever sits there is told
            return table
        return table

    async def _whereabouts(self, number: int) -> Away | None:
        """Return which other server deals at a table."""
        whose = await self._board.books.read(_whose)
        away = whose.holders.get(number)
        return None if away is None or away.server == self._board.server_id else away

    async def has_hand(self, caller_id: int) -> bool:
        """Tell whether a caller has a hand at a table; it is laid there where the table is ours."""
        number = await self._board.books.run(partial(_table_of_hand, caller_id=caller_id))
        if number is None:
            return False
        try:
            table = await self.at(number)
        except NoTable:
            return True
        return isinstance(table, Away) or await table.find(caller_id)

    async def stand_for(self, visitor: Visitor) -> VegasTable | None:
        """Have a caller's hand stood at its turns. Return the table where that is for whoever asked
        to see to; None where another server does, or nobody: it is stood then when it has waited
        for its caller long enough."""
        number = visitor.table or await self._board.books.run(
            partial(_table_of_hand, caller_id=visitor.caller_id)
        )
        try:
            table = await self.at(number or FIRST_TABLE)
            if isinstance(table, VegasTable):
                await table.find(visitor.caller_id)
                return table
            if visitor.table is None:
                header = replace(visitor, table=table.number)
                await asked(self._board, table.server, header.said())
        except (NoTable, NoServer, TableMoved):
            pass
        return None

    @contextlib.contextmanager
    def following(self, away: Away | None, follower: Follower) -> Iterator[None]:
        """Tell somebody what becomes of the server of their table, if it is another one."""
        if away is not None:
            self._followed[follower] = away
        try:
            yield
        finally:
            self._followed.pop(follower, None)

    # Which table.

    async def _choose(self) -> int:
        """Return where somebody sits down who comes: at the first table in use that has a seat,
        else at one that is opened for them, else where the fewest wait."""
        tables = self.settings.tables
        if tables == 1:
            return FIRST_TABLE
        whose = await self._board.books.read(_whose)
        there = {away.server for away in whose.holders.values()} - {self._board.server_id}
        told = await asyncio.gather(*map(self._crowds_at, there))
        crowds = ChainMap(self.crowds(), *told)
        seats = self.settings.seats
        taken = {  # a table of which its server tells nothing is full
            number: crowds.get(number, seats if number in whose.holders else 0)
            for number in range(FIRST_TABLE, tables + 1)
        }
        free = [number for number, guests in taken.items() if 0 < guests < seats]
        unused = [number for number, guests in taken.items() if not guests]
        return next(iter(free + unused), min(taken, key=taken.__getitem__))

    def crowds(self) -> dict[int, int]:
        """Return how many are at each table of ours, with or without a seat."""
        return {
            number: table.crowd for number, table in self._tables.items() if table.tenure.is_held
        }

    async def _crowds_at(self, server: int) -> dict[int, int]:
        """Return how many are at each table of another server; nothing where it does not say."""
        try:
            return await self._asked_for_crowds(server)
        except NoServer:
            return {}

    async def _asked_for_crowds(self, server: int) -> dict[int, int]:
        told = await asked(self._board, server, {"wants": COUNT})
        try:
            return {int(number): int(guests) for number, guests in told["guests"].items()}
        except KeyError as broken_off:
            raise NoServer from broken_off


def _whose(desk: Desk) -> Whose:
    """See who deals where, in one look."""
    live = {number: holder for number, holder in holders(desk).items() if holder.live}
    return Whose(
        {number: Away(number, holder.server_id) for number, holder in live.items()},
        {number for number, holder in live.items() if holder.left < LATE_SECONDS},
        journal.tables_in_play(desk, GAME),
    )


def _table_of_hand(desk: Desk, caller_id: int) -> int | None:
    """Return at which table a caller has a hand; None for none, or one that cannot be read."""
    try:
        stored = journal.round_in_play(desk, caller_id)
    except JournalDamaged as damaged:
        log.error("hand %d at the Vegas table: %s", damaged.number, damaged)
        return None
    if stored is None or stored.game != GAME:
        return None
    return FIRST_TABLE if stored.shoe is None else stored.shoe.table


def room_of(board: Board) -> VegasRoom:
    room = board.shared["vegas"]
    assert isinstance(room, VegasRoom)
    return room


def table_of(board: Board, number: int = FIRST_TABLE) -> VegasTable:
    return room_of(board).table(number)


async def menu_words(board: Board, caller: Caller) -> str:
    turns = turns_today(caller, GAME, VegasSettings.of(board.config.games))
    others = room_of(board).guests()
    if others is None:
        return _("with everybody on the board; {turns}").format(turns=turns)
    if not others:
        return _("nobody at the table; {turns}").format(turns=turns)
    words = ngettext("{number} caller there; {turns}", "{number} callers there; {turns}", others)
    return words.format(number=others, turns=turns)
