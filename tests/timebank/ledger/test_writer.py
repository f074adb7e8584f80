"""The one writer: groups that commit together, and operations that cannot."""

from __future__ import annotations

import contextlib
import logging
import queue
import sqlite3
import threading
from unittest import mock

import pytest

from timebank.callers.notices import add_notice
from timebank.errors import BooksUnavailable, NotEnough, Refused
from timebank.ledger import failures
from timebank.ledger.database import GROUP_SIZE, Request, Writer
from timebank.ledger.sqlite.database import SqliteDatabase

PATIENCE = 120


class Desks:
    """A writer under test, with everything it delivers in the order it came."""

    def __init__(self, books) -> None:
        self.books = books
        self.groups: queue.Queue = queue.Queue()
        self.writer = Writer(
            books.database, lambda: books.settings, lambda: books.now, self.groups.put
        )

    def submit(self, operation, ticket=None) -> None:
        self.writer.submit(Request(operation, ticket))

    def next_group(self):
        return self.groups.get(timeout=PATIENCE)

    def together(self, *operations):
        """Have the writer do these as one group, by keeping it busy first."""
        busy, go = threading.Event(), threading.Event()

        def wait(desk):
            busy.set()
            go.wait(PATIENCE)

        self.submit(wait, "first")
        assert busy.wait(PATIENCE)
        for ticket, operation in enumerate(operations):
            self.submit(operation, ticket)
        go.set()
        assert [done.ticket for done in self.next_group()] == ["first"]
        return self.next_group()


@pytest.fixture
def desks(books):
    desks = Desks(books)
    yield desks
    desks.writer.close()


def add(text):
    """An operation that leaves a row."""
    return lambda desk: add_notice(desk, 1, text)


def fail(error):
    """An operation that writes and then raises."""

    def operation(desk):
        add_notice(desk, 1, "should be gone")
        raise error

    return operation


def texts(books):
    return [text for (text,) in books.sql("SELECT text FROM notices ORDER BY id")]


@pytest.fixture(autouse=True)
def ann(books):
    return books.caller("Ann")


def test_a_result_is_delivered_under_its_ticket(desks):
    ticket = object()
    desks.submit(lambda desk: 42, ticket)
    (done,) = desks.next_group()
    assert (done.ticket, done.result, done.error) == (ticket, 42, None)
    assert done.ticket is ticket


def test_waiting_operations_commit_together_in_order(books, desks):
    group = desks.together(add("a"), add("b"), add("c"))
    assert [done.ticket for done in group] == [0, 1, 2]
    assert texts(books) == ["a", "b", "c"]


def test_no_more_than_a_hundred_share_a_commit(desks):
    first = desks.together(*[add("x")] * (2 * GROUP_SIZE + 7))
    assert [len(first), len(desks.next_group()), len(desks.next_group())] == [100, 100, 7]


def test_nothing_is_answered_before_it_is_committed(books):
    sizes = []

    def look(group):
        with books.database.reading(books.settings, books.now) as other:
            count = other.connection.exec_driver_sql("SELECT count(*) FROM notices").scalar_one()
        sizes.append((len(group), count))

    writer = Writer(books.database, lambda: books.settings, lambda: books.now, look)
    for _ in range(20):
        writer.submit(Request(add("x"), None))
    writer.close()
    answered = 0
    for size, visible in sizes:
        answered += size
        assert visible == answered
    assert answered == 20


def test_a_refusal_rolls_back_its_own_request_alone(books, desks):
    group = desks.together(add("a"), fail(NotEnough("no")), add("c"))
    assert [type(done.error) for done in group] == [type(None), NotEnough, type(None)]
    assert texts(books) == ["a", "c"]


def test_a_refused_request_leaves_no_sign_even_when_it_is_alone(books, desks):
    desks.submit(fail(Refused("no")))
    (done,) = desks.next_group()
    assert str(done.error) == "no"
    assert texts(books) == []


def test_an_unexpected_error_rolls_back_alone_is_delivered_and_logged(books, desks, caplog):
    group = desks.together(add("a"), fail(ZeroDivisionError("oops")), add("c"))
    assert isinstance(group[1].error, ZeroDivisionError)
    assert texts(books) == ["a", "c"]
    assert "a request failed and was rolled back" in caplog.text


def test_a_refusal_is_not_logged(desks, caplog):
    desks.submit(fail(Refused("no")))
    desks.next_group()
    assert caplog.text == ""


@pytest.mark.of_a_file
def test_a_failed_commit_fails_its_group_and_the_next_one_succeeds(books, desks, caplog):
    def break_the_commit(desk):
        desk.connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        add_notice(desk, 99, "for a caller who is not there")

    group = desks.together(add("a"), break_the_commit, fail(Refused("no")), add("d"))
    assert [type(done.error) for done in group] == [BooksUnavailable] * 4
    assert texts(books) == []
    assert "4 requests could not be committed" in caplog.text
    assert desks.together(add("e"))[0].error is None
    assert texts(books) == ["e"]


