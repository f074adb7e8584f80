"""Files of the books that somebody moves, replaces, removes or writes over."""

from __future__ import annotations

import math
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from timebank.errors import LogUnreadable
from timebank.ledger.sqlite import guard, wal

NOTICED = 5.0  # seconds after which nothing is written any more into files that are gone
ENDINGS = ("", "-wal", "-shm")


@dataclass
class Accident:
    """What becomes of the files, at an instant of the monotonic clock.

    `put_right` is what the sysop does when every process is dead, some seconds later; `may_lose`
    says that the end of the books is gone when nobody could notice by then, `may_lose_all` that
    all of them are; `loses_end` that it may be gone however soon somebody notices. `may_damage`
    tells, asked before anything is lost, whether what is left without its end is no books at all.
    """

    words: str
    since: float
    happens: Callable[[], None]
    put_right: Callable[[], None]
    may_damage: Callable[[], bool]
    may_lose: bool = False
    may_lose_all: bool = False
    loses_end: bool = False
    is_damage: bool = False  # whether it may have damaged the books
    lasted: float = 0.0
    written: list[float] = field(default_factory=list)  # seconds later: what was told as done

    def begin(self) -> None:
        """Let it happen."""
        self.is_damage = self.may_damage()
        self.happens()

    def end(self) -> None:
        """Put it right, once all are dead."""
        self.is_damage |= self.may_damage()
        self.put_right()


def some_accident(chance: random.Random, database: Path, now: float) -> Accident:
    """Choose what becomes of the files of a database."""
    return chance.choice(_accidents(_Files(database), now))


class _Files:
    """The files of a database, and what happens to them."""

    def __init__(self, database: Path) -> None:
        self.database = database
        self.log = _with(database, "-wal")
        self.kept = database.with_name("kept")
        self.folder = database.parent
        self.aside = self.folder.with_name(self.folder.name + ".moved")

    def move_folder(self) -> None:
        self.folder.rename(self.aside)

    def move_folder_back(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.aside.rename(self.folder)

    def replace(self) -> None:
        copy = self.database.with_name("copy")
        shutil.copyfile(self.database, copy)
        self.database.rename(self.kept)
        copy.rename(self.database)

    def write_over(self) -> None:
        _back_up(self.database, self.kept)
        _fill(self.database, self.kept.read_bytes())

    def cut_off_the_database(self) -> None:
        _back_up(self.database, self.kept)
        os.truncate(self.database, 0)

    def cut_off_the_log(self) -> None:
        os.truncate(self.log, 0)

    def remove_log(self) -> None:
        _remove_log(self.database)

    def remove_books(self) -> None:
        for ending in ENDINGS:
            _with(self.database, ending).unlink(missing_ok=True)

    def take_copy(self) -> None:
        """Put back what was rescued, else the copy; no log of other books may stay beside it."""
        _forget(self.database)
        if not _take_rescued(self.database):
            self.remove_log()
            _fill(self.database, self.kept.read_bytes())
        self.kept.unlink()

    def take_what_is_left(self) -> None:
        _forget(self.database)
        if not _take_rescued(self.database):
            self.remove_log()

    def take_rescued(self) -> None:
        _take_rescued(self.database)

    def take_back(self) -> None:
        """Put the books back that were moved aside, and not what was rescued of them."""
        self.kept.replace(self.database)
        for rescued in _rescued(self.database):
            rescued.unlink()

    def is_half_carried(self) -> bool:
        """Tell whether the database is nothing without its log: some of that is in it, not all."""
        try:
            state = wal.state(_with(self.database, "-shm").read_bytes()[: wal.STATE_BYTES])
        except (OSError, LogUnreadable):
            return False
        return not state.is_at_rest or 0 < state.carried_over.frames < state.frames


def _accidents(files: _Files, now: float) -> tuple[Accident, ...]:
    accident = partial(Accident, since=now, may_damage=files.is_half_carried)
    return (
        accident(
            "the folder of the books is renamed",
            happens=files.move_folder,
            put_right=files.move_folder_back,
        ),
        accident(
            "a copy is moved over the books", happens=files.replace, put_right=files.take_back
        ),
        accident(
            "the log of the books is removed",
            happens=files.log.unlink,
            put_right=files.take_rescued,
            may_lose=True,
        ),
        accident(
            "the books are removed",
            happens=files.remove_books,
            put_right=files.take_rescued,
            may_lose=True,
            may_lose_all=True,
        ),
        accident(
            "a copy is written over the books",
            happens=files.write_over,
            put_right=files.take_copy,
            loses_end=True,
        ),
        accident(
            "the database is cut off",
            happens=files.cut_off_the_database,
            put_right=files.take_copy,
            loses_end=True,
        ),
        accident(
            "the log of the books is cut off",
            happens=files.cut_off_the_log,
            put_right=files.take_what_is_left,
            loses_end=True,
        ),
        accident(
            "the log of the books is removed when all are dead",
            since=math.inf,  # until then the board may write
            happens=lambda: None,
            put_right=files.remove_log,
            loses_end=True,
        ),
    )


def _back_up(database: Path, copy: Path) -> None:
    """Take a backup while the board serves."""
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)


def _fill(file: Path, content: bytes) -> None:
    """Write over a file that stays the same one, as `cp` does."""
    with file.open("wb") as target:
        target.write(content)


def _remove_log(database: Path) -> None:
    for ending in ENDINGS[1:]:
        _with(database, ending).unlink(missing_ok=True)


def _forget(database: Path) -> None:
    """Let go of what the dead had open, as the system does, and of the word that they left."""
    guard.let_go()
    guard.overwritten_beside(database).unlink(missing_ok=True)


def _take_rescued(database: Path) -> bool:
    """Put in the place of the books what the board has rescued of them, where it had to."""
    rescued = _rescued(database)
    is_rescued = bool(rescued)
    if is_rescued:
        for ending in ENDINGS:
            _with(database, ending).unlink(missing_ok=True)
        rescued.pop().rename(database)
    for older in rescued:
        older.unlink()
    return is_rescued


def _rescued(database: Path) -> list[Path]:
    return sorted(database.parent.glob(f"{database.name}.rescued-*"))


def _with(database: Path, ending: str) -> Path:
    return database.with_name(database.name + ending)
