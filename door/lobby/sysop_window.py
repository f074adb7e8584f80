"""The Sysop item of the bank's window: callers with the sysop's powers look after accounts.

The books are asked for the powers at every step, and again in each transaction that changes
something, as the powers may have been taken away meanwhile.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from door import wording
from door.call.markup import literal
from door.call.page import Page
from door.lobby import amounts
from door.lobby.accounts import find_account, read_account
from door.lobby.amounts import serve
from timebank.callers import callers, powers, sysop_log
from timebank.errors import Refused
from timebank.language import N_, Phrase, _
from timebank.ledger import transfers
from timebank.window.corrections import adjust, freeze, unfreeze
from timebank.words import moment, span

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.lobby.amounts import MovementWords
    from timebank.callers.callers import CallerRecord
    from timebank.ledger.database import Desk

LONGEST_REASON = 60
LOG_ENTRIES = 200
MOST_ADJUSTED = 24 * 60 * 60  # seconds in one adjustment from the window


async def visit_sysop_window(caller: Caller) -> None:
    while await _has_powers(caller):
        body = (
            f"|07{_('All you do here is recorded in the books and the log, under your name.')}",
        )
        caller.console.display.stage(Page(_("Sysop window"), body))
        choice = await caller.console.prompt.ask(
            {"A": _("Account"), "L": _("Log"), "Q": _("Quit")},
            default="Q",
            cancel="Q",
            meanings={
                "A": _("Manage a caller's account: credit, debit, freeze, history."),
                "L": _("Read what sysops did, newest first."),
                "Q": _("Back to the bank."),
            },
        )
        if choice == "Q" or not await _has_powers(caller):
            return
        if choice == "L":
            await _read_log(caller)
            continue
        record = await find_account(caller, _("Whose account?"))
        if record is not None:
            await _account(caller, record)


async def _account(caller: Caller, record: CallerRecord) -> None:
    words = ""
    while await _has_powers(caller):
        caller.console.display.stage(await _account_page(caller, record))
        if words:
            caller.console.screen.say(words)
        choice = await caller.console.prompt.ask(
            {key: _(label) for key, label in CHOICES.items()},
            default="Q",
            cancel="Q",
            meanings=MEANINGS,
        )
        if choice == "Q" or not await _has_powers(caller):
            return
        if choice == "H":
            await read_account(caller, record.id, _("History of {name}").format(name=record.name))
            words = ""
            continue
        words = await serve(ACTIONS[choice](caller, record))


async def _account_page(caller: Caller, record: CallerRecord) -> Page:
    balances = await caller.ask_books(transfers.balances)
    body = [
        f"|07{account.kind:<12}|15{wording.clock_time(account.amount):>10}"
        for account in balances
        if account.caller_id == record.id and account.unit == "second"
    ]
    if (await caller.ask_books(lambda desk: callers.get(desk, record.id))).frozen:
        body.append(f"|12{_('This time bank is frozen.')}")
    return Page(_("Account of {name}").format(name=record.name), body)


async def _reason(caller: Caller) -> str:
    why = await caller.console.prompt.entry(
        f"|07{_('Why (Esc to go back):')}|15",
        longest=LONGEST_REASON,
        meaning=_("The reason goes into the books and to the caller."),
    )
    return (why or "").strip()


async def _has_powers(caller: Caller) -> bool:
    return await caller.ask_books(lambda desk: powers.has(desk, caller.record.id))


async def _do(caller: Caller, operation: Callable[[Desk], object]) -> None:
    """Run an operation that needs the sysop's powers; raises `Refused` without them.

    The caller of the account may have a notice of it, so notices are sent.
    """

    def with_powers(desk: Desk) -> None:
        if not powers.has(desk, caller.record.id):
            raise Refused(Phrase(powers.TAKEN))
        operation(desk)

    await caller.ask_books(with_powers)
    caller.books.notices_wait.set()


async def _adjust(caller: Caller, record: CallerRecord, movement: MovementWords, sign: int) -> str:
    rule = _("You can move at most {most} at a time here.").format(most=span(MOST_ADJUSTED))
    amount = await amounts.ask(caller.console, movement, MOST_ADJUSTED, rule)
    if amount is None:
        return ""
    seconds = amount.seconds
    why = await _reason(caller)
    if not why:
        return f"|07{_('Nothing was done: the books need a reason.')}"
    by = caller.record.name
    await _do(caller, lambda desk: adjust(desk, record.id, sign * seconds, why, by))
    return f"|10{_(movement.done).format(amount=span(seconds))}"


async def _set_frozen(
    caller: Caller, record: CallerRecord, operation: Callable[..., None], done: str
) -> str:
    why = await _reason(caller)
    if not why:
        return f"|07{_('Nothing was done: the log needs a reason.')}"
    by = caller.record.name
    await _do(caller, lambda desk: operation(desk, record.id, why, by))
    return f"|10{_(done)}"


async def _read_log(caller: Caller) -> None:
    rows = await caller.ask_books(lambda desk: sysop_log.entries(desk, None, LOG_ENTRIES))
    schedule = caller.bank_settings.schedule
    rows_shown = [
        f"|03{moment(schedule.local(row.at))}  |15{literal(row.by)}|07 {literal(row.what)}"
        for row in rows
    ]
    await caller.console.pager.read(
        _("Sysop log, newest first"), "\n".join(rows_shown) or _("It is empty.")
    )


CHOICES = {
    "C": N_("Credit"),
    "D": N_("Debit"),
    "F": N_("Freeze"),
    "U": N_("Unfreeze"),
    "H": N_("History"),
    "Q": N_("Quit"),
}
MEANINGS = {
    "C": N_("Add minutes to this time bank."),
    "D": N_("Take minutes out of this time bank."),
    "F": N_("Let nothing in or out: winnings stay in the caller's pot."),
    "U": N_("Open the account again."),
    "H": N_("Read what happened to these minutes, newest first."),
    "Q": N_("Back."),
}
FROZEN = N_("Frozen: nothing goes in or out. Winnings stay in the caller's pot.")
ACTIONS: dict[str, Callable[[Caller, CallerRecord], Awaitable[str]]] = {
    "C": partial(_adjust, movement=amounts.CREDIT, sign=1),
    "D": partial(_adjust, movement=amounts.DEBIT, sign=-1),
    "F": partial(
        _set_frozen,
        operation=freeze,
        done=FROZEN,
    ),
    "U": partial(_set_frozen, operation=unfreeze, done=N_("The account is open again.")),
}
