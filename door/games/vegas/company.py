"""The Vegas table of the board's server, for the caller of a door process.

While they are there the server sees to their keys, screen and clock, and this process passes on
what is typed and shown; their call and its lease stay here. Where no server runs they play alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, NoReturn

from door.call.display import LAYOUT_COLUMNS, literal, wrap
from door.call.page import Page
from door.errors import IdledOut, Kicked, LinkBroken, NoServer, TakenOver, TimeUp
from door.games.vegas import visitors
from door.games.vegas.seat import VegasVisit
from door.lines import link
from door.lines.line import CALLER_HUNG_UP
from timebank.callers import callers
from timebank.language import N_, _

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.call.console import Console
    from door.lines.link import Said

ALONE = N_(
    "The shared table can't be reached, so nobody else can sit here. You play alone against the "
    "dealer, from a shoe of your own."
)
TABLE_GONE = N_("The board closed the table. Any open hand is kept for you.")

TOLD_SECONDS = 30.0  # to read why the table is gone; nobody is kept there until they idle out
HANDOVER_SECONDS = 1.0  # that the server has to keep the hand for the call that takes over

log = logging.getLogger("door.tables")


class Company:
    """One caller's visit to the table that the server keeps, or to one of their own."""

    def __init__(self, board: Board, caller: Caller) -> None:
        self._board = board
        self._caller = caller
        self._alone = VegasVisit(board, caller)

    async def visit(self) -> None:
        try:
            said = await self._passed_on()
        except NoServer:
            await self._caller.console.read("Vegas", _(ALONE))
            await self._alone.has_open_hand()  # lays one on the table that was left elsewhere
            await self._alone.visit()
            return
        await self._come_back(said)

    async def has_open_hand(self) -> bool:
        try:
            return bool((await self._asked(visitors.FIND)).get("found"))
        except NoServer:
            return await self._alone.has_open_hand()

    async def stand_open_hand(self) -> None:
        try:
            await self._asked(visitors.STAND)
        except NoServer:
            await self._alone.stand_open_hand()
            return
        words = _("The dealer stands for you. You'll hear how it ended.")
        self._caller.console.say(f"|14{words}")

    # At the server.

    async def _asked(self, wants: str) -> Said:
        async with self._linked(wants) as end:
            return await end.ended()

    async def _passed_on(self) -> Said:
        """Pass on what is typed and shown until the visit is over; return how it ended."""
        caller = self._caller
        console, line = caller.console, caller.console.line
        async with self._linked(visitors.VISIT) as end:
            console.forget_keys()
            caller.clock.stop()
            caller.is_away = True
            line.attach(end)
            try:
                return await self._until_over(end)
            finally:
                line.attach(console)
                caller.is_away = False

    async def _until_over(self, end: Link) -> Said:
        showing = asyncio.ensure_future(end.ended())
        ending = asyncio.ensure_future(_interrupted(self._caller.console))
        try:
            await asyncio.wait({showing, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not ending.done():
                return showing.result()
            if isinstance(ending.exception(), TakenOver):
                end.say(link.frame(link.INTERRUPTED, visitors.TAKEN_OVER.encode()))
                await asyncio.wait({showing}, timeout=HANDOVER_SECONDS)
            elif str(ending.exception()) == CALLER_HUNG_UP:
                end.say(link.frame(link.INTERRUPTED, visitors.HUNG_UP.encode()))
            return ending.result()
        finally:
            for task in (showing, ending):
                task.cancel()
            await asyncio.gather(showing, ending, return_exceptions=True)

    async def _come_back(self, said: Said) -> None:
        caller, console = self._caller, self._caller.console
        how, words = said["how"], said.get("words", "")
        caller.statement = said.get("statement") or caller.statement
        if how == visitors.TAKEN_OVER:
            raise TakenOver(words)
        console.paint_screens()
        caller.clock.start()  # before the books are asked, which may not be there
        caller.record = await caller.ask_books(lambda desk: callers.get(desk, caller.record.id))
        caller.follow_preferences()
        caller.tell(await caller.touch())
        if how == visitors.TIME_UP:
            raise TimeUp(words)
        if how == visitors.IDLE:
            raise IdledOut(words)
        if how == visitors.KICKED:
            raise Kicked(words)
        if how != visitors.LEFT:
            await self._tell(_(TABLE_GONE) if how == visitors.CLOSED else literal(words))

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

    @contextlib.asynccontextmanager
    async def _linked(self, wants: str) -> AsyncIterator[Link]:
        caller = self._caller
        line = caller.console.line
        visitor = visitors.Visitor(
            wants=wants,
            call_id=caller.call_id,
            caller_id=caller.record.id,
            node=caller.node,
            ticked=caller.purse.on_for(),
            limit=caller.purse.limit,
            until=caller.purse.until,
            look=caller.console.look,
            address=line.address,
            hints=line.hints,
            columns=line.columns,
            rows=line.rows,
            language=caller.console.viewer.language,
        )
        try:
            reader, writer = await link.dial(self._board.config.board.data)
        except OSError as error:
            log.info("no server for the Vegas table: %s", error.strerror or error)
            raise NoServer from error
        end = Link(caller.console, reader, writer)
        try:
            end.say(link.frame(link.HEADER, link.told(visitor.said())))
            yield end
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


async def _interrupted(console: Console) -> NoReturn:
    """Wait until something ends the call; a key that is still on its way is none of ours."""
    while True:
        await console.key()


class Link:
    """The door's end: what hears the caller's line while they are at the server's table."""

    def __init__(
        self, console: Console, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._console = console
        self._reader = reader
        self._writer = writer

    def say(self, data: bytes) -> None:
        """Send a frame; one to a server that is gone is lost."""
        if not self._writer.is_closing():
            self._writer.write(data)

    async def ended(self) -> Said:
        """Show what comes until the server says how it ended, or is gone."""
        frames = link.Frames()
        try:
            while data := await self._reader.read(link.LARGEST):
                for kind, content in frames.feed(data):
                    if kind == link.SHOWN:
                        self._console.line.write(content)
                    elif kind == link.ENDED:
                        return link.read_told(content)
        except (OSError, LinkBroken) as error:
            log.warning("the link to the server broke: %s", error)
        return {"how": visitors.CLOSED}

    # What the caller's line tells.

    def received(self, data: bytes) -> None:
        """Pass on what was typed; the caller is awake, as far as the clock here is concerned."""
        self._console.last_key = self._console.clock.monotonic()
        self.say(link.frame(link.TYPED, data))

    def hung_up(self, reason: str) -> None:
        """Let the call end here; the server hears of it when the link closes."""
        self._console.hung_up(reason)

    def resized(self, columns: int, rows: int) -> None:
        """Pass on the new size; the console here asks the line for it when it paints again."""
        self.say(link.frame(link.SIZED, link.size(columns, rows)))


def sit_down(board: Board, caller: Caller) -> VegasVisit | Company:
    """Return a visit to the one table of the board, which its server keeps."""
    return Company(board, caller) if board.serves_one else VegasVisit(board, caller)
