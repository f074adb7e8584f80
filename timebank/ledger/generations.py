"""Generations of the books: each restore begins one, with new numbers.

A restore removes the rows that were added after the backup. Callers, exports and a bank that reads
THEBANK.EXT may have seen their numbers. So a generation begins with numbers higher than any ever
given. Every record that leaves the board contains the number of its generation. The first
generation has no row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, func, select

from timebank.ledger import chain, dialects, schema
from timebank.ledger.schema import metadata, stamp
from timebank.ledger.sql import Prepared, Reader, fields_of, highest, insert_into, read, value

# Every table that gives numbers, and the word for its rows.
NUMBERED = {
    "transfers": "transfers",
    "rounds": "hands",
    "shoes": "shoes",
    "calls": "calls",
    "callers": "callers",
    "accounts": "accounts",
    "visits": "visits",
    "given_back": "minutes given back",
    "imports": "imports",
    "notices": "notices",
    "sysop_log": "lines of the log",
}


class Generation(NamedTuple):
    """A row of `generations`, one for each generation after the first.

    It began at `at`, from a copy taken at `copied`, both in whole seconds since 1970; `copied` is
    None if unknown. `after` is the number of the last transfer before it, and `first` that of its
    own first one. `numbers` is a JSON object with the first number of each table. `shoes`, `hands`
    and `calls` count what was open in the copy and closed.
    """

    number: int
    at: int
    copied: int | None
    after: int
    first: int
    numbers: str
    shoes: int
    hands: int
    calls: int
    by: str
    why: str
    digest: str

    def digest_after(self, previous: str) -> str:
        """Return the digest of this row: SHA-256 in hexadecimal over one line of UTF-8 text.

        The line is the digest `previous`, the word "generation", and the fields in order, separated
        by single spaces. `numbers` is JSON without spaces, and the length of `by` in bytes precedes
        it. No transfer makes such a line, because there a number follows the previous digest.
        """
        copied = "-" if self.copied is None else self.copied
        return sha256(
            f"{previous} generation {self.number} {self.at} {copied} {self.after} {self.first}"
            f" {self.numbers} {self.shoes} {self.hands} {self.calls} {len(self.by.encode())}"
            f" {self.by} {self.why}".encode()
        ).hexdigest()

    @property
    def first_numbers(self) -> Mapping[str, int]:
        """The first number of each table; empty if the row is damaged."""
        try:
            numbers = json.loads(self.numbers)
        except ValueError:
            return {}
        return numbers if isinstance(numbers, dict) else {}


_TABLE = schema.generations
_ADD = Prepared(lambda: insert_into(_TABLE, " ".join(Generation._fields)))
_ALL = read(Generation, lambda: fields_of(Generation, _TABLE).order_by(_TABLE.c.number))
CURRENT: Reader[int] = value(lambda: select(highest(_TABLE.c.number, 1)))


def generation_of_transfer(number: ColumnElement[int]) -> ColumnElement[int]:
    """Return the generation of the transfer `number` as a column for any query."""
    return select(highest(_TABLE.c.number, 1)).where(_TABLE.c.first <= number).scalar_subquery()


def generations(connection: Connection) -> list[Generation]:
    return _ALL.all(connection)


def current(connection: Connection) -> int:
    return CURRENT.one(connection)


def generation_of(connection: Connection, table: str, number: int) -> int:
    """Return the generation in which a row of `table`, a key of `NUMBERED`, got its number."""
    begun = (
        generation.number
        for generation in generations(connection)
        if generation.first_numbers.get(table, 0) <= number
    )
    return max(begun, default=1)


# The highest number in use in each table.
_HIGHEST = Prepared(
    lambda: select(
        *(
            select(func.max(*metadata.tables[name].primary_key)).scalar_subquery()
            for name in NUMBERED
        )
    )
)


def last_numbers(connection: Connection) -> dict[str, int]:
    """Return the highest number that each table of `NUMBERED` ever gave or uses."""
    given = dialects.dialect_of(connection).last_given_numbers(connection)
    highest = _HIGHEST(connection).one()
    return {
        table: max(given.get(table, 0), used or 0)
        for table, used in zip(NUMBERED, highest, strict=True)
    }


class ClosedCounts(NamedTuple):
    """How many open shoes, hands and calls a restore closed."""

    shoes: int
    hands: int
    calls: int


def begin(
    connection: Connection,
    number: int,
    first_numbers: Mapping[str, int],
    closed: ClosedCounts,
    now: datetime,
    copied: int | None,
    by: str,
    why: str,
) -> Generation:
    """Store a new generation, and make every table continue with its `first_numbers`.

    The next transfer continues the digest of the generation. `copied` is the time of the copy in
    seconds since 1970, or None. `by` is the user who restores, and `why` a clause for the log.
    Raises ValueError if a table gave its first number already.
    """
    head, last = chain.head(connection), last_numbers(connection)
    if any(first_numbers[table] <= last[table] for table in NUMBERED):
        raise ValueError("a generation cannot begin with numbers that were given already")
    unsigned = Generation(
        number,
        stamp(now),
        copied,
        head.number,
        first_numbers["transfers"],
        json.dumps(dict(sorted(first_numbers.items())), separators=(",", ":")),
        *closed,
        by,
        why,
        "",
    )
    generation = unsigned._replace(digest=unsigned.digest_after(head.digest))
    _ADD(connection, **generation._asdict())
    for table, first in first_numbers.items():
        dialects.dialect_of(connection).set_next_number(connection, table, first)
    return generation
