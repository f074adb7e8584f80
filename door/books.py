"""Where asyncio meets the ledger: one queue into the one writer, one way back.

`await books.run(operation)` hands a plain function of a `Desk` to the writer thread and gives
its result back after the COMMIT. Only the wait can be cancelled: a call that ends while its entry
is on its way leaves an entry that is whole, never half of one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from timebank.database import Database, Desk, Done, Writer

if TYPE_CHECKING:
    from door.board_clock import BoardClock
    from timebank.settings import BankSettings

T = TypeVar("T")


class Books:
    """The ledger as coroutines see it."""

    def __init__(
        self, database: Database, settings: Callable[[], BankSettings], clock: BoardClock
    ) -> None:
        """Start the writer of an open `database`; `settings` is asked anew for every entry."""
        self.settings = settings
        self.outbox_waits = asyncio.Event()  # set when a record for THEBANK.EXT was committed
        self.notices_wait = asyncio.Event()  # set when a notice was left for some caller
        self._loop = asyncio.get_running_loop()
        self._database = database
        self._writer = Writer(database, settings, clock.reading, self._deliver)

    async def run(self, operation: Callable[[Desk], T]) -> T:
        """Carry out `operation` in a transaction and return its result once that is durable.

        Raises what the operation raised (a `Refused` rolls back this operation alone), or
        `BooksUnavailable` when the group could not be committed; nothing was changed then.
        """
        answer: asyncio.Future[object] = self._loop.create_future()
        self._writer.submit(operation, answer)
        return cast(T, await answer)

    def hurry(self, seconds: float) -> None:
        """Let nobody wait for a lock on the books after `seconds` from now: the process ends."""
        self._database.hurry(seconds)

    async def close(self) -> None:
        """Finish what is queued and stop the writer."""
        await self._loop.run_in_executor(None, self._writer.close)

    def _deliver(self, batch: list[Done]) -> None:
        """Take a committed group from the writer's thread; one wake-up for the whole group."""
        self._loop.call_soon_threadsafe(_answer, batch)


def _answer(batch: list[Done]) -> None:
    for done in batch:
        answer = cast("asyncio.Future[object]", done.ticket)
        if answer.done():
            continue
        if done.error is not None:
            answer.set_exception(done.error)
        else:
            answer.set_result(done.result)
