"""A caller of another board, on a call here: their time is the host's, and goes back to it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from door import wording
from door.call.caller import Caller
from door.call.display import literal
from door.call.purse import TickingPurse
from door.clock import seconds_begun
from door.dropfiles.giving import give
from door.errors import NotGiven
from timebank.calls.arrival import CarriedIn
from timebank.calls.calls import close_call
from timebank.errors import BooksFailed, CallClosed
from timebank.guests.claims import claim as bank_claim
from timebank.guests.claims import debt_after, done, in_doubt, not_done
from timebank.words import MINUTE, span

if TYPE_CHECKING:
    from door.call.books import Books
    from door.call.console import Console
    from door.call.guest import Guest
    from door.config.config import Config
    from timebank.callers.callers import CallerRecord
    from timebank.calls.calls import Opened
    from timebank.guests.claims import Claim
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Receipt
    from timebank.ledger.visit import GuestArrival

log = logging.getLogger("door.hosts")


class HostCaller(Caller):
    """A guest on a call. When it is closed, what they gained is given back, once."""

    def __init__(
        self,
        console: Console,
        books: Books,
        config: Config,
        record: CallerRecord,
        node: int,
        opened: Opened,
        new_seed: Callable[[], bytes],
        guest: Guest,
    ) -> None:
        arrival = opened.arrival
        assert arrival is not None  # `open_host_call` says what was brought
        posted, limit = opened.receipt.purse, arrival.host_limit
        purse = TickingPurse(books, console.clock, posted, guest.arrived, limit, guest.until)
        super().__init__(console, books, config, record, node, opened, purse, new_seed)
        self.guest = guest
        self.arrival: GuestArrival = arrival
        self.was_cut_off = arrival.earlier is not None and not opened.taken_over
        self.status.account = f"|11From |15{literal(arrival.board)[:16]}"
        self._left: asyncio.Future[list[str]] | None = None

    # Words.

    def news(self) -> list[str]:
        arrival, board = self.arrival, self.arrival.board
        said = [literal(str(text)) for text in self.opened.notices]
        if self.was_cut_off:
            said.append("Your last call here was cut off; its minutes are accounted for.")
        brought = span(arrival.brought) if arrival.brought else "no minutes"
        said.append(f"You bring {brought} from {literal(board)}.")
        if arrival.debt:
            are = wording.agree(arrival.debt, "is", "are")
            said.append(f"{span(arrival.debt)} that you lost here today {are} taken off already.")
        if arrival.standing:
            lie = wording.agree(arrival.standing, "lies", "lie")
            said.append(f"{span(arrival.standing)} more {lie} on the table, in your open hand.")
        if arrival.owed:
            minutes = span(arrival.owed * MINUTE)
            go = wording.agree(arrival.owed * MINUTE, "goes", "go")
            said.append(f"{minutes} of an earlier visit {go} back to {literal(board)} with you.")
        return said

    def time_up_words(self) -> str:
        board = literal(self.arrival.board)
        if self.purse.event_has_begun() or not self.purse.may_go_on:
            return f"{board} wants you back: your time here is up."
        return f"The minutes that you brought from {board} are used up."

    # The end.

    async def farewell(self, reason: str) -> list[str]:
        return await self._leave(reason)

    async def close(self, reason: str) -> None:
        await self._leave(reason)

    async def _leave(self, reason: str) -> list[str]:
        """Close the call, give back what they gained, and return what to tell them of it: once,
        whoever asks for it, and to its end, whatever becomes of those who ask."""
        if self._left is None:
            self._left = asyncio.ensure_future(self._close_and_give(reason))
        return await asyncio.shield(self._left)

    async def _close_and_give(self, reason: str) -> list[str]:
        claims: list[Claim] = []
        debts: list[int] = []

        def close_and_claim(desk: Desk, call_id: int, ticked: int) -> Receipt:
            receipt = close_call(desk, call_id, ticked, reason)
            claimed = bank_claim(desk, call_id)
            claims.extend([] if claimed is None else [claimed])
            debts.append(debt_after(desk, call_id))
            return receipt

        try:
            receipt = await self.post(close_and_claim, call_ends=True)
        except (CallClosed, BooksFailed) as error:
            log.warning("the call of %s was not closed here: %s", self.record.name, error)
            return []
        said = [await self._give(claim) for claim in claims]
        if any(row.kind == "external" for row in receipt.rows):
            said.append(f"What you gained is on its way to {literal(self.arrival.board)}.")
        elif receipt.purse.bank:
            are = wording.agree(receipt.purse.bank, "is", "are")
            said.append(f"{span(receipt.purse.bank)} {are} in your time bank here.")
        said += _of_loan(receipt)
        if debts[0]:
            said.append(self._owes(debts[0]))
        return said

    def _owes(self, debt: int) -> str:
        board = literal(self.arrival.board)
        verb = wording.agree(debt, "is", "are")
        they = wording.agree(debt, "it is", "they are")
        return (
            f"{span(debt)} that you lost {verb} owed to {board}: {they} taken off what you bring"
            " later today."
        )

    async def _give(self, claim: Claim) -> str:
        """Write a claim into the host's file, and into the books what came of it; return that."""
        way, name = self.guest.way, self.record.name
        assert way is not None  # what is claimed goes the way of this visit
        loop = asyncio.get_running_loop()
        seconds, board = abs(claim.minutes) * MINUTE, literal(self.arrival.board)
        minutes, are = span(seconds), wording.agree(seconds, "is", "are")
        counted = wording.counted(claim.minutes, "minute")
        try:
            file = await loop.run_in_executor(None, give, way, claim.minutes)
        except NotGiven as refused:
            log.warning("not given back to %s: %s: %s", name, counted, refused)
            why = str(refused)
            if refused.may_have_been:
                await self._note(lambda desk: in_doubt(desk, claim, why))
                return f"Whether {board} has your {minutes} the sysop must find out; he is told."
            await self._note(lambda desk: not_done(desk, claim, why))
            if claim.minutes < 0:
                return self._owes(seconds)
            they = wording.agree(seconds, "it is", "they are")
            return f"{board} cannot take {minutes} just now: {they} kept for you here."
        await self._note(lambda desk: done(desk, claim))
        log.info("written into %s for %s: %s", file, name, counted)
        if claim.minutes < 0:
            return f"{minutes} that you lost {are} taken off your time at {board}."
        return f"{minutes} {wording.agree(seconds, 'goes', 'go')} back to {board}."

    async def _note(self, operation: Callable[[Desk], object]) -> None:
        """Write down what became of a claim; unwritten, it is in doubt by itself."""
        with contextlib.suppress(BooksFailed):
            await self.books.run(operation)


def brought_by(guest: Guest, now: float) -> CarriedIn:
    """Return what a guest brings, as the books ask for it at the monotonic instant `now`."""
    return CarriedIn(
        seconds=guest.seconds,
        allowance=guest.board.minutes * MINUTE,
        share=guest.board.share,
        until=guest.until,
        shows_losses=guest.shows_losses,
        takes_gains=guest.takes_gains,
        waited=seconds_begun(now - guest.arrived),
    )


def _of_loan(receipt: Receipt) -> list[str]:
    said = []
    paid = sum(row.amount for row in receipt.rows if row.kind == "loan paid")
    if paid:
        said.append(f"{span(paid)} of your loan {wording.agree(paid, 'is', 'are')} paid back.")
    if owed := -receipt.purse.loan:
        said.append(f"You still owe {span(owed)} here. What you win next pays that first.")
    return said
