"""Backups are true and whole, also while the board serves; a restore replaces all or nothing."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from tests.timebank import next_version
from tests.timebank.books import Books
from timebank import serving
from timebank.errors import BackupRefused
from timebank.keeping import backup, last_runs
from timebank.ledger import migrations
from timebank.ledger import transfers as ledger
from timebank.ledger.sqlite import high_water, live_mark, upgrade
from timebank.settings.settings import load

pytestmark = pytest.mark.of_a_file

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def impatience(monkeypatch):
    monkeypatch.setattr(backup, "LOCK_SECONDS", 0.1)


@pytest.fixture
def no_event(config):
    """Commands go by the clock of the machine; before an event they would hold time back."""
    config.write_text(f"events = []\n{config.read_text('utf-8')}", "utf-8")


@pytest.fixture
def played(board):
    """Create closed books with a played hand."""
    call = board.call(board.caller("Ann"))
    call.lose(60)
    call.close()
    board.database.close()
    return board


@pytest.fixture
def copy(played, timebank, folder):
    path = folder / "copy.sqlite3"
    assert timebank.says("backup", str(path)) == f"{path} holds 4 transfers, and is in order.\n"
    return path


def transfers(books) -> int:
    return books.do(ledger.count)


def files(books) -> list[str]:
    """Return the content of the data folder, except files that identify the books."""
    path = books.database.path
    lock = path.with_name(f"{path.name}.serving")
    known_by = (
        live_mark.file_path(path),
        high_water.file_path(path),
        last_runs.place_of(path, last_runs.COPY),
        lock,
    )
    return sorted(each.name for each in path.parent.iterdir() if each not in known_by)


def test_a_backup_is_one_file_for_its_owner_only(copy, folder):
    assert copy.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in folder.iterdir()) == ["copy.sqlite3", "data", "sysop.toml"]


def test_a_backup_overwrites_nothing(played, copy, timebank, folder):
    link = folder / "link"
    link.symlink_to(folder / "nowhere")
    for path in (copy, played.database.path, link):
        before = path.read_bytes() if path.exists() else None
        assert timebank.refuses("backup", str(path)) == (
            f"{path} exists already and is not overwritten.\n"
        )
        assert before == (path.read_bytes() if path.exists() else None)


def test_in_a_folder_of_others_nothing_of_ours_is_written_over(played, timebank, folder):
    """Any name there may become a link before it is written to."""
    shared, secret = folder / "shared", folder / "secret"
    shared.mkdir()
    shared.chmod(0o777)
    secret.write_bytes(b"only ours")
    path = shared / "copy.sqlite3"
    with backup.new_file(path) as part:
        for each in shared.iterdir():
            each.unlink()
            each.symlink_to(secret)
        part.write_bytes(b"the copy")
    assert secret.read_bytes() == b"only ours"
    assert path.read_bytes() == b"the copy"
    path.unlink()
    assert timebank("backup", str(path))[0] == 0
    assert [each.name for each in shared.iterdir()] == ["copy.sqlite3"]
    assert stat.S_IMODE(path.lstat().st_mode) == 0o600
    before = path.read_bytes()
    sentence = f"{path} exists already and is not overwritten.\n"
    assert timebank.refuses("backup", str(path)) == sentence
    assert path.read_bytes() == before


@pytest.mark.parametrize("mode", [0o700, 0o777], ids=["our own", "of others"])
def test_a_file_that_comes_meanwhile_stays(tmp_path, mode):
    tmp_path.chmod(mode)
    path = tmp_path / "copy"
    with pytest.raises(BackupRefused, match="exists already"), backup.new_file(path):
        path.write_text("another's")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("copy", "another's")]


def test_a_backup_that_cannot_be_written_is_refused(played, timebank, folder):
    path = folder / "nowhere" / "copy"
    assert timebank.refuses("backup", str(path)) == (
        f"{path} cannot be written: No such file or directory.\n"
    )


def test_a_disk_without_hard_links_takes_a_backup_too(played, timebank, folder, monkeypatch):
    def link(source, target, **how):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    path = folder / "copy"
    assert timebank("backup", str(path))[0] == 0
    assert timebank("backup", str(path))[0] == 2
    assert timebank("restore", "--yes", str(path))[0] == 0


def test_a_backup_of_books_that_are_not_in_order_is_kept_and_says_so(played, timebank, folder):
    played.sql("UPDATE rounds SET lost = 30")
    path = folder / "copy"
    assert timebank("backup", str(path)) == (
        1,
        "hand 1: 30 was lost, its transfers add up to 60.\n",
        f"{path} is a true copy, but the books have faults.\n",
    )
    assert path.exists()


def test_a_backup_does_not_wait_for_ever(played, folder):
    connection = sqlite3.connect(played.database.path, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")
    path = folder / "copy"
    with pytest.raises(BackupRefused, match="another program has locked"):
        backup.back_up(played.database, played.settings, NOW, path)
    connection.close()
    assert not path.exists()


def test_a_restore_brings_the_books_back_and_keeps_the_others(
    no_event, played, copy, timebank, config
):
    played.call(1, node=2).lose(120)
    played.database.close()
    code, output, error = timebank("restore", "--yes", str(copy))
    path = played.database.path
    assert (code, error) == (0, "")
    first, second, *_ = output.splitlines()
    assert first == f"{path} holds 4 transfers from {copy}."
    aside = second.removeprefix("The old books are in ").removesuffix(".")
    assert files(played) == [path.name, os.path.basename(aside)]
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.stat(aside).st_mode & 0o777 == 0o600
    again = Books(path.parent, zone=load(config).zone)
    assert again.audit() == []
    assert transfers(again) == 4
    again.close()
    assert timebank("restore", "--yes", aside)[0] == 0
    played.now += timedelta(seconds=1)
    assert transfers(played) == 6 + 1  # and the second begun by the call that it closed
    assert played.audit() == []


def test_transactions_in_the_log_are_saved_aside_too(played, copy, folder):
    path = played.database.path
    played.caller("Bob")
    # Left as by a process that was killed: the log is not folded into the file.
    left = {ending: path.with_name(path.name + ending).read_bytes() for ending in ("", "-wal")}
    played.database.close()
    for ending, content in left.items():
        path.with_name(path.name + ending).write_bytes(content)
    aside = backup.restore(copy, played.settings, NOW).aside
    assert aside is not None
    connection = sqlite3.connect(aside)
    assert connection.execute("SELECT count(*) FROM callers").fetchone() == (2,)
    connection.close()
    assert files(played) == [path.name, aside.name]


def test_a_restore_where_there_are_no_books_yet(copy, played, timebank):
    played.database.path.unlink()
    high_water.file_path(played.database.path).unlink()
    last_runs.place_of(played.database.path, last_runs.COPY).unlink()
    played.database.path.parent.rmdir()
    output = timebank.says("restore", "--yes", str(copy))
    assert output.startswith(f"{played.database.path} holds 4 transfers from {copy}.\n")
    assert "The books before" not in output
    assert timebank("audit")[0] == 0


@pytest.mark.parametrize("damage", [b"garbage " * 1000, b"", None])
def test_a_restore_replaces_books_that_are_broken(played, copy, timebank, damage):
    path = played.database.path
    if damage is None:  # torn in the middle
        damage = path.read_bytes()[:5000]
    path.write_bytes(damage)
    code, output, _ = timebank("restore", "--yes", str(copy))
    assert code == 0
    assert timebank("audit")[0] == 0
    aside = output.splitlines()[1].removeprefix("The old books are in ").removesuffix(".")
    with open(aside, "rb") as file:
        assert file.read() == damage


def refused_restore(timebank, books, path):
    before = books.database.path.read_bytes()
    names = files(books)
    code, output, error = timebank("restore", "--yes", str(path))
    assert books.database.path.read_bytes() == before
    assert files(books) == names
    return code, output, error


def test_only_a_backup_of_ours_is_restored(played, copy, timebank, folder):
    path = played.database.path
    assert refused_restore(timebank, played, folder / "no") == (
        2,
        "",
        f"There is no file {folder / 'no'}.\n",
    )
    beyond = folder / ("x" * 300)
    assert refused_restore(timebank, played, beyond) == (
        2,
        "",
        f"{beyond} cannot be read: File name too long.\n",
    )
    assert refused_restore(timebank, played, path) == (2, "", f"{path} is the database itself.\n")
    other = folder / "other"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE things (a)")
    connection.close()
    assert refused_restore(timebank, played, other) == (
        2,
        "",
        f"{other} is the database of some other program.\n",
    )
    whole = copy.read_bytes()
    other.write_bytes(whole[:100] + b"garbage " * 1000)
    assert refused_restore(timebank, played, other) == (
        2,
        "",
        f"{other} cannot be copied: the database is damaged.\n",
    )
    for content in (b"garbage " * 1000, b""):
        other.write_bytes(content)
        refusal = (2, "", f"{other} is not a backup of books.\n")
        assert refused_restore(timebank, played, other) == refusal


def test_a_backup_of_a_newer_program_is_refused(played, copy, timebank):
    connection = sqlite3.connect(copy)
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    code, output, error = refused_restore(timebank, played, copy)
    assert (code, output) == (2, "")
    assert error.startswith(f"{copy} was written by a newer program")


def test_a_backup_of_an_earlier_version_is_moved_forward(played, copy, timebank, monkeypatch):
    old = copy
    monkeypatch.setattr(migrations, "STEPS", next_version.STEPS)
    connection = sqlite3.connect(old)
    (count,) = connection.execute("SELECT count(*) FROM transfers").fetchone()
    connection.close()
    before = old.read_bytes()
    assert timebank.says("restore", "--yes", str(old)).startswith(
        f"{played.database.path} holds {count} transfers from {old}.\n"
    )
    assert old.read_bytes() == before
    assert len(files(played)) == 2
    assert played.audit() == []


def test_an_upgrade_is_taken_back_by_its_copy(played, timebank, monkeypatch):
    """The earlier release restores it in the place of books that it cannot open."""
    path = played.database.path
    with monkeypatch.context() as newer:
        newer.setattr(migrations, "STEPS", next_version.STEPS)
        timebank.says("upgrade")
    copy = upgrade.copy_path(path, next_version.BEFORE)
    assert timebank.says("restore", "--yes", str(copy)).startswith(f"{path} holds ")
    assert played.audit() == []


def test_a_faulty_backup_is_refused_with_the_reason(played, copy, timebank):
    connection = sqlite3.connect(copy)
    connection.execute("UPDATE rounds SET lost = 30")
    connection.commit()
    connection.close()
    assert refused_restore(timebank, played, copy) == (
        1,
        "hand 1: 30 was lost, its transfers add up to 60.\n",
        f"{copy} is not in order, so it does not replace the books.\n",
    )


def test_a_backup_that_is_torn_is_refused(played, copy, timebank):
    copy.write_bytes(copy.read_bytes()[:9000])
    code, output, error = refused_restore(timebank, played, copy)
    assert (code, output) == (2, "")
    assert "the database is damaged" in error


def test_a_backup_that_is_damaged_inside_is_not_to_be_restored_itself(played, copy, timebank):
    """The advice for damaged books, to restore a backup, would be of no use here."""
    connection = sqlite3.connect(copy)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'transfers'")
    connection.close()
    whole = bytearray(copy.read_bytes())
    whole[(page[0] - 1) * 4096 : page[0] * 4096] = bytes(4096)
    copy.write_bytes(whole)
    refusal = f"The backup {copy} is damaged: restore another one.\n"
    assert refused_restore(timebank, played, copy) == (2, "", refusal)


def test_the_database_of_another_program_is_not_replaced(played, copy, timebank):
    played.sql("PRAGMA application_id = 1")
    played.database.close()
    code, _, error = refused_restore(timebank, played, copy)
    assert code == 2
    assert "is the database of some other program. Move it away first." in error


def test_the_call_of_a_server_that_is_dead_keeps_nothing_from_a_restore(played, copy, timebank):
    played.call(1, node=3)
    played.database.close()
    assert timebank("restore", "--yes", str(copy))[0] == 0


def test_nothing_is_restored_under_another_process(played, copy, timebank):
    script = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
        "c.execute('SELECT count(*) FROM callers').fetchall(); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(played.database.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        code, output, error = timebank("restore", "--yes", str(copy))
        process.communicate()
    assert (code, output) == (2, "")
    path = played.database.path
    assert error == f"Another process has {path} open. Close the board, then restore.\n"
    assert timebank("restore", "--yes", str(copy))[0] == 0


def test_a_restore_under_a_server_is_refused_before_it_asks(played, copy, timebank, monkeypatch):
    """The answer to the question would change nothing."""
    monkeypatch.setattr(serving, "PATIENCE_SECONDS", 0.0)
    played.call(1, node=2).lose(120)
    with serving.take(played.settings.lock, serving.SERVING, "here"):
        code, output, error = timebank("restore", str(copy))
        assert (code, output) == (2, "")
        assert error.endswith(" Close the board, then restore.\n")
        assert timebank("restore", "--dry-run", str(copy))[0] == 0


@pytest.mark.parametrize(
    "step",
    ["_copy", "make_ready", "_treat_copy", "_put_aside", "write_all", "_put_in_place", "replace"],
)
def test_a_restore_that_is_broken_off_has_changed_nothing(played, copy, step, monkeypatch):
    played.call(1, node=2).lose(120)
    played.database.close()

    def power_cut(*_, **__):
        raise KeyboardInterrupt

    where = {"replace": os, "write_all": backup.files}.get(step, backup)
    monkeypatch.setattr(where, step, power_cut)
    with pytest.raises(KeyboardInterrupt):
        backup.restore(copy, played.settings, NOW)
    assert transfers(played) == 6
    aside = list(played.database.path.parent.glob("*.replaced-*"))
    assert bool(aside) == (step in ("_put_in_place", "replace")), "no part of the old books"
    assert played.audit() == []


def test_a_process_that_opened_the_old_file_in_time_does_not_write_to_it(
    played, copy, timebank, monkeypatch
):
    path = played.database.path
    late = sqlite3.connect(path, timeout=0)
    replacing = os.replace

    def replace(source, target, **how):
        with pytest.raises(sqlite3.OperationalError, match="database is locked"):
            late.execute("DELETE FROM notices")
        replacing(source, target, **how)

    monkeypatch.setattr(os, "replace", replace)
    backup.restore(copy, played.settings, NOW)
    with pytest.raises(sqlite3.DatabaseError, match="file is not a database"):
        late.execute("DELETE FROM notices")
    late.close()
    assert played.audit() == []


def test_a_backup_shows_one_moment_despite_writers(board, folder, monkeypatch):
    board.caller("Ann")
    copying = backup.sqlite.copy

    def meanwhile(source, target):
        board.caller("Bob")
        copying(source, target)

    monkeypatch.setattr(backup.sqlite, "copy", meanwhile)
    path = folder / "copy"
    backup.back_up(board.database, board.settings, board.now, path)
    with contextlib.closing(sqlite3.connect(path)) as copy:
        assert copy.execute("SELECT name FROM callers").fetchall() == [("Ann",)]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_books_that_root_puts_back_are_the_boards_to_read_and_write(played, copy) -> None:
    folder = played.database.path.parent
    os.chown(folder, 65534, 65534)
    restored = backup.restore(copy, played.settings, NOW)
    made = [played.database.path, restored.aside, live_mark.file_path(played.database.path)]
    assert [each.stat().st_uid for each in made] == [65534] * 3


def test_a_restore_removes_the_leftovers_of_a_killed_one(played, copy) -> None:
    """Copies of all the books used to stay for ever, one for each kill."""
    folder = played.database.path.parent
    with backup._room_beside(played.database.path) as room:
        shutil.copytree(room, left := room.with_name(f"{room.name}-killed"))
        (left / played.database.path.name).write_bytes(copy.read_bytes())
    assert left.exists()
    (folder / f".{played.database.path.name}.replaced-1.af").touch()
    backup.restore(copy, played.settings, NOW)
    assert not list(folder.glob(".*"))


def test_a_copy_of_any_name_is_restored(played, copy) -> None:
    """The books note its name, and a name of a file need not be UTF-8."""
    odd = copy.rename(copy.with_name(os.fsdecode(b"copy-\xff.sqlite3")))
    restored = backup.restore(odd, played.settings, NOW)
    assert "restored from copy-\\udcff.sqlite3." in " ".join(restored.settled_copy.sentences())


def test_the_file_of_a_killed_backup_stops_no_process_of_the_same_number(tmp_path):
    """In a container, each command often has the same number."""
    left = tmp_path / f".copy.{os.getpid()}.part"
    left.touch()
    with backup.new_file(tmp_path / "copy"):
        pass
    assert sorted(tmp_path.iterdir()) == [left, tmp_path / "copy"]
