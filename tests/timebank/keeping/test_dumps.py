"""Copies of books on a server are whole, and are restored by the rules for files."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.timebank.books import GAME, Books, lost
from timebank.callers import powers
from timebank.errors import BackupRefused
from timebank.keeping import backup, deletion, dumps, restored_books
from timebank.keeping.restored_books import MIN_NUMBERS_AHEAD
from timebank.ledger.postgres.database import PostgresDatabase
from timebank.wagers import journal
from timebank.wagers.journal import open_shoe

pytestmark = pytest.mark.of_a_file  # the test chooses the books itself

SEED, OTHER_SEED = bytes(32), bytes([1] * 32)


# Ends all connections to the maintenance database except the tests' own.
ENDING = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = 'postgres' AND application_name = 'timebank'
"""


class Server:
    """Books on a server that are copied and restored."""

    def __init__(self, books: Books, cluster, folder: Path) -> None:
        self.books = books
        self.cluster = cluster
        self.folder = folder
        self.name = books.settings.server.name

    def take(self, name: str = "copy.dump") -> Path:
        """Copy the books, as `timebank backup` does."""
        target = self.folder / name
        dumps.back_up(self.books.database, self.books.settings, self.books.now, target)
        return target

    def restore(self, copy: Path) -> backup.Restored:
        """Restore the books as `timebank restore` does, an hour later with all leases expired."""
        self.books.wait(3600)
        self.books.close()
        return dumps.restore(copy, self.books.settings, self.books.now)

    def databases(self) -> list[str]:
        """Return the databases of these books and those next to them."""
        with self.cluster.connect("postgres") as shell:
            like = f"{self.name}%"
            rows = shell.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [like])
            return sorted(name for (name,) in rows)

    def clear(self) -> None:
        self.books.close()
        for name in self.databases():
            self.cluster.give_back(name)


@pytest.fixture
def server(cluster, folder):
    name = cluster.empty()
    database = PostgresDatabase(cluster.place(name))
    database.open()
    database.close()
    running = Server(Books(folder, server=cluster.place(name)), cluster, folder)
    yield running
    running.clear()


@pytest.fixture
def books(server) -> Books:
    return server.books


def test_sealed_shoes_and_open_hands_are_closed_and_no_number_is_reused(server, books):
    ann, bob = books.caller("Ann"), books.caller("Bob")
    call = books.call(ann)
    shoe = books.do(open_shoe, ann, GAME, 1, SEED)
    call.bet(600, shoe_id=shoe.id, cut="")
    books.do(powers.grant, bob, "the test")
    before = books.balances(ann)
    copy = server.take()
    assert copy.stat().st_mode & 0o777 == 0o600

    books.do(powers.revoke, bob, "the test")
    call.act(lost(600))
    books.do(journal.close_shoe, shoe.id)  # and its seed is shown
    call.close()
    books.do(deletion.delete, books.caller("Cid"))
    last = books.sql("SELECT max(id) FROM transfers")[0][0]
    restored = server.restore(copy)

    aside = restored.aside
    assert server.databases() == [server.name, aside.name]
    assert restored.settled_copy.hands == (1,)
    assert books.sql("SELECT outcome, returned FROM rounds") == [("void", 600)]
    assert books.balances(ann)["online"] == before["online"] + 600 - 1, "its second"
    assert books.do(powers.holders) == []
    again = books.do(open_shoe, ann, GAME, 1, OTHER_SEED)
    assert (again.seed, again.id > shoe.id) == (OTHER_SEED, True)
    assert books.caller("Dan") == 4, "Cid was the third, whom the copy does not know"
    assert books.sql("SELECT min(id) > ? FROM transfers WHERE id > 4", last) == [(True,)]
    assert books.audit() == []
    old = Books(server.folder, server=aside)
    assert old.sql("SELECT outcome FROM rounds") == [("lose",)]
    old.close()


def test_numbers_go_far_ahead_where_the_books_are_gone(server, books):
    ann = books.caller("Ann")
    copy = server.take()
    books.close()
    server.cluster.give_back(server.name)
    assert server.restore(copy).aside is None
    assert books.caller("Bob") > ann + MIN_NUMBERS_AHEAD
    assert books.audit() == []


