"""Transfers for who reads them: filtered by SQL, a page at a time, each page read on its own.

Rows are only ever added and never change, so pages up to a number that was fixed beforehand show
one moment of the books without one long transaction: a sysop who leafs through the ledger for an
hour keeps the write-ahead log from nothing, and a million rows never stand in memory together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from timebank.errors import NothingToList
from timebank.ledger.database import Desk
from timebank.ledger.generations import OF_TRANSFER
from timebank.ledger.reasons import Reason, decode
from timebank.ledger.sentences import sentence
from timebank.words import Unit

PAGE = 1000

# Opens the books for one short look.
Look = Callable[[], AbstractContextManager[Desk]]


@dataclass(frozen=True)
class Wanted:
    """Which transfers are wanted; what is None lets all pass.

    `since` and `until` are whole seconds since 1970, the first included, the second not. `last` is
    the number of the last transfer to look at; None is the last that there is.
    """

    caller_id: int | None = None
    game: str | None = None
    kind: str | None = None
    call_id: int | None = None
    round_id: int | None = None
    since: int | None = None
    until: int | None = None
    last: int | None = None


class Extract(NamedTuple):
    """A transfer with everything a reader of the books wants beside it."""

    number: int
    entry: int
    # Whole seconds since 1970, UTC (model.instant).
    at: int
    kind: str
    amount: int
    unit: Unit
    source: str
    # Whose account that is; None for the system's and the houses'.
    source_caller_id: int | None
    source_caller: str | None
    target: str
    target_caller_id: int | None
    target_caller: str | None
    # The game of the house or the hand.
    game: str | None
    call_id: int | None
    round_id: int | None
    # See ledger/reasons.py.
    facts: str
    # Of the row and of those before it (chain.py).
    digest: str
    # Of the books that it was written in, 1 until a backup is restored (generations.py).
    generation: int

    @property
    def reason(self) -> Reason:
        """Why it was moved."""
        return decode(self.kind, self.facts)

    @property
    def why(self) -> str:
        """The reason as a sentence, without a full stop."""
        return sentence(self.reason, self.amount, self.unit)

    @property
    def caller(self) -> str | None:
        """Whose time was moved; "Ann > Bob" where it went from one to the other."""
        names = [self.source_caller, self.target_caller]
        if self.source_caller_id == self.target_caller_id:
            names.pop()
        return " > ".join(name for name in names if name) or None


# CROSS JOIN keeps SQLite to this order: through the transfers once, in the order of their numbers.
SELECT = f"""
SELECT t.id, t.entry, t.at, t.kind, t.amount, s.unit, s.kind, s.caller_id, sc.name,
       g.kind, g.caller_id, gc.name, coalesce(s.game, g.game, r.game), t.call_id, t.round_id,
       t.facts, t.digest, {OF_TRANSFER.format(number="t.id")}
FROM transfers t
CROSS JOIN accounts s ON s.id = t.source
CROSS JOIN accounts g ON g.id = t.target
LEFT JOIN callers sc ON sc.id = s.caller_id
LEFT JOIN callers gc ON gc.id = g.caller_id
LEFT JOIN rounds r ON r.id = t.round_id
"""


def extracts(look: Look, wanted: Wanted, *, newest_first: bool) -> Iterator[Extract]:
    """Go through the transfers wanted that the books hold now, by their numbers.

    `look` is called for every page and its transaction ends before the page is handed on.
    """
    if (last := wanted.last) is None:
        with look() as desk:
            last = last_number(desk)
    condition, values = _condition(wanted)
    compare, order, edge = ("<", "DESC", last + 1) if newest_first else (">", "ASC", 0)
    where = f"WHERE t.id {compare} ? AND t.id <= ?{condition}"
    sql = f"{SELECT}{where} ORDER BY t.id {order} LIMIT {PAGE}"
    more = True
    while more:
        with look() as desk:
            page = desk.connection.exec_driver_sql(sql, (edge, last, *values)).all()
        yield from (Extract(*row) for row in page)
        more = len(page) == PAGE
        edge = page[-1][0] if more else edge


def entries(rows: Iterator[Extract]) -> Iterator[list[Extract]]:
    """Put the rows of each entry together."""
    for _, group in groupby(rows, key=lambda row: row.entry):
        yield list(group)


def last_number(desk: Desk) -> int:
    """Tell the number of the last transfer, 0 when there is none."""
    number: int = desk.connection.exec_driver_sql(
        "SELECT coalesce(max(id), 0) FROM transfers"
    ).scalar_one()
    return number


def known_game(desk: Desk, text: str) -> str:
    """Find the key of a game by key or title, however it is written; raises `NothingToList`."""
    games = desk.connection.exec_driver_sql(
        "SELECT game FROM accounts WHERE kind = 'house' UNION SELECT game FROM rounds ORDER BY 1"
    ).scalars()
    return _known("game", "-".join(text.casefold().split()), text, list(games))


def known_kind(desk: Desk, text: str) -> str:
    """Find a kind of transfer; raises `NothingToList`."""
    kinds = desk.connection.exec_driver_sql("SELECT DISTINCT kind FROM transfers ORDER BY 1")
    return _known("kind of transfer", text.casefold(), text, list(kinds.scalars()))


def _known(what: str, key: str, text: str, known: list[str]) -> str:
    if key not in known:
        which = f"They know: {', '.join(known)}." if known else "They are empty."
        raise NothingToList(f"The books know no {what} {text}. {which}")
    return key


def _condition(wanted: Wanted) -> tuple[str, list[object]]:
    parts: list[str] = []
    values: list[object] = []
    for condition, value in (
        ("? IN (s.caller_id, g.caller_id)", wanted.caller_id),
        ("coalesce(s.game, g.game, r.game) = ?", wanted.game),
        ("t.kind = ?", wanted.kind),
        ("t.call_id = ?", wanted.call_id),
        ("t.round_id = ?", wanted.round_id),
        ("t.at >= ?", wanted.since),
        ("t.at < ?", wanted.until),
    ):
        if value is not None:
            parts.append(f" AND {condition}")
            values.append(value)
    return "".join(parts), values
