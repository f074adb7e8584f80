"""Files of the books that somebody moves, replaces or removes while the board serves."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

NOTICED = 5.0  # seconds after which nothing is written any more into files that are gone
ENDINGS = ("", "-wal", "-shm")


@dataclass
class Accident:
    """What has become of the files, since an instant of the monotonic clock.

    `put_right` is what the sysop does when every process is dead, some seconds later; `may_lose`
    says that the end of the books is gone when nobody could notice by then, `may_lose_all` that
    all of them are.
    """

    words: str
    since: float
    happens: Callable[[], None]
    put_right: Callable[[], None]
    may_lose: bool = False
    may_lose_all: bool = False
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
                lambda: _take_rescued(database),
                may_lose=True,
            ),
            Accident(
                "the books are removed",
                now,
                remove_books,
                lambda: _take_rescued(database),
                may_lose=True,
                may_lose_all=True,
            ),
        )
    )


def _back(kept: Path, database: Path) -> None:
    """Put the books back that were moved aside, and not what was rescued of them."""
    kept.replace(database)
    for rescued in _rescued(database):
        rescued.unlink()


def _take_rescued(database: Path) -> None:
    """Put in the place of the books what the board has rescued of them, where it had to."""
    rescued = _rescued(database)
    if rescued:
        for ending in ENDINGS:
            _with(database, ending).unlink(missing_ok=True)
        rescued.pop().rename(database)
    for older in rescued:
        older.unlink()


def _rescued(database: Path) -> list[Path]:
    return sorted(database.parent.glob(f"{database.name}.rescued-*"))


def _with(database: Path, ending: str) -> Path:
    return database.with_name(database.name + ending)
