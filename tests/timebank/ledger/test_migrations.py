"""A database of an earlier version moves forward by itself, after a copy, whole or not at all."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.timebank import earlier
from tests.timebank.books import NOON, Books, lost
from timebank.callers.notices import add_notice
from timebank.errors import DatabaseRefused, OlderBooks
from timebank.ledger.postgres import migrations as postgres_migrations
from timebank.ledger.schema import SCHEMA_VERSION
from timebank.ledger.sqlite import migrations
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.ledger.sqlite.migrations import backup_path
from timebank.wagers import journal

pytestmark = pytest.mark.of_a_file

APART = multiprocessing.get_context("forkserver")


@pytest.fixture(autouse=True)
def _knows_the_step(monkeypatch):
    """Before the steps of the product comes the one of the example."""
    monkeypatch.setattr(migrations, "STEPS", earlier.STEPS)


@pytest.fixture
def path(folder):
    """A database of the version before."""
    path = folder / "board.sqlite3"
    restore(path)
    return path


def restore(path):
    earlier.make(path)
    with raw(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")


def raw(path):
    return contextlib.closing(sqlite3.connect(path, isolation_level=None))


def version(path):
    with raw(path) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def dump(path):
    """All that is in a database."""
    with raw(path) as connection:
        return list(connection.iterdump())


def schema(path):
    """What is defined, apart from spaces, quotes and the order of columns."""
    with raw(path) as connection:
        return {
            (kind, name): sorted(re.findall(r"\w+", sql))
            for kind, name, sql in connection.execute(
                "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
            )
        }


def open_and_close(path):
    database = SqliteDatabase(path)
    upgraded = database.upgrade()
    database.open()
    database.close()
    return upgraded


def upgrade(path):
    """What a start of the board does; nobody waits here for who has the file open."""
    with contextlib.closing(SqliteDatabase(path, 0.0)) as database:
        return database.upgrade()


@pytest.mark.parametrize("way", ["open", "open_existing"])
def test_opening_refuses_it_in_a_sentence_and_changes_nothing(path, way):
    before = path.read_bytes()
    said = r"are of version 0, .*`timebank upgrade` moves them"
    with (
        contextlib.closing(SqliteDatabase(path)) as database,
        pytest.raises(OlderBooks, match=said),
    ):
        getattr(database, way)()
    assert path.read_bytes() == before
    assert not backup_path(path, earlier.VERSION).exists()


def test_an_upgrade_moves_it_to_this_version_and_the_books_are_in_order(path, folder):
    upgraded = upgrade(path)
    assert upgraded.sentences() == [
        f"Moved the books in {path} from version 0 to {SCHEMA_VERSION}.",
        f"A copy of them as they were is in {backup_path(path, earlier.VERSION)}.",
    ]
    assert upgrade(path) is None
    assert version(path) == SCHEMA_VERSION
    books = Books(folder, NOON)
    assert books.audit() == []
    assert books.sql("SELECT count(*), max(id) FROM transfers") == [(7, 7)]
    assert books.sql("SELECT name, untold_round FROM callers") == [("Ann", None), ("Bob", None)]
    assert books.sql("SELECT caller_id, text FROM notices") == [(1, "Hello.")]
    books.close()


def test_the_tables_are_those_of_a_new_database(path, folder):
    open_and_close(path)
    open_and_close(folder / "new.sqlite3")
    assert schema(path) == schema(folder / "new.sqlite3")


def test_every_row_stays_as_it_was(path):
    with raw(path) as connection:
        before = connection.execute("SELECT * FROM transfers").fetchall()
    open_and_close(path)
    with raw(path) as connection:
        assert connection.execute("SELECT * FROM transfers").fetchall() == before


def test_numbers_that_were_given_are_not_given_again(path, folder):
    with raw(path) as connection:
        connection.execute("UPDATE sqlite_sequence SET seq = 20 WHERE name = 'transfers'")
    open_and_close(path)
    books = Books(folder, NOON)
    assert books.sql("SELECT seq FROM sqlite_sequence WHERE name = 'transfers'") == [(20,)]
    last = books.sql("SELECT max(id) FROM transfers")[0][0]
    assert books.audit() == [f"transfers {last + 1} to 20: They are missing."]
    books.do(add_notice, 1, "Again.")
    books.sql("DELETE FROM notices")
    books.do(add_notice, 1, "And again.")
    assert books.sql("SELECT id FROM notices") == [(3,)]
    books.close()


def test_the_board_goes_on_where_it_was(path, folder):
    open_and_close(path)
    books = Books(folder, NOON.replace(day=2, minute=1))
    ((in_play,),) = books.sql("SELECT caller_id FROM rounds WHERE settled IS NULL")
    call = books.call(in_play, take_over=True)
    hand = books.do(journal.round_in_play, in_play)
    call.round_id, call.sequence = hand.id, hand.sequence
    call.act(lost(call.purse.stake))
    call.lose(60)
    assert books.audit() == []
    books.close()


def test_a_copy_of_what_was_there_is_kept_for_its_owner_alone(path):
    before = dump(path)
    open_and_close(path)
    copy = backup_path(path, earlier.VERSION)
    assert copy.name == f"board.sqlite3.v{earlier.VERSION}-backup"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert dump(copy) == before
    assert version(copy) == earlier.VERSION
    assert sorted(each.name for each in copy.parent.glob(f"{copy.name}*")) == [copy.name]
    assert list(path.parent.glob("*-backup")) == [copy]  # however many steps follow


def test_what_others_have_only_in_the_log_is_in_the_copy(path):
    with raw(path) as other:
        other.execute("INSERT INTO notices (caller_id, at, text) VALUES (1, 0, 'late')")
        open_and_close(path)
    with raw(backup_path(path, earlier.VERSION)) as copy:
        assert ("late",) in copy.execute("SELECT text FROM notices").fetchall()


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT count(*) FROM callers").fetchall()
print("open", flush=True)
sys.stdin.read()
"""


