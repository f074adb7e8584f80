"""The accounts of a caller in one unit of play money, opened when they are first needed.

What comes out of a `bankroll` is staked against a bank that the caller alone faces, the `casino`. A
`tab` is never paid. `stake` is what is on the table.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from timebank.ledger.database import Desk
from timebank.ledger.transfers import Account
from timebank.words import Unit


@dataclass(frozen=True, slots=True)
class PlayMoney:
    """What a caller has in one unit of play money. Amounts are its cents, 0 for what is not open.

    `tab` is below zero for one who has lost more than he won.
    """

    unit: Unit
    bankroll: int
    casino: int
    tab: int
    stake: int


class PlayAccounts:
    """The accounts as an entry in the making will leave them."""

    def __init__(self, desk: Desk, caller_id: int, unit: Unit) -> None:
        """Read those that are open."""
        self._desk = desk
        self._caller_id = caller_id
        self.unit: Unit = unit
        self.account: dict[str, Account] = {}
        self.balance: dict[str, int] = {}
        for number, kind, balance in desk.connection.exec_driver_sql(
            "SELECT id, kind, balance FROM accounts WHERE caller_id = ? AND unit = ?",
            (caller_id, unit),
        ):
            self.account[kind] = Account(number, kind, unit)
            self.balance[kind] = balance

    def open(self, kinds: Collection[str]) -> None:
        """Open those of these kinds that are not open yet."""
        for kind in kinds:
            if kind not in self.account:
                number = self._desk.connection.exec_driver_sql(
                    "INSERT INTO accounts (kind, caller_id, unit, balance) VALUES (?, ?, ?, 0)",
                    (kind, self._caller_id, self.unit),
                ).lastrowid
                self.account[kind] = Account(number, kind, self.unit)
                self.balance[kind] = 0

    def told(self) -> PlayMoney:
        """Tell what they hold."""
        held = self.balance.get
        return PlayMoney(
            unit=self.unit,
            bankroll=held("bankroll", 0),
            casino=held("casino", 0),
            tab=held("tab", 0),
            stake=held("stake", 0),
        )


def units_of(desk: Desk, caller_id: int) -> list[Unit]:
    """List the units of play money in which a caller has accounts."""
    found = desk.connection.exec_driver_sql(
        "SELECT DISTINCT unit FROM accounts WHERE caller_id = ? AND unit <> 'second' ORDER BY unit",
        (caller_id,),
    )
    return list(found.scalars())
