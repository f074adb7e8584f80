"""Callers at the bank's window, in minutes, for tests."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from timebank.window import teller
from timebank.window.corrections import adjust
from timebank.window.teller import allowance, transfer

MINUTE = 60


def limit(books, **changes):
    """Change limits; amounts in minutes."""
    seconds = {
        key: value if key in ("known_days", "loan_share") else MINUTE * value
        for key, value in changes.items()
    }
    books.change(limits=replace(books.settings.limits, **seconds))


def give(books, caller_id, minutes):
    """Credit a caller's account."""
    books.do(adjust, caller_id, MINUTE * minutes, "for the test", "Tester")


def saved(books, caller_id) -> int:
    return books.balances(caller_id)["bank"]


def _way(operation):
    def move(call, minutes):
        call.post(operation, MINUTE * minutes)

    return move


def send(call, minutes, to=2, message=""):
    call.post(transfer, to, MINUTE * minutes, message)


# Functions that move minutes on a call, by the name of each operation.
WAYS = {each.name: _way(each) for each in teller.OPERATIONS} | {"transfer": send}
deposit, withdraw, borrow, repay = map(WAYS.get, ("deposit", "withdraw", "borrow", "repay"))


def allowed(call):
    """Return the caller's current limits by operation: `allowed(call).deposit`."""
    may = call.books.do(allowance, call.id)
    return SimpleNamespace(**{operation.name: found for operation, found in may.items()})
