"""The audit of the chain: which row does not fit its digest first."""

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
from timebank.ledger.sql import NEVER, Prepared

# Rows that are named one by one; the rest are counted.
LISTED = 10


class Written(NamedTuple):
    """A transfer as it stands in the file, whoever wrote it: any field may be anything."""

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

    def made(self, before: str) -> str:
        """Make the digest that this row should have after `before`."""
        return chain.digest(before, *self[:11]) if isinstance(self.kind, str) else ""


ALL_ROWS = Prepared(
    lambda: select(transfers.c.id, *(transfers.c[name] for name in Written._fields[1:])).order_by(
        transfers.c.id
    )
)


class Chain:
    """Follows the chain from its beginning, row by row, and names in `findings` what does not fit.

    With `since_digest`, noted down from an earlier audit, the books must contain that digest.
    """

    def __init__(self, desk: Desk, since_digest: str | None) -> None:
        self.findings: list[Finding] = []
        self._since = since_digest
        self._to_come = generations(desk.connection)
        known = (each.digest for each in self._to_come)
        self._found = since_digest in (None, GENESIS, *known)
        self._last = 0
        self._link = GENESIS
        self._begins = self._next_begins()
        self._bad = 0

    def follow(self, rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
        """Take rows whose values are those of `Written`, and give them on.

        Of millions, nearly all go on from the one before: that is seen to in as few steps as it can
        be, and all others are looked at.
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
                self._look_at(Written._make(row))
                last, link, begins = self._last, self._link, self._begins
            if digest == since:
                self._found = True
            yield row
        self._last, self._link = last, link

    def _look_at(self, row: Written) -> None:
        """Take a row that does not go on from the one before, or does not fit its digest."""
        number = row.number
        follows = number == self._last + 1
        begins: Generation | None = None
        while number >= self._begins:
            begins = self._to_come.pop(0)
            self.findings += _unfit(begins, self._last, self._link)
            self._link, follows = begins.digest, number == begins.first
            self._begins = self._next_begins()
        # After a gap, which is told elsewhere, the digest before is gone with its row.
        if follows and row.made(self._link) != row.digest:
            self._is_bad(row, begins)
        self._last, self._link = number, row.digest

    def _next_begins(self) -> int:
        """Tell with which transfer the next generation begins."""
        return self._to_come[0].first if self._to_come else NEVER

    def end(self) -> None:
        for generation in self._to_come:
            self.findings += _unfit(generation, self._last, self._link)
            self._link = generation.digest
        if self._bad > LISTED:
            more = self._bad - LISTED
            self.findings.append(Finding("ledger", f"{more} more transfers do not fit the chain."))
        if not self._found:
            said = (
                f"No transfer has the digest {self._since}: these books do not continue those that"
                " it was noted down from."
            )
            self.findings.append(Finding("ledger", said))

    def _is_bad(self, row: Written, begins: Generation | None) -> None:
        self._bad += 1
        if self._bad > LISTED:
            return
        said = "It does not fit the chain either."
        if self._bad == 1:
            before = f"transfer {self._last}" if self._last else "the beginning"
            if begins is not None:
                before = f"generation {begins.number}"
            said = (
                f"It does not continue {before} as that stands: one of the two was changed, moved"
                " or put in by hand, or a row between them is gone."
            )
        self.findings.append(Finding(f"transfer {row.number}", said))


def _unfit(generation: Generation, last: int, link: str) -> Iterator[Finding]:
    """Tell when a generation does not continue the chain, which ends before it with transfer `last`
    (0 for none) and the digest `link`."""
    where = f"generation {generation.number}"
    if last > generation.after:
        yield Finding(
            where, f"It follows transfer {generation.after}, and there is transfer {last}."
        )
    # What is missing before it is told elsewhere, and its digest is gone with it.
    whole = last == generation.after
    if whole and generation.made(link) != generation.digest:
        yield Finding(where, "It does not fit the chain: it was changed, or put in by hand.")


# The audit of generations: nothing that was open before a restore was gone on with after it.


def _open(number: Column[Any], ended: Column[Any]) -> Prepared:
    return Prepared(
        lambda: select(number).where(ended.is_(None), number < bindparam("first")).order_by(number)
    )


# What a restore closes, by the table whose numbers tell which generation it is of.
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
        firsts = generation.firsts
        if any(not isinstance(firsts.get(table), int) for table in NUMBERED):
            yield Finding(where, "It does not say with which numbers it begins.")
            return
        if firsts["transfers"] != generation.first:
            yield Finding(where, "It says of two transfers that it begins with them.")
        for table, last in floor.items():
            if firsts[table] < last:
                yield Finding(where, f"It gives numbers of {NUMBERED[table]} that were given.")
        floor = dict(firsts)
        yield from _check_closed(desk, generation)


def _check_closed(desk: Desk, generation: Generation) -> Iterator[Finding]:
    """Look at what was open when a generation began."""
    books, firsts = desk.connection, generation.firsts
    begun = f"generation {generation.number} began"
    for table, (what, still_open) in _OPEN.items():
        for number in still_open(books, first=firsts[table]).scalars():
            yield Finding(f"{what} {number}", f"It was open when {begun}, and is still.")
    first = firsts["rounds"]
    for number, shoe in _DEALT(books, first_shoe=firsts["shoes"], first=first):
        yield Finding(
            f"hand {number}", f"It was dealt from shoe {shoe}, which was closed when {begun}."
        )
    acted = _ACTED(books, first_call=firsts["calls"], first=first)
    for number in acted.scalars():
        yield Finding(f"hand {number}", f"It was dealt before {begun}, and played on after it.")