def test_a_copy_shows_and_audits_one_moment(server, books, monkeypatch):
    books.caller("Ann")
    real = dumps._run

    def meanwhile(*words):
        theirs = Books(books.settings.database.parent, server=books.settings.server)
        theirs.caller("Bob")
        theirs.close()
        return real(*words)

    monkeypatch.setattr(dumps, "_run", meanwhile)
    copy = server.take()
    monkeypatch.undo()
    server.restore(copy)
    assert books.sql("SELECT name FROM callers ORDER BY id") == [("Ann",)]


def test_the_commands_name_the_place_and_a_rehearsal_changes_nothing(
    server, books, timebank, config
):
    url = server.cluster.url(server.name)
    config.write_text(f'events = []\n[timebank]\ndatabase = "{url}"\n')
    place = books.database.place
    path = server.folder / "copy"
    books.call(books.caller("Ann"))
    sentence = f"{path} holds 1 transfer, and is in order.\n"
    assert timebank.says("backup", str(path)) == sentence
    assert timebank("backup", str(path))[0] == 2, "nothing is overwritten"
    sentence = timebank.says("restore", "--dry-run", str(path))
    assert sentence.startswith("Nothing was changed. A restore would do this:\n")
    assert f"{place} holds 1 transfer from {path}.\nThe old books are in {place}_repl" in sentence
    assert server.databases() == [server.name]
    whole = server.folder / "whole.tar"
    timebank.says("backup", "--all", str(whole))
    books.call(books.caller("Bob"), node=2)
    for each in (path, whole):
        sentence = timebank.says("restore", "--dry-run", str(each))
        assert "It undoes 1 transfer, 1 call, 1 caller (Bob), from 20" in sentence
    books.sql("UPDATE calls SET renewed = 0, seen = 0")
    books.close()
    sentence = timebank.says("restore", "--yes", str(whole))
    assert f"The old books are in {place}_replaced_" in sentence
    assert "Closed 1 call that the copy had open." in sentence


class TestRefusals:
    @pytest.fixture
    def copy(self, server):
        server.books.caller("Ann")
        return server.take()

    def refused(self, server, copy: Path) -> str:
        with pytest.raises(BackupRefused) as refusal:
            server.restore(copy)
        assert server.databases() == [server.name]
        assert server.books.sql("SELECT name FROM callers") == [("Ann",)]
        return str(refusal.value)

    def test_while_the_books_are_open(self, server, copy):
        with server.cluster.connect(server.name):  # it waits for a connection that may be closing
            assert self.refused(server, copy) == (
                f"Another process has the database {server.name} open. Close the board, then"
                " restore."
            )

    def test_while_a_caller_is_on_line(self, server, books, copy, monkeypatch):
        books.call(1)
        monkeypatch.setattr(books, "wait", lambda seconds: None)
        assert self.refused(server, copy) == (
            "On a call just now: Ann (node 1). Close the board, then restore."
        )

    def test_of_a_copy_that_cannot_be_treated(self, server, copy, monkeypatch):
        def fails(*words):
            raise BackupRefused("no")

        monkeypatch.setattr(restored_books, "settle_copy", fails)
        assert self.refused(server, copy) == "no"

    def test_that_leave_changes_behind_say_so(self, server, copy, monkeypatch):
        """The server failed while the books had no name."""

        def goes_away(*words):
            with server.cluster.connect("postgres") as shell:
                shell.execute(ENDING)
            raise BackupRefused("no")

        monkeypatch.setattr(restored_books, "settle_copy", goes_away)
        with pytest.raises(BackupRefused, match=r"The restore failed. The books are") as refused:
            server.restore(copy)
        with server.cluster.connect("postgres") as shell:
            shell.execute(str(refused.value).partition("with ")[2].rstrip("."))
        assert server.books.sql("SELECT name FROM callers") == [("Ann",)]

    def test_of_a_copy_that_is_not_in_order(self, server, books):
        call = books.call(books.caller("Ann"))
        call.lose(60)
        call.close()
        books.sql("UPDATE rounds SET lost = 30")
        copy = server.take()
        assert self.refused(server, copy) == (
            f"{copy} is not in order, so it does not replace the books."
        )

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (b"SQLite format 3\0 and more", "is a copy of books in a file. Restore it to a file"),
            (b"PGDMP and no more", "pg_restore failed: "),
            (b"something else", "pg_restore failed: input file does not appear to be a valid"),
        ],
    )
    def test_of_files_that_are_no_copy(self, server, books, text, expected):
        books.caller("Ann")
        path = server.folder / "other"
        path.write_bytes(text)
        assert expected in self.refused(server, path)

    def test_of_a_copy_from_a_server_where_the_books_are_in_a_file(self, folder):
        path = folder / "copy"
        path.write_bytes(b"PGDMP and no more")
        books = Books(folder)
        with pytest.raises(BackupRefused, match="is a copy of books on a server"):
            backup.restore(path, books.settings, books.now)
        books.close()

    def test_by_an_account_that_may_make_no_database(self, server, copy):
        server.books.close()
        with server.cluster.connect("postgres") as shell:
            shell.execute(f"CREATE ROLE {server.name} LOGIN")
        plain = replace(server.books.settings.server, user=server.name)
        server.books.change(server=plain)
        with pytest.raises(BackupRefused, match=r"the board's account may not. .* CREATEDB"):
            server.restore(copy)
        with server.cluster.connect("postgres") as shell:
            shell.execute(f"DROP ROLE {server.name}")


