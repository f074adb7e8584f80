"""Operations of many calls that are carried out together on a server, in three trips to it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from unittest import mock

import pytest

from tests.timebank.books import GAME, Books, lost, wager, won
from tests.timebank.ledger.test_sql import STATEMENTS
from timebank.callers.notices import add_notice
from timebank.calls.calls import close_call, touch
from timebank.errors import BooksUnavailable, CallClosed, NotEnough, NotForeseen, ShoeGone
from timebank.ledger.database import Writer
from timebank.ledger.postgres import gathering
from timebank.ledger.postgres.connection import BooksConnection
from timebank.ledger.postgres.database import PostgresDatabase
from timebank.wagers import journal, wagers
from timebank.wagers.rounds import FIRST_SEAT, Move
from timebank.wagers.wagers import Sitter

PATIENCE = 60
SEED, SEAL = bytes(32), "a seal"


class Guest:
    """Somebody on a call, who plays hand after hand from shoes of their own."""

    def __init__(self, call) -> None:
        self.books = call.books
        self.caller_id = call.caller_id
        self.call_of = call
        self.call = call.id
        self.sitter = {FIRST_SEAT: Sitter(call.caller_id, call.id, 0)}
        self.shoe = 0
        self.round = 0

    def takes_a_shoe(self, desk):
        self.shoe = journal.open_shoe(desk, self.caller_id, GAME, 1, SEED, SEAL).id

    def bets(self, desk, seconds: int = 60):
        dealt = wager(seconds, shoe_id=self.shoe, cut="", cards_used=4)
        self.round = wagers.place(desk, dealt, self.sitter, {}).lead

    def wins(self, desk):
        self._ends(desk, won(60, 60))

    def loses(self, desk):
        self._ends(desk, lost(60))

    def closes_the_shoe(self, desk):
        journal.close_shoe(desk, self.shoe)

    def _ends(self, desk, settlement):
        move = Move(self.round, 1, {"action": "stay"}, 5)
        wagers.act(desk, move, self.sitter, {FIRST_SEAT: settlement})


class Table:
    """Guests whose operations are asked for at once, of one writer; it notes those done alone."""

    def __init__(self, books: Books, count: int = 3, first: int = 0) -> None:
        names = [f"Guest {'ABCDEFGH'[first + number]}" for number in range(count)]
        calls = [books.call(books.caller(name), node=first + n) for n, name in enumerate(names, 1)]
        self.books = books
        self.guests = [Guest(call) for call in calls]
        self.groups: queue.Queue = queue.Queue()
        self.writer = Writer(
            books.database, lambda: books.settings, lambda: books.now, self.groups.put
        )
        self.alone = 0

    def do(self, *operations) -> dict:
        """Carry out an operation of each guest as one group; gives the errors, by guest."""
        busy, go = threading.Event(), threading.Event()

        def wait(desk):
            busy.set()
            go.wait(PATIENCE)

        self.writer.submit(wait, None)
        assert busy.wait(PATIENCE)
        real = Writer._commit

        def alone(writer, group):
            self.alone += sum(request.ticket is not None for request in group)
            return real(writer, group)

        with mock.patch.object(Writer, "_commit", alone):
            for number, operation in enumerate(operations):
                self.writer.submit(operation, number, operation.__self__.call)
            go.set()
            assert [done.ticket for done in self.groups.get(timeout=PATIENCE)] == [None]
            answers = self.groups.get(timeout=PATIENCE)
        assert sorted(done.ticket for done in answers) == list(range(len(operations)))
        return {done.ticket: type(done.error) for done in answers if done.error}

    def play(self, hands: int = 2) -> None:
        for hand in range(hands):
            assert self.do(*[guest.takes_a_shoe for guest in self.guests]) == {}
            assert self.do(*[guest.bets for guest in self.guests]) == {}
            ends = [guest.loses if (hand + n) % 2 else guest.wins for n, guest in self.numbered]
            assert self.do(*ends) == {}
            assert self.do(*[guest.closes_the_shoe for guest in self.guests]) == {}

    @property
    def numbered(self):
        return list(enumerate(self.guests))

    def balances(self) -> list:
        return [self.books.balances(guest.caller_id) for guest in self.guests]


@pytest.fixture
def seated():
    """Make tables; their writers are closed afterwards."""
    tables: list[Table] = []

    def make(*words) -> Table:
        tables.append(Table(*words))
        return tables[-1]

    yield make
    for table in tables:
        table.writer.close()


@pytest.fixture
def books(books_on_a_server):
    return books_on_a_server


MOVED = "SELECT place, size, at, kind, amount, source, target, facts FROM transfers ORDER BY id"


def test_the_books_say_the_same_as_those_of_one_by_one(books, folder, seated):
    in_a_file = Books(folder)
    one_by_one, together = seated(in_a_file), seated(books)
    one_by_one.play()
    together.play()
    # The first bets open the account of the house, which none of them may do beside the others.
    assert (one_by_one.alone, together.alone) == (24, 3)
    assert together.balances() == one_by_one.balances()
    assert books.sql(MOVED) == in_a_file.sql(MOVED)
    results = "SELECT * FROM results ORDER BY caller_id"
    assert books.sql(results) == in_a_file.sql(results)
    assert books.audit() == []
    one_by_one.writer.close()
    in_a_file.close()


@pytest.mark.parametrize(
    "statement", [each for each in STATEMENTS if each.gathered], ids=lambda each: each.where
)
def test_what_is_written_for_one_is_written_for_many(books, statement):
    with books.shell() as shell, shell.transaction(force_rollback=True):
        done = shell.execute(gathering._of_many(statement), {"rows": "[]"})
        assert done.rowcount == 0


def test_two_servers_write_side_by_side_and_the_chain_is_one(books, seated):
    elsewhere = Books(books.settings.database.parent, server=books.settings.server)
    tables = seated(books, 3), seated(elsewhere, 3, 3)
    players = [threading.Thread(target=table.play, args=(3,)) for table in tables]
    for player in players:
        player.start()
    for player in players:
        player.join()
    assert books.sql("SELECT count(*) FROM rounds WHERE settled IS NOT NULL") == [(18,)]
    assert books.audit() == []
    numbers = "SELECT count(*), max(id) FROM transfers"
    ((count, last),) = books.sql(numbers)
    assert count == last, "none is left out"
    tables[1].writer.close()
    elsewhere.close()


def test_whoever_writes_alone_writes_when_no_group_is_under_way(books, seated):
    table = seated(books)
    table.do(*[guest.takes_a_shoe for guest in table.guests])
    calls = [guest.call for guest in table.guests]
    hasty = PostgresDatabase(books.settings.server, busy_seconds=0.05)
    with books.database.engine.connect() as connection:
        group = books.database.gather(connection, calls)
        with (
            pytest.raises(BooksUnavailable, match="lock timeout"),
            hasty.transaction(books.settings, books.now),
        ):
            pass
        group.commit()
        with hasty.transaction(books.settings, books.now):
            pass
    hasty.close()


class _Found:
    """What a server has found, for some keys."""

    def __init__(self, names: str, *rows: tuple[object, ...]) -> None:
        self.description = [mock.Mock() for _ in names.split()]
        for column, name in zip(self.description, names.split(), strict=True):
            column.name = name
        self._rows = rows

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        return iter(self._rows)


def test_what_was_read_beforehand_answers_for_its_calls_alone_and_before_any_write() -> None:
    group = gathering.PostgresGathering(mock.Mock(), [7])
    statement = next(each for each in STATEMENTS if each.foreseen and each.foreseen.of == "call")
    assert statement.foreseen is not None
    key = statement.foreseen.key.split()
    assert len(key) == 1
    group._known[statement] = gathering._Known(
        statement.foreseen, _Found(f"{key[0]} balance", (7, 60))
    )
    group._covered = {"call": frozenset({7, 8})}
    assert group.answer(statement, {key[0]: 7}, True).scalar() == 60
    assert group.answer(statement, {key[0]: 8}, True).all() == []
    for number, is_first in ((7, False), (9, True)):
        with pytest.raises(NotForeseen):
            group.answer(statement, {key[0]: number}, is_first)


def test_a_refusal_leaves_the_others_in_the_group(books, seated):
    table = seated(books)
    first, second, third = table.guests
    table.do(*[guest.takes_a_shoe for guest in table.guests])

    class Rich(Guest):
        def bets(self, desk):
            super().bets(desk, 30_000)

    second.__class__ = Rich
    assert table.do(first.bets, second.bets, third.bets) == {1: NotEnough}
    assert table.alone == 0
    assert [balances["stake"] for balances in table.balances()] == [60, 0, 60]
    assert books.audit() == []


def test_what_is_not_foreseen_is_done_alone_and_the_others_together(books, seated):
    table = seated(books)
    first, second, _ = table.guests

    class Asking(Guest):
        def takes_a_shoe(self, desk):
            super().takes_a_shoe(desk)
            add_notice(desk, self.caller_id, "a notice")

    second.__class__ = Asking
    assert table.do(first.takes_a_shoe, second.takes_a_shoe) == {}
    assert table.alone == 1
    assert books.sql("SELECT caller_id FROM shoes ORDER BY caller_id") == [
        (first.caller_id,),
        (second.caller_id,),
    ]
    assert books.sql("SELECT caller_id FROM notices") == [(second.caller_id,)]


def test_a_group_of_which_one_changes_no_row_is_done_again_one_by_one(books, seated):
    table = seated(books)
    first, second, third = table.guests
    table.do(*[guest.takes_a_shoe for guest in table.guests])
    table.do(second.closes_the_shoe)
    closing = [guest.closes_the_shoe for guest in (first, second, third)]
    assert table.do(*closing) == {1: ShoeGone}
    assert table.alone == 3
    assert books.sql("SELECT count(*) FROM shoes WHERE closed IS NULL") == [(0,)]


def test_two_operations_of_one_call_are_done_one_after_the_other(books, seated):
    table = seated(books, 1)
    (guest,) = table.guests
    assert table.do(guest.takes_a_shoe, guest.closes_the_shoe) == {}
    assert table.alone == 1
    assert books.sql("SELECT count(*) FROM shoes WHERE closed IS NOT NULL") == [(1,)]


def test_a_call_that_was_closed_meanwhile_is_told_so_by_itself(books, seated):
    table = seated(books)
    books.do(close_call, table.guests[0].call, 0, "hung up")
    errors = table.do(*[guest.touches for guest in map(Touching, table.guests)])
    assert errors == {0: CallClosed}
    assert table.alone == 0


class Touching:
    def __init__(self, guest: Guest) -> None:
        self.call = guest.call

    def touches(self, desk):
        touch(desk, self.call, 0)


class TestARowThatTheServerRefuses:
    def test_is_in_no_log(self, books, seated, caplog):
        caplog.set_level("DEBUG")
        table = seated(books)
        secret = bytes.fromhex("5ec12e75" * 8)

        class Forger(Guest):
            def takes_half_a_deck(self, desk):
                journal.open_shoe(desk, self.caller_id, GAME, -1, secret, SEAL)

        forger = Forger(table.guests[0].call_of)
        errors = table.do(forger.takes_half_a_deck, table.guests[1].takes_a_shoe)
        assert set(errors) == {0}
        assert "violates check constraint" in caplog.text
        assert secret.hex()[:8] not in caplog.text


class TestACommitThatBreaksOff:
    @pytest.mark.parametrize("is_done", [True, False])
    def test_is_looked_up(self, books, seated, monkeypatch, is_done):
        table = seated(books)
        table.do(*[guest.takes_a_shoe for guest in table.guests])
        real = BooksConnection.commit

        def commit(connection):
            monkeypatch.setattr(BooksConnection, "commit", real)
            if is_done:
                real(connection)
            with books.shell() as shell:
                pid = connection.info.backend_pid
                shell.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
            real(connection)
            connection.execute("SELECT 1")

        def break_off(group):
            monkeypatch.setattr(BooksConnection, "commit", commit)
            return write(group)

        write = gathering.PostgresGathering.write
        with mock.patch.object(gathering.PostgresGathering, "write", break_off):
            errors = table.do(*[guest.bets for guest in table.guests])
        assert set(errors.values()) == (set() if is_done else {BooksUnavailable})
        assert len(errors) == (0 if is_done else 3)
        assert [each["stake"] for each in table.balances()] == [60 * is_done] * 3
        assert books.audit() == []
