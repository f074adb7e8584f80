"""Books on a server: opening, refusals, turns, and COMMITs that break off."""

from __future__ import annotations

import builtins
import contextlib
import queue
import threading
import time
from dataclasses import replace
from urllib.parse import quote

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

from tests.timebank.books import NOON
from timebank.audit import chain
from timebank.callers.notices import add_notice
from timebank.errors import (
    BooksUnavailable,
    DatabaseRefused,
    InDoubt,
    OutcomeUnknown,
    StillInDoubt,
)
from timebank.ledger import database as databases
from timebank.ledger import engines, failures, migrations
from timebank.ledger.database import Request, Writer
from timebank.ledger.postgres import database as postgres_database
from timebank.ledger.postgres import dialect as postgres_dialect
from timebank.ledger.postgres.connection import BooksConnection
from timebank.ledger.postgres.database import PostgresDatabase, connection_arguments
from timebank.ledger.schema import APPLICATION_ID
from timebank.settings.place import read_place
from timebank.wagers import journal


@pytest.fixture
def books(books_on_a_server):
    return books_on_a_server


@pytest.fixture
def empty(cluster):
    """The name of a database with nothing in it."""
    name = cluster.empty()
    yield name
    cluster.give_back(name)


def test_closing_the_books_closes_a_connection_in_use_on_its_return(cluster, empty) -> None:
    books = PostgresDatabase(cluster.place(empty))
    books.open()
    with books.engine.connect() as connection:
        wire = connection.connection.dbapi_connection
        books.close()
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    assert wire.closed


def texts(books) -> list[str]:
    return [text for (text,) in books.sql("SELECT text FROM notices ORDER BY id")]


class TestOpening:
    def test_lays_the_tables_once(self, cluster, empty):
        database = PostgresDatabase(cluster.place(empty))
        for _ in range(2):
            database.open()
        database.open_existing()
        database.close()
        with cluster.connect(empty) as shell:
            (count,) = shell.execute("SELECT count(*) FROM accounts").fetchone()
            assert count == 5

    def test_by_several_at_once_lays_them_once(self, cluster, empty):
        opened = [PostgresDatabase(cluster.place(empty)) for _ in range(4)]
        threads = [threading.Thread(target=database.open) for database in opened]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for database in opened:
            database.open_existing()
            database.close()

    def test_a_command_makes_none(self, cluster, empty):
        database = PostgresDatabase(cluster.place(empty))
        with pytest.raises(DatabaseRefused, match=rf"There are no books in postgresql://.*{empty}"):
            database.open_existing()
        database.close()
        with cluster.connect(empty) as shell:
            assert shell.execute("SELECT to_regclass('books')").fetchone() == (None,)

    @pytest.mark.parametrize("way", ["open", "open_existing"])
    @pytest.mark.parametrize(
        "table", ["CREATE TABLE other (a int)", "CREATE TABLE books (title text)"]
    )
    def test_refuses_a_database_of_another_program(self, cluster, empty, way, table):
        with cluster.connect(empty) as shell:
            shell.execute(table)
        database = PostgresDatabase(cluster.place(empty))
        assert database.upgrade() is None
        with pytest.raises(DatabaseRefused, match="is the database of some other program"):
            getattr(database, way)()
        database.close()

    @pytest.mark.parametrize(
        ("program", "version", "expected"),
        [
            (APPLICATION_ID, migrations.newest_version() + 1, "written by a newer program"),
            (APPLICATION_ID, 12, "version 12, from before release 1.0"),
        ],
    )
    def test_refuses_another_version(self, books, program, version, expected):
        books.sql("UPDATE books SET program = ?, version = ?", program, version)
        for way in (books.database.open, books.database.open_existing):
            with pytest.raises(DatabaseRefused, match=expected):
                way()
        books.sql(
            "UPDATE books SET program = ?, version = ?", APPLICATION_ID, migrations.newest_version()
        )

    def test_a_connection_that_breaks_off_is_refused_in_a_sentence_alone(
        self, cluster, empty, monkeypatch, caplog
    ):
        real = postgres_dialect.begin_writing

        def begin(connection, milliseconds, *, creates_tables):
            with cluster.connect(empty) as shell:
                pid = connection.connection.driver_connection.info.backend_pid
                shell.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
            real(connection, milliseconds, creates_tables=creates_tables)

        monkeypatch.setattr(postgres_dialect, "begin_writing", begin)
        database = PostgresDatabase(cluster.place(empty))
        with pytest.raises(DatabaseRefused, match="opened: the database server has ended"):
            database.open()
        database.close()
        assert caplog.records == []

    def test_a_server_that_is_not_there_is_refused_in_a_sentence(self, tmp_path):
        place = read_place(f"postgresql://me@/books?host={tmp_path}")
        with pytest.raises(DatabaseRefused, match=r"postgresql://me@/books cannot be opened: "):
            PostgresDatabase(place).open()

    def test_without_its_library_the_extra_is_named(self, books, monkeypatch):
        real = builtins.__import__

        def without(name, *more):
            if name.startswith("timebank.ledger.postgres"):
                raise ModuleNotFoundError("No module named 'psycopg'", name="psycopg")
            return real(name, *more)

        monkeypatch.setattr(builtins, "__import__", without)
        with pytest.raises(DatabaseRefused, match=r"no psycopg .*'blackjack-for-time\[postgres\]'"):
            engines.books_of(books.settings)

    @pytest.mark.parametrize(
        "named", ["%2Fnone:5432,{}:5432", "%2Fnone,{}:5432", "{}:5432,%2Fnone:5433"]
    )
    def test_of_several_hosts_one_that_answers_is_taken(self, cluster, empty, named):
        hosts = named.format(quote(str(cluster.folder), safe=""))
        place = read_place(f"postgresql://postgres@{hosts}/{empty}")
        with contextlib.closing(PostgresDatabase(place)) as books:
            books.open()
        assert connection_arguments(place)["host"] == place.host


