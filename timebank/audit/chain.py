"""The audit of the chain: the first row whose digest is wrong, and the rows after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Column, bindparam, select

from timebank.audit.findings import Finding
from timebank.ledger import chain
from timebank.ledger.chain import GENESIS
from timebank.ledger.database import Desk
from timebank.ledger.generations import NUMBERED, Generation, generations
from timebank.ledger.schema import actions, calls, rounds, shoes, transfers
from timebank.ledger.sql import NO_BOUND, Prepared

# Findings about single rows; further bad rows are only counted.
MAX_LISTED = 10


class Written(NamedTuple):
    """A transfer as read from the file. Any field may have any value, because anybody may have
    written it."""

    number: Any
    place: Any
    size: Any
    at: Any
    amount: Any
    source: Any
    target: Any
    call_id: Any
    round_id: Any
    kind: Any
    facts: Any
    digest: Any

    def digest_after(self, previous: str) -> str:
        """Return the digest that this row should have, given the digest before it."""
        return chain.digest(previous, *self[:11]) if isinstance(self.kind, str) else ""


ALL_ROWS = Prepared(
    lambda: select(transfers.c.id, *(transfers.c[name] for name in Written._fields[1:])).order_by(
        transfers.c.id
    )
)


class Chain:
    """Follows the chain row by row from its beginning, and collects `findings`.

    The books must contain `since_digest`, the digest of an earlier audit, unless it is None.
    """

    def __init__(self, desk: Desk, since_digest: str | None) -> None:
        self.findings: list[Finding] = []
        self._since = since_digest
        self._to_come = generations(desk.connection)
        known = (each.digest for each in self._to_come)
        self._has_since = since_digest in (None, GENESIS, *known)
        self._last = 0
        self._link = GENESIS
        self._begins = self._next_begins()
        self._bad = 0

    def follow(self, rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
        """Check rows with the columns of `Written`, and yield each of them.

        Nearly all of the millions of rows continue the chain, so the loop accepts those in as few
        steps as possible and passes the others to `_check`.
        """
        made, since = chain.digest, self._since
        last, link, begins = self._last, self._link, self._begins
        for row in rows:
            number, place, size, at, amount, giver, taker, call, hand, kind, facts, digest = row
            if (
                number == last + 1 < begins
                and kind.__class__ is str
                and digest
                == made(
                    link, number, place, size, at, amount, giver, taker, call, hand, kind, facts
                )
            ):
                last, link = number, digest
            else:
                self._last, self._link = last, link
                self._check(Written._make(row))
                last, link, begins = self._last, self._link, self._begins
            if digest == since:
                self._has_since = True
            yield row
        self._last, self._link = last, link

    def _check(self, row: Written) -> None:
        """Check a row that follows a gap, begins a generation or has the wrong digest."""
        number = row.number
        follows = number == self._last + 1
        begins: Generation | None = None
        while number >= self._begins:
            begins = self._to_come.pop(0)
            self.findings += _check_generation(begins, self._last, self._link)
            self._link, follows = begins.digest, number == begins.first
            self._begins = self._next_begins()
        # After a gap the digest of the missing row is unknown. `_missing` reports the gap.
        if follows and row.digest_after(self._link) != row.digest:
            self._report_bad(row, begins)
        self._last, self._link = number, row.digest

    def _next_begins(self) -> int:
        """Return the first transfer of the next generation, NO_BOUND if there is none."""
        return self._to_come[0].first if self._to_come else NO_BOUND

    def end(self) -> None:
        for generation in self._to_come:
            self.findings += _check_generation(generation, self._last, self._link)
            self._link = generation.digest
        if self._bad > MAX_LISTED:
            more = self._bad - MAX_LISTED
            self.findings.append(Finding("ledger", f"{more} more transfers do not fit the chain."))
        if not self._has_since:
            sentence = (
                f"No transfer has the digest {self._since}, so these books do not continue the ones"
                " that had it."
            )
            self.findings.append(Finding("ledger", sentence))

    def _report_bad(self, row: Written, begins: Generation | None) -> None:
        self._bad += 1
        if self._bad > MAX_LISTED:
            return
        sentence = "It does not fit the chain either."
        if self._bad == 1:
            before = f"transfer {self._last}" if self._last else "the beginning"
            if begins is not None:
                before = f"generation {begins.number}"
            sentence = (
                f"It does not continue {before}. One of the two was changed, moved or inserted by"
                " hand, or a row between them is missing."
            )
        self.findings.append(Finding(f"transfer {row.number}", sentence))


def _check_generation(generation: Generation, last: int, link: str) -> Iterator[Finding]:
    """Check that a generation continues the chain before it.

    `last` is the last transfer before the generation (0 for none), and `link` its digest.
    """
    where = f"generation {generation.number}"
    if last > generation.after:
        yield Finding(
            where, f"It follows transfer {generation.after}, but transfer {last} comes before it."
        )
    # Where transfers are missing, the digest before is unknown. `_missing` reports them.
    is_complete = last == generation.after
    if is_complete and generation.digest_after(link) != generation.digest:
        yield Finding(where, "It does not fit the chain: it was changed or inserted by hand.")


# The audit of generations: a restore closes everything that was open, so none of it may continue.


def _open(number: Column[Any], ended: Column[Any]) -> Prepared:
    return Prepared(
        lambda: select(number).where(ended.is_(None), number < bindparam("first")).order_by(number)
    )


# Rows that a restore closes, by table. Their numbers tell which generation they belong to.
_OPEN = {
    "shoes": ("shoe", _open(shoes.c.id, shoes.c.closed)),
    "rounds": ("hand", _open(rounds.c.id, rounds.c.settled)),
    "calls": ("call", _open(calls.c.id, calls.c.closed)),
}
_DEALT = Prepared(
    lambda: (
        select(rounds.c.id, rounds.c.shoe_id)
        .where(rounds.c.id >= bindparam("first"), rounds.c.shoe_id < bindparam("first_shoe"))
        .order_by(rounds.c.id)
    )
)
_ACTED = Prepared(
    lambda: (
        select(actions.c.round_id)
        .distinct()
        .join(rounds, rounds.c.id == actions.c.round_id)
        .where(actions.c.call_id >= bindparam("first_call"), rounds.c.id < bindparam("first"))
        .order_by(actions.c.round_id)
    )
)


def check_generations(desk: Desk) -> Iterator[Finding]:
    before = 1
    floor: dict[str, int] = {}
    known = generations(desk.connection)
    for generation in known:
        where = f"generation {generation.number}"
        if generation.number <= before:
            yield Finding(where, f"It follows generation {before}.")
        before = generation.number
        firsts = generation.first_numbers
        if any(not isinstance(firsts.get(table), int) for table in NUMBERED):
            yield Finding(where, "It does not say which numbers it begins with.")
            return
        if firsts["transfers"] != generation.first:
            yield Finding(where, "It names two different first transfers.")
        for table, last in floor.items():
            if firsts[table] < last:
                yield Finding(where, f"It reuses numbers of {NUMBERED[table]}.")
        floor = dict(firsts)
        yield from _check_closed(desk, generation)


def _check_closed(desk: Desk, generation: Generation) -> Iterator[Finding]:
    """Check that everything from before a generation was closed when it began."""
    books, firsts = desk.connection, generation.first_numbers
    begun = f"generation {generation.number} began"
    for table, (what, still_open) in _OPEN.items():
        for number in still_open(books, first=firsts[table]).scalars():
            yield Finding(f"{what} {number}", f"It was open when {begun}, and it is still open.")
    first = firsts["rounds"]
    for number, shoe in _DEALT(books, first_shoe=firsts["shoes"], first=first):
        yield Finding(
            f"hand {number}", f"It was dealt from shoe {shoe}, which was closed when {begun}."
        )
    acted = _ACTED(books, first_call=firsts["calls"], first=first)
    for number in acted.scalars():
        yield Finding(f"hand {number}", f"It was dealt before {begun}, but played on after it.")
