"""`door upgrade`: what it takes, the wait for a server that runs, and the way back."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from socket import AF_UNIX, socket

import pytest

from door.cli import upgrade
from door.cli.upgrade import SOCKET_OF_1_0
from tests.door.processes import OPEN_ALL_DAY
from tests.door.shell import Shell
from tests.timebank import release_1_0
from tests.timebank.cluster import Cluster
from timebank.ledger import migrations
from timebank.ledger.sqlite import upgrade as of_file
from timebank.ledger.sqlite.upgrade import copy_path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return the data folder of a board with books of release 1.0."""
    folder = tmp_path / "data"
    folder.mkdir(0o700)
    release_1_0.in_file(folder / "board.sqlite3")
    (tmp_path / "sysop.toml").write_text(OPEN_ALL_DAY, encoding="utf-8")
    return folder


@pytest.fixture
def sysop(data: Path) -> Shell:
    return Shell(data.parent / "sysop.toml")


def version(books: Path) -> int:
    with contextlib.closing(sqlite3.connect(books)) as file:
        (number,) = file.execute("PRAGMA user_version").fetchone()
    assert isinstance(number, int)
    return number


@contextlib.contextmanager
def server_of_1_0(data: Path, *, callers: int) -> Iterator[list[bytes]]:
    """Serve as release 1.0; yield the commands that arrive. One caller leaves at each command."""
    told: list[bytes] = []
    with socket(AF_UNIX) as port:
        port.bind(str(data / SOCKET_OF_1_0))
        port.listen()

        def serve() -> None:
            while len(told) < 1 + callers:
                wire, _ = port.accept()
                with wire:
                    told.append(wire.recv(4096))
                    wire.sendall(b"S\x00\x00\x00\x02{}E\x00\x00\x00\x00")
            port.close()

        thread = threading.Thread(target=serve)
        thread.start()
        yield told
        thread.join()


def test_a_check_tries_the_upgrade_on_a_copy_and_changes_nothing(data: Path, sysop: Shell) -> None:
    books = data / "board.sqlite3"
    before = books.read_bytes()
    result = sysop("upgrade", "--check")
    assert result.status == 0, result
    assert f"{books} are of version 13: they would be moved forward." in result.output
    assert "On a copy that took " in result.output
    assert f"run `timebank restore {copy_path(books, 13)}`" in result.output
    assert "No server runs." in result.output
    assert books.read_bytes() == before
    assert [each.name for each in data.iterdir()] == ["board.sqlite3"]


def test_a_check_names_a_disk_that_is_too_small(
    data: Path, sysop: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(_source: sqlite3.Connection, target: sqlite3.Connection) -> None:
        target.execute("PRAGMA max_page_count = 1")
        target.execute("CREATE TABLE too_much (x)")

    monkeypatch.setattr(of_file.sqlite, "copy", fill)
    result = sysop("upgrade", "--check")
    assert (result.status, result.error) == (
        2,
        f"The disk of {data / 'board.sqlite3'} has too little room for the upgrade, as a trial"
        " showed. Make room first; nothing was changed.\n",
    )
    assert [each.name for each in data.iterdir()] == ["board.sqlite3"]


@pytest.mark.parametrize(
    ("pragma", "words"),
    [
        ("user_version = 99", "was written by a newer program (its version is 99"),
        ("user_version = 5", "are of version 5, from before release 1.0"),
        ("application_id = 7", "is the database of some other program."),
    ],
)
def test_a_check_refuses_books_that_no_upgrade_opens(
    data: Path, sysop: Shell, pragma: str, words: str
) -> None:
    with contextlib.closing(sqlite3.connect(data / "board.sqlite3")) as file:
        file.execute(f"PRAGMA {pragma}")
    result = sysop("upgrade", "--check")
    assert (result.status, result.output) == (2, "")
    assert words in result.error


def test_a_check_reads_the_version_of_books_on_a_server(tmp_path: Path, cluster: Cluster) -> None:
    name, config = cluster.empty(), tmp_path / "sysop.toml"
    toml = f'{OPEN_ALL_DAY}\n[timebank]\ndatabase = "{cluster.url(name)}"\n'
    config.write_text(toml, "utf-8")
    sysop = Shell(config)
    assert "There are no books in postgresql://" in sysop("upgrade", "--check").error
    with cluster.connect(name) as shell:
        release_1_0.on_server(shell)
    older = sysop("upgrade", "--check")
    assert "are of an earlier version: they would be moved forward." in older.output
    assert sysop("upgrade").status == 0
    assert "are of this version already." in sysop("upgrade", "--check").output


def test_a_check_names_no_file_of_its_trial(data: Path, sysop: Shell) -> None:
    with contextlib.closing(sqlite3.connect(data / "board.sqlite3")) as file:
        file.execute("UPDATE accounts SET caller_id = 999 WHERE caller_id = 2")
        file.commit()
    for words in (("upgrade", "--check"), ("upgrade",)):
        assert sysop(*words).error == (
            "The books stay as they are: row 12 of accounts refers to no row of callers.\n"
        )


def test_an_error_of_the_system_is_in_words(data: Path, sysop: Shell) -> None:
    copy_path(data / "board.sqlite3", 13).mkdir()
    assert sysop("upgrade").error == (
        f"The database {data / 'board.sqlite3'} cannot be opened: Is a directory."
        " Nothing was changed.\n"
    )


def test_the_copy_that_is_named_goes_back_under_books_of_a_newer_release(
    data: Path, sysop: Shell
) -> None:
    result = sysop("upgrade")
    books, copy = data / "board.sqlite3", copy_path(data / "board.sqlite3", 13)
    assert result.status == 0, result
    assert f"A copy of them as they were is in {copy}." in result.output
    assert version(books) == migrations.newest_version()
    assert "of this version already" in sysop("upgrade").output
    assert "of this version already" in sysop("upgrade", "--check").output


def test_a_server_of_release_1_0_ends_with_its_last_caller_first(
    data: Path, sysop: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrade, "POLL_SECONDS", 0)
    with server_of_1_0(data, callers=3) as told:
        result = sysop("upgrade")
    assert result.status == 0, result
    assert result.output.startswith("The server of release 1.0 takes no more calls, ")
    assert b'{"control": "drain"}' in told[0]
    assert all(b'{"control": "here"}' in each for each in told[1:])
    assert version(data / "board.sqlite3") == migrations.newest_version()


def test_the_socket_of_a_killed_server_is_no_server(data: Path, sysop: Shell) -> None:
    with socket(AF_UNIX) as port:
        port.bind(str(data / SOCKET_OF_1_0))
    result = sysop("upgrade")
    assert result.output.startswith("Moved the books")


def test_a_server_goes_on_where_no_upgrade_is_due(data: Path, sysop: Shell) -> None:
    assert sysop("upgrade").status == 0
    with socket(AF_UNIX) as port:
        port.bind(str(data / SOCKET_OF_1_0))
        port.listen()
        port.setblocking(False)
        assert "of this version already" in sysop("upgrade").output
        with pytest.raises(BlockingIOError):  # nobody has called
            port.accept()


def test_a_check_of_a_damaged_file_is_a_sentence(data: Path, sysop: Shell) -> None:
    (data / "board.sqlite3").write_bytes(b"garbage " * 1000)
    result = sysop("upgrade", "--check")
    assert (result.status, result.output) == (2, "")
    assert result.error.startswith(f"The database {data / 'board.sqlite3'} is damaged.")