class TestThePassword:
    def test_is_read_when_a_connection_is_made_and_shown_nowhere(self, cluster, tmp_path):
        file = tmp_path / "password"
        file.write_text("open sesame\n")
        place = replace(cluster.place("nothing_there"), password_file=file)
        database = PostgresDatabase(place)
        given = {}
        with pytest.raises(psycopg.OperationalError):
            database._connect(None, None, ("host=/nowhere",), given)
        assert given == {"password": "open sesame"}
        with pytest.raises(DatabaseRefused) as refused:
            database.open()
        for shown in (str(refused.value), repr(database.engine), repr(place), database.place):
            assert "sesame" not in shown

    def test_in_an_unreadable_file_is_refused(self, cluster, tmp_path):
        place = replace(cluster.place("postgres"), password_file=tmp_path / "no")
        with pytest.raises(DatabaseRefused, match="password of the database cannot be read"):
            PostgresDatabase(place).open()


class TestTurns:
    def test_one_writes_at_a_time_and_others_do_not_wait_for_ever(self, books):
        other = PostgresDatabase(books.settings.server, busy_seconds=0.05)
        with books.database.transaction(books.settings, NOON):
            for _ in range(2):
                with (
                    pytest.raises(BooksUnavailable, match="another program has locked"),
                    other.transaction(books.settings, NOON),
                ):
                    pass
            with other.reading(books.settings, NOON) as desk:
                assert desk.connection.exec_driver_sql("SELECT 1").scalar() == 1
        with other.transaction(books.settings, NOON):
            pass
        other.close()

    def test_let_a_reader_see_one_moment(self, books):
        books.caller("Ann")
        with books.database.reading(books.settings, NOON) as desk:
            count = "SELECT count(*) FROM callers"
            assert desk.connection.exec_driver_sql(count).scalar() == 1
            books.caller("Bob")
            assert desk.connection.exec_driver_sql(count).scalar() == 1

    def test_let_a_reader_write_nothing(self, books):
        with (
            pytest.raises(BooksUnavailable, match="only reads"),
            books.database.reading(books.settings, NOON) as desk,
        ):
            desk.connection.exec_driver_sql("DELETE FROM notices")


