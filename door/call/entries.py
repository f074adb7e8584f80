"""The entries that a call makes by itself: used time, and the grace of a caller without time."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from door import wording
from door.call.grace import Grace
from timebank.callers import own_limits
from timebank.calls import grace
from timebank.errors import BooksFailed, BooksUnavailable, CallClosed, OutcomeUnknown
from timebank.language import _

if TYPE_CHECKING:
    from door.call.caller import Caller
    from timebank.calls.grace import GracePiece
    from timebank.ledger.purse import Receipt


@contextlib.asynccontextmanager
async def uncharged(caller: Caller, *, to_look_around: bool = False) -> AsyncIterator[int]:
    """Let a caller without time go on uncharged while the grace of the day lasts.

    Yield its seconds: 0 if none are left, or if the caller has time again. At the end, give the
    unused seconds of the last piece back to the day.
    """
    clock = caller.console.clock
    grace = Grace(clock, caller.purse.seconds_to_end, clock.monotonic(), to_look_around)
    with contextlib.suppress(BooksFailed):
        if caller.purse.may_go_on:
            grace.add(await _take_grace(caller, to_look_around))
    seconds = grace.left()
    if seconds:
        caller.clock.use_grace(grace)
    try:
        yield seconds
    finally:
        if seconds:
            caller.clock.use_grace(None)
        if to_look_around:
            caller.grace_left = grace.left()
        await _give_back(caller, grace.day, grace.unused())


async def _go_on_in_grace(caller: Caller, used: Grace) -> Receipt:
    given = await _take_grace(caller, used.to_look_around)
    if caller.clock.day_grace is used:
        used.add(given)
    else:  # this use of the grace has ended meanwhile
        await _give_back(caller, given.day, given.seconds)
    return given.receipt


async def _take_grace(caller: Caller, to_look_around: bool) -> GracePiece:
    adopt, ticked = caller.expect(), caller.purse.ticked()
    given = await caller.ask_books(
        lambda desk: grace.take_piece(desk, caller.call_id, ticked, to_look_around=to_look_around),
        is_theirs=False,
    )
    adopt(given.receipt)
    return given


async def _give_back(caller: Caller, day: str, seconds: int) -> None:
    if seconds:
        with contextlib.suppress(BooksFailed):  # the seconds then count as used
            await caller.ask_books(
                lambda desk: grace.give_back(desk, caller.record.id, day, seconds),
                is_theirs=False,
                takes_its_time=True,
            )


async def _entry(caller: Caller) -> Receipt:
    """Make the entry that is due."""
    used = caller.clock.day_grace
    if used is not None and used.wants_more():
        return await _go_on_in_grace(caller, used)
    return await caller.touch()


async def keep_posted(caller: Caller) -> None:
    """Make the entries that the clock asks for, until cancelled or the call is closed."""
    is_stuck = False
    while True:
        await caller.clock.entry_is_due.wait()
        caller.clock.entry_is_due.clear()
        try:
            receipt = await _entry(caller)
            caller.tell(receipt)
            if receipt.purse.summary_is_due:
                await _show_summary(caller)
        except CallClosed:
            caller.console.keyboard.interrupt(await caller.how_it_was_closed())
            return
        except (BooksUnavailable, OutcomeUnknown):  # the next entry charges this time too
            if not is_stuck:  # said once, though the clock tries again every second
                words = _("The books can't be written just now. Please wait.")
                caller.console.screen.say(f"|12{words}")
            is_stuck = True
        else:
            if is_stuck:
                caller.console.screen.say(f"|10{_('The books can be written again.')}")
            is_stuck = False
        caller.clock.check_time()


async def _show_summary(caller: Caller) -> None:
    """Show the caller's result of the last hour, as they asked for in their settings."""
    word = await caller.ask_books(
        lambda desk: own_limits.take_summary(desk, caller.record.id), is_theirs=False
    )
    if word is not None:
        now = caller.console.clock.now()
        caller.console.screen.say(
            f"|14{wording.hourly_summary_words(word, caller.bank_settings.schedule, now)}"
        )
