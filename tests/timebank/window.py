"""What callers do at the bank's window, in minutes, for tests."""

from __future__ import annotations

from dataclasses import replace

from timebank import bank

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
    books.do(bank.adjust, caller_id, MINUTE * minutes, "for the test", "Tester")


def saved(books, caller_id) -> int:
    return books.balances(caller_id)["bank"]


def deposit(call, minutes):
    call.post(bank.deposit, MINUTE * minutes)


def withdraw(call, minutes):
    call.post(bank.withdraw, MINUTE * minutes)


def borrow(call, minutes):
    call.post(bank.borrow, MINUTE * minutes)


def repay(call, minutes):
    call.post(bank.repay, MINUTE * minutes)


def send(call, minutes, to=2, message=""):
    call.post(bank.transfer, to, MINUTE * minutes, message)


WAYS = {"deposit": deposit, "withdraw": withdraw, "transfer": send, "borrow": borrow}


def allowed(call):
    return call.books.do(bank.allowance, call.id)
