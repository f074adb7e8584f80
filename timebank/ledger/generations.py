"""Generations of the books: every restore begins one, and says where its numbers begin.

What was given a number after a backup was taken is gone when that backup is restored, but the
number was seen: by callers, by a bank that reads THEBANK.EXT, in an export. So a generation begins
with numbers past any that were ever given, and its own number is part of every record that leaves
the board. The first generation is the one that has no row.
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

# Every table that gives numbers, with what its numbers are of.
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
    """A generation after the first, as its row says.

    `after` is the last number of a transfer before it, `first` the first of its own; `numbers` has
    the first number of each table. `at` and `copied` are whole seconds since 1970.
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
        """Make its digest: SHA-256 in hexadecimal over one line of UTF-8 text.

        The line is the digest before, the word "generation", the fields in their order (`numbers`
        is JSON without spaces), with the length of `by` in bytes before it, one space between each
        two. No transfer makes such a line: a number follows its digest before.
        """
        copied = "-" if self.copied is None else self.copied
        return sha256(
            f"{previous} generation {self.number} {self.at} {copied} {self.after} {self.first}"
            f" {self.numbers} {self.shoes} {self.hands} {self.calls} {len(self.by.encode())}"
            f" {self.by} {self.why}".encode()
        ).hexdigest()

    @property
    def first_numbers(self) -> Mapping[str, int]:
        """Give the first number of each table; empty when the row was damaged."""
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
    return select(highest(_TABLE.c.number, 1)).where(_TABLE.c.first <= number).scalar_subquery()


def generations(connection: Connection) -> list[Generation]:
    return _ALL.all(connection)


def current(connection: Connection) -> int:
    return CURRENT.one(connection)


def generation_of(connection: Connection, table: str, number: int) -> int:
    begun = (
        generation.number
        for generation in generations(connection)
        if generation.first_numbers.get(table, 0) <= number
    )
    return max(begun, default=1)


# The highest number that is used in each table.
_HIGHEST = Prepared(
    lambda: select(
        *(
            select(func.max(*metadata.tables[name].primary_key)).scalar_subquery()
            for name in NUMBERED
        )
    )
)


def last_numbers(connection: Connection) -> dict[str, int]:
    given = dialects.dialect_of(connection).last_given_numbers(connection)
    highest = _HIGHEST(connection).one()
    return {
        table: max(given.get(table, 0), used or 0)
        for table, used in zip(NUMBERED, highest, strict=True)
    }


class ClosedCounts(NamedTuple):
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
    """Write down a new generation, and have every table go on with its first number there.

    The transfers that follow continue its digest. ValueError for a number that was given already.
    """
    head, last = chain.head(connection), last_numbers(connection)
    if any(first_numbers[table] <= last[table] for table in NUMBERED):
        raise ValueError("a generation begins with numbers that were given already")
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
