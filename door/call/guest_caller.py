"""A caller of another board on a call here: their time belongs to the host and goes back to it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from door.call.caller import Caller
from door.call.markup import literal
from door.call.purse import TickingPurse
from door.clock import seconds_begun
from door.errors import NotGivenBack
from timebank.calls.arrival import HostTerms
from timebank.calls.calls import close_call
from timebank.errors import BooksFailed, CallClosed
from timebank.guests.claims import (
    mark_doubtful,
    mark_not_written,
    mark_written,
    remaining_debt,
    take_claim,
)
from timebank.language import Phrase, _
from timebank.words import MINUTE, span, span_phrase

if TYPE_CHECKING:
    from door.call.books import Books
    from door.call.console import Console
    from door.call.guest import Guest
    from door.config.config import Config
    from timebank.callers.callers import CallerRecord
    from timebank.calls.calls import OpenedCall
    from timebank.guests.claims import Claim
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Receipt
    from timebank.ledger.visit import GuestArrival

log = logging.getLogger("door.hosts")


class HostCaller(Caller):
    """A guest on a call. When it is closed, their gain or loss is given back, once."""

    def __init__(
        self,
        console: Console,
        books: Books,
        config: Config,
        record: CallerRecord,
        node: int,
        opened: OpenedCall,
        new_seed: Callable[[], bytes],
        guest: Guest,
    ) -> None:
        arrival = opened.arrival
        assert arrival is not None  # `open_host_call` always sets it
        posted, limit = opened.receipt.purse, arrival.host_limit
        purse = TickingPurse(books, console.clock, posted, guest.arrived, limit, guest.until)
        super().__init__(console, books, config, record, node, opened, purse, new_seed)
        self.guest, self.is_back = guest, guest.is_continued
        self.arrival: GuestArrival = arrival
        self.status.account = Phrase("From {board}", board=f"|15{literal(arrival.board)[:16]}")
        self._left: asyncio.Future[list[str]] | None = None

    # Words.

    def minutes(self) -> list[str]:
        arrival, board = self.arrival, self.arrival.board
        lines = []
        if arrival.was_cut_off:
            lines.append(_("Your last call here was cut off. Its minutes are accounted for."))
        brought = _("You bring {time} from {board}.")
        if not arrival.brought:
            brought = _("You bring no minutes from {board}.")
        lines.append(brought.format(time=span(arrival.brought), board=literal(board)))
        if arrival.debt:
            words = _("That's after the {time} you lost here earlier today.")
            lines.append(words.format(time=span(arrival.debt)))
        if arrival.host_stake:
            words = _("Your open hand holds {time} more.")
            lines.append(words.format(time=span(arrival.host_stake)))
        if arrival.owed:
            minutes = span(arrival.owed * MINUTE)
            words = _("From an earlier visit, you take {time} back to {board}.")
            lines.append(words.format(time=minutes, board=literal(board)))
        return lines

    def time_up_words(self) -> str:
        board = literal(self.arrival.board)
        if self.purse.event_has_begun() or not self.purse.may_go_on:
            return _("{board} wants you back: your time here is up.").format(board=board)
        return _("You've used up the minutes you brought from {board}.").format(board=board)

    # The end.

    async def farewell(self, reason: str) -> list[str]:
        return await self._leave(reason)

    async def close(self, reason: str) -> None:
        await self._leave(reason)

    async def _leave(self, reason: str) -> list[str]:
        """Close the call, give back the gain, and return the lines about it.

        It is done once and to its end, even if several ask for it or are cancelled.
        """
        if self._left is None:
            self._left = asyncio.ensure_future(self._close_and_give(reason))
        return await asyncio.shield(self._left)

    async def _close_and_give(self, reason: str) -> list[str]:
        claims: list[Claim] = []
        debts: list[int] = []

        def close_and_claim(desk: Desk, call_id: int, ticked: int) -> Receipt:
            receipt = close_call(desk, call_id, ticked, reason)
            claimed = take_claim(desk, call_id)
            claims.extend([] if claimed is None else [claimed])
            debts.append(remaining_debt(desk, call_id))
            return receipt

        try:
            receipt = await self.post(close_and_claim, call_ends=True)
        except (CallClosed, BooksFailed) as error:
            log.warning("the call of %s was not closed here: %s", self.record.name, error)
            return []
        lines = [await self._give(claim) for claim in claims]
        if any(row.kind == "external" for row in receipt.rows):
            words = _("What you won is on its way to {board}.")
            lines.append(words.format(board=literal(self.arrival.board)))
        elif receipt.purse.bank:
            words = _("Your time bank here holds {time}.")
            lines.append(words.format(time=span(receipt.purse.bank)))
        lines += _loan_lines(receipt)
        if debts[0]:
            lines.append(self._owes(debts[0]))
        return lines

    def _owes(self, debt: int) -> str:
        board = literal(self.arrival.board)
        words = _("You owe {board} {time} for what you lost. It comes off your next visit today.")
        return words.format(board=board, time=span(debt))

    async def _give(self, claim: Claim) -> str:
        """Write a claim into the host's file and its outcome into the books; return the words."""
        way, name = self.guest.way, self.record.name
        assert way is not None  # without a way there are no claims
        seconds, board = abs(claim.minutes) * MINUTE, literal(self.arrival.board)
        minutes = span(seconds)
        sign, counted = "-" if claim.minutes < 0 else "", span_phrase(seconds)  # for the log
        try:
            file = await self.guest.give(way, claim.minutes)
        except NotGivenBack as refused:
            log.warning("not given back to %s: %s%s: %s", name, sign, counted, refused)
            why = str(refused)
            if refused.is_in_doubt:
                await self._note(lambda desk: mark_doubtful(desk, claim, why))
                words = _("We can't tell if {board} got your {time}. The sysop has been told.")
                return words.format(board=board, time=minutes)
            await self._note(lambda desk: mark_not_written(desk, claim, why))
            if claim.minutes < 0:
                return self._owes(seconds)
            words = _("{board} can't take your {time} just now. We keep it for you here.")
            return words.format(board=board, time=minutes)
        await self._note(lambda desk: mark_written(desk, claim))
        log.info("written into %s for %s: %s%s", file, name, sign, counted)
        if claim.minutes < 0:
            words = _("You lost {time}: it comes off your time at {board}.")
            return words.format(time=minutes, board=board)
        return _("You take {time} back to {board}.").format(time=minutes, board=board)

    async def _note(self, operation: Callable[[Desk], object]) -> None:
        """Write the outcome of a claim into the books; if that fails, the claim stays in doubt."""
        with contextlib.suppress(BooksFailed):
            await self.books.run(operation)


def brought_by(guest: Guest, now: float) -> HostTerms:
    """Return the time that a guest brings, for the books, at the monotonic instant `now`."""
    return HostTerms(
        seconds=guest.seconds,
        allowance=guest.board.minutes * MINUTE,
        share=guest.board.share,
        until=guest.until,
        shows_losses=guest.shows_losses,
        takes_gains=guest.takes_gains,
        waited=seconds_begun(now - guest.arrived),
    )


def _loan_lines(receipt: Receipt) -> list[str]:
    lines = []
    paid = sum(row.amount for row in receipt.rows if row.kind == "loan paid")
    if paid:
        lines.append(_("You paid back {time} of your loan.").format(time=span(paid)))
    if owed := -receipt.purse.loan:
        words = _("You still owe {time} here. Your next winnings pay that first.")
        lines.append(words.format(time=span(owed)))
    return lines
