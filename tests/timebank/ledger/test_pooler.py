"""A pooler between the board and its database: PgBouncer, as Debian ships it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from tests.timebank.books import NOON, settings_for
from tests.timebank.cluster import as_user
from timebank.callers import callers
from timebank.errors import DatabaseRefused
from timebank.ledger.postgres.database import PostgresDatabase, connection_arguments
from timebank.settings.place import read_place

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
PATIENCE = 20.0
PORT = 6432  # which names its socket; nothing listens on the network


@pytest.fixture
def pooled(cluster):
    """Yield the place of an empty database behind a pooler."""
    if PGBOUNCER is None:
        assert not os.environ.get("BJFT_NEED_CLIENTS"), "pgbouncer must be here"
        pytest.skip("pgbouncer is not installed")
    name, started = cluster.empty(), []
    folder = cluster.folder / name
    folder.mkdir()

    def start(pool_mode: str, *more: str):
        (folder / "settings.ini").write_text(
            f"[databases]\n{name} = host={cluster.folder} dbname={name} user=postgres\n"
            f"[pgbouncer]\n"
            f"unix_socket_dir = {folder}\nlisten_port = {PORT}\nauth_type = any\n"
            f"pool_mode = {pool_mode}\nignore_startup_parameters = options\n" + "\n".join(more)
        )
        (folder / "settings.ini").chmod(0o644)
        command = [*as_user(), PGBOUNCER, "-q", folder / "settings.ini"]
        started.append(subprocess.Popen(command, stderr=subprocess.PIPE))
        _wait_for(folder, name)
        return read_place(f"postgresql://postgres@:{PORT}/{name}?host={folder}")

    if as_user():
        shutil.chown(folder, as_user()[1].partition("=")[2])
    yield start
    for process in started:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    cluster.give_back(name)


def _wait_for(folder: Path, name: str) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with suppress(psycopg.OperationalError):
            psycopg.connect(host=str(folder), port=PORT, dbname=name, user="postgres").close()
            return
    raise AssertionError("the pooler does not answer")


@pytest.mark.parametrize("way", ["open", "open_existing", "upgrade"])
def test_one_that_lends_by_the_transaction_is_refused_in_a_sentence(pooled, way):
    place = pooled("transaction")
    with closing(PostgresDatabase(place)) as database, pytest.raises(DatabaseRefused) as refused:
        getattr(database, way)()
    sentence = str(refused.value)
    assert f"Between the board and the database {place} is a pooler" in sentence
    assert "name PostgreSQL itself as database in [timebank] of sysop.toml" in sentence


def test_so_is_one_that_lends_its_processes_in_turn(pooled):
    place = pooled("transaction", "server_round_robin = 1")
    way = connection_arguments(place)
    with psycopg.connect(**way) as one, psycopg.connect(**way) as other:
        one.execute("SELECT 1")  # each in a transaction, so that the pooler uses two processes
        other.execute("SELECT 1")
    with (
        closing(PostgresDatabase(place)) as database,
        pytest.raises(DatabaseRefused, match="is a pooler"),
    ):
        database.open()


def test_one_that_lends_by_the_session_works(pooled, tmp_path):
    settings = settings_for(tmp_path)
    with closing(PostgresDatabase(pooled("session"))) as database:
        database.open()
        with database.transaction(settings, NOON) as desk:
            number = callers.register(desk, "Ann", "").id
        with database.reading(settings, NOON) as desk:
            assert callers.get(desk, number).name == "Ann"


def test_messages_come_through_one_that_lends_by_the_session(pooled):
    way = connection_arguments(pooled("session"))
    with (
        psycopg.connect(**way, options="-c synchronous_commit=off", autocommit=True) as ear,
        psycopg.connect(**way, autocommit=True) as mouth,
    ):
        ear.execute("LISTEN board")
        mouth.execute("NOTIFY board, 'hello'")
        assert [each.payload for each in ear.notifies(timeout=PATIENCE, stop_after=1)] == ["hello"]
