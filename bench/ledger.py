"""Transactions of the ledger, next to raw sqlite3 that commits one at a time with
synchronous=FULL.

The baseline runs the bettor's very statements, recorded beforehand, on the same tables; a second
one does the minimum of a bet, in its own tables. A third disk is imitated: tmpfs whose every
COMMIT takes 4 ms, on both sides, because many machines (virtual ones above all) answer an fsync
before a disk has the data.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from sqlalchemy import Connection, event

from bench.bettors import SLOW_COMMIT, at_the_books, room
from bench.board import NOON
from bench.report import Goal, Row, Scale, median
from timebank.ledger import sql

TRANSACTIONS = 3  # a hand
REAL_FSYNC = 0.001  # seconds; anything faster is no disk
SYNCS = 50

ALONE_GOAL = Goal("ratio", ">=", 0.9)
TOGETHER_GOAL = Goal("ratio", ">=", 10)
SOFTWARE_GOAL = Goal("ratio", ">=", 0.18)

Statement = tuple[str, Any]
Transaction = Sequence[Statement]

LEAST_TABLES = """
CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
CREATE TABLE transfers (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, target INTEGER NOT NULL,
    amount INTEGER NOT NULL, why TEXT NOT NULL);
INSERT INTO accounts VALUES (1, 0), (2, 0);
"""
LEAST_BET: Transaction = (
    ("INSERT INTO transfers (source, target, amount, why) VALUES (?, ?, ?, ?)", (1, 2, 60, "Bet")),
    ("UPDATE accounts SET balance = balance - ? WHERE id = ?", (60, 1)),
    ("UPDATE accounts SET balance = balance + ? WHERE id = ?", (60, 2)),
)


def run(scale: Scale, disk: Path, memory: Path | None) -> Iterator[Row]:
    hands = record(disk, scale.hands)
    sync = fsync_seconds(disk)
    yield Row("fsync of the disk, median", "ms", sync * 1e3)
    is_real = sync >= REAL_FSYNC
    yield from _place(
        "disk",
        disk,
        hands,
        scale,
        alone=ALONE_GOAL if is_real else None,
        together=TOGETHER_GOAL if is_real else None,
    )
    if memory is None:
        return
    yield from _place("tmpfs", memory, hands, scale, alone=SOFTWARE_GOAL, together=SOFTWARE_GOAL)
    yield from _place(
        "4 ms a commit",
        memory,
        hands,
        scale,
        alone=ALONE_GOAL,
        together=TOGETHER_GOAL,
        commit=SLOW_COMMIT,
    )


def _place(
    name: str,
    folder: Path,
    hands: Sequence[Transaction],
    scale: Scale,
    *,
    alone: Goal | None,
    together: Goal | None,
    commit: float = 0,
) -> Iterator[Row]:
    seconds = scale.ledger_seconds
    ours, many, raw, least = [], [], [], []
    for _ in range(scale.rounds):
        ours.append(at_the_books(folder, 1, seconds, elapsed=1, commit=commit).a_second)
        raw.append(same_statements(folder, hands, seconds, commit))
        many.append(at_the_books(folder, scale.bettors, seconds, elapsed=1, commit=commit).a_second)
        least.append(least_bets(folder, len(hands), seconds, commit))
    what = f"{name}: 1 bettor"
    yield Row(f"{what}, same statements raw", "tx/s", median(ours), median(raw), alone)
    yield Row(f"{what}, least bet raw", "tx/s", median(ours), median(least))
    what = f"{name}: {scale.bettors} bettors"
    yield Row(f"{what}, same statements raw", "tx/s", median(many), median(raw), together)
    yield Row(f"{what}, least bet raw", "tx/s", median(many), median(least))


def record(disk: Path, count: int) -> list[Transaction]:
    """Let one bettor play, and record the statements of each transaction."""
    with room(disk, 1, elapsed=1) as here:
        statements: list[Statement] = []

        @event.listens_for(here.database.engine, "before_cursor_execute")
        def note(
            connection: object, cursor: object, statement: str, parameters: Any, *rest: object
        ) -> None:
            statements.append((statement, parameters))

        def noted(connection: Connection, text: str, values: Any) -> Any:
            statements.append((text, values))
            return run(connection, text, values)

        run = sql._executed
        transactions: list[Transaction] = []
        for _ in range(TRANSACTIONS * count):
            with (
                mock.patch.object(sql, "_executed", noted),
                here.database.transaction(here.settings, NOON) as desk,
            ):
                here.bettors[0].next_operation()(desk)
            transactions.append(statements[1:])  # the first one is BEGIN
            statements.clear()
        return transactions


def same_statements(
    disk: Path, hands: Sequence[Transaction], seconds: float, commit: float
) -> float:
    """Run recorded transactions on tables like those of the recording."""
    with room(disk, 1, elapsed=1) as here:
        here.database.close()
        return _raw(here.settings.database, hands, seconds, commit)


def least_bets(disk: Path, count: int, seconds: float, commit: float) -> float:
    with tempfile.TemporaryDirectory(prefix="bench-", dir=disk) as folder:
        path = Path(folder) / "least.sqlite3"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(LEAST_TABLES)
        return _raw(path, [LEAST_BET] * count, seconds, commit)


def _raw(path: Path, hands: Sequence[Transaction], seconds: float, commit: float) -> float:
    """Transactions a second, one after the other, until the time or the hands are used up."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        run = connection.execute
        began = time.perf_counter()
        done = 0
        for transaction in hands:
            run("BEGIN IMMEDIATE")
            for statement, parameters in transaction:
                run(statement, parameters).fetchone()
            if commit:
                time.sleep(commit)
            run("COMMIT")
            done += 1
            if time.perf_counter() - began > seconds:
                break
        return done / (time.perf_counter() - began)


def fsync_seconds(disk: Path) -> float:
    """The median time that the disk takes to make 4 kB durable."""
    with tempfile.NamedTemporaryFile(prefix="bench-", dir=disk) as file:
        return median([_timed(lambda: _write(file.fileno())) for _ in range(SYNCS)])


def _write(file: int) -> None:
    os.pwrite(file, bytes(4096), 0)
    os.fsync(file)


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
