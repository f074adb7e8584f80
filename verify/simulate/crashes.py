"""Inspections after a crash of everything on the disk below SQLite.

After an honest disk the books are as reported: they have everything reported as done, and nothing
reported as not done. A lying disk may lose data, but only from the end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from timebank.errors import BooksUnavailable
from timebank.ledger.sqlite import high_water
from verify.simulate.below import NOTHING, State, state_of
from verify.simulate.inspection import Inspection
from verify.simulate.world import Screen, World
from verify.simulate.wrong import Wrong, must


class Crashes:
    """Inspects the books left by every crash."""

    def __init__(self, world: World, inspection: Inspection) -> None:
        self.world, self.inspection = world, inspection
        self.possible: set[State] = set()  # states of the books that a crash may leave
        # Other possible states, until a server has made its books durable.
        self.earlier: set[State] = set()
        self.lost_end: int | None = None  # the generation of books that have lost theirs

    def look(self, copy: Path | None, began: float, screens: Sequence[Screen]) -> None:
        """Look at a copy of the books, which may be one of `possible`."""
        world = self.world
        if copy is None:
            must(NOTHING in self.possible, "the books are gone")
            return
        world.watch.open(copy)
        try:
            state = world.visible()
        except sqlite3.DatabaseError as error:
            raise Wrong(f"the books are damaged: {error}") from error
        if state in self.earlier - self.possible:
            world.watch.close()
            self.with_loss(copy, began)
            return
        must(
            state in self.possible,
            "the books are what they were never said to be: other {}",
            " and ".join(_differences(state, possible) for possible in self.possible),
        )
        if state:
            self.inspection.after_kill(began, screens, copy)
        world.watch.close()

    def look_after_a_lie(self, copy: Path | None, began: float, *, in_order: bool) -> None:
        """Inspect a copy of the books after a possible loss of the end, and go on from there.

        A disk that reordered its cache can leave anything. Then the audit must notice.
        """
        world = self.world
        world.counted["crashes after a lie"] += 1
        if self._is_beyond_repair(copy, "the disk lied", expected=not in_order):
            return
        lost = self.with_loss(copy, began)
        world.tell(f"the disk lied: {lost} transfers are lost")
        world.counted["transfers lost by lies"] += lost

    def with_loss(self, copy: Path | None, began: float) -> int:
        """Go on in books without their end; return the number of lost transfers."""
        world = self.world
        had = len(world.watch.digests)
        if copy is None:
            world.is_over = True
            return had
        world.watch.open(copy)
        with world.watch.reading() as file:
            if state_of(file) == NOTHING:
                world.is_over = True
                return had
            self.lost_end = self._lost_end(file)
            world.post.begins_again(file)
            world.watch = world.watch.begun_again(began, world.monotonic, world.latest_day())
            self.inspection.begins_again(file)
            world.learn_what_is_to_be_mended(file)
        world.watch.close()
        return max(0, had - len(world.watch.digests))

    def _lost_end(self, file: sqlite3.Connection) -> int | None:
        """Return the generation of books that lag behind their note, else None."""
        below = self.world.below
        assert below is not None  # below it something was lost
        (count,) = file.execute("SELECT max(commits) FROM identity").fetchone()
        if high_water.read(below.database) <= (count or 0):
            return None
        return _generation(file)

    def loss_is_noticed(self, file: sqlite3.Connection) -> None:
        """Check that a server of books without their end has begun another generation."""
        before, self.lost_end = self.lost_end, None
        if before is not None:
            is_noticed = _generation(file) > before
            must(is_noticed, "the books have lost their end, and nobody has noticed")
            self.world.counted["lost ends noticed"] += 1

    def forget_what_the_power_took(self, copy: Path | None) -> None:
        """Expect no detection of a loss when the power failure also took the note."""
        world = self.world
        if self.lost_end is None or copy is None:
            return
        world.watch.open(copy)
        with world.watch.reading() as file:
            if self._lost_end(file) is None:
                self.lost_end = None
                world.counted["notes lost with the power"] += 1
        world.watch.close()

    def _is_beyond_repair(self, copy: Path | None, words: str, *, expected: bool) -> bool:
        """Return whether the books are damaged, which ends the story and must be expected."""
        world = self.world
        damage = self._damage(copy)
        if not damage:
            return False
        must(expected, "{}: what is left must be in order, and yet: {}", words, damage)
        world.tell(f"{words}, and the audit finds it: {damage[0]}")
        world.counted["damage found"] += 1
        world.is_over = True
        return True

    def _damage(self, copy: Path | None) -> list[str]:
        """Return the findings of SQLite and the audits."""
        if copy is None:
            return [] if not self.world.watch.last[0] else ["the books are gone"]
        connection = sqlite3.connect(copy, isolation_level=None)
        try:
            rows = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        except sqlite3.DatabaseError as error:
            return [str(error)]
        finally:
            connection.close()
        if rows != ["ok"]:
            return rows
        try:
            return self.inspection.findings(copy)
        except (BooksUnavailable, Wrong) as error:
            return [str(error)]


def _differences(one: State, other: State) -> str:
    """Name the tables that differ between two states."""
    return ", ".join(sorted({name for name, _ in set(one) ^ set(other)}))


def _generation(file: sqlite3.Connection) -> int:
    (number,) = file.execute("SELECT coalesce(max(number), 1) FROM generations").fetchone()
    return int(number)