class TestAHungWriter:
    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch):
        monkeypatch.setattr(postgres_dialect, "IDLE", "200ms")
        monkeypatch.setattr(postgres_database, "TURN_SECONDS", 0.1)

    @pytest.fixture
    def other(self, books):
        with contextlib.closing(PostgresDatabase(books.settings.server)) as other:
            yield other

    def stands_still(self, books, other, stop=lambda wire: None):
        """Let others write while a transaction holds the turn and its process hangs."""
        ann = books.caller("Ann")

        def holds(desk):
            add_notice(desk, ann, "a")
            stop(desk.connection.connection.driver_connection)
            with other.transaction(books.settings, NOON) as turn:
                add_notice(turn, ann, "b")

        with pytest.raises(BooksUnavailable, match="database server"):
            books.do(holds)
        assert texts(books) == ["b"]

    def test_between_two_statements_is_ended_by_the_server(self, books, other):
        self.stands_still(books, other)

    def test_in_mid_send_is_ended_by_the_waiting_writer(self, books, other):
        """Of that the server counts no time: it has not been sent all yet."""

        lost = contextlib.suppress(psycopg.OperationalError)
        with lost, contextlib.ExitStack() as never_sent:

            def stop(wire):
                never_sent.enter_context(wire.pipeline())
                wire.execute("SELECT 1")

            self.stands_still(books, other, stop)

    def test_after_a_flush_request_is_ended_by_the_waiting_writer(self, books, other):
        """After that the server counts no time either, though the transaction is idle."""

        def stop(wire):
            wire.execute("SELECT 1")
            wire.pgconn.send_flush_request()
            wire.pgconn.flush()

        self.stands_still(books, other, stop)

    def test_is_left_alone_where_it_may_take_its_time(self, books, other, monkeypatch):
        monkeypatch.setattr(other, "_busy_seconds", 1)
        with books.database.transaction(books.settings, NOON) as held:
            postgres_dialect.keep_open(held.connection)
            with (
                pytest.raises(BooksUnavailable, match="another program has locked"),
                other.transaction(books.settings, NOON),
            ):
                pass
            assert held.connection.exec_driver_sql("SELECT 1").scalar() == 1

    def test_of_another_role_is_waited_for(self, books, cluster, monkeypatch):
        """Its state is visible, but it may not be ended."""
        # No pooled connection: it would have the role it was made with.
        monkeypatch.setattr(postgres_database, "BooksConnection", BooksConnection)
        place = books.settings.server
        clerk = replace(place, options=(*place.options, ("options", "-c role=bjft_clerk")))
        other = PostgresDatabase(clerk, busy_seconds=1)
        with contextlib.closing(cluster.connect("postgres")) as shell, contextlib.closing(other):
            shell.execute("CREATE ROLE bjft_clerk IN ROLE pg_monitor")
            try:
                with books.database.transaction(books.settings, NOON) as held:
                    wire = held.connection.connection.driver_connection
                    wire.execute("SELECT 1")
                    wire.pgconn.send_flush_request()  # as above: the server no longer ends it
                    wire.pgconn.flush()
                    with (
                        pytest.raises(BooksUnavailable, match="another program has locked"),
                        other.transaction(books.settings, NOON),
                    ):
                        pass
            finally:
                shell.execute("DROP ROLE bjft_clerk")


class TestLongReads:
    def rows_of(self, books):
        with books.database.reading(books.settings, NOON) as desk:
            rows = chain.ALL_ROWS.run_long(desk.connection)
            return isinstance(rows.cursor, psycopg.ServerCursor), rows.all()

    def test_of_large_books_come_some_rows_at_a_time(self, books, monkeypatch):
        call = books.call(books.caller("Ann"))
        for _ in range(3):
            call.lose(60)
        is_in_parts, rows = self.rows_of(books)
        assert not is_in_parts
        monkeypatch.setattr(postgres_dialect, "LARGE_BYTES", 0)
        monkeypatch.setattr(postgres_dialect, "ROWS_AT_ONCE", 2)
        assert self.rows_of(books) == (True, rows)
        assert books.audit() == []
        books.sql("UPDATE rounds SET lost = 30 WHERE id = 2")
        assert books.audit() == ["hand 2: 30 was lost, its transfers add up to 60."]
        with books.database.reading(books.settings, NOON) as desk:
            assert [each.id for each in journal.rounds_between(desk, 1, 9)] == [1, 2, 3]


class Wire:
    """A connection that dies in its next COMMIT, before or after the server has done it."""

    def __init__(self, books, monkeypatch) -> None:
        self.books = books
        self.dialect = books.database.engine.dialect
        self.patch = monkeypatch

    def dies(self, *, is_done: bool) -> None:
        real = self.dialect.do_commit

        def commit(connection):
            self.patch.setattr(self.dialect, "do_commit", real)
            if is_done:
                real(connection)
            with self.books.shell() as shell:
                pid = connection.driver_connection.info.backend_pid
                shell.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
            connection.driver_connection.execute("SELECT 1")

        self.patch.setattr(self.dialect, "do_commit", commit)


@pytest.fixture
def wire(books, monkeypatch):
    books.caller("Ann")
    return Wire(books, monkeypatch)


