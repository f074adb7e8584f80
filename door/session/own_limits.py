"""The room "Your own limits" of the settings: minutes lost a day, a pause, an hourly summary."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from door.call.page import Page
from timebank.callers import own_limits
from timebank.callers.own_limits import MOST_DAYS, MOST_MINUTES
from timebank.errors import BooksFailed, Refused
from timebank.language import N_, _, ngettext
from timebank.ledger.schema import instant
from timebank.words import date_time_words, span

if TYPE_CHECKING:
    from collections.abc import Callable

    from door.call.caller import Caller
    from timebank.ledger.database import Desk
    from timebank.ledger.own_limits import OwnLimits

TITLE = N_("Your own limits")
LABELS = {
    "M": N_("Most lost a day"),
    "P": N_("Pause"),
    "H": N_("Hourly summary"),
    "Q": N_("Quit"),
}
MEANINGS = {
    "M": N_("Set how many minutes you can lose in a day, at all tables together."),
    "P": N_("Stop betting for some days."),
    "H": N_("Once an hour, see what you bet and what you won or lost."),
    "Q": N_("Go back to your settings."),
}
LABEL_CELLS = 21


async def visit_limits(caller: Caller) -> None:
    console = caller.console
    while True:
        own = await caller.ask_books(lambda desk: own_limits.current(desk, caller.record.id))
        console.display.stage(Page(_(TITLE), _rows(caller, own)))
        choice = await console.prompt.choose(LABELS, MEANINGS)
        if choice == "M":
            await _limit_loss(caller, own)
        elif choice == "P":
            await _pause(caller, own)
        elif choice == "H":
            wanted = not own.hourly or own.hourly_until is not None
            await _set(caller, partial(own_limits.set_hourly_summary, wanted=wanted))
        else:
            return


async def _limit_loss(caller: Caller, own: OwnLimits) -> None:
    question = _("Minutes you can lose in a day, 1 to {most}, or 0 for no limit:")
    minutes = await _number(caller, question.format(most=MOST_MINUTES), MOST_MINUTES)
    if minutes is not None and (minutes or own.most_lost is not None):
        await _set(caller, partial(own_limits.limit_loss, minutes=minutes or None))


async def _pause(caller: Caller, own: OwnLimits) -> None:
    question = _("Days without a bet, 1 to {most}, or 0 for no pause:")
    days = await _number(caller, question.format(most=MOST_DAYS), MOST_DAYS)
    if not days and own.paused_until is None:
        return
    if days is None:
        return
    if days:
        asked = ngettext(
            "Stop betting for {number} day? Nobody can end that within the next 24 hours.",
            "Stop betting for {number} days? Nobody can end that within the next 24 hours.",
            days,
        )
        if not await caller.console.prompt.agrees(asked.format(number=days), default="N"):
            return
    await _set(caller, partial(own_limits.pause, days=days))


async def _number(caller: Caller, question: str, most: int) -> int | None:
    console = caller.console
    typed = await console.prompt.entry(
        f"|11{question}|07", longest=len(str(most)), accept="0123456789".__contains__
    )
    if not typed:
        return None
    number = int(typed)
    if number <= most:
        return number
    console.screen.say(f"|12{_('The most is {most}.').format(most=most)}")
    await console.pager.any_key()
    return None


async def _set(caller: Caller, change: Callable[[Desk, int], OwnLimits]) -> None:
    """Make the change in the books, and bring the caller's purse up to date."""
    try:
        await caller.ask_books(lambda desk: change(desk, caller.record.id))
        caller.tell(await caller.touch())
    except (Refused, BooksFailed) as error:
        caller.console.screen.say(f"|12{error}")
        await caller.console.pager.any_key()


def _rows(caller: Caller, own: OwnLimits) -> list[str]:
    none = _("none")
    lost = none if own.most_lost is None else span(own.most_lost)
    if own.later_from is not None:
        later = span(own.later_lost) if own.later_lost else _("no limit")
        words = _("{now}; from {time}: {later}")
        lost = words.format(now=lost, time=_at(caller, own.later_from), later=later)
    paused = none
    if own.paused_until is not None:
        paused = _("no bets before {time}").format(time=_at(caller, own.paused_until))
    hourly = _("on") if own.hourly else _("off")
    if own.hourly_until is not None:
        hourly = _("on until {time}").format(time=_at(caller, own.hourly_until))
    rows = [
        _row(_("Most lost a day"), lost),
        _row(_("Pause"), paused),
        _row(_("Hourly summary"), hourly),
        "",
    ]
    posted = caller.purse.posted
    if posted.stake_left is not None:
        left = _("You can bet {left} more today.").format(left=span(posted.stake_left))
        rows += [f"|15{left}", ""]
    return [
        *rows,
        f"|07{_('A stricter limit applies at once. A looser one waits a day.')}",
        f"|07{_('What you win back on the same day counts against what you lost.')}",
        f"|07{_('A bet on the table counts as lost until the hand is over.')}",
    ]


def _row(label: str, value: str) -> str:
    return f"|07{label:<{LABEL_CELLS}}|15{value}"


def _at(caller: Caller, seconds: int) -> str:
    return date_time_words(caller.bank_settings.schedule.local(instant(seconds)))
