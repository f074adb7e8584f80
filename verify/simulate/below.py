"""Troubles of the disk below SQLite in a story, and the possible books after them.

Writes fail, short or whole (ENOSPC, EIO). An fsync fails as on Linux. The disk lies, and reports
data in its cache as durable. All processes die in the middle of an operation, killed or by a power
failure. `platter` decides what the power failure takes.
"""

from __future__ import annotations

import errno
import hashlib
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from verify.simulate.platter import Platter

MOST_OPERATIONS = 30  # of the disk, within which a COMMIT is cut off
ENDINGS = ("", "-wal", "-journal")  # of the files that the books are in

State = tuple[tuple[str, str], ...]  # of the books: each table with a digest of its rows
NOTHING: State = ()  # no books, or no tables


@dataclass(frozen=True)
class Trouble:
    """A temporary trouble of the disk; `control` has the details."""

    words: str
    control: dict[str, int] = field(default_factory=dict)
    next_dies: bool = False  # whether the next process to commit after a failed COMMIT dies
    takes_power: bool = False  # should anybody die of it
    lies: bool = False
    in_order: bool = True


def some_trouble(chance: random.Random) -> Trouble:
    """Choose a trouble of the disk."""
    often = chance.choice((1000, 300, 40))
    fails = {"writes_fail": often}
    syncs = chance.choice(({"sync_fails_in": chance.randint(1, 8)}, {"syncs_fail": 300}))
    way = chance.choice(("", "then who commits next dies", "then somebody dies soon"))
    soon = {"dies_later": chance.choice((1, 1, 2, 3, 4, 12))} if way.endswith("soon") else {}
    power = chance.random() < 0.5
    sync = Trouble(
        f"fails in an fsync: {syncs | soon} {way}", syncs | soon, way.endswith("next dies"), power
    )
    return chance.choice(
        (
            Trouble(f"is full, for {often} of 1000 writes", fails | {"write_errno": errno.ENOSPC}),
            Trouble(f"fails in {often} of 1000 writes", fails | {"write_errno": errno.EIO}),
            sync,
            sync,
            Trouble("lies in every fsync, in order", {"syncs_lie": 1}, lies=True),
            Trouble("lies in every fsync", {"syncs_lie": 1}, lies=True, in_order=False),
        )
    )


