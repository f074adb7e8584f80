"""All callers for the sysop: their balances and states, and a search that forgives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import select

from timebank.calls.calls import open_calls
from timebank.ledger.database import Desk
from timebank.ledger.schema import accounts, callers
from timebank.ledger.sql import Query, fields_of, read
from timebank.names import names


class RosterLine(NamedTuple):
    """A caller; times are seconds since 1970, balances seconds."""

    number: int
    name: str
    fold: str
    created: int
    last_call: int | None
    locked: int
    frozen: int
    powers: int
    waits: int | None
    deleted: int | None
    online: int
    bank: int
    owing: int
    on_line: int = 0

    @property
    def states(self) -> str:
        marks = {
            "deleted": self.deleted is not None,
            "waits for approval": self.waits is not None,
            "locked out": self.locked,
            "frozen": self.frozen,
            "sysop powers": self.powers,
        }
        return ", ".join(words for words, is_so in marks.items() if is_so)


def _balance(kind: str) -> Query:
    own = (accounts.c.caller_id == callers.c.id, accounts.c.unit == "second")
    return select(accounts.c.balance).where(*own, accounts.c.kind == kind)


def _listed() -> Query:
    held = {kind: _balance(kind).scalar_subquery() for kind in ("online", "bank", "loan")}
    balances = {"online": held["online"], "bank": held["bank"], "owing": -held["loan"]}
    more = {"number": callers.c.id, "on_line": callers.c.locked * 0}
    return fields_of(RosterLine, callers, **balances, **more)


_LISTED = read(RosterLine, _listed)


def roster(desk: Desk) -> list[RosterLine]:
    """Return all callers, also deleted ones, as people sort names."""
    on_line = {call.caller_id for call in open_calls(desk) if call.live}
    everybody = [
        each._replace(on_line=int(each.number in on_line)) for each in _LISTED.all(desk.connection)
    ]
    return sorted(everybody, key=lambda each: names.sort_key(each.name))


def search(everybody: Sequence[RosterLine], typed: str) -> list[RosterLine]:
    """Return the callers whose names contain what was typed, or else are a slip away from it."""
    near = set(names.near(typed, (each.fold for each in everybody)))
    return [each for each in everybody if each.fold in near]
