"""What a running board does by itself, now and then.

Leases are renewed, hands that nobody returned to are stood, records travel to and from THEBANK.EXT,
the bulletin of the day is written, and callers on line are told of what was left for them. What
concerns the whole board is done by one of its servers, the one that leads (leadership.py).
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
from door.call.caller import AT_LOG_ON
from door.call.display import hanging, literal
from door.call.talk import Unheard, take_unread, unseen_of
from door.clock import sleep
from door.errors import Closing
from door.flag import Flag
from door.lobby import bulletins
from door.peers import nudges
from door.server import leadership
from door.tables import overdue
from door.tables.scoring import settle_tournament
from timebank.callers import awards
from timebank.callers.award_names import name_of
from timebank.calls import clock_mend
from timebank.calls.calls import (
    RENEW_SECONDS,
    Elsewhere,
    close_dead_calls,
    closed_of,
    elsewhere,
)
from timebank.errors import BooksFailed, Refused
from timebank.keeping import restore
from timebank.language import Phrase, ngettext, speaking_to
from timebank.ledger import dialects, early_events
from timebank.ledger.sqlite import live_mark
from timebank.servers import registry
from timebank.thebank.importer import import_all
from timebank.thebank.outbox import flush_outbox
from timebank.wagers import tournaments

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
DEAD_SECONDS = 60.0  # how often calls are closed whose server is dead
BULLETIN_SECONDS = 60.0  # how often it is asked whether a day has ended
SEEN_SECONDS = 1.0  # a server that is killed sooner tells of a hand again
AWARD_SECONDS = 1.0  # one look for all hands that end meanwhile
OUTBOX_SECONDS = 60.0  # until a file that could not be written is tried again

T = TypeVar("T")
Work = Callable[[], Awaitable[None]]

log = logging.getLogger("door.housekeeping")


class _Look(NamedTuple):
    """What is seen in the books: a number that changes with them, and whether this server leads."""

    version: int
    leads: bool
    living: list[ServerRecord]
    elsewhere: Elsewhere
    closed: dict[int, str | None]  # which calls here, as `closed_of`
    # Events that were started early.
    early: tuple[EarlyEvent, ...]
    # A tournament is over and not settled; and who won the last one.
    due: bool
    champion: Champion | None


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
        self._problems: dict[str, str] = {}  # what was logged last, so that it is logged once
        self._jobs: list[asyncio.Task[None]] = []

    async def take_up_the_books(self) -> None:
        """Treat books that are not those served last as restored; raises `BooksUnavailable`."""
        await self._beside_the_loop(restore.take_up)

    async def start(self) -> None:
        """Do once what callers may expect to be done, then begin the rounds."""
        seen = await self._see()
        self._leads = seen.leads
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
            self._every(lambda: leadership.LOOK_SECONDS, self._look_after_games),
            self._every(lambda: RENEW_SECONDS, self._board.renew_leases),
            self._every(lambda: SEEN_SECONDS, self._board.note_seen),
            self._every(lambda: leadership.LOOK_SECONDS, self._look_at_the_books),
            self._every(lambda: live_mark.RENEW_SECONDS, self._renew_mark),
            self._deliver_outbox(),
            self._tell_at_once(),
            self._tell_of_awards(),
            self._each_time(self._notices_came, self._tell_notices),
            self._close_when_gone(),
        )
        self._jobs = [asyncio.create_task(job) for job in jobs]

    def _listening(self) -> list[Coroutine[Any, Any, None]]:
        """Return what looks at the books as soon as another server has written, where one may."""
        server = self._board.config.bank.server
        return [] if server is None else [nudges.listen(server, self._look_now.set)]

    async def _begin_to_lead(self) -> None:
        """Do once what whoever led before may have left undone."""
        if self._leads:
            await self._stand_overdue()
            await self._write_bulletin()
            self._books.outbox_waits.set()

    def _led(self, seconds: Callable[[], float], work: Work) -> Coroutine[Any, Any, None]:
        """Do something now and then that only one server of the board does."""

        async def led() -> None:
            if self._leads:
                await work()

        return self._every(seconds, led)

    async def stop(self) -> None:
        for job in self._jobs:
            job.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)

    async def flush_outbox(self) -> bool:
        """Append what waits for THEBANK.EXT once; tell whether nothing is left waiting.

        Where another server does that, it is left to it.
        """
        if not self._leads:
            return True
        delivery = await self._beside_the_loop(flush_outbox)
        for number in delivery.doubtful:
            log.error(
                "record %d of THEBANK.EXT may or may not have arrived: see `timebank outbox`",
                number,
            )
        self._report("outbox", delivery.problem)
        return delivery.problem is None

    async def _deliver_outbox(self) -> None:
        """Append what waits for THEBANK.EXT: at once, and again later what could not be written."""
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
        for report in await self._beside_the_loop(import_all):
            if report.applied or report.refused:
                for sentence in report.sentences():
                    log.warning("%s", sentence)
            self._report(f"import {report.path}", report.problem)

    async def _renew_mark(self) -> None:
        """Change the mark of the books, so that an older copy of them is known as one."""
        self._report("mark", await self._beside_the_loop(restore.renew))

    async def _stand_overdue(self) -> None:
        await overdue.stand_all(self._books)

    async def _settle_tournament(self) -> None:
        """Pay the winners of the tournament that is over, and say so to those who are on."""
        if await settle_tournament(self._board) is not None:
            await self._tell_notices()

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
        """Close the calls of a server that is dead, whose callers need not come back.

        Books in a file have one server alone, which closes them as it starts.
        """
        if not self._board.server_id:
            return
        await self._board.renew_leases()  # this machine may have slept
        for call_id in await self._books.run(close_dead_calls):
            log.warning("closed call %d, whose server is gone", call_id)

    async def _look_at_the_books(self) -> None:
        """See whether another process has written, and tell callers what it left for them.

        The clock is judged on the way, for another process may have believed it meanwhile; and the
        jobs are taken when whoever led is gone.
        """
        await self.keep_clock()
        seen = await self._see()
        await self._lead(seen.leads)
        if seen.due and self._leads:
            await self._guarded(self._settle_tournament)
        if seen.version != self._books_version:
            self._books_version = seen.version
            if self._leads:
                self._books.outbox_waits.set()  # it may have left a record
            await self._tell_notices()

    async def _see(self) -> _Look:
        """Look at the books, and go by what other processes have written there."""
        board = self._board
        here = [caller.call_id for caller in board.callers()]
        seen = await self._books.run(partial(self._look, here=here))
        board.peers.adopt(seen.living)
        board.end_closed(seen.closed)
        board.comings.look(seen.elsewhere.names)
        board.busy_elsewhere = seen.elsewhere.on_nodes
        board.champion = seen.champion
        self._take_early(seen.early)
        return seen

    def _look(self, desk: Desk, here: Collection[int]) -> _Look:
        board = self._board
        leads = not board.server_id or leadership.attend(
            desk, board.server_id, draining=board.draining
        )
        version = dialects.of(desk.connection).data_version(desk.connection)
        return _Look(
            version,
            leads,
            registry.living(desk),
            elsewhere(desk, board.process),
            closed_of(desk, board.process, here),
            early_events.standing(desk),
            tournaments.is_due(desk),
            tournaments.champion(desk),
        )

    async def _lead(self, leads: bool) -> None:
        """Take the jobs up, or leave them to whoever has them now."""
        if leads == self._leads:
            return
        self._leads = leads
        if leads:
            log.warning("this server leads now: it does what only one of several may do")
        else:
            log.info("another server leads now")
        await self._begin_to_lead()

    async def hand_on(self) -> None:
        """Do what is left of the jobs, before the lease is let go; for the end of a server."""
        with contextlib.suppress(BooksFailed):
            # Behind all that is on its way into the books.
            await self._lead((await self._see()).leads)
        await self.flush_outbox()
        self._leads = False

    def look_now(self) -> None:
        """Look at the books without waiting for the next round: something was changed there."""
        self._look_now.set()

    def _take_early(self, early: tuple[EarlyEvent, ...]) -> None:
        """Go by the events that were started early, and tell who is on of what is new in them."""
        schedule, now = self._board.config.bank.schedule, self._clock.now()
        before = set(schedule.early)
        if not schedule.adopt_early(early):
            return
        news = [event for event in early if event not in before and not event.is_over(now)]
        gone = [event for event in before - set(early) if not event.is_over(now)]
        for caller in self._board.callers():
            if caller.console.is_lost:
                continue
            with speaking_to(caller.console.viewer):
                lines = [wording.starts_early(event, schedule, now) for event in news]
                lines += [wording.taken_back(event) for event in gone]
            caller.console.bell()
            for line in lines:
                caller.console.say(f"|12{line}")
            caller.clock.look_for_events()

    async def keep_clock(self) -> None:
        """Hold the wall clock against what has passed, and tell the log when it is off."""
        judgement = await self._books.run(self._clock.keep)
        self._clock.adopt(judgement)
        for words in judgement.news:
            log.warning("%s.", words)

    async def _look_for_a_wrong_clock(self) -> None:
        ahead = await self._books.run(clock_mend.ahead)
        if ahead:
            names = ", ".join(each.name for each in ahead)
            log.warning("A wrong clock has gone too far for %s: see `timebank clock`.", names)

    async def _tell_at_once(self) -> None:
        """Tell what a caller of this process has left for another, without waiting for a look."""
        while True:
            await self._books.notices_wait.wait()
            self._books.notices_wait.clear()
            self._notices_came.set()

    async def _tell_notices(self) -> None:
        """Show callers on line what waits for them; what it brought shows in their purse."""
        here = {
            each.record.id: each
            for each in self._board.callers()
            if not (each.reads_notices or each.console.is_lost)
        }
        if not here:
            return
        waiting = await self._books.run(partial(unseen_of, caller_ids=list(here)))
        for caller_id, unseen in waiting.items():
            caller = here[caller_id]
            if caller.console.is_lost:  # they wait for the next log-on
                continue
            caller.console.bell()
            self._say(caller, unseen)
            # Marked when they are shown: a line that is lost meanwhile costs nobody their notice.
            marked = await self._books.run(partial(take_unread, caller_id=caller_id))
            self._say(caller, marked.beyond(unseen))
            if not marked.notices:  # a message moves no minutes
                continue
            try:
                caller.tell(await caller.touch())
            except Refused:  # the call has ended meanwhile
                continue

    @staticmethod
    def _say(caller: Caller, unread: Unheard) -> None:
        with speaking_to(caller.console.viewer):
            lines = [hanging(f"|14{literal(str(text))}") for text in unread.notices]
            lines += caller.talk.hears(unread.messages)
            if lines:
                caller.console.say("\n".join(lines))

    async def _tell_of_awards(self) -> None:
        """Tell callers what they have earned, a moment after a hand has ended or they have come."""
        waits = self._books.awards_wait
        while True:
            await waits.wait()
            await sleep(self._clock, AWARD_SECONDS)
            waits.clear()
            await self._guarded(self._tell_awards)

    async def _tell_awards(self) -> None:
        here = {each.record.id: each for each in self._board.callers() if not each.console.is_lost}
        if not here:
            return
        earned = await self._books.read(partial(awards.untold, caller_ids=list(here)))
        for caller_id, words in earned.items():
            caller = here[caller_id]
            if caller.is_busy or caller.place == AT_LOG_ON:
                self._books.awards_wait.set()
                continue
            with speaking_to(caller.console.viewer):
                names = ", ".join(map(literal, map(name_of, words)))
                told = ngettext("Award: {names}!", "Awards: {names}!", len(words))
                caller.console.say(f"|14{told.format(names=names)}")
            # Once it is shown: a line that is lost meanwhile costs nobody their award.
            await self._books.run(partial(awards.note_told, caller_id=caller_id, words=words))

    async def _close_when_gone(self) -> None:
        await self._books.gone.wait()
        self._board.interrupt_all(Closing(Phrase(wording.GONE)))

    async def _each_time(self, flag: Flag, work: Work) -> None:
        """Do a piece of work whenever a message asks for it; those that come meanwhile are one."""
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
        """Do a piece of work, log what goes wrong, and return what is wrong with the books.

        What is still wrong with them as `before` is not logged again.
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

    async def _beside_the_loop(self, work: Callable[[Database, BankSettings, datetime], T]) -> T:
        now = self._clock.now()
        return await asyncio.to_thread(work, self._database, self._board.config.bank, now)

    def _report(self, what: str, problem: str | None) -> None:
        if problem and self._problems.get(what) != problem:
            log.error("%s", problem)
        self._problems[what] = problem or ""
