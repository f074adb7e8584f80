"""What befalls the disk below SQLite in a story, and what may be left of the books after it.

Writes fail, short or whole (ENOSPC, EIO); an fsync fails as Linux has it fail; the disk lies, and
says of what is in its cache alone that it is there; and all processes die in the middle of an
operation, killed or because the power is lost. What the power takes `platter` decides.
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

State = tuple[tuple[str, str], ...]  # of the books: each table with a digest of what is in it
NOTHING: State = ()  # no books, or no tables


@dataclass(frozen=True)
class Trouble:
    """Something that is wrong with the disk for a while; `control` says what."""

    words: str
    control: dict[str, int] = field(default_factory=dict)
    next_dies: bool = False  # who commits next after a COMMIT that fails
    takes_power: bool = False  # should anybody die of it
    lies: bool = False
    in_order: bool = True


def some_trouble(chance: random.Random) -> Trouble:
    """Choose what is wrong with the disk."""
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
        """Begin with a folder; copies of the books are looked at in `eyes`, beside it."""
        self.platter, self.control = platter, platter.control
        self.folder, self.database, self.eyes = folder, database, eyes
        self.trouble: Trouble | None = None
        self.kept_order = True  # in all that it has lied about
        self.next_dies = False  # whether who commits next does
        self.loses_power = False  # whether who dies next dies because the power is lost
        self.now = NOTHING  # the state of the books when they were last looked at with nobody there
        self.tracks = False  # whether `now` follows what is committed
        self.under_way: State | None = None  # the state that a COMMIT would make, or has made
        # What COMMITs that failed would have made, as long as nobody was told that they did not.
        self.doubts: dict[object, State] = {}
        self._syncs = 0  # before a COMMIT
        self._failed = 0  # fsyncs, when that was last asked

    # Trouble.

    @property
    def is_well(self) -> bool:
        """Whether all operations do what they say; nobody sees a lie."""
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
        elif self.control.lied:  # what it has lied about may be lost to an fsync that fails
            self.kept_order = False
        for name, value in trouble.control.items():
            setattr(self.control, name, value)

    def mend(self) -> None:
        self.trouble = None
        for name in ("writes_fail", "syncs_fail", "sync_fails_in", "dies_later", "syncs_lie"):
            setattr(self.control, name, 0)

    @property
    def has_lied(self) -> bool:
        """Whether something that was said to be on the disk is not."""
        return bool(self.control.lied)

    # Commits.

    @property
    def _watches_commits(self) -> bool:
        return bool(self.tracks or self.control.dies_in or not self.is_well)

    def begins_to_commit(self, connection: sqlite3.Connection) -> None:
        """Note what the books would be, while that may matter."""
        self.under_way = state_of(connection) if self._watches_commits else None
        self._syncs = self.control.syncs

    def has_committed(self) -> None:
        """A COMMIT was said to have succeeded; if it wrote anything, it has settled every doubt."""
        if self.tracks and self.under_way is not None:
            self.now = self.under_way
        self.under_way = None
        if self.control.syncs > self._syncs:
            self.doubts.clear()

    def has_failed_to_commit(self, owner: object) -> None:
        """A COMMIT has failed, and its owner will say what that means."""
        if self.under_way is not None:
            self.doubts[owner] = self.under_way
        self.under_way = None
        self.next_dies = self.trouble is not None and self.trouble.next_dies

    def is_refused(self, owner: object) -> None:
        """What failed was told of as something that did not happen."""
        self.doubts.pop(owner, None)

    def possible(self, visible: State) -> set[State]:
        """Return what the books may be after a crash, when they were `visible` before it."""
        return {visible, *self.doubts.values()} | ({self.under_way} if self.under_way else set())

    # Crashes.

    def begins_alone(self) -> None:
        """A server starts in books that nobody has open: follow what it commits."""
        self.now = self.state()
        self.tracks = True

    def lives_on(self) -> None:
        """Let nobody die, whatever was planned."""
        self.loses_power = self.next_dies = False
        self.control.dies_in = self.control.dies_later = 0

    def one_has_died(self) -> None:
        """One process is dead, and the others go on: nothing that it did not commit is left."""
        self.lives_again()
        self.under_way = None

    def crash(self, chance: random.Random) -> str:
        """Lose the power, or the processes alone; all are buried. Tell what happened."""
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
        """Let processes write again."""
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
        """Copy the books as they are, to be looked at there; None when there are none."""
        shutil.rmtree(self.eyes, ignore_errors=True)
        self.eyes.mkdir()
        for ending in ENDINGS:
            file = self.database.with_name(self.database.name + ending)
            if file.exists():
                shutil.copyfile(file, self.eyes / file.name)
        copy = self.eyes / self.database.name
        return copy if copy.exists() and copy.stat().st_size else None

    def state(self) -> State:
        """Return the state of the books that nobody has open."""
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
    return tuple((name, hashlib.sha1(repr(found).encode()).hexdigest()) for name, found in rows)


TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
# What is only ever added to, and of which each row seals those before it, or is counted by others.
LONG = {
    "transfers": "SELECT id, digest FROM transfers ORDER BY id DESC LIMIT 1",
    "actions": "SELECT count(*), max(round_id), sum(cards_used) FROM actions",
}
