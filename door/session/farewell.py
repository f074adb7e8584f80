"""The goodbye: what becomes of the minutes left, how call and day went, when to come back.

A caller who says goodbye with minutes that the bank takes is asked about them. A call that ends in
another way banks them only if the caller has turned auto-deposit on, which the first goodbye
offers.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from door import wording
from door.call.markup import literal
from door.call.page import Page
from timebank.callers import standings
from timebank.errors import BooksFailed
from timebank.language import N_, _, ngettext
from timebank.window.teller import AUTO_DEPOSIT, AgreedDeposit, Leftover, leftover
from timebank.words import MINUTE, span

if TYPE_CHECKING:
    from door.call.caller import Caller
    from timebank.callers.standings import CallResult, DayResult
    from timebank.ledger.database import Desk

SUMMARISED = ("log-off", "time up")  # reasons for the end of a call that leave time to read

OFFERED = "auto_deposit_offered"  # preference: the first goodbye has explained auto-deposit
STAY = "S"
MEANINGS = {
    "Y": N_("Bank them and leave the board."),
    "N": N_("Leave the board without banking them."),
    "A": N_("Bank them now, and from now on at the end of every call."),
    STAY: N_("Stay on the board."),
}


class _Results(NamedTuple):
    call: CallResult
    day: DayResult
    place: int  # among the richest callers, 0 for none


async def leaves(caller: Caller) -> bool:
    """Return whether the caller leaves, and note the deposit that they agree to."""
    prompt = caller.console.prompt
    if caller.record.board is not None:
        return await prompt.agrees(_("Leave the games?"))
    while True:
        left = await _look_at_leftover(caller)
        is_asked = left is not None and left.allowed.seconds and not caller.prefers(AUTO_DEPOSIT)
        if left is None or not is_asked:
            if left is not None and left.unbanked >= MINUTE:
                caller.console.display.stage(Page(_("Goodbye"), _about(caller, left)))
            return await prompt.agrees(_("Leave the board?"))
        choice = await _ask_deposit(caller, left)
        if choice == STAY:
            return False
        if choice == "N" or caller.purse.posted.day == left.day:
            caller.agreed = None if choice == "N" else AgreedDeposit(left.allowed.seconds, left.day)
            return True
        # Midnight came while the question stood: other minutes are left.


async def _look_at_leftover(caller: Caller) -> Leftover | None:
    """Look up what the caller may bank; None if the books cannot say, which delays no goodbye."""
    ticked = caller.purse.ticked()
    try:
        return await caller.look_up(partial(leftover, call_id=caller.call_id, ticked=ticked))
    except BooksFailed:
        return None


async def _ask_deposit(caller: Caller, left: Leftover) -> str:
    """Ask whether to bank the minutes left; return "Y", "N" or `STAY`."""
    is_first = not caller.prefers(OFFERED)
    labels = {"Y": _("Yes"), "N": _("No"), "A": _("Always"), STAY: _("Stay")}
    if not is_first:
        del labels["A"]
    caller.console.display.stage(Page(_("Goodbye"), _about(caller, left, is_first=is_first)))
    choice = await caller.console.prompt.ask(
        labels,
        question=_question(left.allowed.seconds, caller.purse.time_left()),
        default="Y",
        cancel=STAY,
        meanings=MEANINGS,
        also={labels["Y"][0].upper(): "Y"},
    )
    if choice == STAY or not is_first:
        return choice
    with suppress(BooksFailed):  # at worst they are offered it again
        await caller.remember({OFFERED: True} | ({AUTO_DEPOSIT: True} if choice == "A" else {}))
    return "Y" if choice == "A" else choice


def _question(banked: int, left: int) -> str:
    """Return the question about the seconds to bank, which says how many minutes stay.

    >>> _question(1980, 2318), _question(1980, 1999)
    ('Bank your 33 minutes, and keep 5?', 'Bank your 33 minutes?')
    """
    kept = (left - 1 - banked) // MINUTE  # the second that has begun is used
    words = _("Bank your {time}, and keep {kept}?") if kept else _("Bank your {time}?")
    return words.format(time=span(banked), kept=kept)


def _about(caller: Caller, left: Leftover, *, is_first: bool = False) -> list[str]:
    """Return what the bank takes, what expires otherwise, and what auto-deposit would do."""
    bank = caller.bank_settings
    # The question says that the least stays; any other rule has a sentence of its own.
    spare = caller.purse.time_left() - 1 - bank.limits.keep - left.allowed.seconds
    has_rule = bank.mode == "built-in" and spare >= MINUTE
    lines = [literal(str(left.allowed.rule))] if has_rule else []
    saved = left.saved
    if left.allowed.seconds and caller.prefers(AUTO_DEPOSIT):
        saved = left.saved_after
        words = _("The bank takes {banked}. Unless you use them, {time} expire at midnight.")
        banked = span(left.allowed.seconds)
        lines.append(words.format(banked=banked, time=span(left.unbanked)))
    elif left.expiring >= MINUTE:
        words = _("Unless you use or bank them, {time} expire at midnight.")
        if not left.allowed.seconds:
            words = _("Unless you use them, {time} expire at midnight.")
        lines.append(words.format(time=span(left.expiring)))
    elif left.allowed.seconds:
        saved = 0
        words = _("What you have left came from wins or from the bank, which takes it at midnight.")
        lines.append(words)
    if saved >= MINUTE:
        words = _("The other {time} came from wins or from the bank, which takes them at midnight.")
        lines.append(words.format(time=span(saved)))
    if is_first:
        words = _(
            "With A, the bank takes what it can whenever a call of yours ends, even if your line"
            " drops. To change that, type A in the bank."
        )
        lines += ["", words]
    return [f"|07{line}" for line in lines]


async def summarise_call(caller: Caller, reason: str) -> list[str]:
    """Sum up call and day, and name the time of fresh minutes.

    There are no lines if `reason` leaves no time to read them, or the books cannot be read.
    """
    if reason not in SUMMARISED:
        return []
    try:
        results = await caller.look_up(partial(_look_up, caller))
    except BooksFailed:
        return []
    lines = _results(results.call, results.day)
    if results.place:
        lines.append(_wealth_rank(results.place))
    if reason == "log-off" and caller.record.board is None:
        schedule = caller.bank_settings.schedule
        lines.append(wording.fresh_minutes(schedule, caller.console.clock.now()))
    return lines


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
