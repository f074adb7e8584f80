"""What the disk below SQLite must do, checked in a process that was started with it.

`python -m verify.simulate.check_platter` says of each check whether it holds; `test_disk.py` reads
that.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from verify.simulate.platter import Platter

SEEDS = range(1, 33)
OLD, NEW = b"o" * 16384, b"n" * 16384


class Checked:
    """A folder on the disk."""

    def __init__(self, platter: Platter, folder: Path) -> None:
        self.platter, self.folder = platter, folder
        self.file = folder / "file"

    def write(self, content: bytes, file: Path | None = None, *, sync: bool = True) -> None:
        made = os.open(file or self.file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.pwrite(made, content, 0)
            if sync:
                os.fsync(made)
        finally:
            os.close(made)

    def sync_folder(self) -> None:
        opened = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)

    def has_old(self) -> None:
        """Begin with a file that is on the disk, by its name as well."""
        self.write(OLD)
        self.sync_folder()

    def after_power_loss(self, *, in_order: bool = False) -> bytes | None:
        """Return what the file holds then, None when it is not there."""
        self.platter.lose_power(in_order=in_order)
        return self.file.read_bytes() if self.file.exists() else None


@contextmanager
def a_disk(seed: int) -> Iterator[Checked]:
    platter = Platter()
    with tempfile.TemporaryDirectory() as folder:
        platter.begin(Path(folder), Path(folder) / "file", seed)
        try:
            yield Checked(platter, Path(folder))
        finally:
            platter.end()


def outcomes(story: Callable[[Checked], bytes | None]) -> set[bytes | None]:
    """Play something with many seeds, and return what was left each time."""
    found = set()
    for seed in SEEDS:
        with a_disk(seed) as disk:
            found.add(story(disk))
    return found


def what_is_synced_is_there() -> None:
    def story(disk: Checked) -> bytes | None:
        disk.has_old()
        disk.write(NEW)
        return disk.after_power_loss()

    assert outcomes(story) == {NEW}


def what_is_not_synced_may_be_there_or_not_or_in_part() -> None:
    def story(disk: Checked) -> bytes | None:
        disk.has_old()
        disk.write(NEW, sync=False)
        return disk.after_power_loss()

    found = outcomes(story)
    assert {OLD, NEW} < found
    for left in found - {OLD, NEW}:
        assert left is not None
        sectors = {left[at : at + 512] for at in range(0, len(left), 512)}
        assert sectors == {OLD[:512], NEW[:512]}


def a_kill_takes_nothing_back() -> None:
    with a_disk(1) as disk:
        disk.has_old()
        disk.write(NEW, sync=False)
        assert disk.file.read_bytes() == NEW


def an_fsync_fails_once_and_the_pages_are_clean_but_not_there() -> None:
    def story(disk: Checked) -> bytes | None:
        disk.has_old()
        made = os.open(disk.file, os.O_RDWR)
        other = os.open(disk.file, os.O_RDWR)
        os.pwrite(made, NEW, 0)
        disk.platter.control.sync_fails_in = 1
        assert _fails(made)
        assert not _fails(made)
        assert _fails(other)  # each open file is told once
        assert not _fails(other)
        os.close(made)
        os.close(other)
        assert disk.file.read_bytes() == NEW
        return disk.after_power_loss()

    found = outcomes(story)
    assert OLD in found
    assert len(found) > 2


def what_is_adrift_comes_back_when_the_cache_is_dropped() -> None:
    def story(disk: Checked) -> bytes | None:
        disk.has_old()
        disk.platter.control.sync_fails_in = 1
        with suppress(OSError):
            disk.write(NEW)
        disk.platter.evict()
        return disk.file.read_bytes()

    assert OLD in outcomes(story)


def what_is_written_anew_after_a_failed_fsync_is_synced_by_the_next() -> None:
    def story(disk: Checked) -> bytes | None:
        disk.has_old()
        disk.platter.control.sync_fails_in = 1
        with suppress(OSError):
            disk.write(NEW)
        disk.write(NEW)
        return disk.after_power_loss()

    assert outcomes(story) == {NEW}


def a_lie_loses_what_came_last_and_an_honest_fsync_makes_all_true() -> None:
    def story(disk: Checked) -> bytes | None:
        disk.has_old()
        disk.platter.control.syncs_lie = 1
        disk.write(NEW)
        assert disk.platter.control.lied
        return disk.after_power_loss(in_order=True)

    def made_true(disk: Checked) -> bytes | None:
        disk.has_old()
        disk.platter.control.syncs_lie = 1
        disk.write(NEW)
        disk.platter.control.syncs_lie = 0
        disk.write(b"", disk.folder / "another")
        assert not disk.platter.control.lied
        return disk.after_power_loss()

    assert outcomes(story) == {OLD, NEW}
    assert outcomes(made_true) == {NEW}


def names_are_there_when_their_folder_is_synced() -> None:
    def made(disk: Checked) -> bytes | None:
        disk.write(NEW)
        return disk.after_power_loss()

    def replaced(disk: Checked) -> bytes | None:
        disk.has_old()
        disk.write(NEW, disk.folder / "new")
        (disk.folder / "new").replace(disk.file)
        return disk.after_power_loss()

    def removed(disk: Checked) -> bytes | None:
        disk.has_old()
        disk.file.unlink()
        return disk.after_power_loss()

    def removed_and_synced(disk: Checked) -> bytes | None:
        disk.has_old()
        disk.file.unlink()
        disk.sync_folder()
        return disk.after_power_loss()

    assert outcomes(made) == {None, NEW}
    assert outcomes(replaced) == {OLD, NEW}
    assert outcomes(removed) == {OLD, None}
    assert outcomes(removed_and_synced) == {None}


def a_write_finds_no_room_or_some() -> None:
    room = set()
    for seed in SEEDS:
        with a_disk(seed) as disk:
            disk.platter.control.writes_fail = 1000
            disk.platter.control.write_errno = errno.ENOSPC
            made = os.open(disk.file, os.O_RDWR | os.O_CREAT)
            try:
                room.add(os.write(made, NEW) < len(NEW))
            except OSError as error:
                room.add(error.errno)
            os.close(made)
    assert room == {True, errno.ENOSPC}


def nothing_changes_after_a_death_in_the_middle_of_a_write() -> None:
    def story(disk: Checked) -> bytes | None:
        disk.has_old()
        control = disk.platter.control
        control.dies_in = 1
        with suppress(OSError):
            disk.write(NEW)
        assert control.has_died
        with suppress(OSError):
            disk.write(b"later")
        with suppress(OSError):
            disk.file.unlink()
        control.frozen = 0
        return disk.file.read_bytes()

    found = outcomes(story)
    assert len(found) > 2
    for left in found:
        assert left is not None
        assert left.rstrip(b"o") == NEW[: len(left.rstrip(b"o"))]


def only_so_much_is_kept() -> None:
    with a_disk(1) as disk:
        disk.write(NEW * 256)
        assert not disk.platter.pages
        made = os.open(disk.file, os.O_RDWR)
        for _ in range(40):
            for at in range(0, 256 * len(NEW), 4096):
                os.pwrite(made, OLD[:4096], at)
            assert disk.platter.pages <= 32_769
        os.close(made)


def another_machine_needs_no_fsync() -> None:
    def story(disk: Checked) -> bytes | None:
        with disk.platter.durable(2):
            disk.write(NEW, sync=False)
        return disk.after_power_loss()

    assert outcomes(story) == {NEW}


def a_database_holds_what_was_committed() -> None:
    """Whatever the power takes, with `synchronous` FULL; with OFF it may be lost."""
    lost = set()
    for level in ("FULL", "OFF"):
        for seed in SEEDS:
            with a_disk(seed) as disk:
                with closing(sqlite3.connect(disk.file, isolation_level=None)) as connection:
                    connection.execute("PRAGMA journal_mode = WAL")
                    connection.execute(f"PRAGMA synchronous = {level}")
                    connection.execute("CREATE TABLE numbers (number)")
                    for number in range(20):
                        connection.execute("INSERT INTO numbers VALUES (?)", (number,))
                    if seed % 3 == 0:
                        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    if seed % 2:
                        connection.close()
                    with disk.platter.frozen():
                        connection.close()
                disk.platter.lose_power(in_order=False)
                if _count(disk.file) != 20:
                    lost.add(level)
    assert lost == {"OFF"}


def _count(file: Path) -> int:
    reading = closing(sqlite3.connect(file, isolation_level=None))
    with reading as connection, suppress(sqlite3.DatabaseError):
        return int(connection.execute("SELECT count(*) FROM numbers").fetchone()[0])
    return 0


def _fails(file: int) -> bool:
    try:
        os.fsync(file)
    except OSError as error:
        return error.errno == errno.EIO
    return False


CHECKS = (
    what_is_synced_is_there,
    what_is_not_synced_may_be_there_or_not_or_in_part,
    a_kill_takes_nothing_back,
    an_fsync_fails_once_and_the_pages_are_clean_but_not_there,
    what_is_adrift_comes_back_when_the_cache_is_dropped,
    what_is_written_anew_after_a_failed_fsync_is_synced_by_the_next,
    a_lie_loses_what_came_last_and_an_honest_fsync_makes_all_true,
    names_are_there_when_their_folder_is_synced,
    a_write_finds_no_room_or_some,
    nothing_changes_after_a_death_in_the_middle_of_a_write,
    only_so_much_is_kept,
    another_machine_needs_no_fsync,
    a_database_holds_what_was_committed,
)


def main() -> int:
    failed = 0
    for check in CHECKS:
        try:
            check()
        except Exception:
            failed += 1
            print(f"{check.__name__}: fails\n{traceback.format_exc()}", flush=True)
        else:
            print(f"{check.__name__}: holds", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
