"""Backups in a story, restored later: by the command, or by hand with `cp`.

All watchers of the books return to the moment of the backup. The books forget the time between,
but the world does not: seals and seeds were shown, records were read, hosts got minutes. So it is
recorded here, and must never be repeated.
"""

from __future__ import annotations

import copy
import json
import random
import shutil
import sqlite3
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from timebank.calls.calls import LEASE_SECONDS
from timebank.errors import BackupRefused
from timebank.keeping import backup
from timebank.ledger.generations import NUMBERED
from timebank.ledger.schema import stamp
from timebank.ledger.sqlite import high_water, live_mark
from verify.simulate.hosts import Guest
from verify.simulate.inspection import Inspection
from verify.simulate.second_account import CLAIMS
from verify.simulate.world import World
from verify.simulate.wrong import must

# A Watch's facts about the books; all return with them.
WATCHED = (
    *("last", "balances", "on_table", "grants", "granted", "elapsed", "calls", "counts"),
    *("open_rounds", "last_round", "second", "digests"),
)
BY_COMMAND, BY_HAND, ELSEWHERE = "timebank restore", "cp", "cp, on another machine"
NUMBER = {"given_back": "number"}  # of the tables with a number not named id


@dataclass(frozen=True)
class Backup:
    """A backup, and the known facts at its time."""

    path: Path
    file: Path  # the same, for plain SQL
    step: int
    watched: dict[str, Any]
    came: set[int]
    settled: dict[Guest, int]

    @property
    def knew(self) -> tuple[int]:
        """The last transfer that is in it."""
        number: int = self.watched["last"][0]
        return (number,)


@dataclass(frozen=True)
class Gone:
    """The facts in the replaced books, which the world has seen."""

    seals: set[str]
    numbers: dict[str, int]
    arrived: dict[int, bool]  # gifts by number: whether the host has them


