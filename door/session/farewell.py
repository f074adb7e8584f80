"""What a caller is told of their call as they leave: how they did, and when to come back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from timebank.callers import standings
from timebank.errors import BooksFailed
from timebank.language import _, ngettext
from timebank.words import span

if TYPE_CHECKING:
    from door.call.caller import Caller
    from timebank.callers.standings import CallResult
    from timebank.ledger.database import Desk

PARTINGS = ("log-off", "time up")  # why a call ended whose caller has time for a few words


async def say_of_call(caller: Caller, reason: str) -> list[str]:
    """Return how the call went and when fresh minutes come; nothing where the books are shut."""
    if reason not in PARTINGS:
        return []
    try:
        result, place = await caller.look_up(partial(_look_up, caller))
    except BooksFailed:
        return []
    said = _of_hands(result)
    if place:
        said.append(_of_rank(place))
    if reason == "log-off" and caller.record.board is None:
        said.append(_("Fresh minutes at midnight."))
    return said


def _look_up(caller: Caller, desk: Desk) -> tuple[CallResult, int]:
    since = caller.opened.receipt.purse.day
    result = standings.of_call(desk, caller.record.id, caller.call_id, since)
    return result, standings.place(desk, caller.record.id)


def _of_hands(result: CallResult) -> list[str]:
    if not result.hands:
        return []
    hands = ngettext("{number} hand", "{number} hands", result.hands).format(number=result.hands)
    if result.net > 0:
        words = _("This call: {hands}, {time} up.")
    elif result.net < 0:
        words = _("This call: {hands}, {time} down.")
    else:
        words = _("This call: {hands}, and you broke even.")
    said = [words.format(hands=hands, time=span(abs(result.net)))]
    if result.best > 0:
        said.append(_("Best hand: {time} won.").format(time=span(result.best)))
    return said


def _of_rank(place: int) -> str:
    if place == 1:
        return _("You're the richest caller.")
    return _("You're number {place} among the richest.").format(place=place)
