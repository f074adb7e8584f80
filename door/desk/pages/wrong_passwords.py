"""Wrong passwords at the pages: how many are allowed, and how long the next one waits.

The pages have a reception of their own, with the rules, the queue and the known addresses of the
log-on (`door.defence`). The books count wrong passwords too, so that several processes that show
the pages give no more tries than one, and a restart gives no new ones. Before a password enters the
queue, the reception takes over what the books have against its address and its name.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from door.defence.counts import DAY, FAILURE_SECONDS, MOST_FAILURES, Defence, digest_of, kept_of
from door.defence.reception import REMEMBERED, Reception
from timebank.callers import page_tries
from timebank.calls.calls import latest_addresses
from timebank.errors import BooksFailed
from timebank.ledger.schema import stamp
from timebank.names import names

if TYPE_CHECKING:
    from door.clock import Clock
    from door.defence.counts import Charge
    from door.defence.tries import Try
    from door.desk.pages.rendering import Showing
    from timebank.callers.page_tries import PageTry
    from timebank.ledger.database import Desk

KEPT = int(max(DAY, MOST_FAILURES * FAILURE_SECONDS))  # seconds until nothing is owed for a try
LEARN_SECONDS = 60.0  # how often the pages look where callers live
MOST_COUNTED = 50_000  # tries of the books whose charges are remembered


class _Counted(NamedTuple):
    """A try that the books and the reception both count, and what it was charged."""

    who: int
    name: int
    at: int
    charge: Charge


class PageTries:
    def __init__(self, showing: Showing, clock: Clock) -> None:
        config = showing.reading.config
        self._reading = showing.reading
        self._beside = showing.read
        self._clock = clock
        self._defence = Defence(config.defence, digest=_kept)
        self.reception = Reception(config, clock, _nobody_on, defence=self._defence)
        self._counted: OrderedDict[str, _Counted] = OrderedDict()  # by their numbers in the books
        self._numbers: dict[Try, str] = {}  # of those that are being checked
        self._learned: float | None = None
        # One task at a time compares or changes the counts of the books and the reception.
        self._turn = asyncio.Lock()

    async def learn(self) -> None:
        """Learn from which addresses callers have logged on, at most once in `LEARN_SECONDS`."""
        now = self._clock.monotonic()
        if self._learned is None or now - self._learned >= LEARN_SECONDS:
            self._learned = now
            look = partial(self._reading.look, lambda desk: latest_addresses(desk, REMEMBERED))
            self.reception.remember(await self._beside(look))

    async def present(self, address: str, name: str, on_turn: Callable[[], None]) -> Try:
        """Take in a password, as `Reception.present` does; raises `BooksFailed`."""
        await self.learn()
        who = self._defence.counted(address)
        if who is not None:
            async with self._turn:
                await self._compare(who, _kept(names.fold(name)))
        return self.reception.present(address, name, on_turn)

    async def begin(self, tried: Try) -> None:
        """Count a password that is due as wrong in the books, until it has been checked; raises
        `BooksFailed`."""
        if tried.who is None:
            return
        who, name = str(tried.who), kept_of(tried.name)

        def work(desk: Desk) -> tuple[str, int]:
            at = stamp(desk.now)
            return page_tries.add(desk, who, name, at - KEPT), at

        try:
            async with self._turn:
                number, at = await self._beside(lambda: self._reading.work(work))
                self._remember(number, _Counted(tried.who, tried.name, at, tried.charge))
        except BooksFailed:
            self.reception.not_checked(tried)
            raise
        self._numbers[tried] = number

    async def right(self, tried: Try) -> None:
        """Uncount a password that was right, or could not be checked."""
        self.reception.was_right(tried)
        number = self._numbers.pop(tried, None)
        if number is not None:
            async with self._turn:
                self._counted.pop(number, None)
                reading = self._reading
                await self._beside(
                    lambda: reading.work(lambda desk: page_tries.take_back(desk, number))
                )

    def gave_up(self, tried: Try) -> None:
        """End a try. A password that was due counts as wrong unless `right` was called."""
        self._numbers.pop(tried, None)
        self.reception.gave_up(tried)

    async def _compare(self, who: int, name: int) -> None:
        """Charge the tries that the books have of an address or a name, and forgive those that
        another process has taken out of the books."""

        def look(desk: Desk) -> tuple[list[PageTry], int]:
            since = stamp(desk.now) - KEPT
            return page_tries.of(desk, str(who), kept_of(name), since), stamp(desk.now)

        rows, now = await self._beside(lambda: self._reading.look(look))
        since = rows[0].at if len(rows) == page_tries.MOST_READ else now - KEPT
        known = {row.number for row in rows}
        gone = [
            number
            for number, each in self._counted.items()
            if (each.who == who or each.name == name) and each.at >= since and number not in known
        ]
        for number in gone:
            self._defence.take_back(self._counted.pop(number).charge)
        for row in rows:
            if row.number not in self._counted:
                address, about = int(row.address), int(row.name, 16)
                at = self._clock.monotonic() - max(0, now - row.at)
                charge = self._defence.begin(address, about, at)
                self._remember(row.number, _Counted(address, about, row.at, charge))
        self.reception.look_again()

    def _remember(self, number: str, counted: _Counted) -> None:
        self._counted[number] = counted
        if len(self._counted) > MOST_COUNTED:
            self._counted.popitem(last=False)


def _kept(name: str) -> int:
    """Return the number for a folded name that the books keep: the reception counts by it too."""
    return int(kept_of(digest_of(name)), 16)


def _nobody_on() -> int:
    return 0  # a session at the pages takes no node