class Restores:
    """The backups of one story, and the results of their restores."""

    def __init__(self, world: World, inspection: Inspection) -> None:
        self.world, self.inspection = world, inspection
        # Separate chance, so that the story is unchanged until a restore.
        self.chance = random.Random(f"restores of {world.seed}")
        self.kept: list[Backup] = []
        self.gone: Gone | None = None
        self.last: Backup | None = None  # the last restored one
        self._next_backup = self.chance.randint(40, 120)
        self._next_restore = self._next_backup + self.chance.randint(40, 120)
        self.has_restored = False  # since the books were last looked at
        self._is_elsewhere = False  # the last one was put back there
        self._generations = {1}  # all that existed

    @property
    def _copies(self) -> ModuleType:
        """Returns the copier for this kind of books."""
        if self.world.server is None:
            return backup
        from timebank.keeping import dumps  # an extra reaches the server

        return dumps

    @property
    def is_backup_due(self) -> bool:
        return self.world.number >= self._next_backup

    @property
    def is_restore_due(self) -> bool:
        return self.world.number >= self._next_restore and bool(self.kept)

    def take(self) -> None:
        """Take a backup, as `timebank backup` does during service."""
        world = self.world
        self._next_backup = world.number + self.chance.randint(60, 300)
        path = world.folder / f"backup-{world.number}"
        database = world.bare_books()
        try:
            self._copies.back_up(database, world.config.bank, world.now(), path)
            file = world.watch.file_of(database, path)
        except BackupRefused as refused:
            world.tell(f"which is refused: {refused}")
            return
        finally:
            database.close()
        watched = {name: copy.deepcopy(getattr(world.watch, name)) for name in WATCHED}
        came, settled = set(world.post.came), dict(world.settled)
        self.kept = [*self.kept[-2:], Backup(path, file, world.number, watched, came, settled)]

    def put_back(self) -> None:
        """Put one of the backups in the place of the books, while the board is down."""
        world = self.world
        self._next_restore = world.number + self.chance.randint(80, 400)
        kept, way = self.chance.choice(self.kept), self.chance.choice((BY_COMMAND, BY_HAND))
        if way == BY_HAND and self.chance.random() < 0.3:
            way = ELSEWHERE
        path = world.loaded.database
        self._remember()
        if way == ELSEWHERE and self._has_outrun_the_time():
            way = BY_HAND
        if world.server is not None:
            way = BY_COMMAND  # no file can be put in the place of books on a server
            self._put_back_on_the_server(kept)
        elif way == BY_COMMAND:
            backup.restore(kept.path, world.loaded.bank, world.now())
        world.tell(f"the books of step {kept.step} are put back: {way}")
        world.counted[f"_restored by {way}"] += 1
        self._is_elsewhere = way == ELSEWHERE
        # After a power failure, a sysop who has copied by hand checks the copy.
        below = world.below
        with nullcontext() if below is None else below.platter.durable(2):
            if way != BY_COMMAND:
                for ending in ("", "-wal", "-shm"):
                    path.with_name(path.name + ending).unlink(missing_ok=True)
                shutil.copy(kept.path, path)
            if self._is_elsewhere:
                for mark in (live_mark.file_path(path), high_water.file_path(path)):
                    mark.unlink(missing_ok=True)
        self._go_back_to(kept)

    def _put_back_on_the_server(self, kept: Backup) -> None:
        """Restore by the command, as soon as no caller is on line."""
        world = self.world
        while True:
            world.watch.lets_go()
            try:
                self._copies.restore(kept.path, world.loaded.bank, world.now())
            except BackupRefused as refused:  # the lease of a killed process runs on
                world.tell(f"`timebank restore` is refused: {refused}")
                must("On a call just now" in str(refused), "the restore is refused: {}", refused)
                world.monotonic += LEASE_SECONDS
            else:
                return

    def _remember(self) -> None:
        """Read the facts of the books to be replaced."""
        before, watch = self.gone, self.world.watch
        watch.refresh()
        with closing(sqlite3.connect(watch.path)) as file:
            seals = {seal for (seal,) in file.execute("SELECT seal FROM shoes")}
            numbers = {}
            for table in NUMBERED:
                (highest,) = file.execute(
                    f"SELECT coalesce(max({NUMBER.get(table, 'id')}), 0) FROM {table}"
                ).fetchone()
                numbers[table] = max(highest, before.numbers[table] if before else 0)
            arrived = {
                number: state == "written" or self.world.written.get(claim, False)
                for number, state, claim in file.execute(
                    "SELECT number, state, claim FROM given_back"
                )
            }
        if before is not None:
            seals |= before.seals
            arrived = {**before.arrived, **arrived}
        self.gone = Gone(seals, numbers, arrived)

    def _has_outrun_the_time(self) -> bool:
        """Return whether a restore has passed over more numbers than an old copy can expect.

        A restore passes over 100 numbers a second since its copy. A clock that ran ahead then has
        made this too many, and only the marks next to the books tell a later restore.
        """
        with closing(sqlite3.connect(self.world.watch.path)) as file:
            (latest,) = file.execute("SELECT max(at) FROM generations").fetchone()
        return latest is not None and latest > stamp(self.world.now())

    def _go_back_to(self, kept: Backup) -> None:
        """Reset all watchers of the books to their earlier facts."""
        world = self.world
        for name, was in kept.watched.items():
            setattr(world.watch, name, copy.deepcopy(was))
        self.inspection.forget()
        world.post.go_back_to(kept.came)
        world.settled.clear()
        world.settled.update(kept.settled)
        with closing(sqlite3.connect(kept.file)) as file:
            world.watch.pass_over_known_shoes(file)
            world.learn_what_is_to_be_mended(file)
            for guest in world.guests:
                guest.given = self._known_to_be_given(file, guest)
        world.back.clear()
        self.last, self.has_restored = kept, True

    def _known_to_be_given(self, file: sqlite3.Connection, guest: Guest) -> int:
        """Count the minutes that a host has read and that the restored books know of."""
        world = self.world
        row = file.execute(
            "SELECT id FROM callers WHERE board = ? AND board_key = ?", (guest.board, guest.key)
        ).fetchone()
        arrived = world.settled[guest]
        for token, _, minutes in file.execute(CLAIMS, row or (0,)):
            arrived += minutes if world.written.get(token, False) else 0
        return arrived

    def has_arrived(self, number: int) -> bool:
        """Return whether the host has an unclaimed gift in doubt.

        A gift doubted by a restore itself was made before, in the books that are gone.
        """
        if self.gone is None:
            return False
        return self.gone.arrived.get(number, number > self.gone.numbers["given_back"])

    # Invariants.

    def look(self, file: sqlite3.Connection) -> None:
        """Check that nothing from before the last restore is repeated."""
        if self.last is None or self.gone is None:
            return
        row = file.execute(
            "SELECT numbers FROM generations WHERE first > ? ORDER BY number DESC", self.last.knew
        ).fetchone()
        must(row is not None, "a copy was put back, and nobody has noticed")
        firsts = json.loads(row[0])
        for table, first in firsts.items():
            gone = self.gone.numbers[table]
            must(first > gone, "{} go on from {}, and there was {}", table, first, gone)
            number = NUMBER.get(table, "id")
            (count,) = file.execute(
                f"SELECT count(*) FROM {table} WHERE {number} BETWEEN ? AND ?",
                (self._known(table) + 1, gone),
            ).fetchone()
            must(not count, "{} numbers of {} are given again", count, table)
        dealt = file.execute(DEALT, (firsts["rounds"],))
        for number, seal in dealt:
            must(seal not in self.gone.seals, "hand {} is of a shoe that was seen", number)
        if self.has_restored:
            self._callers_are_told(file, firsts["callers"])
            self.has_restored = False

    def _known(self, table: str) -> int:
        """The last number of a table that the backup knew."""
        assert self.last is not None  # asked after a restore
        with closing(sqlite3.connect(self.last.file)) as file:
            given = dict(file.execute("SELECT name, seq FROM sqlite_sequence"))
        first_free: int = given.get(table, 0)
        return first_free

    def _callers_are_told(self, file: sqlite3.Connection, first: int) -> None:
        """Check that every caller gets the notice, and a second one for a void hand."""
        assert self.gone is not None  # asked after a restore
        (generation,) = file.execute("SELECT max(number) FROM generations").fetchone()
        if self._is_elsewhere:  # only the backup knows of generations there
            self._generations.clear()
        must(generation not in self._generations, "generation {} comes again", generation)
        self._generations.add(generation)
        for what, sql in (("restored books", UNTOLD), ("a void hand", UNTOLD_OF_HANDS)):
            untold = file.execute(sql, (first,)).fetchall()
            must(not untold, "{} are not told of {}", untold, what)
        (left,) = file.execute(LEFT_OPEN).fetchone()
        must(not left, "{} hands, shoes and chains were left open", left)
        assert self.last is not None  # asked after a restore
        with closing(sqlite3.connect(self.last.file)) as kept:
            known = {seal for (seal,) in kept.execute(OPEN_DEALS)}
        open_now = {seal for (seal,) in file.execute(OPEN_DEALS)}
        must(not known & open_now, "deals were left open: {}", known & open_now)


