"""The grace of the day: some uncharged minutes in which a caller without time may look around.

No time is won or lost: the tables are closed to them, and the bank only lets them withdraw.
Callers of other boards have no grace, as their time belongs to the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from door import wording
from door.call.entries import uncharged
from door.call.markup import hanging, lit
from door.call.page import Page
from door.errors import TimeGranted, TimeUp
from door.lobby.teller import may_withdraw, withdraw_some
from door.session.menu import MEANINGS, MENU_LABELS, visit_room
from timebank.errors import BooksUnavailable
from timebank.language import N_, _
from timebank.words import MINUTE, span

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller

TITLE = N_("Grace minutes")
WIDE = 70  # columns needed for the list of rooms
OPEN = "NMDHSW"  # the open rooms, by their letters in the main menu
WITHDRAW = N_("Take minutes out of the bank and go on playing.")
LEAVE = N_("Leave the board.")


async def spend_grace(board: Board, caller: Caller) -> bool:
    """Let a caller without time look around; return whether they have time again.

    Raises `TimeUp` once the grace of the day is used up.
    """
    if caller.record.board is not None or not caller.bank_settings.grace_minutes:
        return False
    try:
        async with uncharged(caller, to_look_around=True) as seconds:
            return seconds > 0 and await _looks_around(board, caller)
    except TimeGranted:
        # Keep the lines of midnight in sight.
        await caller.console.pager.any_key(_("You have fresh minutes."))
        return True


async def _looks_around(board: Board, caller: Caller) -> bool:
    """Show the open rooms until the caller has time; return False if they leave before.

    Raises `TimeGranted` at midnight.
    """
    trouble = ""
    try:
        while caller.purse.time_left() <= 0:
            choice, trouble = await _choose(caller, trouble), ""
            if choice == "G":
                caller.console.display.forget()
                return False
            try:
                if choice == "T":
                    await withdraw_some(caller, f"|14{_('Withdraw some minutes to go on.')}")
                else:
                    await visit_room(board, caller, choice)
            except BooksUnavailable as broken:
                trouble = str(broken)
    except TimeUp:
        caller.console.display.forget()  # the goodbye repeats messages, but not arrivals
        raise
    return True


async def _choose(caller: Caller, trouble: str) -> str:
    console = caller.console
    caller.place = TITLE
    config = caller.config.social
    hidden = set() if config.messages or config.one_liners else {"M"}
    keys = {key: _(MENU_LABELS[key]) for key in OPEN if key not in hidden}
    meanings = {key: _(MEANINGS[key]) for key in keys}
    try:
        if await may_withdraw(caller):
            keys["T"], meanings["T"] = _(MENU_LABELS["T"]), _(WITHDRAW)
    except BooksUnavailable as broken:
        trouble = trouble or str(broken)
    keys["G"], meanings["G"] = _(MENU_LABELS["G"]), _(LEAVE)
    console.display.stage(Page(_(TITLE), _words(caller, meanings)))
    if trouble:
        console.screen.say(f"|12{trouble}")
    with _until_time_comes(caller):
        return await console.prompt.ask(
            keys, menu=f"|07{_('Free of charge:')} {lit(keys)}", cancel="G", meanings=meanings
        )


@contextmanager
def _until_time_comes(caller: Caller) -> Iterator[None]:
    """Raise `TimeGranted` from the wait for a key once the caller has time again."""

    def look() -> None:
        if caller.purse.time_left() > 0:
            caller.console.keyboard.interrupt(TimeGranted())

    before, caller.clock.on_tick = caller.clock.on_tick, look
    try:
        yield
    finally:
        caller.clock.on_tick = before
        caller.console.keyboard.lift(TimeGranted)


def _words(caller: Caller, meanings: dict[str, str]) -> list[str]:
    """Return the page: why the caller is here, for how long, and the open rooms."""
    day = span(caller.bank_settings.grace_minutes * MINUTE)
    now, schedule = caller.console.clock.now(), caller.bank_settings.schedule
    is_painted = caller.console.screen.is_painted
    has_room = is_painted and caller.console.screen.page_columns >= WIDE
    rooms = [hanging(f"|15{key}  |07{words}") for key, words in meanings.items()]
    free = _("It's free, {day} a day, and you can't bet.").format(day=day)
    return [
        f"|14{_still_here(caller)}",
        f"{free} {_('The last row counts down.')}" if is_painted else free,
        *(["", *rooms, ""] if has_room else []),
        wording.fresh_minutes(schedule, now),
    ]


def _still_here(caller: Caller) -> str:
    if caller.console.screen.is_painted:  # the status line counts down
        return _("Your time is used up, but you can still look around.")
    grace = caller.clock.day_grace
    left = span(0 if grace is None else grace.left())
    return _("Your time is used up, but you can look around for {left} more.").format(left=left)