class Below:
    """The disk below SQLite, as the machine of a story has it."""

    def __init__(self, platter: Platter, folder: Path, database: Path, eyes: Path) -> None:
        """Begin with a folder; copies of the books are inspected in `eyes`, next to it."""
        self.platter, self.control = platter, platter.control
        self.folder, self.database, self.eyes = folder, database, eyes
        self.trouble: Trouble | None = None
        self.kept_order = True  # in all that it has lied about
        self.next_dies = False  # whether the next process to commit dies
        self.loses_power = False  # whether the next death is a power failure
        self.now = NOTHING  # the state of the books at the last look without processes
        self.tracks = False  # whether `now` follows the commits
        self.under_way: State | None = None  # the state that a COMMIT would make, or has made
        # The possible results of failed COMMITs, until they are reported as not done.
        self.doubts: dict[object, State] = {}
        self._syncs = 0  # before a COMMIT
        self._failed = 0  # fsyncs, when that was last asked

    # Trouble.

    @property
    def is_well(self) -> bool:
        """Whether all operations are honest; a lie is invisible."""
        return self.trouble is None or self.trouble.lies

    def has_failed(self) -> bool:
        """Whether an fsync has failed since this was asked; some open files hear of it late."""
        before, self._failed = self._failed, self.control.failed_syncs
        return self._failed > before

    def fail(self, trouble: Trouble) -> None:
        self.mend()
        self.trouble = trouble
        self.loses_power |= trouble.takes_power
        if trouble.lies:
            self.kept_order = trouble.in_order and (self.kept_order or not self.control.lied)
        elif self.control.lied:  # a failed fsync may lose the data it lied about
            self.kept_order = False
        for name, value in trouble.control.items():
            setattr(self.control, name, value)

    def mend(self) -> None:
        self.trouble = None
        for name in ("writes_fail", "syncs_fail", "sync_fails_in", "dies_later", "syncs_lie"):
            setattr(self.control, name, 0)

    @property
    def has_lied(self) -> bool:
        """Whether data reported as durable is not on the disk."""
        return bool(self.control.lied)

    # Commits.

    @property
    def _watches_commits(self) -> bool:
        return bool(self.tracks or self.control.dies_in or not self.is_well)

    def begins_to_commit(self, connection: sqlite3.Connection) -> None:
        """Note what the books would become, while that may matter."""
        self.under_way = state_of(connection) if self._watches_commits else None
        self._syncs = self.control.syncs

    def has_committed(self) -> None:
        """Record a successful COMMIT; one with writes has settled every doubt."""
        if self.tracks and self.under_way is not None:
            self.now = self.under_way
        self.under_way = None
        if self.control.syncs > self._syncs:
            self.doubts.clear()

    def has_failed_to_commit(self, owner: object) -> None:
        """Record a failed COMMIT, whose owner will report the outcome."""
        if self.under_way is not None:
            self.doubts[owner] = self.under_way
        self.under_way = None
        self.next_dies = self.trouble is not None and self.trouble.next_dies

    def is_refused(self, owner: object) -> None:
        """Record that the failed COMMIT was reported as not done."""
        self.doubts.pop(owner, None)

    def possible(self, visible: State) -> set[State]:
        """Return the possible books after a crash, from the `visible` ones before it."""
        return {visible, *self.doubts.values()} | ({self.under_way} if self.under_way else set())

    # Crashes.

    def begins_alone(self) -> None:
        """Follow the commits of a server that starts in books no other process has open."""
        self.now = self.state()
        self.tracks = True

    def lives_on(self) -> None:
        """Cancel any planned death."""
        self.loses_power = self.next_dies = False
        self.control.dies_in = self.control.dies_later = 0

    def one_has_died(self) -> None:
        """Record that one process died and the others go on: nothing uncommitted of it is left."""
        self.lives_again()
        self.under_way = None

    def crash(self, chance: random.Random) -> str:
        """Cut the power, or kill the processes alone; bury all. Return a description."""
        lost, self.loses_power = self.loses_power, False
        self.mend()
        if lost:
            self.platter.lose_power(in_order=self.kept_order)
            self._garble_memory(chance)
            self.kept_order = True
        elif chance.random() < 0.5 and not self.has_lied:  # else more is lost than a crash can cost
            self.platter.evict()
        self.lives_again()
        self.under_way = None
        self.doubts.clear()
        return "the power is lost" if lost else "every process is killed"

    def lives_again(self) -> None:
        """Allow processes to write again."""
        self.control.frozen = self.control.has_died = self.control.dies_in = 0
        self.next_dies = False

    def _garble_memory(self, chance: random.Random) -> None:
        """The file of shared memory may be left, with anything in it."""
        memory = self.database.with_name(self.database.name + "-shm")
        if memory.exists():
            with self.platter.durable(2):
                if chance.random() < 0.5:
                    memory.unlink()
                else:
                    memory.write_bytes(chance.randbytes(memory.stat().st_size))

    # Looking.

    def copied(self) -> Path | None:
        """Copy the books to inspect them there; return None if there are none."""
        shutil.rmtree(self.eyes, ignore_errors=True)
        self.eyes.mkdir()
        for ending in ENDINGS:
            file = self.database.with_name(self.database.name + ending)
            if file.exists():
                shutil.copyfile(file, self.eyes / file.name)
        copy = self.eyes / self.database.name
        return copy if copy.exists() and copy.stat().st_size else None

    def state(self) -> State:
        """Return the state of books that no process has open."""
        copy = self.copied()
        if copy is None:
            return NOTHING
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            return state_of(connection)


def state_of(connection: sqlite3.Connection) -> State:
    """Digest everything that a connection sees in the books."""
    read: Callable[[str], sqlite3.Cursor] = sqlite3.Cursor(connection).execute
    names = [name for (name,) in read(TABLES)]
    rows = ((name, read(LONG.get(name, f"SELECT * FROM {name}")).fetchall()) for name in names)
    return tuple((name, hashlib.sha1(repr(content).encode()).hexdigest()) for name, content in rows)


TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
# Append-only tables, where each row seals those before it or is counted by others.
LONG = {
    "transfers": "SELECT id, digest FROM transfers ORDER BY id DESC LIMIT 1",
    "actions": "SELECT count(*), max(round_id), sum(cards_used) FROM actions",
}
