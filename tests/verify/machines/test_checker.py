"""The checker of histories: silent about what can have been so, and every lie is found."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from verify.machines.checker import check
from verify.machines.history import FAILED, OK, UNKNOWN, Books, Operation, Pen, Row, read

pytestmark = pytest.mark.long

ACCOUNTS = range(1, 7)
UNITS = dict.fromkeys(ACCOUNTS, "second")
SECOND = 10**9

History = tuple[list[Operation], Books]


def honest(seed: int, count: int = 60) -> History:
    """A history of a bank that does everything right, with three who ask at a time.

    Each operation takes effect at an instant between its question and its answer.
    """
    chance = random.Random(seed)
    balances = dict.fromkeys(ACCOUNTS, 0)
    operations, rows, marks = [], [], []
    for number in range(1, count + 1):
        instant = number * SECOND
        operation = Operation(
            key=f"k{number}",
            what="read" if number % 5 == 0 else "step",
            asked=instant - chance.randint(1, 3 * SECOND),
            answered=instant + chance.randint(1, 3 * SECOND),
            outcome=OK,
        )
        fate = chance.random()
        if not operation.is_read and fate < 0.1:
            operation.outcome = FAILED
        elif not operation.is_read and fate < 0.25:
            operation.outcome = UNKNOWN
            operation.answered = chance.choice((None, operation.answered))
        is_there = operation.outcome == OK or (
            operation.outcome == UNKNOWN and chance.random() < 0.5
        )
        if is_there and not operation.is_read:
            first = len(rows) + 1
            for _ in range(chance.randint(1, 3)):
                source, target = chance.sample(ACCOUNTS, 2)
                amount = chance.randint(1, 9)
                balances[source] -= amount
                balances[target] += amount
                rows.append(Row(len(rows) + 1, source, target, amount, f"digest {len(rows) + 1}"))
            marks.append((operation.key, first, len(rows)))
            operation.own = first
        if operation.outcome == OK:
            operation.seen = len(rows)
            operation.digest = rows[-1].digest if rows else ""
            seen = ACCOUNTS if operation.is_read else chance.sample(ACCOUNTS, 2)
            operation.balances = {account: balances[account] for account in seen}
            if number % 7 == 0 and not operation.is_read:  # it is told nothing but that it is done
                operation.seen, operation.digest, operation.balances = 0, "", {}
        if operation.outcome != OK or not operation.seen:
            operation.own = 0
        operations.append(operation)
    return operations, Books(rows, balances, marks)


def some(history: History, holds: Callable[[Operation], bool]) -> Operation:
    """One of the middle, so that others come before it and after it."""
    found = [operation for operation in history[0] if holds(operation)]
    return found[len(found) // 2]


def is_step(operation: Operation) -> bool:
    return operation.outcome == OK and not operation.is_read and operation.seen > 0


def is_not_placed(operation: Operation) -> bool:
    return operation.outcome == OK and not operation.is_read and not operation.seen


def is_read(operation: Operation) -> bool:
    return operation.is_read


def without_rows_of(books: Books, key: str) -> Books:
    """Books in which an operation never was; those after it have moved up."""
    (mark,) = [mark for mark in books.marks if mark[0] == key]
    _, first, last = mark
    size = last - first + 1
    gone = books.rows[first - 1 : last]
    balances = dict(books.balances)
    for row in gone:
        balances[row.source] += row.amount
        balances[row.target] -= row.amount
    rows = books.rows[: first - 1]
    rows += [replace(row, number=row.number - size) for row in books.rows[last:]]
    marks = [
        (other, *(n - size if n > last else n for n in places))
        for other, *places in books.marks
        if other != key
    ]
    return Books(rows, balances, marks)


# The lies, each with words that tell of it.


def lost_write(history: History) -> History:
    """The books have forgotten the row of an answer, and nobody was told."""
    operations, books = history
    return operations, without_rows_of(books, some(history, is_step).key)


def doubled(history: History) -> History:
    """An operation was done again after its answer was lost."""
    operations, books = history
    step = some(history, is_step)
    rows = list(books.rows)
    first = len(rows) + 1
    balances = dict(books.balances)
    for row in books.rows[step.own - 1 : step.seen]:
        rows.append(replace(row, number=len(rows) + 1, digest=f"digest {len(rows) + 1}"))
        balances[row.source] -= row.amount
        balances[row.target] += row.amount
    return operations, Books(rows, balances, [*books.marks, (step.key, first, len(rows))])


def failed_and_there(history: History) -> History:
    operations, books = history
    step = some(history, is_step)
    step.outcome = FAILED
    return operations, books


def made_up(history: History) -> History:
    operations, books = history
    return [each for each in operations if each.key != some(history, is_step).key], books


def stale_read(history: History) -> History:
    """A read was answered by a server that others have left behind."""
    operations, books = history
    reading = some(history, is_read)
    earlier = next(
        each
        for each in operations[::-1]
        if each.is_read and (each.answered or 0) < reading.asked and each.seen < reading.seen - 10
    )
    reading.seen, reading.digest = earlier.seen, earlier.digest
    reading.balances = dict(earlier.balances)
    return operations, books


def torn_read(history: History) -> History:
    """A read saw one half of a transfer; its sum is off."""
    operations, books = history
    reading = some(history, is_read)
    reading.balances[books.rows[reading.seen - 1].target] -= books.rows[reading.seen - 1].amount
    return operations, books


def read_of_two_moments(history: History) -> History:
    """A read saw some accounts now and some before: its sum is right by chance."""
    operations, books = history
    reading = some(history, is_read)
    row = books.rows[reading.seen - 1]
    reading.balances[row.target] -= row.amount
    reading.balances[row.source] += row.amount
    return operations, books


def dirty_read(history: History) -> History:
    """A read saw what was never committed."""
    operations, books = history
    reading = some(history, is_read)
    reading.digest = "digest of something else"
    return operations, books


def out_of_order(history: History) -> History:
    """One who asked later came before what had been answered to another."""
    operations, books = history
    step = some(history, is_step)
    step.asked += 20 * SECOND
    step.answered = (step.answered or 0) + 20 * SECOND
    return operations, books


def answered_without_a_place_and_not_seen(history: History) -> History:
    """One who asked after such an answer does not see what it did."""
    operations, books = history
    step = some(history, is_not_placed)
    step.asked -= 20 * SECOND
    step.answered = (step.answered or 0) - 20 * SECOND
    return operations, books


def balance_apart(history: History) -> History:
    """A balance at the end is not what its rows make, and another makes up for it."""
    operations, books = history
    books.balances[1] += 5
    books.balances[2] -= 5
    return operations, books


LIES = {
    lost_write: "was told as done, and is not in the books",
    doubled: "is in the books 2 times",
    failed_and_there: "was told as not done, and is in the books",
    made_up: "nobody has asked for it",
    stale_read: "was asked for after",
    torn_read: "all balances in second add up to",
    read_of_two_moments: "where the transfers up to",
    dirty_read: "which is another now, or gone",
    out_of_order: "was asked for after",
    answered_without_a_place_and_not_seen: "was asked for after",
    balance_apart: "and its transfers make",
}


@pytest.mark.parametrize("seed", range(20))
def test_a_bank_that_does_everything_right_is_believed(seed):
    operations, books = honest(seed)
    outcomes = {operation.outcome for operation in operations}
    assert outcomes == {OK, FAILED, UNKNOWN}
    assert check(operations, books, UNITS) == []


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
@pytest.mark.parametrize("seed", range(3))
def test_every_lie_is_found(lie, seed):
    history = lie(deepcopy(honest(seed)))
    found = check(*history, UNITS)
    assert any(LIES[lie] in words for words in found), found


class TestHistories:
    def test_of_a_process_that_was_killed_end_with_what_it_asked(self, tmp_path: Path):
        with closing(Pen(tmp_path / "a")) as pen:
            pen.asks("a.1", "step")
        with (tmp_path / "a").open("a") as file:
            file.write(json.dumps({"key": "a.1", "outcome": OK})[:12])
        (one,) = read([tmp_path / "a"])
        assert (one.outcome, one.answered) == (UNKNOWN, None)
