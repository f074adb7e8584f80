"""One run: machines, faults one after the other, and the books held against what was told."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from sqlalchemy import select

from door.clock import SystemClock
from timebank.audit import accounts as accounts_audit
from timebank.callers import sysop_log
from timebank.ledger.database import Desk
from timebank.ledger.engines import books_of
from timebank.ledger.schema import accounts, transfers
from verify.machines import checker, history
from verify.machines.boards import Boards
from verify.machines.databases import Databases
from verify.machines.faults import FAULTS, FAULTS_OF_BOARDS
from verify.machines.history import FAILED, OK, Books, Operation, Row
from verify.machines.networks import CannotBeDone, Network, inside
from verify.machines.result import Result
from verify.machines.worker import BY, settings_of
from verify.machines.world import FIRST, Tell, World

EVERY_FAULT = {**FAULTS, **FAULTS_OF_BOARDS}


def run(
    seed: int,
    names: Sequence[str],
    quiet: float,
    tell: Tell,
    *,
    lie: str = "",
    boards: bool = False,
    keep: bool = False,
) -> Result:
    """Play these faults, with `quiet` seconds of work around each; nothing is left behind.

    With `boards` the servers are real boards, and robots call them. The folder of a run in which
    something was wrong is kept, and named; with `keep`, of any.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"bjft-machines-{os.getpid()}-", dir="/var/tmp"))
    folder.chmod(0o755)
    result = Result()
    network = Network()
    databases = Databases(network, folder)
    books = folder / "books"
    world = (
        Boards(databases, books, seed, tell) if boards else World(databases, books, seed, tell, lie)
    )
    try:
        began = time.monotonic()
        network.open()
        databases.open()
        world.open()
        tell(f"all machines run: {time.monotonic() - began:.0f} s")
        _play(world, names, quiet, result)
    except CannotBeDone as failure:
        result.wrong.append(f"seed {seed}: {failure}")
    finally:
        world.close()
        databases.close()
        network.close()
        if result.wrong or keep:
            tell(f"What was written down is in {folder}.")
        else:
            shutil.rmtree(folder)
    return result


def _play(world: World, names: Sequence[str], quiet: float, result: Result) -> None:
    time.sleep(quiet)
    for name in names:
        before = world.acknowledged()
        did = EVERY_FAULT[name](world)
        mended = world.mend()
        time.sleep(quiet)
        done = world.acknowledged() - before
        result.faults.append(f"{name}: {did}")
        world.tell(f"{name}: {did}; well again in {mended:.0f} s; {done} done meanwhile")
    finish(world, result)


def finish(world: World, result: Result) -> None:
    """Let nobody ask any more, and hold the books against what was told.

    Raises `CannotBeDone` when a process of the bank has failed.
    """
    world.stop_asking()
    if isinstance(world, Boards):
        inside(world.network.namespace(FIRST), lambda: world.compare(result))
        return
    operations = history.read(world.histories())
    books, units, audited = inside(
        world.network.namespace(FIRST), lambda: left(world.url, world.folder)
    )
    result.wrong += audited
    result.wrong += checker.check(operations, books, units)
    _count(operations, books, result, world.stopped)


def left(url: str, folder: Path) -> tuple[Books, dict[int, str], list[str]]:
    """Read what is in the books at the end: for the checker, and by the audit."""
    settings = settings_of(url, folder)
    database = books_of(settings)
    try:
        with database.reading(settings, SystemClock().now()) as desk:
            found = [str(finding) for finding in accounts_audit.audit(desk)]
            return _read(desk), _units(desk), found
    finally:
        database.close()


def _units(desk: Desk) -> dict[int, str]:
    chosen = select(accounts.c.id, accounts.c.unit)
    return {row.id: row.unit for row in desk.connection.execute(chosen)}


def _read(desk: Desk) -> Books:
    own = transfers.c
    rows = desk.connection.execute(
        select(own.id, own.source, own.target, own.amount, own.digest).order_by(own.id)
    )
    balances = desk.connection.execute(select(accounts.c.id, accounts.c.balance))
    marks = (
        entry.what.split() for entry in sysop_log.entries(desk, None, 1 << 40) if entry.by == BY
    )
    return Books(
        [Row(*row) for row in rows],
        {row.id: row.balance for row in balances},
        [(key, int(first), int(last)) for key, first, last in marks],
    )


def _count(
    operations: list[Operation],
    books: Books,
    result: Result,
    stopped: Sequence[tuple[str, float, float]],
) -> None:
    there = {key for key, _, _ in books.marks}
    counted = result.counted
    for operation in operations:
        if operation.outcome == OK:
            counted["reads" if operation.is_read else "done"] += 1
        elif operation.outcome == FAILED:
            counted["not done"] += 1
        else:
            counted["unknown"] += 1
            counted["unknown, and there"] += operation.key in there
    counted["transfers"] += len(books.rows)
    for operation in operations:
        if operation.answered:
            asked, answered = operation.asked / 1e9, operation.answered / 1e9
            # Who stands still waits for nobody.
            still = sum(
                max(0.0, min(answered, until) - max(asked, since))
                for machine, since, until in stopped
                if operation.key.startswith(f"{machine}-")
            )
            result.waited(operation.key, answered - asked - still)
    answers = sorted(each.answered for each in operations if each.answered and each.outcome == OK)
    gaps = [(after - before) / 1e9 for before, after in pairwise(answers)]
    result.longest_silence = max(gaps, default=0.0)
