"""What callers do at the bank's window, in minutes, for tests."""

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
    """Put minutes into somebody's account."""
    books.do(adjust, caller_id, MINUTE * minutes, "for the test", "Tester")


def saved(books, caller_id) -> int:
    return books.balances(caller_id)["bank"]


def deposit(call, minutes):
    call.post(teller.deposit, MINUTE * minutes)


def withdraw(call, minutes):
    call.post(teller.withdraw, MINUTE * minutes)


def borrow(call, minutes):
    call.post(teller.borrow, MINUTE * minutes)


def repay(call, minutes):
    call.post(teller.repay, MINUTE * minutes)


def send(call, minutes, to=2, message=""):
    call.post(transfer, to, MINUTE * minutes, message)


WAYS = {"deposit": deposit, "withdraw": withdraw, "transfer": send, "borrow": borrow}


def allowed(call):
    """What the caller may move now, by operation: `allowed(call).deposit`."""
    may = call.books.do(allowance, call.id)
    return SimpleNamespace(**{operation.name: found for operation, found in may.items()})
