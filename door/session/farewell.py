"""The lines a caller reads as they leave: how the call and the day went, and when to come back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from door import wording
from timebank.callers import standings
from timebank.errors import BooksFailed
from timebank.language import _, ngettext
from timebank.words import span

if TYPE_CHECKING:
    from door.call.caller import Caller
    from timebank.callers.standings import CallResult, DayResult
    from timebank.ledger.database import Desk

SUMMARISED = ("log-off", "time up")  # reasons for the end of a call that leave time to read


class _Results(NamedTuple):
    call: CallResult
    day: DayResult
    place: int  # among the richest callers, 0 for none


class CallSummary(NamedTuple):
    lines: list[str]
    # Whether the lines make the last table's statement needless: the menu has shown it too.
    replaces_statement: bool = False


async def summarise_call(caller: Caller, reason: str) -> CallSummary:
    """Sum up call and day, and name the time of fresh minutes.

    There are no lines if `reason` leaves no time to read them, or the books cannot be read.
    """
    if reason not in SUMMARISED:
        return CallSummary([])
    try:
        results = await caller.look_up(partial(_look_up, caller))
    except BooksFailed:
        return CallSummary([])
    lines = _results(results.call, results.day)
    if results.place:
        lines.append(_wealth_rank(results.place))
    if reason == "log-off" and caller.record.board is None:
        schedule = caller.bank_settings.schedule
        lines.append(wording.fresh_minutes(schedule, caller.console.clock.now()))
    is_open = caller.hand_waits or bool(caller.purse.posted.stake)
    return CallSummary(lines, reason == "log-off" and results.call.hands > 0 and not is_open)


def _look_up(caller: Caller, desk: Desk) -> _Results:
    number, since = caller.record.id, caller.opened.receipt.purse.day
    return _Results(
        standings.of_call(desk, number, caller.call_id, since),
        standings.of_day(desk, number, caller.purse.posted.day),
        standings.place(desk, number),
    )


def _results(call: CallResult, day: DayResult) -> list[str]:
    lines = []
    if call.hands:
        words = (
            _("This call: {hands} for time. You're up {time}."),
            _("This call: {hands} for time. You're down {time}."),
        )
        lines.append(_net(call, words, _("This call: {hands} for time. You're even.")))
    if day.hands != call.hands:
        words = (
            _("Today: {hands} for time. You're up {time}."),
            _("Today: {hands} for time. You're down {time}."),
        )
        lines.append(_net(day, words, _("Today: {hands} for time. You're even.")))
    if day.callers > 1:
        lines.append(_rank_today(day.place, day.callers))
    if call.best > 0:
        lines.append(_("Best hand: {time} won.").format(time=span(call.best)))
    if day.best > max(0, call.best):
        lines.append(_("Best hand today: {time} won.").format(time=span(day.best)))
    return lines


def _net(result: CallResult | DayResult, won_or_lost: tuple[str, str], even: str) -> str:
    hands = ngettext("{number} hand", "{number} hands", result.hands).format(number=result.hands)
    if not result.net:
        return even.format(hands=hands)
    words = won_or_lost[0] if result.net > 0 else won_or_lost[1]
    return words.format(hands=hands, time=span(abs(result.net)))


def _rank_today(place: int, callers: int) -> str:
    if place == 1:
        return _("Nobody has done better today.")
    if place == callers:
        return ngettext(
            "The other caller who played today did better.",
            "The {number} others who played today did better.",
            callers - 1,
        ).format(number=callers - 1)
    words = _("You're number {place} of the {callers} who played today.")
    return words.format(place=place, callers=callers)


def _wealth_rank(place: int) -> str:
    if place == 1:
        return _("You're the richest caller.")
    return _("You're number {place} among the richest.").format(place=place)