class TestABrokenCommit:
    @pytest.mark.parametrize("is_done", [True, False])
    def test_of_a_transaction_is_looked_up(self, books, wire, is_done):
        wire.dies(is_done=is_done)
        if is_done:
            books.do(add_notice, 1, "a")
        else:
            with pytest.raises(BooksUnavailable):
                books.do(add_notice, 1, "a")
        assert texts(books) == ["a"] * is_done
        books.do(add_notice, 1, "b")
        assert texts(books)[-1] == "b"

    @pytest.mark.parametrize("is_done", [True, False])
    def test_of_a_group_is_looked_up(self, books, wire, is_done):
        groups: queue.Queue = queue.Queue()
        writer = Writer(books.database, lambda: books.settings, lambda: NOON, groups.put)
        wire.dies(is_done=is_done)
        writer.submit(Request(lambda desk: add_notice(desk, 1, "a"), "a"))
        (done,) = groups.get(timeout=20)
        assert (done.error is None) == is_done
        assert is_done or isinstance(done.error, BooksUnavailable)
        writer.submit(Request(lambda desk: add_notice(desk, 1, "b"), "b"))
        (done,) = groups.get(timeout=20)
        assert done.error is None
        writer.close()
        assert texts(books) == [*["a"] * is_done, "b"]

    def test_while_the_server_is_not_there_is_not_guessed(self, books, wire, monkeypatch):
        monkeypatch.setattr(databases, "DOUBT_RETRY_SECONDS", 0.01)
        monkeypatch.setattr(books.database, "_busy_seconds", 0.05)

        wire.dies(is_done=True)
        with monkeypatch.context() as network:
            network.setattr("timebank.ledger.postgres.dialect.is_committed", self.away)
            with pytest.raises(OutcomeUnknown):
                books.do(add_notice, 1, "a")
        assert texts(books) == ["a"]

    def test_of_a_group_is_not_waited_for_without_end(self, books, wire, monkeypatch):
        """Callers read that the outcome is unknown; it is still resolved."""
        monkeypatch.setattr(databases, "DOUBT_RETRY_SECONDS", 0.01)
        monkeypatch.setattr(books.database, "doubt_seconds", 0.05)
        groups: queue.Queue = queue.Queue()
        writer = Writer(books.database, lambda: books.settings, lambda: NOON, groups.put)
        wire.dies(is_done=True)
        with monkeypatch.context() as network:
            network.setattr("timebank.ledger.postgres.dialect.is_committed", self.away)
            writer.submit(Request(lambda desk: add_notice(desk, 1, "a"), "a"))
            errors = [groups.get(timeout=20)[0].error for _ in range(2)]
            assert [type(error) for error in errors] == [InDoubt, OutcomeUnknown]
            writer.submit(Request(lambda desk: add_notice(desk, 1, "b"), "b"))
            (refused,) = groups.get(timeout=20)
            assert isinstance(refused.error, BooksUnavailable)
        (done,) = groups.get(timeout=20)
        assert (done.ticket, done.error) == ("a", None)
        writer.submit(Request(lambda desk: add_notice(desk, 1, "c"), "c"))
        assert groups.get(timeout=20)[0].error is None
        writer.close()
        assert texts(books) == ["a", "c"]

    def test_of_a_group_is_waited_for_since_it_was_asked_for(self, books, wire, monkeypatch):
        """An operation that waited for its turn first must not wait as long again."""
        monkeypatch.setattr(databases, "DOUBT_RETRY_SECONDS", 0.01)
        monkeypatch.setattr(books.database, "doubt_seconds", 60)
        groups: queue.Queue = queue.Queue()
        writer = Writer(books.database, lambda: books.settings, lambda: NOON, groups.put)
        wire.dies(is_done=True)
        now = time.monotonic()
        old, new = (
            databases.Request(lambda desk: add_notice(desk, 1, "a"), who, asked_at=now - waited)
            for who, waited in (("old", 61), ("new", 0))
        )
        with monkeypatch.context() as network:
            network.setattr("timebank.ledger.postgres.dialect.is_committed", self.away)
            writer._queue.put(old)
            writer.submit(Request(lambda desk: None, "starts the thread"))
            errors = [groups.get(timeout=20)[0].error for _ in range(2)]
            assert [type(error) for error in errors] == [InDoubt, OutcomeUnknown]
        assert groups.get(timeout=20)[0].error is None
        writer.close()
        doubtful = databases._DoubtfulGroup(
            books.database.doubt(None), [], [], errors[1], [old, new]
        )
        assert doubtful.pop_late(60) == [old]
        assert doubtful.waiting == [new]

    @staticmethod
    def away(*_):
        raise psycopg.OperationalError("the server is away")

    def test_that_is_in_progress_there_is_asked_for_again(self, books):
        with books.database.transaction(books.settings, NOON) as desk:
            desk.connection.exec_driver_sql("UPDATE accounts SET game = NULL")
            doubt = books.database.doubt(books.database.number_transaction(desk.connection))
            with pytest.raises(StillInDoubt, match="lock timeout"):
                doubt.settle()
            desk.connection.connection.driver_connection.commit()
            assert doubt.settle()

    def test_is_not_taken_for_another_of_its_connection(self, books):
        marks = []
        books.caller("Ann")
        for text in "ab":
            with books.database.transaction(books.settings, NOON) as desk:
                add_notice(desk, 1, text)
                marks.append(books.database.number_transaction(desk.connection))
        (one, first), (same, second) = marks
        assert same == one
        assert second > first
        assert [books.database.doubt((one, n)).settle() for n in (first, second)] == [False, True]

    def test_is_absent_on_a_server_that_never_received_it(self, books):
        """This also holds after a failover to a server that never received it."""
        doubt = books.database.doubt(("0" * 32, 7))
        assert not doubt.settle()
        assert not doubt.settle()

    def test_is_not_guessed_when_it_may_be_forgotten(self, books, monkeypatch):
        monkeypatch.setattr(postgres_database, "LOOKUP_SECONDS", -10)
        with pytest.raises(StillInDoubt, match="too old"):
            books.database.doubt(("0" * 32, 7)).settle()

    @pytest.mark.parametrize(("seconds", "left"), [(3600, 10_002), (-3600, 10_000)])
    def test_is_forgotten_when_it_is_old_and_many_came_after_it(self, books, seconds, left):
        with books.database.transaction(books.settings, NOON) as desk:
            desk.connection.exec_driver_sql("DELETE FROM operations")
            desk.connection.exec_driver_sql(
                "INSERT INTO operations (key, last, at) SELECT CAST(n AS TEXT), 1,"
                " extract(epoch FROM now()) + n FROM generate_series(1, 10002) AS n"
            )
            postgres_dialect.forget_operations(desk.connection, seconds)
            count = desk.connection.exec_driver_sql("SELECT count(*), min(last) FROM operations")
            assert count.one() == (left, 1)

    def test_that_is_done_with_a_warning_is_looked_up(self, books, monkeypatch):
        """The server warns so when its wait for a standby was cancelled."""
        books.caller("Ann")
        books.sql(
            "CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$"
            " BEGIN RAISE WARNING 'canceling wait'; RETURN NULL; END $$"
        )
        books.sql(
            "CREATE CONSTRAINT TRIGGER warns AFTER INSERT ON notices"
            " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION warn()"
        )
        asked = []
        real = postgres_database.postgres.is_committed
        monkeypatch.setattr(
            "timebank.ledger.postgres.dialect.is_committed",
            lambda *which: asked.append(real(*which)) or asked[-1],
        )
        books.do(add_notice, 1, "a")
        assert asked == [True]

    def test_a_statement_that_gets_no_answer_is_given_up(self, books, monkeypatch):
        monkeypatch.setattr("timebank.ledger.postgres.dialect.PATIENCE", 0.2)
        books.caller("Ann")
        with books.shell() as shell:
            shell.autocommit = False
            shell.execute("LOCK TABLE notices")
            with pytest.raises(BooksUnavailable, match="can't be reached"):
                books.do(add_notice, 1, "a")
        assert texts(books) == []


