"""What changed a caller's balances in a stretch of transfers: opening, terms and closing.

Everything is computed backwards from the present balances, by the indexes of the caller's accounts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from timebank.ledger.database import Desk
from timebank.ledger.schema import (
    CALLER_ACCOUNTS,
    PLAY_ACCOUNTS,
    accounts,
    source,
    target,
    transfers,
    transfers_with_accounts,
)
from timebank.ledger.sql import Query, equal, read
from timebank.ledger.transfers import Balance
from timebank.reports.person import held_before
from timebank.reports.statements import NOT_THEIRS, UNITS
from timebank.words import Unit

# Where the minutes of a caller came from and went, by the kind of the other account.
CAME_FROM = {
    "allotment": "granted",
    "house": "won",
    "casino": "won from the casino",
    "prizes": "prizes of tournaments",
    "duels": "back from duels",
    "bank": "received",
    "external": "brought",
    "adjustment": "added in corrections",
    "mint": "given to play",
}
WENT_TO = {
    "house": "lost",
    "casino": "lost to the casino",
    "prizes": "entries to tournaments",
    "duels": "staked in duels",
    "bank": "sent",
    "external": "taken home",
    "adjustment": "taken off in corrections",
    "mint": "taken back",
    "elapsed": "used",
    "forfeit": "forfeited",
}
# The same between two accounts of one caller.
WITHIN = {
    ("loan", "online"): "borrowed",
    ("bank", "online"): "withdrawn",
    ("stake", "online"): "bets returned",
    ("held", "online"): "back after an event",
    ("online", "stake"): "bet",
    ("online", "bank"): "banked",
    ("held", "bank"): "banked",
    ("online", "held"): "held until after an event",
    ("online", "loan"): "paid back",
    ("held", "loan"): "paid back",
    ("bank", "loan"): "paid back",
}


# All kinds of account.
ACCOUNTS = frozenset({*CAME_FROM, *WENT_TO, *CALLER_ACCOUNTS, *PLAY_ACCOUNTS})


class Group(NamedTuple):
    """Accounts of a caller that are added up: their unit and kinds."""

    unit: Unit
    kinds: frozenset[str]


# By the names that the ledger's filter has for them.
TOGETHER = "together"
GROUPS: Mapping[str, Group] = {
    TOGETHER: Group("second", frozenset(CALLER_ACCOUNTS)),
    **{kind: Group("second", frozenset({kind})) for kind in CALLER_ACCOUNTS},
    **{name: Group(unit, frozenset(PLAY_ACCOUNTS) - {NOT_THEIRS}) for unit, name in UNITS.items()},
}


class Term(NamedTuple):
    """The transfers between a group and the accounts of one kind outside it, one way.

    `amount` is in the group's unit, below zero for a loss. `game` is "" for none.
    """

    words: str
    amount: int
    other: str
    game: str = ""


class Total(NamedTuple):
    """The balance of a group before a stretch, its terms, and its balance after the stretch."""

    unit: Unit
    opening: int
    terms: Sequence[Term]
    closing: int


class _Side(NamedTuple):
    unit: Unit
    mine: str
    other: str
    other_caller: int | None
    game: str | None
    amount: int


def _side(*, gives: bool) -> Query:
    row, (mine, other) = transfers.c, (source, target) if gives else (target, source)
    # The caller's accounts first, then their transfers by index; never all transfers of a stretch.
    own = select(accounts.c.id).where(equal(accounts.c.caller_id))
    what = (mine.c.unit, mine.c.kind, other.c.kind, other.c.caller_id, other.c.game)
    return (
        select(*what, func.sum(row.amount))
        .select_from(transfers_with_accounts)
        .where((row.source if gives else row.target).in_(own))
        .where(row.id >= bindparam("first"), row.id < bindparam("end"))
        .group_by(*what)
    )


_GIVES = read(_Side, lambda: _side(gives=True))
_TAKES = read(_Side, lambda: _side(gives=False))


@dataclass(frozen=True)
class Flows:
    """All that moved a caller's accounts in a stretch, and their balances after it."""

    caller_id: int
    closing: Mapping[tuple[Unit, str], int]
    # Each with 1 for a side that takes, and -1 for one that gives.
    sides: Sequence[tuple[int, _Side]]

    def total(self, group: Group, *, by_game: bool = False) -> Total:
        """Return the total of a group. Its opening and its terms add up to its closing."""
        summed = Counter[tuple[str, str, str, int]]()
        for way, side in self.sides:
            is_own = side.other_caller == self.caller_id
            is_within = is_own and side.other in group.kinds
            if side.unit == group.unit and side.mine in group.kinds and not is_within:
                words = _words(way, side.mine, side.other, is_own=is_own)
                game = side.game or "" if by_game else ""
                summed[words, side.other, game, way] += way * side.amount
        terms = [
            Term(words, amount, other, game) for (words, other, game, _), amount in summed.items()
        ]
        terms.sort(key=lambda term: (term.amount < 0, -abs(term.amount), term))
        closing = sum(self.closing.get((group.unit, kind), 0) for kind in group.kinds)
        return Total(group.unit, closing - sum(term.amount for term in terms), terms, closing)


def flows(desk: Desk, own: Sequence[Balance], caller_id: int, first: int, end: int) -> Flows:
    """Return what moved a caller's accounts, `own`, from transfer `first` to before `end`."""
    stretch = {"caller_id": caller_id, "first": first, "end": end}
    sides = [(1, side) for side in _TAKES.all(desk.connection, **stretch)]
    sides += [(-1, side) for side in _GIVES.all(desk.connection, **stretch)]
    closing = {(each.unit, each.kind): each.amount for each in held_before(desk, own, end)}
    return Flows(caller_id, closing, sides)


def _words(way: int, mine: str, other: str, *, is_own: bool) -> str:
    ends = (other, mine) if way > 0 else (mine, other)
    if is_own and ends in WITHIN:
        return WITHIN[ends]
    return (CAME_FROM if way > 0 else WENT_TO).get(other, other)