@pytest.mark.of_a_file
def test_a_full_disk_fails_the_group_and_leaves_nothing_half_done(books, desks):
    """A limit on the pages of the file gives the very error of a disk that is full."""

    def fill(desk):
        run = desk.connection.exec_driver_sql
        run("PRAGMA max_page_count = 1")
        for _ in range(1000):
            add_notice(desk, 1, "x" * 1000)

    group = desks.together(add("a"), fill, add("c"))
    assert [type(done.error) for done in group] == [BooksUnavailable] * 3
    assert "no space is left on the disk" in str(group[0].error)
    assert texts(books) == []
    assert desks.together(add("d"))[0].error is None
    assert texts(books) == ["d"]
    assert books.audit() == []


@pytest.mark.of_a_file
def test_a_locked_database_fails_the_group_and_the_next_succeeds(books):
    database = SqliteDatabase(books.database.path, busy_seconds=0.05)
    groups: queue.Queue = queue.Queue()
    writer = Writer(database, lambda: books.settings, lambda: books.now, groups.put)
    with contextlib.closing(sqlite3.connect(database.path, isolation_level=None)) as rival:
        rival.execute("BEGIN IMMEDIATE")
        writer.submit(Request(add("a"), "a"))
        (done,) = groups.get(timeout=PATIENCE)
        assert isinstance(done.error, BooksUnavailable)
        assert "locked" in str(done.error)
    writer.submit(Request(add("b"), "b"))
    assert groups.get(timeout=PATIENCE)[0].error is None
    writer.close()
    database.close()
    assert texts(books) == ["b"]


def test_an_outage_is_logged_once_however_many_ask_meanwhile(books, desks, caplog, monkeypatch):
    def asked():
        desks.submit(add("a"))
        desks.next_group()
        messages = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return messages

    monkeypatch.setattr(failures, "is_broken", lambda error: True)
    for reason in ("gone\n\tfor now", "full"):
        monkeypatch.setattr(books.database, "guard", mock.Mock(side_effect=OSError(reason)))
        said = f"1 requests could not be committed: {' '.join(reason.split())}"
        assert [asked(), asked()] == [[said], []]
    monkeypatch.setattr(books.database, "guard", lambda: None)
    again = "requests are committed again; 4 failed before"
    assert [asked(), asked()] == [[again], []]


def test_unreadable_settings_fail_the_group_but_not_the_writer(books, caplog):
    answers = iter([ZeroDivisionError, None])

    def settings():
        error = next(answers)
        if error is not None:
            raise error
        return books.settings

    groups: queue.Queue = queue.Queue()
    writer = Writer(books.database, settings, lambda: books.now, groups.put)
    writer.submit(Request(add("a"), None))
    assert isinstance(groups.get(timeout=PATIENCE)[0].error, BooksUnavailable)
    writer.submit(Request(add("b"), None))
    assert groups.get(timeout=PATIENCE)[0].error is None
    writer.close()
    assert "could not be committed" in caplog.text


def test_a_failed_delivery_is_logged_and_the_writer_continues(books, caplog):
    delivered = []

    def deliver(group):
        delivered.append(len(group))
        raise ZeroDivisionError

    caplog.set_level(logging.ERROR)
    writer = Writer(books.database, lambda: books.settings, lambda: books.now, deliver)
    writer.submit(Request(add("a"), None))
    writer.submit(Request(add("b"), None))
    writer.close()
    assert sum(delivered) == 2
    assert texts(books) == ["a", "b"]
    assert "could not be delivered" in caplog.text


def test_closing_finishes_the_queue(books):
    groups: queue.Queue = queue.Queue()
    writer = Writer(books.database, lambda: books.settings, lambda: books.now, groups.put)
    for number in range(120):
        writer.submit(Request(add(str(number)), number))
    writer.close()
    answered = []
    while not groups.empty():
        answered += [done.ticket for done in groups.get()]
    assert answered == list(range(120))
    assert len(texts(books)) == 120


def test_a_writer_that_was_asked_nothing_has_no_thread(books):
    """A process that fails before it serves would wait for the thread, and never end."""
    before = threading.active_count()
    Writer(books.database, lambda: books.settings, lambda: books.now, print)
    assert threading.active_count() == before


def test_a_closed_writer_takes_nothing_and_may_be_closed_again(desks):
    desks.writer.close()
    desks.writer.close()
    with pytest.raises(BooksUnavailable, match="The books are closed"):
        desks.submit(add("a"))


def test_many_submitters_are_all_answered_once(books, desks):
    def submit(start):
        for number in range(start, start + 50):
            desks.submit(add(str(number)), number)

    threads = [threading.Thread(target=submit, args=(50 * index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answered = []
    while len(answered) < 400:
        answered += [done.ticket for done in desks.next_group()]
    assert sorted(answered) == list(range(400))
    assert sorted(map(int, texts(books))) == list(range(400))