def test_nothing_is_moved_while_an_older_server_has_it_open(path):
    before = dump(path)
    words = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(DatabaseRefused, match=r"Another process has the books in .* open"):
            upgrade(path)
        assert dump(path) == before
        assert not backup_path(path, earlier.VERSION).exists()
        holder.stdin.close()
    assert upgrade(path).before == earlier.VERSION


def test_a_database_of_this_version_is_not_copied(folder):
    path = folder / "board.sqlite3"
    open_and_close(path)
    open_and_close(path)
    assert [each.name for each in folder.glob("*-backup")] == []


def test_a_step_leaves_each_version_that_a_release_wrote():
    released = set(range(1, SCHEMA_VERSION))
    assert released <= migrations.STEPS.keys()
    assert postgres_migrations.STEPS.keys() == released


def test_a_ledger_of_before_the_first_release_is_refused_with_what_to_do(path):
    with raw(path) as connection:
        connection.execute("PRAGMA application_id = 0x424A4654")
        connection.execute("PRAGMA user_version = 1")
    before = dump(path)
    with pytest.raises(DatabaseRefused, match=r"python tools/convert_ledger\.py .*sqlite3 NEW$"):
        SqliteDatabase(path).open()
    assert dump(path) == before


def test_without_room_for_a_copy_it_is_refused_and_nothing_is_changed(path):
    backup_path(path, earlier.VERSION).mkdir()
    before = dump(path)
    with pytest.raises(DatabaseRefused, match=r"cannot be opened: .*Nothing was changed\."):
        upgrade(path)
    assert dump(path) == before


def test_a_row_that_refers_to_nothing_keeps_it_where_it_is(path):
    with raw(path) as connection:
        connection.execute("UPDATE days SET grant_id = 99")
    with pytest.raises(DatabaseRefused, match="refers to no row of transfers"):
        upgrade(path)
    assert version(path) == earlier.VERSION


class Fragile(sqlite3.Connection):
    """A connection whose process dies at its statement number `steps`."""

    steps = 0

    def execute(self, *arguments):
        Fragile.steps -= 1
        if Fragile.steps == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(*arguments)


def open_and_die(path, steps):
    Fragile.steps = steps
    connect = sqlite3.connect
    migrations.sqlite3.connect = lambda *given, **named: connect(*given, factory=Fragile, **named)
    migrations.move_forward(path, 5, earlier.STEPS)


@pytest.mark.long
def test_killed_at_any_statement_it_is_still_the_old_one_or_already_the_new(path, folder):
    """What was killed after a step goes on from there, so no step is gone through for another."""
    before, versions, statement, exitcode = dump(path), [earlier.VERSION], 0, -signal.SIGKILL
    while exitcode == -signal.SIGKILL:
        statement += 1
        process = APART.Process(target=open_and_die, args=(path, statement))
        process.start()
        process.join()
        exitcode = process.exitcode
        for copy in folder.glob("board.sqlite3*-backup*"):
            copy.unlink()
        if version(path) == versions[-1]:
            assert dump(path) == before
        else:
            before, statement = dump(path), 0
            versions.append(version(path))
    assert exitcode == 0
    assert versions == list(range(earlier.VERSION, SCHEMA_VERSION + 1))


def open_together(path, barrier):
    migrations.STEPS = earlier.STEPS
    barrier.wait()
    open_and_close(path)


def test_processes_that_open_it_together_move_it_once(path, folder):
    barrier = APART.Barrier(4)
    processes = [APART.Process(target=open_together, args=(path, barrier)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0, 0]
    assert version(backup_path(path, earlier.VERSION)) == earlier.VERSION
    books = Books(folder, NOON)
    assert books.audit() == []
    books.close()


def test_a_step_whose_commit_fails_is_not_said_to_have_changed_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "old.sqlite3"
    earlier.make(path)

    class Failing(sqlite3.Connection):
        def execute(self, statement: str, *values):
            if statement == "COMMIT":
                super().execute("COMMIT")
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(statement, *values)

    connect = sqlite3.connect
    with monkeypatch.context() as patch:
        patch.setattr(
            "timebank.ledger.sqlite.migrations.sqlite3.connect",
            lambda *where, **how: connect(*where, **how, factory=Failing),
        )
        with pytest.raises(DatabaseRefused, match=r"one version or of the other") as refused:
            upgrade(path)
    assert "Nothing was changed" not in str(refused.value)
    open_and_close(path)
