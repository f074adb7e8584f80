"""The books as text: for the sysop's eye, his printer and his other tools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from timebank.ledger import Balance, Line
from timebank.model import CALLER_ACCOUNTS, instant
from timebank.schedule import Schedule
from timebank.words import clock, title

# Where this many digits of hours go, a longer amount pushes its line out and stays readable.
AMOUNT = 12
CENTS = {"usd-cent": "$", "frf-cent": "F"}


def accounts_table(balances: Sequence[Balance]) -> Iterator[str]:
    """Write who has what: a line a caller, then the accounts of the house and the system."""
    held: defaultdict[int, dict[str, int]] = defaultdict(dict)
    names: dict[int, str] = {}
    for balance in balances:
        if balance.caller_id is not None and balance.caller and not balance.deleted:
            names[balance.caller_id] = balance.caller
            if balance.unit == "second":
                held[balance.caller_id][balance.kind] = balance.amount
    headings = "".join(f"{kind.capitalize():>{AMOUNT}}" for kind in CALLER_ACCOUNTS)
    yield f"{'Caller':<24}{headings}"
    for caller_id, name in names.items():
        amounts = "".join(f"{clock(held[caller_id][kind]):>{AMOUNT}}" for kind in CALLER_ACCOUNTS)
        yield f"{name:<24}{amounts}"
    if not names:
        yield "Nobody has registered yet."
    yield ""
    yield f"{'Account':<36}{'Balance':>{AMOUNT}}"
    for balance in balances:
        if balance.caller_id is None:
            label = balance.kind
            if balance.game is not None:
                label = f"{balance.kind}, {title(balance.game)}"
            yield f"{label:<36}{amount(balance.amount, balance.unit):>{AMOUNT}}"
    totals: defaultdict[str, int] = defaultdict(int)
    for balance in balances:
        totals[balance.unit] += balance.amount
    for unit, total in totals.items():
        yield f"{'all accounts together':<36}{amount(total, unit):>{AMOUNT}}"


def ledger_table(lines: Sequence[Line], schedule: Schedule) -> Iterator[str]:
    """Write transfers, a line each, with the time as the clocks of the board showed it."""
    yield (
        f"{'Number':>7} {'Entry':>7}  {'When':<19}  {'Caller':<24}{'From':<11}{'To':<11}"
        f"{'Amount':>{AMOUNT}} {'Call':>6} {'Hand':>6}  Why"
    )
    for line in lines:
        when = schedule.local(instant(line.at))
        yield (
            f"{line.number:>7} {line.entry:>7}  {when:%Y-%m-%d %H:%M:%S}"
            f"  {line.caller or '-':<24}{line.source:<11}{line.target:<11}"
            f"{amount(line.amount, line.unit):>{AMOUNT}}"
            f" {line.call_id or '-':>6} {line.round_id or '-':>6}  {line.why}"
        )
    if not lines:
        yield "No transfers."


def amount(quantity: int, unit: str) -> str:
    """Write an amount of any unit: time as h:mm:ss, play money with its sign and cents.

    >>> amount(3600, "second"), amount(-1250, "usd-cent")
    ('1:00:00', '-$12.50')
    """
    if unit == "second":
        return clock(quantity)
    whole, cents = divmod(abs(quantity), 100)
    return f"{'-' if quantity < 0 else ''}{CENTS[unit]}{whole}.{cents:02}"