class TestErrors:
    @pytest.mark.parametrize(
        ("sqlstate", "broken", "doubtful"),
        [
            ("40001", True, False),
            ("40003", True, True),
            ("40P01", True, False),
            ("55P03", True, False),
            ("53100", True, True),
            ("57P01", True, True),
            ("08006", True, True),
            ("25006", True, False),
            # A standby, or a primary that has become one, is asked to write.
            ("0A000", True, False),
            ("23505", False, False),
            ("22P02", False, False),
            ("42P01", False, False),
        ],
    )
    def test_are_classified_by_code(self, sqlstate, broken, doubtful):
        error = psycopg.errors.lookup(sqlstate)("no")
        assert failures.is_broken(error) == broken
        assert failures.leaves_doubt(error) == doubtful

    def test_a_lost_connection_has_none(self):
        error = psycopg.OperationalError("the connection is closed")
        assert failures.is_broken(error)
        assert failures.leaves_doubt(error)

    @pytest.mark.parametrize("decks", [0, None])
    def test_show_nothing_of_the_row_that_is_refused(self, books, decks):
        with pytest.raises(DBAPIError) as refused:
            books.sql(
                "INSERT INTO shoes (game, decks, seed, seal, opened) VALUES ('vegas', ?, ?, ?, 0)",
                decks,
                b"very secret",
                "very secret",
            )
        assert "very secret" not in str(refused.value)
        assert b"very secret".hex() not in str(refused.value)

    def test_refuse_to_empty_the_ledger(self, books):
        with pytest.raises(DBAPIError, match="transfers are only ever added, never emptied"):
            books.sql("TRUNCATE transfers CASCADE")
