"""Batches to a server: trips of an operation, and the cause of a refused row."""

from __future__ import annotations

import contextlib

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError, IntegrityError

from tests.timebank.books import GAME, lost, wager
from tests.timebank.ledger.test_writer import Desks, add, texts
from timebank.callers.notices import add_notice
from timebank.errors import CallClosed, NotEnough
from timebank.language import Phrase
from timebank.ledger import reasons
from timebank.ledger.postgres.connection import BooksConnection
from timebank.ledger.postgres.dialect import keep_open
from timebank.ledger.transfers import ELAPSED, Account, Movement, transfer
from timebank.wagers import journal, wagers
from timebank.wagers.rounds import FIRST_SEAT, Move
from timebank.wagers.wagers import Sitter


@pytest.fixture
def books(books_on_a_server):
    return books_on_a_server


@pytest.fixture
def desks(books):
    desks = Desks(books)
    yield desks
    desks.writer.close()


@pytest.fixture
def call(books):
    return books.call(books.caller("Ann"))


def overdraw(call, seconds: int = 90_000):
    """An operation that takes more out of an account than it holds, without looking."""
    number = call.books.sql(
        "SELECT id FROM accounts WHERE kind = 'online' AND caller_id = ?", call.caller_id
    )[0][0]
    online = Account(number, "online", "second")

    def operation(desk):
        transfer(desk, [Movement(online, ELAPSED, seconds, reasons.Used(1), None, None)])
        return "written"

    return operation


class TestTrips:
    @pytest.fixture
    def trips(self, monkeypatch):
        made: list[int] = []
        real = BooksConnection.one_trip

        def together(connection):
            made.append(len(connection._deferred))
            return real(connection)

        monkeypatch.setattr(BooksConnection, "one_trip", together)
        return made

    def test_a_bet_takes_four_and_a_hand_that_ends_three(self, desks, call, trips):
        seats = {FIRST_SEAT: Sitter(call.caller_id, call.id, 5)}
        call.lose(60)  # opens the account of the house
        caller, books = call.caller_id, call.books
        shoe = books.do(journal.open_shoe, caller, GAME, 1, bytes(32)).id
        dealt = wager(60, shoe_id=shoe, cut="", cards_used=4)
        desks.submit(add("connects"))
        desks.next_group()
        trips.clear()
        desks.submit(lambda desk: wagers.place(desk, dealt, seats, {}).lead)
        (done,) = desks.next_group()
        # BEGIN; the caller; the cut and the round; the rest with the COMMIT.
        assert trips == [0, 0, 1, 3]
        move = Move(done.result, 1, {"action": "stay"}, 5)
        trips.clear()
        desks.submit(lambda desk: wagers.act(desk, move, seats, {FIRST_SEAT: lost(60)}))
        assert desks.next_group()[0].error is None
        assert trips == [0, 0, 6]
        assert books.audit() == []


class TestARefusedRow:
    def test_fails_its_own_operation_only(self, books, desks, call):
        group = desks.together(add("a"), overdraw(call), add("c"))
        assert [type(done.error) for done in group] == [type(None), NotEnough, type(None)]
        assert texts(books) == ["a", "c"]
        assert books.audit() == []

    def test_at_the_commit_fails_a_lone_operation(self, books, desks, call):
        desks.submit(overdraw(call))
        (done,) = desks.next_group()
        assert isinstance(done.error, NotEnough)
        desks.submit(add("b"))
        assert desks.next_group()[0].error is None
        assert texts(books) == ["b"]

    def test_leaves_the_connection_open(self, books):
        def passed_over():
            raise psycopg.errors.PipelineAborted("pipeline aborted")
            yield

        with books.database.transaction(books.settings, books.now) as desk:
            connection = desk.connection.connection.driver_connection
            with pytest.raises(psycopg.errors.PipelineAborted):
                connection.wait(passed_over())
            assert not connection.closed

    def test_leaves_no_statement_to_the_next_that_the_server_has_not_prepared(
        self, books, desks, call, monkeypatch
    ):
        def refused(desk):
            desk.connection.exec_driver_sql("SELECT 1")
            raise CallClosed(Phrase("This call has ended."))

        # A fresh connection: the statement that ends a savepoint is prepared at its third use,
        # here with the refused row.
        operations = [refused, add("a"), overdraw(call), add("b")]
        monkeypatch.setattr("timebank.ledger.postgres.database.BooksConnection", BooksConnection)
        books.database.engine.dispose()
        group = desks.together(*operations)
        assert [type(done.error) for done in group] == [
            *(CallClosed, type(None)),
            *(NotEnough, type(None)),
        ]
        assert texts(books) == ["a", "b"]

    def test_fails_a_transaction_of_its_own(self, books, call):
        with pytest.raises(NotEnough):
            books.do(overdraw(call))
        books.do(add_notice, call.caller_id, "a")
        assert texts(books) == ["a"]

    def test_fails_the_whole_transaction_when_suppressed(self, books, desks, call):
        def heedless(desk):
            with contextlib.suppress(DBAPIError):
                desk.connection.exec_driver_sql("UPDATE callers SET name = NULL")

        desks.submit(heedless)
        (done,) = desks.next_group()
        assert isinstance(done.error, DBAPIError)
        with pytest.raises(DBAPIError, match="aborted"):
            books.do(heedless)
        desks.submit(add("a"))
        assert desks.next_group()[0].error is None
        assert texts(books) == ["a"]

    def test_is_reported_like_any_failing_statement(self, books, call):
        nobodys = Account(2**40, "online", "second")
        moved = Movement(nobodys, ELAPSED, 1, reasons.Used(1), None, None)

        def operation(desk):
            keep_open(desk.connection)
            transfer(desk, [moved])

        with pytest.raises(IntegrityError):  # SQLAlchemy's, which a restore makes a sentence of
            books.do(operation)

    def test_is_in_no_log(self, books, desks, call, caplog):
        caplog.set_level("DEBUG")
        secret = bytes.fromhex("5ec12e75" * 8)

        def half_a_deck(desk):
            journal.open_shoe(desk, call.caller_id, GAME, -1, secret)

        group = desks.together(half_a_deck, add("b"))
        assert [done.error is None for done in group] == [False, True]
        assert "violates check constraint" in caplog.text
        assert secret.hex()[:8] not in caplog.text


class TestAPendingStatement:
    def test_is_visible_to_the_next_query(self, books, call):
        with books.database.transaction(books.settings, books.now) as desk:
            run = desk.connection.connection.driver_connection
            run.defer("UPDATE callers SET frozen = 1")
            rows = desk.connection.exec_driver_sql("SELECT frozen FROM callers")
            assert rows.scalar_one() == 1

    def test_is_undone_with_its_savepoint(self, books, call):
        with books.database.transaction(books.settings, books.now) as desk:
            wire = desk.connection.connection.driver_connection
            run = desk.connection.exec_driver_sql
            wire.defer("UPDATE callers SET frozen = 1")
            run("SAVEPOINT seats")
            wire.defer("UPDATE callers SET name = NULL")  # is refused, where it is sent
            run("ROLLBACK TO seats")
            run("RELEASE seats")
        assert books.sql("SELECT name, frozen FROM callers") == [("Ann", 1)]

    def test_is_dropped_with_its_transaction(self, books, call):
        def operation(desk):
            desk.connection.connection.driver_connection.defer("UPDATE callers SET frozen = 1")
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            books.do(operation)
        books.do(add_notice, call.caller_id, "a")
        assert books.sql("SELECT frozen FROM callers") == [(0,)]
