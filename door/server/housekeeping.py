"""The periodic jobs of a running server.

The server renews its leases, stands hands whose callers did not return, exchanges records with
THEBANK.EXT, writes the bulletin of the day, and shows callers their notices. The leading server
alone does the jobs of the whole board (leadership.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine
from datetime import date, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from door import wording
from door.call.markup import hanging, literal
from door.call.talk import UnreadItems, take_unread, unread_of
from door.clock import sleep
from door.errors import Closing
from door.flag import Flag
from door.lobby import bulletins
from door.peers import nudges
from door.server import leadership
from door.server.notifier import Notifier
from door.tables import overdue
from door.tables.scoring import settle_duels, settle_tournament
from timebank.calls import clock_mend
from timebank.calls.calls import (
    RENEW_SECONDS,
    CallsElsewhere,
    calls_elsewhere,
    close_dead_calls,
    closed_calls,
)
from timebank.errors import BooksFailed, Refused
from timebank.keeping import restored_books
from timebank.keeping.warnings import warnings
from timebank.language import Phrase, speaking_to
from timebank.ledger import dialects, early_events
from timebank.ledger.sqlite import live_mark
from timebank.servers import registry
from timebank.thebank.importer import import_all
from timebank.thebank.outbox import flush_outbox
from timebank.wagers import duels, tournaments

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.board_clock import BoardClock
    from door.call.books import Books
    from door.call.caller import Caller
    from timebank.ledger.database import Database, Desk
    from timebank.servers.registry import ServerRecord
    from timebank.settings.schedule import EarlyEvent
    from timebank.settings.settings import BankSettings
    from timebank.wagers.tournaments import Champion

OVERDUE_SECONDS = 600.0
DEAD_SECONDS = 60.0  # between two searches for calls of dead servers
NOTIFY_SECONDS = 60.0  # between two looks for warnings to the sysop
BULLETIN_SECONDS = 60.0  # between two checks whether the day has ended
NOTE_SEEN_SECONDS = 1.0  # a kill within it makes the next server announce a hand again
OUTBOX_SECONDS = 60.0  # before another attempt to write the file

T = TypeVar("T")
Work = Callable[[], Awaitable[None]]

log = logging.getLogger("door.housekeeping")


class _Look(NamedTuple):
    """The result of a look at the books."""

    version: int  # changes when another process writes
    leads: bool  # whether this server is the leading one
    living: list[ServerRecord]
    elsewhere: CallsElsewhere
    closed: dict[int, str]  # calls of this server, as `closed_calls` returns them
    early: tuple[EarlyEvent, ...]  # events that were started early
    due: bool  # whether a tournament or a duel is over and not settled
    champion: Champion | None  # of the last tournament


class Housekeeping:
    def __init__(self, board: Board, books: Books, database: Database, clock: BoardClock) -> None:
        self._board = board
        self._books = books
        self._database = database
        self._clock = clock
        self._bulletin_day: date | None = None
        self._books_version = -1
        self._leads = False
        self._look_now = Flag()
        self._notices_came = Flag()
        self._notifier = Notifier()
        self._problems: dict[str, str] = {}  # the last problem of each job, to log a problem once
        self._jobs: list[asyncio.Task[None]] = []

    async def take_up_the_books(self) -> None:
        """Treat books as restored if they are not the books served last.

        Raises `BooksUnavailable`.
        """
        await self._in_a_thread(restored_books.take_up)

    async def start(self) -> None:
        """Do the jobs that must precede the first caller, then start the periodic ones."""
        look = await self._see()
        self._leads = look.leads
        await self._look_for_a_wrong_clock()
        await self._begin_to_lead()
        self._books.outbox_waits.set()
        jobs = (
            *self._listening(),
            self._each_time(self._look_now, self._look_at_the_books),
            self._led(lambda: OVERDUE_SECONDS, self._stand_overdue),
            self._led(lambda: BULLETIN_SECONDS, self._write_bulletin),
            self._led(lambda: self._board.config.bank.import_seconds, self._import),
            self._led(lambda: DEAD_SECONDS, self._close_dead_calls),
            self._led(lambda: NOTIFY_SECONDS, self._notify_sysop),
            self._every(lambda: leadership.LOOK_SECONDS, self._look_after_games),
            self._every(lambda: RENEW_SECONDS, self._board.renew_leases),
            self._every(lambda: NOTE_SEEN_SECONDS, self._board.note_seen),
            self._every(lambda: leadership.LOOK_SECONDS, self._look_at_the_books),
            self._every(lambda: live_mark.RENEW_SECONDS, self._renew_mark),
            self._deliver_outbox(),
            self._wake_for_notices(),
            self._each_time(self._notices_came, self._show_notices),
            self._close_when_gone(),
        )
        self._jobs = [asyncio.create_task(job) for job in jobs]

    def _listening(self) -> list[Coroutine[Any, Any, None]]:
        """Return the job that hears of other servers' writes; none for books in a file."""
        server = self._board.config.bank.server
        return [] if server is None else [nudges.listen(server, self._look_now.set)]

    async def _begin_to_lead(self) -> None:
        """Do at once the jobs that the last leader may have left undone."""
        if self._leads:
            await self._stand_overdue()
            await self._write_bulletin()
            self._books.outbox_waits.set()

    def _led(self, seconds: Callable[[], float], work: Work) -> Coroutine[Any, Any, None]:
        """Return a periodic job that runs only while this server leads."""

        async def work_as_leader() -> None:
            if self._leads:
                await work()

        return self._every(seconds, work_as_leader)

    async def stop(self) -> None:
        for job in self._jobs:
            job.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)

    async def flush_outbox(self) -> bool:
        """Append the waiting records to THEBANK.EXT; return whether none is left for this server.

        The leading server alone does this.
        """
        if not self._leads:
            return True
        delivery = await self._in_a_thread(flush_outbox)
        for number in delivery.doubtful:
            log.error(
                "record %d of THEBANK.EXT may or may not have arrived: see `timebank outbox`",
                number,
            )
        self._report("outbox", delivery.problem)
        return delivery.problem is None

    async def _deliver_outbox(self) -> None:
        """Append records to THEBANK.EXT when they come; after a failure, again later."""
        waits = self._books.outbox_waits
        while True:
            await waits.wait()
            waits.clear()
            if not await self.flush_outbox():
                self._clock.call_later(OUTBOX_SECONDS, waits.set)

    async def _import(self) -> None:
        bank_settings = self._board.config.bank
        if bank_settings.mode != "built-in" or not bank_settings.imports:
            return
        for report in await self._in_a_thread(import_all):
            if report.applied or report.refused:
                for sentence in report.sentences():
                    log.warning("%s", sentence)
            self._report(f"import {report.path}", report.problem)

    async def _renew_mark(self) -> None:
        """Change the mark of the books, by which an older copy is recognized."""
        self._report("mark", await self._in_a_thread(restored_books.renew))

    async def _notify_sysop(self) -> None:
        command = self._board.config.notify.command
        found = await self._books.read(warnings) if command else []
        self._report("notify", await self._notifier.send(command, found))

    async def _stand_overdue(self) -> None:
        await overdue.stand_all(self._books)

    async def _settle_contests(self) -> None:
        """Pay the winners of contests that are over, and show callers online their notices."""
        has_ended = await settle_duels(self._board)
        if await settle_tournament(self._board) is not None or has_ended:
            await self._show_notices()

    async def _write_bulletin(self) -> None:
        today = self._board.config.bank.schedule.day_of(self._clock.now())
        if today == self._bulletin_day:
            return
        bulletin = await self._books.read(bulletins.of_yesterday)
        board = self._board.config.board
        try:
            await asyncio.to_thread(bulletins.write, bulletin, board.name, board.texts)
        except OSError as error:
            log.error("the bulletin cannot be written into %s: %s", board.texts, error.strerror)
        self._bulletin_day = today

    async def _look_after_games(self) -> None:
        await self._board.look_after_games(leads=self._leads)

    async def _close_dead_calls(self) -> None:
        """Close the calls of dead servers without waiting for their callers.

        Books in a file have a single server, which closes old calls when it starts.
        """
        if not self._board.server_id:
            return
        await self._board.renew_leases()  # this machine may have slept
        for call_id in await self._books.run(close_dead_calls):
            log.warning("closed call %d, whose server is gone", call_id)

    async def _look_at_the_books(self) -> None:
        """Read the books, and show callers new notices if another process has written.

        Judges the clock too, because another process may have accepted a wrong time. Starts to lead
        if the leading server is gone.
        """
        await self.keep_clock()
        look = await self._see()
        await self._lead(look.leads)
        if look.due and self._leads:
            await self._guarded(self._settle_contests)
        if look.version != self._books_version:
            self._books_version = look.version
            if self._leads:
                self._books.outbox_waits.set()  # another process may have added a record
            await self._show_notices()

    async def _see(self) -> _Look:
        """Look at the books, and apply the changes of other processes."""
        board = self._board
        here = [caller.call_id for caller in board.callers()]
        look = await self._books.run(partial(self._look, here=here))
        board.peers.adopt(look.living)
        board.end_closed(look.closed)
        board.arrivals.look(look.elsewhere.names)
        board.busy_elsewhere = look.elsewhere.on_nodes
        board.champion = look.champion
        self._take_early(look.early)
        return look

    def _look(self, desk: Desk, here: Collection[int]) -> _Look:
        board = self._board
        leads = not board.server_id or leadership.attend(
            desk, board.server_id, draining=board.draining
        )
        version = dialects.dialect_of(desk.connection).data_version(desk.connection)
        return _Look(
            version,
            leads,
            registry.living_servers(desk),
            calls_elsewhere(desk, board.process),
            closed_calls(desk, board.process, here),
            early_events.load(desk),
            tournaments.is_due(desk) or bool(duels.due(desk)),
            tournaments.champion(desk),
        )

    async def _lead(self, leads: bool) -> None:
        """Start or stop the leader's jobs if `leads` has changed."""
        if leads == self._leads:
            return
        self._leads = leads
        if leads:
            log.warning("this server leads now and does the jobs that only one server may do")
        else:
            log.info("another server leads now")
        await self._begin_to_lead()

    async def hand_on(self) -> None:
        """Finish the leader's jobs when the server ends, before it releases the lease."""
        with contextlib.suppress(BooksFailed):
            # This look runs after all pending writes.
            await self._lead((await self._see()).leads)
        await self.flush_outbox()
        self._leads = False

    def look_now(self) -> None:
        """Look at the books at once, because a command has changed them."""
        self._look_now.set()

    def _take_early(self, early: tuple[EarlyEvent, ...]) -> None:
        """Apply the events that were started early, and announce changes to callers online."""
        schedule, now = self._board.config.bank.schedule, self._clock.now()
        before = set(schedule.early)
        if not schedule.adopt_early(early):
            return
        news = [event for event in early if event not in before and not event.is_over(now)]
        withdrawn = [event for event in before - set(early) if not event.is_over(now)]
        for caller in self._board.callers():
            if caller.console.keyboard.is_lost:
                continue
            with speaking_to(caller.console.viewer):
                lines = [wording.early_event_notice(event, schedule, now) for event in news]
                lines += [wording.withdrawn_event_notice(event) for event in withdrawn]
            caller.console.screen.bell()
            for line in lines:
                caller.console.screen.say(f"|12{line}")
            caller.clock.look_for_events()

    async def keep_clock(self) -> None:
        """Compare the wall clock with the elapsed time, and log a clock that is off."""
        judgement = await self._books.run(self._clock.judge_and_save)
        self._clock.adopt(judgement)
        for words in judgement.news:
            log.warning("%s.", words)

    async def _look_for_a_wrong_clock(self) -> None:
        ahead = await self._books.run(clock_mend.callers_ahead)
        if ahead:
            names = ", ".join(each.name for each in ahead)
            log.warning(
                "A wrong clock put these callers on later days: %s. See `timebank clock`.", names
            )

    async def _wake_for_notices(self) -> None:
        """Show notices at once that callers of this process leave for others."""
        while True:
            await self._books.notices_wait.wait()
            self._books.notices_wait.clear()
            self._notices_came.set()

    async def _show_notices(self) -> None:
        """Show callers online their notices and messages, and bring their purses up to date."""
        here = {
            each.record.id: each
            for each in self._board.callers()
            if not (each.reads_notices or each.console.keyboard.is_lost)
        }
        if not here:
            return
        waiting = await self._books.run(partial(unread_of, caller_ids=list(here)))
        for caller_id, unseen in waiting.items():
            caller = here[caller_id]
            if caller.console.keyboard.is_lost:  # the notices wait for the next log-on
                continue
            caller.console.screen.bell()
            self._say(caller, unseen)
            # Mark notices as read after they are shown, so a lost line loses no notice.
            marked = await self._books.run(partial(take_unread, caller_id=caller_id))
            self._say(caller, marked.beyond(unseen))
            caller.notices_shown.set()
            caller.console.keyboard.nudge()
            if not marked.notices:  # messages move no minutes
                continue
            try:
                caller.tell(await caller.touch())
            except Refused:  # the call has ended meanwhile
                continue

    @staticmethod
    def _say(caller: Caller, unread: UnreadItems) -> None:
        with speaking_to(caller.console.viewer):
            lines = [hanging(f"|14{literal(str(text))}") for text in unread.notices]
            lines += caller.talk.incoming_lines(unread.messages)
            if lines:
                caller.console.screen.say("\n".join(lines))

    async def _close_when_gone(self) -> None:
        await self._books.gone.wait()
        self._board.interrupt_all(Closing(Phrase(wording.BOOKS_DAMAGED)))

    async def _each_time(self, flag: Flag, work: Work) -> None:
        """Do a piece of work each time the flag is set; flags set meanwhile count once."""
        while True:
            await flag.wait()
            flag.clear()
            await self._guarded(work)

    async def _every(self, seconds: Callable[[], float], work: Work) -> None:
        trouble = ""
        while True:
            await sleep(self._clock, seconds())
            trouble = await self._guarded(work, trouble)

    @staticmethod
    async def _guarded(work: Work, before: str = "") -> str:
        """Do a piece of work, log its failure, and return the problem of the books, or "".

        Does not log a problem equal to `before`, the problem of the last round.
        """
        try:
            await work()
        except BooksFailed as error:
            if str(error) != before:
                log.error("%s", error)
            return str(error)
        except Exception:
            log.exception("a round of housekeeping failed")
        return ""

    async def _in_a_thread(self, work: Callable[[Database, BankSettings, datetime], T]) -> T:
        now = self._clock.now()
        return await asyncio.to_thread(work, self._database, self._board.config.bank, now)

    def _report(self, what: str, problem: str | None) -> None:
        if problem and self._problems.get(what) != problem:
            log.error("%s", problem)
        self._problems[what] = problem or ""
