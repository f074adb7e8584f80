"""The accounts of a caller in one unit of play money, opened when first needed.

Stakes from a `bankroll` are played against the `casino`, a bank that this caller alone faces. A
`tab` is never paid. `stake` is the money on the table.
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

_ACCOUNTS = Prepared(
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
    """A caller's balances in one unit of play money, in cents; 0 for accounts that are not open.

    `tab` is negative if the caller has lost more than they won.
    """

    unit: Unit
    bankroll: int
    casino: int
    tab: int
    stake: int


class PlayAccounts:
    """The accounts as an unfinished entry will leave them."""

    def __init__(self, desk: Desk, caller_id: int, unit: Unit) -> None:
        self._desk = desk
        self._caller_id = caller_id
        self.unit: Unit = unit
        self.account: dict[str, Account] = {}
        self.balance: dict[str, int] = {}
        for number, kind, balance in _ACCOUNTS(desk.connection, caller_id=caller_id, unit=unit):
            self.account[kind] = Account(number, kind, unit)
            self.balance[kind] = balance

    def open(self, kinds: Collection[str]) -> None:
        for kind in kinds:
            if kind not in self.account:
                opened = open_account(self._desk, kind, self.unit, caller_id=self._caller_id)
                self.account[kind] = opened
                self.balance[kind] = 0

    def move(self, source: str, target: str, amount: int) -> None:
        """Count a movement between kinds of accounts; accounts of others are ignored."""
        if source in self.balance:
            self.balance[source] -= amount
        if target in self.balance:
            self.balance[target] += amount

    def snapshot(self) -> PlayMoney:
        kinds = ("bankroll", "casino", "tab", "stake")
        return PlayMoney(self.unit, *(self.balance.get(kind, 0) for kind in kinds))


def play_units(desk: Desk, caller_id: int) -> list[Unit]:
    return _UNITS.all(desk.connection, caller_id=caller_id)
