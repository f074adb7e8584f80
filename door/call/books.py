"""Where asyncio meets the ledger: one queue into the one writer, one way back.

`await books.run(operation)` hands a plain function of a `Desk` to the writer thread and gives
its result back after the COMMIT. Only the wait can be cancelled: a call that ends while its entry
is on its way leaves an entry that is whole, never half of one. `await books.read(operation)` looks
something up beside the writer, however long that takes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from door.clock import until as by
from timebank.errors import BooksGone, BooksUnavailable, InDoubt, OutcomeUnknown
from timebank.language import N_, Phrase
from timebank.ledger.database import Database, Desk, Done, Load, Request, Writer

if TYPE_CHECKING:
    from door.call.board_clock import BoardClock
    from timebank.settings.settings import BankSettings

T = TypeVar("T")

NOT_IN_TIME = N_("The books don't answer in time. Nothing has changed.")
NOT_KNOWN_IN_TIME = N_(
    "The books don't answer in time, so we can't tell if this counts. Check before you do it again."
)


class _Ticket(NamedTuple):
    """Who waits for an answer, and who is to be told that it takes longer."""

    answer: asyncio.Future[object]
    in_doubt: Callable[[], None] | None


class Books:
    def __init__(
        self, database: Database, settings: Callable[[], BankSettings], clock: BoardClock
    ) -> None:
        """Start the writer of an open `database`; `settings` is asked anew for every entry."""
        self.settings = settings
        self.outbox_waits = asyncio.Event()  # set when a record for THEBANK.EXT was committed
        self.notices_wait = asyncio.Event()  # set when a notice was left for some caller
        self.awards_wait = asyncio.Event()  # set when somebody here may have earned an award
        self.gone = asyncio.Event()  # set when the files were found removed or replaced
        self._loop = asyncio.get_running_loop()
        self._database = database
        self._clock = clock
        self._writer = Writer(database, settings, clock.reading, self._deliver)
        self._due: list[Request] = []  # asked for in this step of the loop

    async def run(
        self,
        operation: Callable[[Desk], T],
        in_doubt: Callable[[], None] | None = None,
        until: float | None = None,
    ) -> T:
        """Carry out `operation` in a transaction and return its result once that is durable.

        Raises what the operation raised (a `Refused` rolls back this operation alone), or
        `BooksUnavailable` when the group could not be committed; nothing was changed then. When the
        disk has failed in the COMMIT, `in_doubt` is called and the wait goes on until it is known
        whether it counts; `OutcomeUnknown` when the process ends before that.

        `until` is an instant of the board's monotonic clock, at which nobody waits any more: what
        was not begun by then is not done, and raises `BooksUnavailable`; of what was begun nobody
        knows whether it counts, which raises `OutcomeUnknown`.
        """
        answer: asyncio.Future[object] = self._loop.create_future()
        request = Request(operation, _Ticket(answer, in_doubt))
        self._due.append(request)
        if len(self._due) == 1:
            self._submit_soon()
        if until is None:
            return cast(T, await answer)
        wait = until - self._clock.monotonic()
        timer = self._clock.call_later(wait, partial(_give_up, request, answer))
        try:
            return cast(T, await answer)
        finally:
            timer.cancel()

    async def read(self, operation: Callable[[Desk], T], until: float | None = None) -> T:
        """Look something up beside the writer: on a connection of its own, in a thread of its own.

        For whatever may take long. It sees one moment of the books, keeps nobody from writing, and
        must not write. Raises what the operation raised, or `BooksUnavailable`, as it does at the
        instant `until`.
        """
        looking = self._loop.run_in_executor(None, self._read, operation)
        if until is None:
            return await looking
        try:
            async with by(self._clock, until):
                return await looking
        except TimeoutError as late:
            raise BooksUnavailable(Phrase(NOT_IN_TIME)) from late

    def load(self) -> Load:
        """Say how much the writer has done so far, and what waits for it."""
        return self._writer.load()

    def hurry(self, seconds: float) -> None:
        """Let nobody wait for a lock on the books after `seconds` from now: the process ends."""
        self._database.hurry(seconds)

    async def close(self) -> None:
        self._submit()  # what this step of the loop has asked for is done as well
        await self._loop.run_in_executor(None, self._writer.close)

    def _read(self, operation: Callable[[Desk], T]) -> T:
        with self._database.reading(self.settings(), self._clock.reading()) as desk:
            return operation(desk)

    def _submit_soon(self) -> None:
        self._loop.call_soon(self._submit)

    def _submit(self) -> None:
        """Submit what one step of the loop asked for, together. A writer that begins with the first
        of several requests takes turns with the loop at every statement, which costs a sixth."""
        due, self._due = self._due, []
        for request in due:
            try:
                self._writer.submit(request)
            except BooksUnavailable as closed:
                self._answer([Done(request.ticket, None, closed)])

    def _deliver(self, batch: list[Done]) -> None:
        """Take a committed group from the writer's thread; one wake-up for the whole group."""
        self._loop.call_soon_threadsafe(self._answer, batch)

    def _answer(self, batch: list[Done]) -> None:
        for done in batch:
            ticket = cast(_Ticket, done.ticket)
            if isinstance(done.error, BooksGone):
                self.gone.set()
            if ticket.answer.done():
                continue
            if isinstance(done.error, InDoubt):
                if ticket.in_doubt is not None:
                    ticket.in_doubt()
            elif done.error is not None:
                ticket.answer.set_exception(done.error)
            else:
                ticket.answer.set_result(done.result)


def _give_up(request: Request, answer: asyncio.Future[object]) -> None:
    """Let nobody wait for an answer any more; what comes of it later is for nobody."""
    if answer.done():
        return
    if request.take():
        answer.set_exception(BooksUnavailable(Phrase(NOT_IN_TIME)))
    else:
        answer.set_exception(OutcomeUnknown(Phrase(NOT_KNOWN_IN_TIME)))