class TestThePrograms:
    def program(self, folder: Path, monkeypatch, text: str) -> None:
        path = folder / "pg_dump"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def test_that_is_missing_is_asked_for(self, server, folder, monkeypatch):
        monkeypatch.setenv("PATH", str(folder / "nothing"))
        with pytest.raises(
            BackupRefused, match=r"no pg_dump here. Install .* version 1\d or later"
        ):
            server.take()
        assert not (folder / "copy.dump").exists()

    def test_that_is_older_than_the_server_is_not_used(self, server, folder, monkeypatch):
        self.program(folder, monkeypatch, "echo 'pg_dump (PostgreSQL) 9.6.24'")
        with pytest.raises(BackupRefused, match=r"pg_dump has version 9, but the server has"):
            server.take()

    def test_that_says_nothing_of_its_version_is_not_used(self, server, folder, monkeypatch):
        self.program(folder, monkeypatch, "exit 1")
        with pytest.raises(BackupRefused, match="does not state its version"):
            server.take()

    def test_get_the_password_hidden_from_others(self, server, folder, monkeypatch):
        file = folder / "password"
        file.write_text("open sesame\n")
        place = replace(server.books.settings.server, password_file=file)
        self.program(folder, monkeypatch, 'echo "pg_dump: error: $PGPASSWORD, not $*" >&2; exit 1')
        with pytest.raises(BackupRefused) as refused:
            dumps._run(place, str(folder / "pg_dump"), "--version")
        before, _, rest = str(refused.value).partition(", not ")
        assert before == "pg_dump failed: open sesame"
        assert "sesame" not in rest


def test_a_database_that_is_not_ours_is_not_put_aside(server, books):
    books.caller("Ann")
    copy = server.take()
    books.close()
    with server.cluster.connect(server.name) as shell:
        shell.execute("UPDATE books SET program = 7")
    with pytest.raises(BackupRefused, match=r"some other program. Move it away first"):
        server.restore(copy)
    assert server.databases() == [server.name]


def test_a_restore_removes_the_leftovers_of_a_killed_one(server, books):
    books.caller("Ann")
    copy = server.take()
    with server.cluster.connect("postgres") as shell:
        shell.execute(f"CREATE DATABASE {server.name}_restoring")
    aside = server.restore(copy).aside
    assert server.databases() == [server.name, aside.name]


def test_a_restore_that_was_killed_in_the_middle_is_not_done_over(server, books, cluster):
    """The old books have another name by then; no restore would look into them."""
    copy, aside = server.take(), f"{server.name}_replaced_20260601_120000"
    books.close()
    with cluster.connect("postgres") as shell:
        shell.execute(f'ALTER DATABASE "{server.name}" RENAME TO "{aside}"')
        for work in (dumps.rehearse, dumps.restore):
            with pytest.raises(BackupRefused, match="was cut off") as refused:
                work(copy, books.settings, books.now)
        assert server.databases() == [aside]
        shell.execute(str(refused.value).partition("with ")[2].partition("; ")[0])
    assert server.restore(copy).aside is not None
    assert books.audit() == []
