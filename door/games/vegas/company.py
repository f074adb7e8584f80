"""A caller's way to the Vegas table, wherever the server is that deals there.

While they are at the table of another server, that one sees to their keys, screen and clock, and
this process passes on what is typed and shown; their call and its lease stay here. A door process
goes by the server on its machine, and where none runs its caller plays alone. When the server that
deals is gone, another one takes the table up, and the caller sits down there by themselves.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from ansi.keys import ESCAPE, INTERRUPT
from door.call.console import lit
from door.call.display import LAYOUT_COLUMNS, literal, wrap
from door.call.page import Page
from door.clock import sleep
from door.errors import IdledOut, Kicked, NoServer, NoTable, TableMoved, TakenOver, TimeUp
from door.games.tables.words import QUIT
from door.games.vegas import passing
from door.games.vegas.passing import Link, Visitor, linked, reach
from door.games.vegas.room import Away, room_of
from door.games.vegas.seat import VegasVisit
from door.games.vegas.table import VegasTable
from door.lines import link
from door.lines.line import CALLER_HUNG_UP
from timebank.callers import callers
from timebank.language import N_, _, speaking_to

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.call.console import Console
    from door.games.vegas.passing import Ends
    from door.lines.link import Said

ALONE = N_(
    "The shared table can't be reached, so nobody else can sit here. You play alone against the "
    "dealer, from a shoe of your own."
)
TABLE_GONE = N_("The board closed the table. Any open hand is kept for you.")
SILENT = N_(
    "Nothing was heard of the server of this table for some seconds. If that goes on, another one "
    "takes the table up: please wait."
)
MOVING = N_("The server of this table doesn't answer. Another one takes the table up: please wait.")
UNREACHED = N_(
    "The table can't be reached just now. Any open hand is kept for you: please try again in a "
    "minute."
)

TOLD_SECONDS = 30.0  # to read why the table is gone; nobody is kept there until they idle out
HANDOVER_SECONDS = 1.0  # that the server has to keep the hand for the call that takes over
PATIENCE_SECONDS = 25.0  # for a table whose server is gone; a lease runs out in half of that
SETTLED_SECONDS = 10.0  # at a table that was found again, until the loss of it is another one
QUIET_SECONDS = 3.0  # without anything to show: a table that is played at counts seconds
AGAIN_SECONDS = 1.0  # until the table is looked for again

log = logging.getLogger("door.tables")


class Company:
    """One caller's visit to Vegas."""

    def __init__(self, board: Board, caller: Caller) -> None:
        self._board = board
        self._caller = caller
        self._room = room_of(board)
        self._has_sat = False  # they were at the table: where they sit next, it has moved
        self._lost_at: float | None = None  # since when they look for it, or did when they sat down
        self._sat_at: float | None = None  # when they sat down, if they have since they looked
        self._is_told = False  # that they have to wait meanwhile

    async def visit(self) -> None:
        while not await self._is_over():
            now = self._board.clock.monotonic()
            sat_at, self._sat_at = self._sat_at, None
            has_settled = sat_at is not None and now - sat_at >= SETTLED_SECONDS
            if self._lost_at is None or has_settled:  # who has the table now may be known at once
                self._lost_at = now
            elif now - self._lost_at >= PATIENCE_SECONDS:
                await self._tell(_(UNREACHED))
                return
            elif await self._leaves_meanwhile():
                return

    async def has_open_hand(self) -> bool:
        return await self._room.has_hand(self._caller.record.id)

    async def stand_open_hand(self) -> None:
        table = await self._room.stand_for(self._header(passing.STAND))
        if table is None:
            self._tell_stood()
        else:
            await VegasVisit(self._board, self._caller, table).stand_open_hand()

    async def _is_over(self) -> bool:
        """Visit the table where it is now; `False` when it has moved, or nobody deals there."""
        try:
            await self._visit()
        except TableMoved:
            self._caller.console.lift(TableMoved)
            return False
        except NoTable:
            return False
        return True

    async def _visit(self) -> None:
        where = await self._room.place_for(self._caller)
        if isinstance(where, VegasTable):
            await self._sit_down(where)
            return
        try:
            ends = await reach(self._board.peers.dial(where.server))
        except NoServer as silent:
            self._room.is_silent(where)
            raise NoTable from silent
        header = self._header(passing.VISIT, where.number)
        await self._come_back(await self._passed_on(ends, header, where))

    async def _sit_down(self, table: VegasTable) -> None:
        visit = VegasVisit(self._board, self._caller, table, has_moved=self._has_sat)
        self._sits(self._board.clock.monotonic())
        await visit.visit()

    def _sits(self, since: float) -> None:
        """Take note that they are at a table. One that is lost again at once is no end of their
        wait: two faults in a row would make it twice as long."""
        self._has_sat, self._sat_at, self._is_told = True, since, False

    def _header(self, wants: str, table: int | None = None) -> Visitor:
        return Visitor.of(self._caller, wants, table, has_moved=self._has_sat)

    def _tell_stood(self) -> None:
        words = _("The dealer stands for you. You'll hear how it ended.")
        self._caller.console.say(f"|14{words}")

    async def _leaves_meanwhile(self) -> bool:
        """Let them wait a moment for the table; `True` when they would rather leave."""
        console = self._caller.console
        if not self._is_told:
            self._is_told = True
            console.stage(Page("Vegas", wrap(_(MOVING), LAYOUT_COLUMNS - 2)))
            console.display.prompt(lit({QUIT: _("Quit")}))
            console.offer("keys", {QUIT: _("Quit")})
        waiting = asyncio.ensure_future(sleep(self._board.clock, AGAIN_SECONDS))
        leaving = asyncio.ensure_future(_leaves(console))
        either: set[asyncio.Future[Any]] = {waiting, leaving}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return leaving.done() and leaving.result()
        finally:
            for task in either:
                task.cancel()
            await asyncio.gather(*either, return_exceptions=True)

    # At the table of another server.

    async def _passed_on(self, ends: Ends, header: Visitor, away: Away | None) -> Said:
        """Pass on what is typed and shown until the visit is over; return how it ended."""
        caller = self._caller
        console, line = caller.console, caller.console.line
        since = self._board.clock.monotonic()
        async with linked(ends, header.said(), line, partial(CallersLink, console)) as end:
            console.forget_keys()
            caller.clock.stop()
            caller.is_away = True
            line.attach(end)
            try:
                with self._room.following(away, end):
                    return await self._until_over(end)
            finally:
                line.attach(console)
                caller.is_away = False
                if end.has_shown:
                    self._sits(since)

    async def _until_over(self, end: Link) -> Said:
        showing = asyncio.ensure_future(end.ended())
        ending = asyncio.ensure_future(_interrupted(self._caller.console))
        try:
            await asyncio.wait({showing, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not ending.done():
                return showing.result()
            if isinstance(ending.exception(), TakenOver):
                end.interrupted(passing.TAKEN_OVER)
                await asyncio.wait({showing}, timeout=HANDOVER_SECONDS)
            elif str(ending.exception()) == CALLER_HUNG_UP:
                end.interrupted(passing.HUNG_UP)
            return ending.result()
        finally:
            for task in (showing, ending):
                task.cancel()
            await asyncio.gather(showing, ending, return_exceptions=True)

    async def _come_back(self, said: Said) -> None:
        """Go on here as the visit has ended there; `TableMoved` when it goes on elsewhere."""
        caller, console = self._caller, self._caller.console
        how, words = said["how"], said.get("words", "")
        caller.statement = said.get("statement") or caller.statement
        if how == passing.TAKEN_OVER:
            raise TakenOver(words)
        console.paint_screens()
        caller.clock.start()  # before the books are asked, which may not be there
        caller.record = await caller.ask_books(lambda desk: callers.get(desk, caller.record.id))
        caller.follow_preferences()
        caller.tell(await caller.touch())
        if how == passing.TIME_UP:
            raise TimeUp(words)
        if how == passing.IDLE:
            raise IdledOut(words)
        if how == passing.KICKED:
            raise Kicked(words)
        if how == passing.CLOSED:
            await self._meet_closed()
        elif how == passing.MOVED:
            raise TableMoved
        elif how != passing.LEFT:
            await self._tell(literal(words))

    async def _meet_closed(self) -> None:
        """Do what follows when the board has closed on that server."""
        raise TableMoved

    async def _tell(self, words: str) -> None:
        """Say why the visit is over, and go on to the menu also without a key. What was typed for
        the table is for nothing here."""
        console = self._caller.console
        console.forget_keys()
        console.stage(Page("Vegas", wrap(words, LAYOUT_COLUMNS - 2)))
        console.display.prompt(f"|07{_('Press any key')}")
        await console.pause(TOLD_SECONDS)
        if console.next_key() is not None:
            await console.key()
        console.display.answered()


async def _interrupted(console: Console) -> NoReturn:
    """Wait until something ends the call; a key that is still on its way is none of ours."""
    while True:
        await console.key()


async def _leaves(console: Console) -> bool:
    """Wait until they press the key that leaves."""
    while (await console.key()).upper() not in (QUIT, ESCAPE, INTERRUPT):
        pass
    return True


class CallersLink(Link):
    """The end of a caller of this process."""

    def __init__(self, console: Console, *ends: Any) -> None:
        super().__init__(*ends)
        self._console = console
        self._shown_at = console.clock.monotonic()
        self._waits = False  # and the screen says so

    def received(self, data: bytes) -> None:
        """Pass on what was typed; the caller is awake, as far as the clock here is concerned."""
        self._console.last_key = self._console.clock.monotonic()
        super().received(data)

    def shows(self, content: bytes) -> None:
        self._shown_at = self._console.clock.monotonic()
        super().shows(content)
        if self._waits:
            self._comes_back()

    def waits(self, *, is_late: bool) -> None:
        """Say in words that the table stands still, as long as it does."""
        console = self._console
        if self._waits and not is_late:
            self._comes_back()
        elif is_late and not self._waits:
            self._waits = console.clock.monotonic() - self._shown_at >= QUIET_SECONDS
            if self._waits:
                console.paint_screens()
                with speaking_to(console.viewer):
                    console.stage(Page("Vegas", wrap(_(SILENT), LAYOUT_COLUMNS - 2)))

    def _comes_back(self) -> None:
        """Have the server paint the whole screen again, of which nothing is left."""
        self._waits = False
        if self._console.can_paint:
            line = self._console.line
            self.resized(line.columns, line.rows - 1)  # the same size as before is no news
            self.resized(line.columns, line.rows)

    def hung_up(self, reason: str) -> None:
        """Let the call end here; the server hears of it when the link closes."""
        self._console.hung_up(reason)


class DoorCompany(Company):
    """The visit of a door's caller: by a server on this machine, or alone."""

    async def has_open_hand(self) -> bool:
        try:
            return bool((await self._asked(passing.FIND)).get("found"))
        except NoServer:
            return await self._room.table().find(self._caller.record.id)

    async def stand_open_hand(self) -> None:
        try:
            await self._asked(passing.STAND)
        except NoServer:
            await VegasVisit(self._board, self._caller, self._room.table()).stand_open_hand()
        else:
            self._tell_stood()

    async def _visit(self) -> None:
        try:
            ends = await self._dial()
        except NoServer:
            if self._has_sat:
                await self._meet_closed()
            else:
                await self._play_alone()
            return
        await self._come_back(await self._passed_on(ends, self._header(passing.VISIT), None))

    async def _play_alone(self) -> None:
        await self._caller.console.read("Vegas", _(ALONE))
        table = self._room.table()
        await table.find(self._caller.record.id)  # lays a hand on it that was left elsewhere
        await self._sit_down(table)

    async def _meet_closed(self) -> None:
        await self._tell(_(TABLE_GONE))

    async def _asked(self, wants: str) -> Said:
        async with linked(await self._dial(), self._header(wants).said(), None) as end:
            return await end.ended()

    async def _dial(self) -> Ends:
        return await reach(link.dial_any(self._board.config.board.data))


def sit_down(board: Board, caller: Caller) -> Company:
    """Return a visit to the table, whichever server keeps it."""
    return DoorCompany(board, caller) if board.serves_one else Company(board, caller)
