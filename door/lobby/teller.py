"""The bank's window: what a caller has, and everything they may do with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from door import wording
from door.call.display import literal
from door.lobby import amounts
from door.lobby.accounts import find_account, list_accounts, read_account
from door.lobby.amounts import serve
from door.lobby.sysop_window import visit_sysop_window
from door.lobby.window import unsaid, window
from timebank.window import teller
from timebank.window.teller import allowance_to, borrow, deposit, repay, transfer, withdraw
from timebank.words import span

if TYPE_CHECKING:
    from door.call.caller import Caller
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Receipt
    from timebank.window.allowance import Allowance, Allowed

Move = Callable[["Desk", int, int, int], "Receipt"]

GRACE_SECONDS = 120  # uncharged, for a caller who comes with nothing but savings
LONGEST_MESSAGE = 60

COMMANDS = {
    "D": "Deposit",
    "W": "Withdraw",
    "T": "Transfer",
    "B": "Borrow",
    "R": "Repay",
    "A": "Automatic deposit",
    "L": "List of accounts",
    "H": "History",
    "S": "Sysop",
    "Q": "Quit",
}
IN_ANY_MODE = ("H", "S", "Q")


async def visit_bank(caller: Caller) -> None:
    caller.place = "Time bank"
    told = ""
    while True:
        allowance = await _allowance(caller)
        choices = _choices(caller, allowance)
        scene = window(caller, allowance, choices)
        caller.console.stage(scene)
        for words in (unsaid(caller, scene), told):
            if words:
                caller.console.say(words)
        choice = await caller.console.ask(
            choices, menu="|07Your choice (Enter to quit):", default="Q", cancel="Q"
        )
        if choice == "Q":
            return
        told = await serve(_serve(caller, choice))


async def last_chance(caller: Caller) -> bool:
    """Give a caller without time two uncharged minutes to withdraw; tell whether they have time."""
    allowance = await _allowance(caller)
    if not allowance.withdraw.seconds:
        return False
    caller.place = "Time bank"
    caller.clock.grace(GRACE_SECONDS)
    try:
        caller.console.stage(window(caller, allowance, {}))
        caller.console.say(
            f"|14You have no time left, and {span(GRACE_SECONDS)} at this window to withdraw."
        )
        while caller.purse.time_left() <= 0:
            choice = await caller.console.ask(
                {"W": "Withdraw", "Q": "Quit"}, default="W", cancel="Q"
            )
            if choice == "Q":
                break
            caller.console.say(await serve(_serve(caller, "W")))
    finally:
        caller.clock.end_grace()
    return caller.purse.time_left() > 0  # midnight may have brought some


def _choices(caller: Caller, allowance: Allowance) -> dict[str, str]:
    keys = COMMANDS if caller.bank_settings.mode == "built-in" else IN_ANY_MODE
    return {key: COMMANDS[key] for key in keys if key != "S" or allowance.powers}


async def _allowance(caller: Caller) -> Allowance:
    """Ask what they may do now: others send them minutes, or freeze the account, meanwhile."""
    return await caller.ask_books(lambda desk: teller.allowance(desk, caller.call_id))


async def _serve(caller: Caller, choice: str) -> str:
    if choice in MOVES:
        return await _move(caller, COMMANDS[choice], *MOVES[choice])
    if choice == "T":
        return await _transfer(caller)
    if choice == "A":
        return await _switch_automatic_deposit(caller)
    if choice == "L":
        await list_accounts(caller)
    elif choice == "H":
        await read_account(caller, caller.record.id, "Your history")
    elif choice == "S":
        await visit_sysop_window(caller)
    return ""


async def _move(
    caller: Caller, what: str, bound: Callable[[Allowance], Allowed], operation: Move
) -> str:
    """Ask for an amount and carry the movement out; return what to say of it."""
    allowed = bound(await _allowance(caller))
    if not allowed.seconds:
        return f"|12{allowed.why_not}"
    seconds = await amounts.ask(caller.console, what, allowed.seconds, literal(str(allowed.rule)))
    if seconds is None:
        return ""
    receipt = await caller.post(lambda desk, call, ticked: operation(desk, call, ticked, seconds))
    # All in one: what is said before the window is drawn again would be wiped with the old one.
    told = [f"|14{sentence}" for sentence in wording.sentences(receipt)]
    return "\n".join((*told, f"|10{what}: {span(seconds)}. Done."))


async def _transfer(caller: Caller) -> str:
    allowed = (await _allowance(caller)).transfer
    if not allowed.seconds:
        return f"|12{allowed.why_not}"
    receiver = await find_account(caller, "To whom?")
    if receiver is None:
        return ""
    allowed = await caller.ask_books(lambda desk: allowance_to(desk, caller.call_id, receiver.id))
    if not allowed.seconds:
        return f"|12{literal(str(allowed.rule))}"
    rule = literal(str(allowed.rule))
    seconds = await amounts.ask(caller.console, "Transfer", allowed.seconds, rule)
    if seconds is None:
        return ""
    message = await caller.console.entry(
        "|07A line for the receiver (Enter for none):|15", longest=LONGEST_MESSAGE
    )
    if message is None:
        return ""
    await caller.post(
        lambda desk, call, ticked: transfer(desk, call, ticked, receiver.id, seconds, message)
    )
    caller.books.notices_wait.set()
    return f"|10{span(seconds)} sent to {literal(receiver.name)}."


async def _switch_automatic_deposit(caller: Caller) -> str:
    on = not caller.prefers("auto_deposit")
    await caller.remember({"auto_deposit": on})
    if on:
        return "|10At log-off, what may be deposited of your time left now goes to the bank."
    return "|10At log-off, nothing is deposited any more."


MOVES: dict[str, tuple[Callable[[Allowance], Allowed], Move]] = {
    "D": (lambda may: may.deposit, deposit),
    "W": (lambda may: may.withdraw, withdraw),
    "B": (lambda may: may.borrow, borrow),
    "R": (lambda may: may.repay, repay),
}