DEALT = """
SELECT r.id, s.seal FROM rounds r JOIN shoes s ON s.id = r.shoe_id WHERE r.id >= ?
"""
UNTOLD = """
SELECT c.name FROM callers c WHERE c.deleted IS NULL AND c.id < ?
    AND EXISTS (SELECT 1 FROM transfers) AND NOT EXISTS (
    SELECT 1 FROM notices n WHERE n.caller_id = c.id AND n.text LIKE '%The books of this board%'
        AND n.at >= (SELECT at FROM generations ORDER BY number DESC LIMIT 1))
"""
UNTOLD_OF_HANDS = """
SELECT r.id FROM rounds r JOIN generations g ON g.number = (SELECT max(number) FROM generations)
WHERE r.outcome = 'void' AND r.settled >= g.at AND r.caller_id < ? AND NOT EXISTS (
    SELECT 1 FROM notices n WHERE n.caller_id = r.caller_id AND n.at >= g.at
        AND n.text LIKE '%Your open hand at % is void%')
"""
OPEN_DEALS = "SELECT seal FROM deals WHERE closed IS NULL AND seal NOT LIKE 'world/%'"
LEFT_OPEN = """
WITH g AS (SELECT numbers FROM generations ORDER BY number DESC LIMIT 1)
SELECT (SELECT count(*) FROM shoes, g WHERE closed IS NULL AND id < g.numbers ->> 'shoes')
    + (SELECT count(*) FROM chains JOIN shoes ON shoes.anchor = chains.anchor, g
        WHERE chains.closed IS NULL AND shoes.id < g.numbers ->> 'shoes')
    + (SELECT count(*) FROM rounds, g WHERE settled IS NULL AND id < g.numbers ->> 'rounds')
"""
