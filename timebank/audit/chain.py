"""The audit of the chain: which row does not fit its digest first, and what differs in it.

A digest says that something was changed, not what. But a row was written once so that it fitted,
and so what it said can be found again by trying: other amounts, accounts, times, and the places
that other rows have. Some hundred thousand tries are a second's work, and done for one row only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain as joined
from typing import Any, NamedTuple

from sqlalchemy import Column, bindparam, select

from timebank.audit.findings import Finding
from timebank.ledger import chain
from timebank.ledger.chain import GENESIS
from timebank.ledger.database import Desk
from timebank.ledger.generations import NUMBERED, Generation, generations
from timebank.ledger.schema import accounts, actions, calls, rounds, shoes, transfers
from timebank.ledger.sql import NEVER, Prepared, Query

# Rows that are named one by one; the rest are counted.
LISTED = 10
# How far amounts (seconds: more than a day), times and numbers are searched.
AMOUNTS = range(1, 100_001)
# Of play money: whole dollars or francs.
PLAY_AMOUNTS = range(100, 10_000_001, 100)
SECONDS = 20_000
SHIFTS = range(1, 1001)
PLACES = range(1, 21)


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

    def made(self, before: str, number: int | None = None) -> str:
        """Make the digest that this row should have after `before`, under another number if so."""
        if not isinstance(self.kind, str):
            return ""
        first = self.number if number is None else number
        return chain.digest(before, first, *self[1:11])


def _written() -> Query:
    return select(transfers.c.id, *(transfers.c[name] for name in Written._fields[1:]))


ALL_ROWS = Prepared(lambda: _written().order_by(transfers.c.id))
_ONE = Prepared(lambda: _written().where(transfers.c.id == bindparam("number")))
_ACCOUNTS = Prepared(lambda: select(accounts.c.id))
_CALLS = Prepared(lambda: select(calls.c.id))
_HANDS = Prepared(lambda: select(rounds.c.id))
_KINDS = Prepared(lambda: select(transfers.c.kind).distinct())
_UNIT = Prepared(lambda: select(accounts.c.unit).where(accounts.c.id == bindparam("number")))

FIELDS = {
    "amount": "amount",
    "source": "source account",
    "target": "target account",
    "kind": "kind",
    "call_id": "call",
    "round_id": "hand",
    "at": "time",
    "place": "place in its entry",
    "size": "entry's size",
}


class Chain:
    """Follows the chain from its beginning, row by row, and names in `findings` what does not fit.

    With `since_digest`, noted down from an earlier audit, the books must contain that digest.
    """

    def __init__(self, desk: Desk, since_digest: str | None) -> None:
        self.findings: list[Finding] = []
        self._desk = desk
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
        if self._bad == 1:
            self.findings.append(_Search(self._desk, row, begins).finding())
        elif self._bad <= LISTED:
            where = f"transfer {row.number}"
            self.findings.append(Finding(where, "It does not fit the chain either."))


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


class _Search:
    """Looks for what was done to the first row that does not fit, and what it said before."""

    def __init__(self, desk: Desk, row: Written, begins: Generation | None) -> None:
        """`begins` is the generation whose first transfer it is, None when it is another."""
        self.books = desk.connection
        self.row = row
        self.begins = begins
        self.last = self._row(row.number - 1)
        self.next = self._row(row.number + 1)
        self.before: str = self.last.digest if self.last else GENESIS
        if begins is not None:
            self.before = begins.digest

    def finding(self) -> Finding:
        where = f"transfer {self.row.number}"
        for look in (self._digest, self._edited, self._moved, self._inserted, self._removed):
            sentence = look()
            if sentence:
                return Finding(where, sentence)
        if self.last is not None:
            sentence = self._rewritten(self.last)
            if sentence:
                return Finding(f"transfer {self.last.number}", sentence)
        return Finding(where, self._unknown())

    def _row(self, number: int) -> Written | None:
        found = _ONE(self.books, number=number).first()
        return None if found is None else Written._make(found)

    def _continues(self, digest: str, number: int) -> bool:
        return self.next is not None and self.next.made(digest, number) == self.next.digest

    def _digest(self) -> str:
        made = self.row.made(self.before)
        if self._continues(made, self.row.number + 1):
            return f"Its digest was changed: it is {self.row.digest}, and was {made}."
        return ""

    def _edited(self) -> str:
        return self._restored(
            self.row, lambda guess: guess.made(self.before) == self.row.digest, "changed"
        )

    def _rewritten(self, row: Written) -> str:
        """Try the row before: it may have been changed and given a digest that fits."""
        before = self._row(row.number - 1)
        digest = before.digest if before else GENESIS
        return self._restored(
            row, lambda guess: self.row.made(guess.made(digest)) == self.row.digest, "rewritten"
        )

    def _restored(self, row: Written, fits: Callable[[Written], bool], done: str) -> str:
        for field, values in self._guesses(row):
            for value in values:
                if fits(row._replace(**{field: value})):
                    now = getattr(row, field)
                    return f"It was {done}: its {FIELDS[field]} was {value}, and is {now}."
        return ""

    def _guesses(self, row: Written) -> Iterator[tuple[str, Iterable[object]]]:
        """List, field by field, what a row may have said; the likeliest fields first."""
        accounts = _ACCOUNTS(self.books).scalars().all()
        before, after = self._row(row.number - 1), self._row(row.number + 1)
        times = [each.at for each in (before, after) if each and isinstance(each.at, int)]
        yield "amount", joined(AMOUNTS, PLAY_AMOUNTS) if self._is_play(row) else AMOUNTS
        yield "source", accounts
        yield "target", accounts
        yield "kind", _KINDS(self.books).scalars().all()
        yield "call_id", (None, *_CALLS(self.books).scalars())
        yield "round_id", (None, *_HANDS(self.books).scalars())
        yield "at", joined.from_iterable(range(at - SECONDS, at + SECONDS) for at in times)
        yield "place", PLACES
        yield "size", PLACES

    def _is_play(self, row: Written) -> bool:
        found = _UNIT(self.books, number=row.source).scalar()
        return found not in (None, "second")

    def _inserted(self) -> str:
        if self._continues(self.before, self.row.number):
            return f"It was put in by hand: the next row was written as transfer {self.row.number}."
        return ""

    def _removed(self) -> str:
        """Try whether rows before this one are gone and the numbers were closed up."""
        for shift in SHIFTS:
            if self._continues(self.row.digest, self.row.number + shift + 1):
                rows = "the row before it is" if shift == 1 else f"{shift} rows before it are"
                return f"It was written as transfer {self.row.number + shift}: {rows} removed."
        return ""

    def _moved(self) -> str:
        """Try the places and the contents of all other rows."""
        before = GENESIS
        for other in map(Written._make, ALL_ROWS(self.books)):
            if self.row.digest in (
                self.row.made(before, other.number),
                self.row.made(other.digest, other.number),
            ):
                return f"It was written as transfer {other.number}: the order was changed."
            if other.made(self.before, self.row.number) == self.row.digest:
                return f"What was written here is in transfer {other.number} now."
            before = other.digest
        return ""

    def _unknown(self) -> str:
        if self.begins is not None:
            what = f"It does not continue generation {self.begins.number} as that stands"
        elif self.last is None:
            what = "It is not what was written"
        else:
            what = f"It does not continue transfer {self.last.number} as that stands"
        changes = "its reason or several of its fields were changed"
        if self.last is not None:
            changes += ", or that one was rewritten with a digest of its own"
        if self.next is None or not self._continues(self.row.digest, self.row.number + 1):
            changes += ", or it was never written by this program"
        return f"{what}: {changes}."


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
