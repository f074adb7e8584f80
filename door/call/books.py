"""The ledger for asyncio: operations go to the one writer thread, and results come back.

`await books.run(operation)` hands a plain function of a `Desk` to the writer thread and returns its
result after the COMMIT. Only the wait can be cancelled: a call that ends meanwhile leaves a whole
entry, never half of one. `await books.read(operation)` reads without the writer, so it may take
long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from door.clock import until as by
from timebank.errors import BooksGone, BooksUnavailable, InDoubt, OutcomeUnknown
from timebank.language import N_, Phrase
from timebank.ledger.database import Database, Desk, Load, Reply, Request, Writer

if TYPE_CHECKING:
    from door.call.board_clock import BoardClock
    from timebank.settings.settings import BankSettings

T = TypeVar("T")

NOT_IN_TIME = N_("The books don't answer in time. Nothing has changed.")
NOT_KNOWN_IN_TIME = N_(
    "The books don't answer in time, so we can't tell if this counts. Check before you do it again."
)


class _Ticket(NamedTuple):
    """Where a request's answer goes, and the callback for a commit in doubt."""

    answer: asyncio.Future[object]
    in_doubt: Callable[[], None] | None


class Books:
    def __init__(
        self, database: Database, settings: Callable[[], BankSettings], clock: BoardClock
    ) -> None:
        """Start the writer of an open `database`; `settings` is called for every entry."""
        self.settings = settings
        self.outbox_waits = asyncio.Event()  # set when a record for THEBANK.EXT was committed
        self.notices_wait = asyncio.Event()  # set when a caller has a new notice or message
        self.gone = asyncio.Event()  # set when the files have been removed or replaced
        self._loop = asyncio.get_running_loop()
        self._database = database
        self._clock = clock
        self._writer = Writer(database, settings, clock.reading, self._deliver)
        self._due: list[Request] = []  # made in this step of the event loop

    async def run(
        self,
        operation: Callable[[Desk], T],
        in_doubt: Callable[[], None] | None = None,
        until: float | None = None,
    ) -> T:
        """Carry out `operation` in a transaction and return its result once that is durable.

        Raises the error of the operation (a `Refused` rolls back this operation alone), or
        `BooksUnavailable` if the group could not be committed and nothing has changed. If the disk
        fails in the COMMIT, `in_doubt` is called and the wait goes on until the outcome is known;
        `OutcomeUnknown` is raised if the process ends before that.

        `until` is the deadline, by the board's monotonic clock. An operation that has not begun by
        then is dropped and raises `BooksUnavailable`; one that has begun raises `OutcomeUnknown`.
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
        """Read on a connection and in a thread of its own, for look-ups that may take long.

        The operation sees one snapshot of the books, blocks no writer and must not write. Raises
        the error of the operation, or `BooksUnavailable`, also at the deadline `until`.
        """
        result = self._loop.run_in_executor(None, self._read, operation)
        if until is None:
            return await result
        try:
            async with by(self._clock, until):
                return await result
        except TimeoutError as late:
            raise BooksUnavailable(Phrase(NOT_IN_TIME)) from late

    def load(self) -> Load:
        """Return how much the writer has done so far, and how much waits for it."""
        return self._writer.load()

    def limit_waits(self, seconds: float) -> None:
        """Stop waiting for locks on the books after `seconds`, as the process ends."""
        self._database.limit_waits(seconds)

    async def close(self) -> None:
        self._submit()  # the requests of this step of the loop too
        await self._loop.run_in_executor(None, self._writer.close)

    def _read(self, operation: Callable[[Desk], T]) -> T:
        with self._database.reading(self.settings(), self._clock.reading()) as desk:
            return operation(desk)

    def _submit_soon(self) -> None:
        self._loop.call_soon(self._submit)

    def _submit(self) -> None:
        """Submit the requests of one step of the loop together.

        A writer that began with the first would take turns with the loop at every statement, which
        costs a sixth of the throughput.
        """
        due, self._due = self._due, []
        for request in due:
            try:
                self._writer.submit(request)
            except BooksUnavailable as closed:
                self._answer([Reply(request.ticket, None, closed)])

    def _deliver(self, batch: list[Reply]) -> None:
        """Take a committed group from the writer's thread; one wake-up for the whole group."""
        self._loop.call_soon_threadsafe(self._answer, batch)

    def _answer(self, batch: list[Reply]) -> None:
        for reply in batch:
            ticket = cast(_Ticket, reply.ticket)
            if isinstance(reply.error, BooksGone):
                self.gone.set()
            if ticket.answer.done():
                continue
            if isinstance(reply.error, InDoubt):
                if ticket.in_doubt is not None:
                    ticket.in_doubt()
            elif reply.error is not None:
                ticket.answer.set_exception(reply.error)
            else:
                ticket.answer.set_result(reply.result)


def _give_up(request: Request, answer: asyncio.Future[object]) -> None:
    """End the wait for an answer at its deadline; a later result is dropped."""
    if answer.done():
        return
    if request.claim():
        answer.set_exception(BooksUnavailable(Phrase(NOT_IN_TIME)))
    else:
        answer.set_exception(OutcomeUnknown(Phrase(NOT_KNOWN_IN_TIME)))
