"""Books are moved from a file to a server and back without losing a row or being served twice."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.timebank.books import Books
from timebank.calls.calls import open_calls, renew
from timebank.errors import DatabaseRefused, MoveRefused
from timebank.keeping import book_move
from timebank.ledger.engines import books_of
from timebank.ledger.postgres.database import PostgresDatabase
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.servers import leases, registry
from timebank.servers.registry import Newcomer

pytestmark = pytest.mark.of_a_file  # the books that are moved first are


@pytest.fixture
def server(cluster):
    """An empty database on a server."""
    name = cluster.empty()
    database = PostgresDatabase(cluster.place(name))
    yield database
    database.close()
    cluster.give_back(name)


@pytest.fixture
def played(books) -> Books:
    """Books of an evening that is over."""
    for node, name in enumerate(("Ann", "Bob"), 1):
        call = books.call(books.caller(name), node=node)
        call.win(600, 900)
        call.sit_down()
        call.lose(60)
        books.wait(30)
        call.close()
    books.sql("DELETE FROM notices WHERE id = (SELECT max(id) FROM notices)")
    books.close()
    return books


def move(books, source, target):
    return book_move.move(source, target, books.settings, books.now)


def rows(books, database) -> dict[str, list]:
    with database.reading(books.settings, books.now) as desk:
        return {
            table.name: [row for some in book_move._rows(desk.connection, table) for row in some]
            for table in book_move._tables()
        }


def test_all_rows_are_there_and_the_numbers_go_on(played, server, folder):
    before = rows(played, played.database)
    moved = move(played, played.database, server)
    assert rows(played, server) == before
    assert moved == (sum(map(len, before.values())), 0)

    there = Books(folder, played.now, server=server.server)
    cid = there.caller("Cid")
    assert cid == 3
    call = there.call(cid)
    call.win(60, 60)
    call.close()
    assert there.audit() == []
    there.close()
    after = rows(played, server)

    back = SqliteDatabase(folder / "back.sqlite3")
    move(played, server, back)
    assert rows(played, back) == after
    back.close()
    again = Books(folder, played.now, database=folder / "back.sqlite3")
    assert again.caller("Dan") == 4
    assert again.audit() == []
    again.close()


def test_servers_refuse_the_old_place(played, server):
    move(played, played.database, server)
    played.database.close()
    for way in (played.database.open, played.database.open_existing):
        with pytest.raises(DatabaseRefused, match=r"has taken the books of .* elsewhere"):
            way()
    server.open_existing()


@pytest.mark.parametrize("table", ["callers", "transfers", "results_ever"])
def test_an_interrupted_move_leaves_nothing_and_can_be_repeated(played, server, monkeypatch, table):
    before = rows(played, played.database)
    real = book_move._copy

    def copy(here, there, of):
        real(here, there, of)
        if of.name == table:
            raise KeyboardInterrupt

    monkeypatch.setattr(book_move, "BATCH", 2)
    with monkeypatch.context() as patch:
        patch.setattr(book_move, "_copy", copy)
        with pytest.raises(KeyboardInterrupt):
            move(played, played.database, server)
    server.open_existing()
    assert not any(rows(played, server)[name] for name in ("callers", "transfers", table))
    played.database.open_existing()  # they are where they were
    move(played, played.database, server)
    assert rows(played, server) == before


def test_rows_that_are_not_the_same_are_refused_and_none_is_left(played, server, monkeypatch):
    real = book_move._copy

    def copy(here, there, table):
        real(here, there, table)
        if table.name == "callers":
            there.execute(table.update().values(password_hash="another"))

    with monkeypatch.context() as patch:
        patch.setattr(book_move, "_copy", copy)
        with pytest.raises(MoveRefused, match=r"Row .* of the table callers differs"):
            move(played, played.database, server)
    assert rows(played, server)["callers"] == []
    played.database.open_existing()


def test_servers_of_the_old_place_are_not_registered_at_the_new_one(played, server):
    alpha = played.do(registry.enter, Newcomer("alpha", "p", "{}", "1"))
    played.do(leases.take, "jobs", alpha.id, 12)
    played.close()
    move(played, played.database, server)
    with server.reading(played.settings, played.now) as desk:
        assert registry.living_servers(desk) == []
        assert leases.holder(desk, "jobs") is None


def test_books_that_are_there_stay(played, server, folder):
    server.open()
    others = Books(folder, server=server.server)
    others.caller("Zoe")
    others.close()
    with pytest.raises(MoveRefused, match=r"There are books in .* already"):
        move(played, played.database, server)
    played.database.open_existing()
    server.open_existing()


def test_a_move_is_refused_during_a_call(books, server, folder):
    call = books.call(books.caller("Ann"))
    move(books, books.database, server)  # we hold the file's lock, so no server uses it
    there = Books(folder, books.now, server=server.server)
    assert [each.live for each in there.do(open_calls)] == [False]
    there.do(renew, "p", [(call.id, 31)])
    there.close()
    with pytest.raises(MoveRefused, match="On a call just now: Ann"):
        move(books, server, SqliteDatabase(folder / "back.sqlite3"))


HOLDER = """
import sys
from pathlib import Path
from timebank.ledger.sqlite.database import SqliteDatabase
database = SqliteDatabase(Path(sys.argv[1]))
database.open()
database.guard()
print("open", flush=True)
sys.stdin.read()
"""


def test_a_move_is_refused_while_the_file_is_open(played, server):
    path = played.settings.database
    words = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(
        words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(MoveRefused, match=r"Another process has .* open"):
            move(played, played.database, server)
        holder.stdin.close()
    assert move(played, played.database, server).findings == 0


def test_a_move_is_refused_while_the_server_is_in_use(played, server, folder, cluster):
    move(played, played.database, server)
    other = PostgresDatabase(server.server)
    other.open_existing()
    target = SqliteDatabase(folder / "back.sqlite3")
    with pytest.raises(MoveRefused, match=r"Another process has postgresql://.* open"):
        move(played, server, target)
    other.close()
    cluster.end_sessions(server.server.name)
    assert move(played, server, target).findings == 0
    target.close()


def test_the_command(board, timebank, cluster, folder):
    board.caller("Ann")
    board.close()
    name = cluster.empty()
    source, target = board.settings.database, cluster.url(name)
    output = timebank.says("move", str(source), target)
    assert output.startswith(f"postgresql://postgres@/{name} holds the books: ")
    assert output.endswith(f"the same as in {source}.\n")
    assert "has taken the books of" in timebank.refuses("move", str(source), str(Path(folder, "x")))
    assert timebank.refuses("move", "postgresql://me:secret@host/x", target).startswith(
        "The place of the books must not hold the password"
    )
    books_of(board.settings).close()
    cluster.give_back(name)


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (
            lambda url, name: url.replace(name, f"{name}_none"),
            "the database server has no such database",
        ),
        (
            lambda url, name: url.replace("postgres@", "stranger@"),
            "the database server knows no such user",
        ),
        (
            lambda url, name: f"postgresql://me@host.invalid/{name}",
            "the host of .* no address",
        ),
        (
            lambda url, name: f"postgresql://me@127.0.0.1:1/{name}",
            "no database server listens there",
        ),
    ],
    ids=["database", "role", "host", "port"],
)
def test_a_place_that_cannot_be_reached_is_a_sentence(
    board, timebank, cluster, folder, broken, why
):
    board.caller("Ann")
    board.close()
    name, source = cluster.empty(), str(board.settings.database)
    target = broken(cluster.url(name), name)
    for words in ((source, target), (target, str(folder / "back.sqlite3"))):
        assert re.fullmatch(
            rf"The database postgresql://\S+ cannot be opened: .*{why}.*\.\n",
            timebank.refuses("move", *words),
        )
    assert timebank("accounts")[0] == 0
    cluster.give_back(name)


def test_a_place_without_its_password_gives_a_sentence(board, timebank, cluster, folder):
    board.caller("Ann")
    board.close()
    secret = folder / "none"
    config = folder / "sysop.toml"
    url = cluster.url("books")
    config.write_text(
        f'[timebank]\ndatabase = "{url}"\ndatabase_password_file = "{secret}"\n', "utf-8"
    )
    error = timebank.refuses("move", str(board.settings.database), url, "--config", str(config))
    assert error.startswith(f"The password of the database cannot be read from {secret}: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize("nothing", ["", "."])
def test_a_folder_is_no_place_for_books(board, timebank, nothing):
    board.close()
    for words in ((nothing, "new"), ("new", nothing)):
        assert timebank.refuses("move", *words) == (
            f'"{nothing}" cannot hold the books: name a file, or a URL.\n'
        )
