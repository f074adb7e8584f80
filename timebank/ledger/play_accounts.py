"""The accounts of a caller in one unit of play money, opened when they are first needed.

What comes out of a `bankroll` is staked against a bank that the caller alone faces, the `casino`. A
`tab` is never paid. `stake` is what is on the table.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import select

from timebank.ledger.database import Desk
from timebank.ledger.schema import accounts
from timebank.ledger.sql import Prepared, Reader, columns_of, equal, value
from timebank.ledger.transfers import Account, open_account
from timebank.words import Unit

_OF_UNIT = Prepared(
    lambda: select(*columns_of(accounts, "id kind balance")).where(
        equal(accounts.c.caller_id, accounts.c.unit)
    )
)
_UNITS: Reader[Unit] = value(
    lambda: (
        select(accounts.c.unit)
        .distinct()
        .where(equal(accounts.c.caller_id), accounts.c.unit != "second")
        .order_by(accounts.c.unit)
    )
)


@dataclass(frozen=True, slots=True)
class PlayMoney:
    """What a caller has in one unit of play money. Amounts are its cents, 0 for what is not open.

    `tab` is below zero for one who has lost more than they won.
    """

    unit: Unit
    bankroll: int
    casino: int
    tab: int
    stake: int


class PlayAccounts:
    """The accounts as an entry in the making will leave them."""

    def __init__(self, desk: Desk, caller_id: int, unit: Unit) -> None:
        self._desk = desk
        self._caller_id = caller_id
        self.unit: Unit = unit
        self.account: dict[str, Account] = {}
        self.balance: dict[str, int] = {}
        for number, kind, balance in _OF_UNIT(desk.connection, caller_id=caller_id, unit=unit):
            self.account[kind] = Account(number, kind, unit)
            self.balance[kind] = balance

    def open(self, kinds: Collection[str]) -> None:
        for kind in kinds:
            if kind not in self.account:
                opened = open_account(self._desk, kind, self.unit, caller_id=self._caller_id)
                self.account[kind] = opened
                self.balance[kind] = 0

    def move(self, source: str, target: str, amount: int) -> None:
        """Count a movement between kinds of accounts; those of no caller's are passed over."""
        if source in self.balance:
            self.balance[source] -= amount
        if target in self.balance:
            self.balance[target] += amount

    def snapshot(self) -> PlayMoney:
        held = (self.balance.get(kind, 0) for kind in ("bankroll", "casino", "tab", "stake"))
        return PlayMoney(self.unit, *held)


def play_units(desk: Desk, caller_id: int) -> list[Unit]:
    return _UNITS.all(desk.connection, caller_id=caller_id)
