"""One caller in the books, read from the file with plain SQL."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from verify.robots import phrases

CARD = 2  # letters of a card: its rank and its suit


class Hand(NamedTuple):
    """A round of one seat, in the order of the caller's rounds."""

    game: str
    unit: str
    day: str
    seal: str
    seed: str  # "" while the shoe is not done
    net: int
    settled: int | None
    outcome: str  # words; "" while it is open
    cards: frozenset[str]  # on the table at the end, as far as the result lists them
    balance: int | None  # the bankroll after its last movement


class Call(NamedTuple):
    """A call; instants are seconds since 1970."""

    opened: int
    closed: int | None
    reason: str
    ticked: int
    charged: int


class Steps:
    """Amounts that change at instants: how much it was altogether, at any of them."""

    def __init__(self, changes: list[tuple[int, int]]) -> None:
        self._at = [at for at, _ in changes]
        self._sums = list(accumulate((amount for _, amount in changes), initial=0))

    def between(self, first: float, last: float) -> list[int]:
        """Return every sum that held at some moment from `first` to `last`, both included."""
        return self._sums[bisect_right(self._at, first) : bisect_right(self._at, last) + 1]


@dataclass(frozen=True)
class Account:
    """One caller's part of the books."""

    hands: list[Hand]
    calls: list[Call]
    bank: Steps
    online: Steps  # all that moved but time used
    moved: list[tuple[str, int, str]]  # kind, amount and receiver, at the bank's window


@contextmanager
def opened(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=30)) as books:
        yield books


def seeds(books: sqlite3.Connection) -> dict[str, str]:
    """Read the seeds of all shoes by their seals; "" for one that is not done."""
    return dict(books.execute("SELECT seal, iif(closed IS NULL, '', lower(hex(seed))) FROM shoes"))


def account(books: sqlite3.Connection, name: str) -> Account | None:
    """Read a caller's rows; return None for an unknown name."""
    row = books.execute(
        "SELECT id FROM callers WHERE name = ? AND deleted IS NULL", (name,)
    ).fetchone()
    if row is None:
        return None
    number = row[0]
    return Account(
        list(_hands(books, number)),
        list(_calls(books, number)),
        Steps(_changes(books, number, "bank", "")),
        Steps(_changes(books, number, "online", "elapsed")),
        list(_moved(books, number)),
    )


def _hands(books: sqlite3.Connection, number: int) -> Iterator[Hand]:
    left: dict[int, int] = {}
    for unit in ("usd-cent", "frf-cent"):
        balance = 0
        for round_id, amount in books.execute(
            "SELECT t.round_id, iif(t.target = a.id, t.amount, -t.amount) FROM accounts a"
            " JOIN transfers t ON t.source = a.id OR t.target = a.id"
            " WHERE a.caller_id = ? AND a.kind = 'bankroll' AND a.unit = ? ORDER BY t.id",
            (number, unit),
        ):
            balance += amount
            if round_id is not None:
                left[round_id] = balance
    for round_id, game, unit, day, seal, seed, net, settled, outcome, result in books.execute(
        "SELECT r.id, r.game, r.unit, r.day, coalesce(s.seal, ''),"
        " iif(s.closed IS NULL, '', lower(hex(s.seed))), r.won - r.lost, r.settled,"
        " coalesce(r.outcome, ''), coalesce(r.result, '{}')"
        " FROM rounds r LEFT JOIN shoes s ON s.id = r.shoe_id"
        " WHERE r.caller_id = ? ORDER BY r.id",
        (number,),
    ):
        cards = _cards(json.loads(result))
        balance = left.get(round_id)
        yield Hand(game, unit, day, seal, seed, net, settled, outcome, cards, balance)


def _cards(result: Mapping[str, Any]) -> frozenset[str]:
    hands = (*result.get("player", ()), result.get("dealer", ()), result.get("cards", ()))
    return frozenset(card for hand in hands for card in hand if len(card) == CARD)


def _calls(books: sqlite3.Connection, number: int) -> Iterator[Call]:
    for row in books.execute(
        "SELECT opened, closed, coalesce(reason, ''), ticked, charged FROM calls"
        " WHERE caller_id = ? ORDER BY id",
        (number,),
    ):
        yield Call(*row)


def _changes(books: sqlite3.Connection, number: int, kind: str, but: str) -> list[tuple[int, int]]:
    return books.execute(
        "SELECT t.at, iif(t.target = a.id, t.amount, -t.amount) FROM accounts a"
        " JOIN transfers t ON t.source = a.id OR t.target = a.id"
        " WHERE a.caller_id = ? AND a.kind = ? AND a.unit = 'second' AND t.kind <> ?"
        " ORDER BY t.id",
        (number, kind, but),
    ).fetchall()


def _moved(books: sqlite3.Connection, number: int) -> Iterator[tuple[str, int, str]]:
    """Return the caller's acts at the window, in order."""
    return iter(
        books.execute(
            "SELECT t.kind, t.amount, coalesce(c.name, '') FROM accounts a"
            " JOIN transfers t ON t.source = a.id"
            " LEFT JOIN accounts b ON b.id = t.target AND t.kind = 'transfer'"
            " LEFT JOIN callers c ON c.id = b.caller_id"
            f" WHERE a.caller_id = ? AND t.kind IN {tuple(phrases.DONE)} ORDER BY t.id",
            (number,),
        )
    )
