"""Books that are in doubt or gone: callers wait and then read the true outcome.

tests/timebank/ledger/test_failed_commit.py tests SQLite after a failed COMMIT. Here the test
decides when the answer comes.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event

from door import wording
from door.games.blackjack.round import start
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
from door.games.engine import shuffle
from door.server.leadership import LOOK_SECONDS
from door.tables.vegas import news
from tests.door.at_the_teletype import at_the_teletype
from tests.door.playing import PLACE_BET, at_the_table, hand
from tests.door.seated import party
from tests.terminal import PATIENCE
from tests.world import World, cut_with, log_on
from timebank.errors import BooksUnavailable, StillInDoubt
from timebank.ledger import database
from timebank.ledger.sqlite import guard

UNWRITTEN = "The books can't be written right now. Nothing has changed."
NOT_KNOWN = "The books can't say if your last move counts."


class Outcome:
    """The outcome of the failing COMMIT; unknown until `comes`."""

    def __init__(self) -> None:
        self._known = threading.Event()
        self._is_there = False

    def comes(self, *, is_there: bool) -> None:
        self._is_there = is_there
        self._known.set()

    def settle(self) -> bool:
        if not self._known.is_set():
            raise StillInDoubt("disk I/O error")
        return self._is_there


@contextmanager
def doubt(board: World, *, is_written: bool) -> Iterator[Outcome]:
    """Make the server's next COMMIT fail, with or without its rows in the books."""
    engine, outcome = board.database.engine, Outcome()
    dialect, writing = engine.dialect, threading.local()
    commit = dialect.do_commit

    # A menu that polls for activity commits too, outside the writer, and is never in doubt.
    def note(connection: Connection) -> None:
        writing.now = not connection.get_execution_options().get("read_only")

    def fail(connection: Any) -> None:
        if not writing.now:
            commit(connection)
            return
        dialect.do_commit = commit  # type: ignore[method-assign]
        (commit if is_written else dialect.do_rollback)(connection)
        raise sqlite3.OperationalError("disk I/O error")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "DOUBT_RETRY_SECONDS", 0.01)
        patch.setattr(board.database, "doubt", lambda number: outcome)
        dialect.do_commit = fail  # type: ignore[method-assign]
        event.listen(engine, "commit", note)
        try:
            yield outcome
        finally:
            event.remove(engine, "commit", note)
            dialect.do_commit = commit  # type: ignore[method-assign]
            outcome.comes(is_there=is_written)


async def test_a_bet_in_doubt_is_reported_so_and_then_as_refused(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        seed = hand("hit")
        ada.board.seeds = [seed]
        await ada.asks_to_bet()
        with doubt(ada.board, is_written=False) as outcome:
            ada.terminal.send("2\r")
            await ada.message(str(wording.IN_DOUBT))
            assert UNWRITTEN not in ada.messages
            assert ada.hands_dealt == 0
            outcome.comes(is_there=False)
            await ada.message(UNWRITTEN)
        await ada.prompt(PLACE_BET)
        assert ada.hands_dealt == 0
        await ada.bets(2, seed)


async def test_a_bet_that_counts_after_all_is_dealt(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        seed = hand("hit")
        ada.board.seeds = [seed]
        await ada.asks_to_bet()
        with doubt(ada.board, is_written=True) as outcome:
            ada.terminal.send("2\r")
            await ada.message(str(wording.IN_DOUBT))
            outcome.comes(is_there=True)
            ada.round, _ = start(BLACK_JACK_FOR_TIME, shuffle.shuffle(seed, cut_with(), 1), [2])
            await ada.sees_hand()
        await ada.stands()


async def test_other_callers_read_that_the_books_cannot_be_written(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        ada.board.enter("Bob")
        bob = await ada.board.call()
        await log_on(bob, "Bob")
        await bob.until("Press any key")
        await bob.send(" ").until("oodbye")
        await ada.asks_to_bet()
        with doubt(ada.board, is_written=False):
            ada.terminal.send("2\r")
            await ada.message(str(wording.IN_DOUBT))
            await bob.send("w").until("The books can't be written right now (")
        await ada.message(UNWRITTEN)


async def test_a_board_that_closes_meanwhile_says_that_it_is_not_known(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(2, hand("hit"))
        with doubt(ada.board, is_written=True):
            ada.terminal.send("h")
            await ada.message(str(wording.IN_DOUBT))
            ada.board.server.books.limit_waits(0)
            await ada.terminal.until(NOT_KNOWN)
            await ada.terminal.until_closed()
            assert "waits for you" not in ada.terminal.picture
            assert "Nothing has changed" not in ada.terminal.picture


async def test_all_at_the_vegas_table_read_of_a_doubt_and_the_round_goes_on(tmp_path: Path) -> None:
    async with party(tmp_path, 2) as two:
        ada, bob = two.sitters
        await two.deal()
        before, announced, on_news = two.state.hand, asyncio.Event(), bob.on_news

        def listens(happened: Sequence[object]) -> None:
            on_news(happened)
            if bob.was_told(news.BooksInDoubt):
                announced.set()

        bob.on_news = listens  # type: ignore[method-assign]
        with doubt(two.here, is_written=False) as outcome:
            hits = asyncio.create_task(ada.does("hit"))
            async with asyncio.timeout(PATIENCE):
                await announced.wait()
            assert ada.was_told(news.BooksInDoubt) == [news.BooksInDoubt()]
            assert two.state.hand is before
            outcome.comes(is_there=False)
            with pytest.raises(BooksUnavailable):
                await hits
        await ada.does("stay")
        assert two.journal() == ["1:stay"]


async def test_a_letter_of_the_teletype_in_doubt_ends_the_call_when_the_board_closes(
    tmp_path: Path,
) -> None:
    async with at_the_teletype(tmp_path) as ada:
        with doubt(ada.board, is_written=False):
            await ada.presses("p").sees(str(wording.IN_DOUBT))
            ada.board.server.books.limit_waits(0)
            await ada.sees(NOT_KNOWN)
            await ada.terminal.until_closed()


async def test_books_that_are_gone_close_the_board(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(2, hand("hit"))
        board = ada.board
        log = board.config.database.with_name(f"{board.config.database.name}-wal")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(guard, "LOOK_SECONDS", 0.0)
            assert board.database._guard is not None
            board.database._guard._believed_until = 0.0
            log.unlink()
            # The board looks by itself, without a key.
            await board.clock.advance(LOOK_SECONDS + 1)
            await ada.terminal.until("its books are damaged")
            await ada.terminal.until_closed()
            assert "Your hand waits for you on the table." in ada.terminal.picture
            async with asyncio.timeout(PATIENCE):
                await board.server.ended.wait()
        await board.close()
        await board.open()
        await ada.calls_back()
        await ada.stands()
