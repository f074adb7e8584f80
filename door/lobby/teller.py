"""The bank's window: what a caller has, and how he gets at what he saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door import wording
from door.lobby.pages import Page
from timebank import bank
from timebank.database import BooksUnavailable
from timebank.refusals import CallClosed, Refused
from timebank.words import span

if TYPE_CHECKING:
    from door.caller import Caller

GRACE_SECONDS = 120  # uncharged, for a caller who comes with nothing but savings

MODES = {
    "built-in": "What an event would cut from your winnings is saved here.",
    "external": "What an event would cut from your winnings goes, in whole minutes, to the bank "
    "that this board's sysop runs beside these games.",
    "none": "This board has no time bank: winnings that would run into an event are trimmed.",
}


async def visit_bank(caller: Caller) -> None:
    """Serve the caller at the window until he leaves it."""
    caller.place = "Time bank"
    caller.console.stage(_window(caller))
    while True:
        choices = {"Q": "Quit"}
        if caller.bank_settings.mode == "built-in" and caller.purse.bank >= 60:
            choices = {"W": "Withdraw", **choices}
        choice = await caller.console.ask(choices, default="Q", cancel="Q")
        if choice == "Q":
            return
        if await _withdraw(caller):
            caller.console.stage(_window(caller))


async def last_chance(caller: Caller) -> bool:
    """Give a caller without time two uncharged minutes to withdraw; tell whether he has time."""
    if caller.bank_settings.mode != "built-in" or caller.purse.bank < 60:
        return False
    room = caller.seconds_to_event()
    if room is not None and room < 60:
        return False
    caller.place = "Time bank"
    caller.grace(GRACE_SECONDS)
    caller.console.stage(_window(caller))
    caller.console.say(
        f"|14You have no time left, and {span(GRACE_SECONDS)} at this window to withdraw."
    )
    try:
        while caller.time_left() <= 0:
            choice = await caller.console.ask(
                {"W": "Withdraw", "Q": "Quit"}, default="W", cancel="Q"
            )
            if choice == "Q":
                break
            await _withdraw(caller)
    finally:
        caller.end_grace()
    return caller.time_left() > 0  # midnight may have brought some


def _window(caller: Caller) -> Page:
    purse = caller.purse
    mode = caller.bank_settings.mode
    body = [f"|07Time left           |15{wording.clock_time(caller.time_left())}"]
    if purse.held and purse.closing is not None:
        body.append(f"|07After {purse.closing.name:<14}|15{wording.clock_time(purse.held)} more")
    if mode == "built-in":
        body.append(f"|07Saved               |15{wording.clock_time(purse.bank)}")
    elif mode == "external" and purse.bank:
        body.append(f"|07Waiting for a minute|15 {wording.clock_time(purse.bank)}")
    body += ["", f"|07{MODES[mode]}"]
    return Page("Time bank", body)


async def _withdraw(caller: Caller) -> bool:
    """Ask for whole minutes and move them from the savings to the time left; tell whether."""
    room = caller.seconds_to_event()
    most = caller.purse.bank if room is None else min(caller.purse.bank, room - caller.time_left())
    minutes = most // 60
    if minutes < 1:
        caller.console.say("|12Nothing can be withdrawn before the next system event.")
        return False
    typed = await caller.console.entry(
        f"|07Minutes to withdraw, |151|07 to |15{minutes}|07 (Esc for none):|15",
        longest=5,
        accept=str.isdecimal,
    )
    seconds = int(typed or 0) * 60
    if not seconds:
        return False
    try:
        receipt = await caller.post(
            lambda desk, call, ticked: bank.withdraw(desk, call, ticked, seconds)
        )
    except CallClosed:
        raise
    except (Refused, BooksUnavailable) as refused:
        caller.console.say(f"|12{refused}")
        return False
    caller.tell(receipt)
    return True
