"""The Sysop item of the bank's window: callers with the sysop's powers look after accounts.

Whether a caller has them is asked of the books at every step, and once more in the transaction that
does something: they may have been taken away meanwhile.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from door import wording
from door.call.display import literal
from door.call.page import Page
from door.lobby import amounts
from door.lobby.accounts import find_account, read_account
from door.lobby.amounts import serve
from timebank.callers import callers, powers, sysop_log
from timebank.errors import Refused
from timebank.ledger import transfers
from timebank.window.sysop import adjust, freeze, unfreeze
from timebank.words import span

if TYPE_CHECKING:
    from door.call.caller import Caller
    from timebank.callers.callers import CallerRecord
    from timebank.ledger.database import Desk

LONGEST_REASON = 60
LOG_ENTRIES = 200
MOST_ADJUSTED = 24 * 60 * 60  # seconds in one adjustment from the window
TOO_MUCH = f"From this window {span(MOST_ADJUSTED)} are moved at once at most."


async def visit_sysop_window(caller: Caller) -> None:
    while await _has_powers(caller):
        body = ("|07Everything done here is in the ledger and in the log, under your name.",)
        caller.console.stage(Page("The sysop's side of the window", body))
        choice = await caller.console.ask(
            {"A": "Account", "L": "Log", "Q": "Quit"}, default="Q", cancel="Q"
        )
        if choice == "Q" or not await _has_powers(caller):
            return
        if choice == "L":
            await _read_log(caller)
            continue
        record = await find_account(caller, "Whose account?")
        if record is not None:
            await _account(caller, record)


async def _account(caller: Caller, record: CallerRecord) -> None:
    told = ""
    while await _has_powers(caller):
        caller.console.stage(await _account_page(caller, record))
        if told:
            caller.console.say(told)
        choice = await caller.console.ask(CHOICES, default="Q", cancel="Q")
        if choice == "Q" or not await _has_powers(caller):
            return
        if choice == "H":
            await read_account(caller, record.id, f"History of {record.name}")
            told = ""
            continue
        told = await serve(ACTIONS[choice](caller, record))


async def _account_page(caller: Caller, record: CallerRecord) -> Page:
    balances = await caller.ask_books(transfers.balances)
    body = [
        f"|07{held.kind:<12}|15{wording.clock_time(held.amount):>10}"
        for held in balances
        if held.caller_id == record.id and held.unit == "second"
    ]
    if (await caller.ask_books(lambda desk: callers.get(desk, record.id))).frozen:
        body.append("|12The bank account is frozen.")
    return Page(f"Account of {record.name}", body)


async def _reason(caller: Caller) -> str:
    why = await caller.console.entry("|07Why (Esc for none of it):|15", longest=LONGEST_REASON)
    return (why or "").strip()


async def _has_powers(caller: Caller) -> bool:
    return await caller.ask_books(lambda desk: powers.has(desk, caller.record.id))


async def _do(caller: Caller, operation: Callable[[Desk], object]) -> None:
    """Carry out what the sysop's powers allow, and let the caller of the account be told."""

    def with_powers(desk: Desk) -> None:
        if not powers.has(desk, caller.record.id):
            raise Refused("You no longer have sysop powers.")
        operation(desk)

    await caller.ask_books(with_powers)
    caller.books.notices_wait.set()


async def _adjust(caller: Caller, record: CallerRecord, what: str, sign: int) -> str:
    seconds = await amounts.ask(caller.console, what, MOST_ADJUSTED, TOO_MUCH)
    if seconds is None:
        return ""
    why = await _reason(caller)
    if not why:
        return "|07Nothing was done: the books want a reason."
    by = caller.record.name
    await _do(caller, lambda desk: adjust(desk, record.id, sign * seconds, why, by))
    return f"|10{what}: {span(seconds)}. Done."


async def _set_frozen(
    caller: Caller, record: CallerRecord, operation: Callable[..., None], done: str
) -> str:
    why = await _reason(caller)
    if not why:
        return "|07Nothing was done: the log wants a reason."
    by = caller.record.name
    await _do(caller, lambda desk: operation(desk, record.id, why, by))
    return f"|10{done}"


async def _read_log(caller: Caller) -> None:
    rows = await caller.ask_books(lambda desk: sysop_log.entries(desk, None, LOG_ENTRIES))
    schedule = caller.bank_settings.schedule
    told = [
        f"|08{schedule.local(row.at):%d %b %H:%M}  |15{literal(row.by)}|07 {literal(row.what)}"
        for row in rows
    ]
    await caller.console.read("The sysop's log, newest first", "\n".join(told) or "It is empty.")


CHOICES = {"C": "Credit", "D": "Debit", "F": "Freeze", "U": "Unfreeze", "H": "History", "Q": "Quit"}
ACTIONS: dict[str, Callable[[Caller, CallerRecord], Awaitable[str]]] = {
    "C": partial(_adjust, what="Credit", sign=1),
    "D": partial(_adjust, what="Debit", sign=-1),
    "F": partial(_set_frozen, operation=freeze, done="Frozen: it takes clamped wins only."),
    "U": partial(_set_frozen, operation=unfreeze, done="The account is open again."),
}
