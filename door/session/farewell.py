"""What a caller is told of their call as they leave: how they did, and when to come back."""

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

PARTINGS = ("log-off", "time up")  # why a call ended whose caller has time for a few words


class _Found(NamedTuple):
    call: CallResult
    day: DayResult
    place: int  # among the richest, 0 for none


class OfCall(NamedTuple):
    words: list[str]
    # Whether they make what the last table said needless: it stood in the menu too.
    sum_up: bool = False


async def say_of_call(caller: Caller, reason: str) -> OfCall:
    """Return how call and day went and when fresh minutes come; nothing where the books are
    shut."""
    if reason not in PARTINGS:
        return OfCall([])
    try:
        found = await caller.look_up(partial(_look_up, caller))
    except BooksFailed:
        return OfCall([])
    said = _of_hands(found.call, found.day)
    if found.place:
        said.append(_of_rank(found.place))
    if reason == "log-off" and caller.record.board is None:
        schedule = caller.bank_settings.schedule
        said.append(wording.fresh_minutes(schedule, caller.console.clock.now()))
    is_open = caller.hand_waits or bool(caller.purse.posted.stake)
    return OfCall(said, reason == "log-off" and found.call.hands > 0 and not is_open)


def _look_up(caller: Caller, desk: Desk) -> _Found:
    number, since = caller.record.id, caller.opened.receipt.purse.day
    return _Found(
        standings.of_call(desk, number, caller.call_id, since),
        standings.of_day(desk, number, caller.purse.posted.day),
        standings.place(desk, number),
    )


def _of_hands(call: CallResult, day: DayResult) -> list[str]:
    said = []
    if call.hands:
        words = (
            _("This call: {hands} for minutes, {time} up."),
            _("This call: {hands} for minutes, {time} down."),
        )
        said.append(_net(call, words, _("This call: {hands} for minutes, and you broke even.")))
    if day.hands != call.hands:
        words = (
            _("Today: {hands} for minutes, {time} up."),
            _("Today: {hands} for minutes, {time} down."),
        )
        said.append(_net(day, words, _("Today: {hands} for minutes, and you broke even.")))
    if day.callers > 1:
        said.append(_of_today(day.place, day.callers))
    if call.best > 0:
        said.append(_("Best hand: {time} won.").format(time=span(call.best)))
    if day.best > max(0, call.best):
        said.append(_("Best hand today: {time} won.").format(time=span(day.best)))
    return said


def _net(result: CallResult | DayResult, won_or_lost: tuple[str, str], even: str) -> str:
    hands = ngettext("{number} hand", "{number} hands", result.hands).format(number=result.hands)
    if not result.net:
        return even.format(hands=hands)
    words = won_or_lost[0] if result.net > 0 else won_or_lost[1]
    return words.format(hands=hands, time=span(abs(result.net)))


def _of_today(place: int, callers: int) -> str:
    if place == 1:
        return _("Nobody has done better today.")
    if place == callers:
        return ngettext(
            "The other caller who played today did better.",
            "All {number} others who played today did better.",
            callers - 1,
        ).format(number=callers - 1)
    words = _("You're number {place} of the {callers} who played today.")
    return words.format(place=place, callers=callers)


def _of_rank(place: int) -> str:
    if place == 1:
        return _("You're the richest caller.")
    return _("You're number {place} among the richest.").format(place=place)
