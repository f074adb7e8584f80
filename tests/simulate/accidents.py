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
from pathlib import Path

from timebank import guard

NOTICED = 5.0  # seconds after which nothing is written any more into files that are gone
ENDINGS = ("", "-wal", "-shm")


@dataclass
class Accident:
    """What has become of the files, since an instant of the monotonic clock.

    `put_right` is what the sysop does when every process is dead, some seconds later; `may_lose`
    says that the end of the books is gone when nobody could notice by then, `may_lose_all` that
    all of them are; `loses_end` that it may be gone however soon somebody notices.
    """

    words: str
    since: float
    happens: Callable[[], None]
    put_right: Callable[[], None]
    may_lose: bool = False
    may_lose_all: bool = False
    loses_end: bool = False
    lasted: float = 0.0
    written: list[float] = field(default_factory=list)  # seconds later: what was told as done


def some_accident(chance: random.Random, database: Path, now: float) -> Accident:
    """Choose what becomes of the files of a database."""
    folder = database.parent
    aside = folder.with_name(folder.name + ".moved")
    kept = database.with_name("kept")
    log = _with(database, "-wal")

    def move_folder() -> None:
        folder.rename(aside)

    def move_folder_back() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        aside.rename(folder)

    def replace() -> None:
        copy = database.with_name("copy")
        shutil.copyfile(database, copy)
        database.rename(kept)
        copy.rename(database)

    def write_over() -> None:
        _back_up(database, kept)
        _fill(database, kept.read_bytes())

    def cut_off_the_database() -> None:
        _back_up(database, kept)
        os.truncate(database, 0)

    def cut_off_the_log() -> None:
        os.truncate(log, 0)

    def take_copy() -> None:
        """Put back what was rescued, else the copy; no log of other books may stay beside it."""
        _forget(database)
        if not _take_rescued(database):
            _remove_log(database)
            _fill(database, kept.read_bytes())
        kept.unlink()

    def take_what_is_left() -> None:
        _forget(database)
        if not _take_rescued(database):
            _remove_log(database)

    def put_rescued_back() -> None:
        _take_rescued(database)

    def remove_books() -> None:
        for ending in ENDINGS:
            _with(database, ending).unlink(missing_ok=True)

    return chance.choice(
        (
            Accident("the folder of the books is renamed", now, move_folder, move_folder_back),
            Accident("a copy is moved over the books", now, replace, lambda: _back(kept, database)),
            Accident(
                "the log of the books is removed",
                now,
                log.unlink,
                put_rescued_back,
                may_lose=True,
            ),
            Accident(
                "the books are removed",
                now,
                remove_books,
                put_rescued_back,
                may_lose=True,
                may_lose_all=True,
            ),
            Accident(
                "a copy is written over the books", now, write_over, take_copy, loses_end=True
            ),
            Accident(
                "the database is cut off", now, cut_off_the_database, take_copy, loses_end=True
            ),
            Accident(
                "the log of the books is cut off",
                now,
                cut_off_the_log,
                take_what_is_left,
                loses_end=True,
            ),
            Accident(
                "the log of the books is removed when all are dead",
                math.inf,  # until then the board may write
                lambda: None,
                lambda: _remove_log(database),
                loses_end=True,
            ),
        )
    )


def _back(kept: Path, database: Path) -> None:
    """Put the books back that were moved aside, and not what was rescued of them."""
    kept.replace(database)
    for rescued in _rescued(database):
        rescued.unlink()


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
