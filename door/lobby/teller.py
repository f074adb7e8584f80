"""The bank's window: it shows a caller's time and carries out every operation of the bank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door import wording
from door.call.entries import uncharged
from door.call.markup import literal
from door.lobby import amounts
from door.lobby.accounts import find_account, list_accounts, read_history
from door.lobby.amounts import serve
from door.lobby.window import SERVICES, mode_notice, ticking, window
from timebank.language import N_, _
from timebank.window import teller
from timebank.words import span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from door.call.caller import Caller
    from door.lobby.window import Service
    from timebank.callers.callers import CallerRecord
    from timebank.window.teller import Allowance

COMMANDS = {
    **{key: service.label for key, service in SERVICES.items()},
    "A": N_("Auto-deposit"),
    "L": N_("List accounts"),
    "H": N_("History"),
    "Q": N_("Quit"),
}
MEANINGS = {
    **{key: service.meaning for key, service in SERVICES.items()},
    "A": N_("Have leftover minutes banked when you log off, or not."),
    "L": N_("See who has an account, and how each name is spelled."),
    "H": N_("Read what happened to your minutes, newest first."),
    "Q": N_("Leave the bank."),
}
IN_ANY_MODE = ("H", "Q")  # also in modes without a bank of our own


async def visit_bank(caller: Caller) -> None:
    caller.place = N_("Time bank")
    with ticking(caller):
        await _at_the_window(caller)


async def _at_the_window(caller: Caller) -> None:
    screen, answer = caller.console.screen, ""
    known: Sequence[str] = ()  # on plain lines, which tell the answer and then what has changed
    while True:
        allowance = await _allowance(caller)
        keys = COMMANDS if caller.bank_settings.mode == "built-in" else IN_ANY_MODE
        choices = {key: _(COMMANDS[key]) for key in keys}
        scene = window(caller, allowance, choices)
        if known and answer:
            screen.say(answer)
        screen.display.stage(scene, known)
        for words in () if known else (mode_notice(caller, scene), answer):
            if words:
                screen.say(words)
        choice = await caller.console.prompt.ask(
            choices,
            menu=f"|07{_('Your choice (Enter to quit):')}",
            default="Q",
            cancel="Q",
            meanings=MEANINGS,
        )
        if choice == "Q":
            return
        known = () if screen.is_painted else scene.lines()
        answer = await serve(_serve(caller, choice))


async def last_chance(caller: Caller) -> bool:
    """Let a caller without time withdraw some, uncharged; return whether they have time.

    What was said last on a painted screen, such as how a hand ended, is said again.
    """
    async with uncharged(caller) as seconds:
        words = _("Your time is up. You have {amount} to make a withdrawal.")
        chance = f"|14{words.format(amount=span(seconds))}"
        before = caller.last_words()
        caller.clock.warnings.append(chance)
        return seconds > 0 and await withdraw_some(caller, *before, chance)


async def may_withdraw(caller: Caller) -> bool:
    return bool((await _allowance(caller))[teller.withdraw].seconds)


async def withdraw_some(caller: Caller, *messages: str) -> bool:
    """Let a caller without time withdraw some, if they can; return whether they have time.

    `messages` are shown above the question.
    """
    allowance = await _allowance(caller)
    if not allowance[teller.withdraw].seconds:
        return False
    caller.place = N_("Time bank")
    caller.console.display.stage(window(caller, allowance, {}))
    for message in messages:
        caller.console.screen.say(message)
    while caller.purse.time_left() <= 0:
        choice = await caller.console.prompt.ask(
            {key: _(COMMANDS[key]) for key in "WQ"}, default="W", cancel="Q"
        )
        if choice == "Q":
            break
        caller.console.screen.say(await serve(_serve(caller, "W")))
    return caller.purse.time_left() > 0  # midnight may have brought some


async def _allowance(caller: Caller) -> Allowance:
    """Return what the caller may do now; others may have sent minutes or frozen the account."""
    ticked = caller.purse.ticked()
    return await caller.ask_books(lambda desk: teller.allowance(desk, caller.call_id, ticked))


async def _serve(caller: Caller, choice: str) -> str:
    if choice == "T":
        return await _transfer(caller, SERVICES[choice])
    if choice in SERVICES:
        return await _move(caller, SERVICES[choice])
    if choice == "A":
        return await _switch_automatic_deposit(caller)
    if choice == "L":
        await list_accounts(caller)
    elif choice == "H":
        await read_history(caller)
    return ""


async def _move(caller: Caller, service: Service) -> str:
    """Ask for an amount and carry the movement out; return the words about it."""
    operation = service.operation
    allowed = (await _allowance(caller))[operation]
    if not allowed.seconds:
        return f"|12{allowed.why_not}"
    rule = literal(str(allowed.rule))
    amount = await amounts.ask(caller.console, service, allowed.seconds, rule)
    if amount is None:
        return ""
    seconds = amount.seconds
    if amount.is_all:  # "max" may be less by now, as time has passed
        allowed = (await _allowance(caller))[operation]
        if not allowed.seconds:
            return f"|12{allowed.why_not}"
        seconds = min(seconds, allowed.seconds)
    receipt = await caller.post(lambda desk, call, ticked: operation(desk, call, ticked, seconds))
    # Returned, not shown: the window is drawn again first and would erase it.
    lines = [f"|14{sentence}" for sentence in wording.sentences(receipt)]
    done = _(service.done).format(amount=span(seconds))
    return "\n".join((*lines, f"|10{done}", *caller.earned(receipt)))


async def _transfer(caller: Caller, service: Service) -> str:
    allowed = (await _allowance(caller))[service.operation]
    if not allowed.seconds:
        return f"|12{allowed.why_not}"
    receiver = await find_account(caller, _("Send to:"))
    if receiver is None:
        return ""
    allowed = await caller.ask_books(
        lambda desk: teller.allowance_to(desk, caller.call_id, receiver.id)
    )
    if not allowed.seconds:
        return f"|12{literal(str(allowed.rule))}"
    rule = literal(str(allowed.rule))
    name = literal(receiver.name)
    amount = await amounts.ask(caller.console, service, allowed.seconds, rule, name)
    if amount is None:
        return ""
    seconds = amount.seconds
    message = await _ask_note(caller, receiver)
    if message is None:
        return ""
    await caller.post(
        lambda desk, call, ticked: teller.transfer(
            desk, call, ticked, receiver.id, seconds, message
        )
    )
    caller.books.notices_wait.set()
    sent = _(service.done)
    return f"|10{sent.format(amount=span(seconds), name=name)}"


async def _ask_note(caller: Caller, receiver: CallerRecord) -> str | None:
    """Ask for the note of a transfer; return "" for none, and None to send nothing.

    If the receiver does not read this caller's words, the caller may send without a note.
    """
    refusal = await caller.ask_books(
        lambda desk: teller.words_refusal(desk, caller.record.id, receiver.id)
    )
    if refusal is None:
        return await caller.console.prompt.entry(
            f"|07{_('Add a note (Enter for none):')}|15",
            longest=teller.LONGEST_MESSAGE,
            meaning=_("They read it with the minutes that you send."),
        )
    caller.console.screen.say(f"|14{literal(str(refusal))}")
    is_sent = await caller.console.prompt.agrees(_("Send the minutes without a note?"), default="Y")
    return "" if is_sent else None


async def _switch_automatic_deposit(caller: Caller) -> str:
    on = not caller.prefers(teller.AUTO_DEPOSIT)
    await caller.remember({teller.AUTO_DEPOSIT: on})
    if on:
        return f"|10{_('Auto-deposit is on: leftover minutes are banked when you log off.')}"
    return f"|10{_('Auto-deposit is off.')}"
