"""A caller's way to the Vegas table, wherever the server is that deals there.

While they are at the table of another server, that one sees to their keys, screen and clock, and
this process passes on what is typed and shown; their call and its lease stay here. A door process
goes by the server on its machine, and where none runs its caller plays alone. When the server that
deals is gone, another one takes the table up, and the caller sits down there by themselves.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from ansi.keys import ESCAPE, INTERRUPT
from door.call.books import NOT_IN_TIME
from door.call.console import LAST_SECONDS, LONGEST_WAIT, lit
from door.call.display import LAYOUT_COLUMNS, literal, wrap
from door.call.page import Page
from door.clock import sleep, until
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
from timebank.errors import BooksUnavailable
from timebank.language import N_, Phrase, _, speaking_to

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.call.console import Console
    from door.clock import Timer
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
# For a table whose server is gone: a lease runs out in half of that.
PATIENCE_SECONDS = LONGEST_WAIT - 1.0
SETTLED_SECONDS = 10.0  # at a table that was found again, until the loss of it is another one
SILENT_SECONDS = 20.0  # of a server that is to show something, until another one is looked for
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
        self._sat_at: float | None = None  # when they sat down, if they have since they looked
        self._is_told = False  # that they have to wait meanwhile

    async def visit(self) -> None:
        console, clock = self._caller.console, self._board.clock
        lost_at: float | None = None  # since when they wait, or did when they sat down
        while not await self._is_over():
            sat_at, self._sat_at = self._sat_at, None
            is_lost_anew = lost_at is None or (
                sat_at is not None and clock.monotonic() - sat_at >= SETTLED_SECONDS
            )
            if is_lost_anew:
                lost_at = console.waits_from
            assert lost_at is not None  # it is not there
            console.waits_from = lost_at  # however often it is found and lost again: it is one wait
            if clock.monotonic() - lost_at >= PATIENCE_SECONDS:
                await self._tell(_(UNREACHED))
                return
            # Who has the table now may be known at once.
            if not is_lost_anew and await self._leaves_meanwhile():
                return

    async def has_open_hand(self) -> bool:
        with _unanswered_is_unavailable():
            async with until(self._board.clock, self._caller.console.answer_by()):
                return await self._room.has_hand(self._caller.record.id)

    async def stand_open_hand(self) -> None:
        with _unanswered_is_unavailable():
            async with until(self._board.clock, self._caller.console.answer_by()):
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
        try:
            async with until(self._board.clock, self._caller.console.answer_by()):
                where, ends = await self._way()
        except TimeoutError as late:
            raise NoTable from late
        if isinstance(where, VegasTable):
            await self._sit_down(where)
            return
        assert ends is not None  # it is elsewhere
        header = self._header(passing.VISIT, where.number)
        await self._come_back(await self._passed_on(ends, header, where))

    async def _way(self) -> tuple[VegasTable | Away, Ends | None]:
        """Find the table, and what leads to it where it is another server's."""
        where = await self._room.place_for(self._caller)
        if isinstance(where, VegasTable):
            return where, None
        try:
            return where, await reach(self._board.peers.dial(where.server))
        except NoServer as silent:
            self._room.is_silent(where)
            raise NoTable from silent

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
        since, waits_from = self._board.clock.monotonic(), console.waits_from
        lives = partial(self._is_known_to_live, away)
        async with linked(ends, header.said(), line, partial(CallersLink, console, lives)) as end:
            assert isinstance(end, CallersLink)
            console.forget_keys()
            console.offer("text")  # whatever the other server asks
            console.show_offer()
            caller.clock.stop()
            caller.is_away = True
            line.attach(end)
            try:
                with self._room.following(away, end):
                    said = await self._until_over(end)
                console.waits_from = end.waited_from(said, waits_from)
                return said
            finally:
                end.forgets()
                line.attach(console)
                caller.is_away = False
                caller.purse.falls_behind()
                if end.has_shown:
                    self._sits(since)

    def _is_known_to_live(self, away: Away | None) -> bool:
        """Whether it would be known of the server of their table by other means if it stood still:
        one that paints shows something each second, and others are heard of through the books."""
        if self._caller.console.can_paint:
            return False
        return away is None or self._room.has_looked_lately

    async def _until_over(self, end: CallersLink) -> Said:
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


@contextlib.contextmanager
def _unanswered_is_unavailable() -> Iterator[None]:
    """Say of what was not answered in time what is said of books that do not answer."""
    try:
        yield
    except TimeoutError as late:
        raise BooksUnavailable(Phrase(NOT_IN_TIME)) from late


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
    """The end of a caller of this process.

    A server that shows nothing after a key, or to begin with, is left when the caller has waited
    for so long that another one should be looked for, unless it is known to live.
    """

    def __init__(self, console: Console, is_known_to_live: Callable[[], bool], *ends: Any) -> None:
        super().__init__(*ends)
        self._console = console
        self._is_known_to_live = is_known_to_live
        self._shown_at = console.clock.monotonic()
        self._waits = False  # and the screen says so
        self._unanswered: float | None = console.waits_from  # since when nothing was shown
        self._timer: Timer | None = None
        self._arm()

    def received(self, data: bytes) -> None:
        """Pass on what was typed; the caller is awake, as far as the clock here is concerned."""
        self._console.last_key = self._console.clock.monotonic()
        if self._unanswered is None:
            self._unanswered = self._console.last_key
            self._arm()
        super().received(data)
        self._console.show_offer()  # what is asked is known to the other server alone

    def shows(self, content: bytes) -> None:
        self._shown_at = self._console.clock.monotonic()
        self._unanswered = None
        self.forgets()
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

    def waited_from(self, said: Said, before: float) -> float:
        """Return since when the caller waits, as far as they do, at the end of the visit."""
        now = self._console.clock.monotonic()
        if self._unanswered is not None:
            return self._unanswered
        waited = said.get("waited")
        if not isinstance(waited, int | float):  # the link broke, or that server is of before
            return now
        return max(before, now - max(0.0, waited))

    def forgets(self) -> None:
        """Wait for nothing any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        assert self._unanswered is not None  # something is waited for
        clock = self._console.clock
        wait = self._unanswered + SILENT_SECONDS - clock.monotonic()
        self._timer = clock.call_later(max(LAST_SECONDS, wait), self._is_silent)

    def _is_silent(self) -> None:
        if self._is_known_to_live():
            self._arm()
        else:
            self.leave()

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
        with _unanswered_is_unavailable():
            async with until(self._board.clock, self._caller.console.answer_by()):
                try:
                    return bool((await self._asked(passing.FIND)).get("found"))
                except NoServer:
                    return await self._room.table().find(self._caller.record.id)

    async def stand_open_hand(self) -> None:
        try:
            with _unanswered_is_unavailable():
                async with until(self._board.clock, self._caller.console.answer_by()):
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
