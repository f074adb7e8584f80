"""Holds a history against the books that are left: what it finds is what the bank did wrong.

The idea is that of Elle and of Jepsen's bank test. The chain of transfers gives all operations
their order, so nobody has to search for one: each operation says after which transfer it came.
What must hold of that order is linear in the number of operations.

- What was answered with "done" is there, once, and the chain up to it is what it was then.
- What was answered with "not done" is not there. What was not answered is there once or not at all.
- Nothing is there that nobody asked for.
- An operation that was asked for after another was answered comes after it, and so does a read
  (strict serialisability, hence real-time order for each account).
- Whoever saw balances saw those of one moment: what the transfers up to it add up to. All balances
  of a unit add up to zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from verify.machines.history import FAILED, OK, UNKNOWN, Books, Operation

MOST = 5  # findings of one kind that are told


def check(operations: list[Operation], books: Books, units: Mapping[int, str]) -> list[str]:
    """Return what is wrong, in sentences; `units` gives the unit of each account."""
    found: list[str] = []
    sums = partial(_sums, units=units)
    for look in (_presence, _chain, _order, _balances, sums):
        wrong = list(look(operations, books))
        found += wrong[:MOST]
        if len(wrong) > MOST:
            found.append(f"... and {len(wrong) - MOST} more like that")
    return found


def _presence(operations: list[Operation], books: Books) -> Iterator[str]:
    there = Counter(key for key, _, _ in books.marks)
    asked = {operation.key: operation for operation in operations if not operation.is_read}
    for key in there.keys() - asked.keys():
        yield f"{key} is in the books, and nobody has asked for it"
    for key, operation in asked.items():
        times = there[key]
        if times > 1:
            yield f"{key} ({operation.what}) is in the books {times} times"
        if operation.outcome == OK and not times:
            yield f"{key} ({operation.what}) was told as done, and is not in the books"
        if operation.outcome == FAILED and times:
            yield f"{key} ({operation.what}) was told as not done, and is in the books"


def _chain(operations: list[Operation], books: Books) -> Iterator[str]:
    digests = {row.number: row.digest for row in books.rows}
    marks = {key: (first, last) for key, first, last in books.marks}
    for operation in _told(operations):
        if operation.seen and digests.get(operation.seen) != operation.digest:
            yield f"{operation.key} saw transfer {operation.seen}, which is another now, or gone"
        first, last = marks.get(operation.key, (0, 0))
        if operation.own and (operation.own, operation.seen) != (first, last):
            told = f"{operation.own} to {operation.seen}"
            yield f"{operation.key} was told as transfers {told}, and is {first} to {last}"


def _order(operations: list[Operation], books: Books) -> Iterator[str]:
    """Go through all instants: whoever is asked now must come after all that was answered."""
    marks = {key: (first, last) for key, first, last in books.marks}
    answers = sorted(
        (each for each in _told(operations) if each.answered is not None),
        key=lambda each: each.answered or 0,
    )
    seen = {each.key: each.seen for each in answers}
    furthest, by, next_answer = 0, "", 0
    for operation in sorted(operations, key=lambda each: each.asked):
        while next_answer < len(answers) and (answers[next_answer].answered or 0) < operation.asked:
            answer = answers[next_answer].key
            if seen[answer] > furthest:
                furthest, by = seen[answer], answer
            next_answer += 1
        before = operation.before
        if operation.outcome == FAILED:
            continue
        if operation.outcome == UNKNOWN:
            first, _ = marks.get(operation.key, (0, 0))
            if not first:
                continue
            before = first - 1
        if before < furthest:
            yield (
                f"{operation.key} ({operation.what}) was asked for after {by} was answered, which"
                f" had seen transfer {furthest}, and comes after transfer {before}"
            )


def _balances(operations: list[Operation], books: Books) -> Iterator[str]:
    """Add the transfers up, and stop at each moment that somebody saw."""
    now: dict[int, int] = {}
    rows = iter(sorted(books.rows, key=lambda row: row.number))
    row = next(rows, None)
    for operation in sorted(_told(operations), key=lambda each: each.seen):
        while row is not None and row.number <= operation.seen:
            now[row.source] = now.get(row.source, 0) - row.amount
            now[row.target] = now.get(row.target, 0) + row.amount
            row = next(rows, None)
        for account, amount in operation.balances.items():
            if now.get(account, 0) != amount:
                yield (
                    f"{operation.key} ({operation.what}) saw {amount} on account {account}, where"
                    f" the transfers up to {operation.seen} make {now.get(account, 0)}"
                )
    while row is not None:
        now[row.source] = now.get(row.source, 0) - row.amount
        now[row.target] = now.get(row.target, 0) + row.amount
        row = next(rows, None)
    for account, amount in books.balances.items():
        if now.get(account, 0) != amount:
            yield f"account {account} has {amount}, and its transfers make {now.get(account, 0)}"


def _sums(operations: list[Operation], books: Books, units: Mapping[int, str]) -> Iterator[str]:
    for operation in _told(operations):
        if operation.is_read:
            yield from _sum(operation.key, operation.balances, units)
    yield from _sum("the end", books.balances, units)


def _sum(who: str, balances: Mapping[int, int], units: Mapping[int, str]) -> Iterator[str]:
    sums: Counter[str] = Counter()
    for account, amount in balances.items():
        sums[units.get(account, "?")] += amount
    for unit, total in sums.items():
        if total:
            yield f"at {who} all balances in {unit} add up to {total}"


def _told(operations: Iterable[Operation]) -> Iterator[Operation]:
    return (operation for operation in operations if operation.outcome == OK)
