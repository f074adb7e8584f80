"""The books cannot be written: the old round stays on the screen, and the hand can be played on."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest
from sqlalchemy import Connection, event

from tests.door.playing import KEYS, MINUTE, PLACE_BET, Table, at_the_table, hand
from tests.world import BOARD, NOON, World, log_on, world
from timebank.callers import callers
from timebank.calls.calls import RENEW_SECONDS
from timebank.errors import BooksUnavailable
from timebank.ledger.sqlite.doubt import SqliteDoubt

UNWRITTEN = "The books can't be written right now. Nothing has changed."


@asynccontextmanager
async def impatient_table(folder: Path, toml: str = BOARD) -> AsyncIterator[Table]:
    async with at_the_table(folder, toml=toml, busy_seconds=0.02) as table:
        yield table


@contextmanager
def books_locked(board: World) -> Iterator[None]:
    """Another program writes to the books and does not come to an end."""
    other = sqlite3.connect(board.config.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@contextmanager
def disk_broken(board: World) -> Iterator[None]:
    """Make every COMMIT fail at its end, except those that resolve a doubt."""
    engine, find_out = board.database.engine, SqliteDoubt.settle

    def fail(connection: Connection) -> None:
        if not connection.get_execution_options().get("read_only"):
            raise sqlite3.OperationalError("disk I/O error")

    def settle(doubt: SqliteDoubt) -> bool | None:
        event.remove(engine, "commit", fail)
        try:
            return find_out(doubt)
        finally:
            event.listen(engine, "commit", fail)

    event.listen(engine, "commit", fail)
    try:
        with mock.patch.object(SqliteDoubt, "settle", settle):
            yield
    finally:
        event.remove(engine, "commit", fail)


troubles = pytest.mark.parametrize("trouble", [books_locked, disk_broken])


@troubles
async def test_without_a_seal_there_is_no_bet_and_the_table_stays_open(
    tmp_path: Path, trouble
) -> None:
    async with impatient_table(tmp_path) as ada:
        with trouble(ada.board):
            ada.terminal.send("b")
            await ada.message(UNWRITTEN)
            await ada.prompt(PLACE_BET)
            assert await ada.seal() == ""
        await ada.bets(2, hand("stay", ends="win"))
        await ada.does("stay")
        assert ada.online == 62 * MINUTE


@troubles
async def test_a_bet_that_was_not_written_is_not_dealt(tmp_path: Path, trouble) -> None:
    async with impatient_table(tmp_path) as ada:
        seed = hand("stay", ends="win")
        ada.board.seeds = [seed]
        seal = await ada.seal()
        await ada.asks_to_bet()
        with trouble(ada.board):
            ada.terminal.send("2\r")
            await ada.message(UNWRITTEN)
            await ada.prompt(PLACE_BET)
            assert ada.cards("Your hand") == ()
        assert ada.hands_dealt == 0
        assert ada.online == ada.time_left == 60 * MINUTE
        # The seal that Ada has seen still binds the house.
        assert await ada.seal() == seal
        await ada.asks_to_bet()
        await ada.types_bet(2, seed)
        await ada.does("stay")
        assert ada.moved() == [("stake", 120), ("returned", 120), ("won", 120)]


@troubles
@pytest.mark.parametrize(
    ("before", "action", "after", "ending"),
    [
        ((), "insurance", ("stay",), "win"),
        (("hit",), "hit", ("stay",), "lose"),
    ],
    ids=["insurance", "second hit"],
)
async def test_an_action_that_was_not_written_is_taken_again(
    tmp_path: Path,
    trouble,
    before: tuple[str, ...],
    action: str,
    after: tuple[str, ...],
    ending: str,
) -> None:
    async with impatient_table(tmp_path) as ada:
        await ada.bets(2, hand(*before, action, *after, ends=ending))
        await ada.does(*before)
        with trouble(ada.board):
            ada.terminal.send(KEYS[action])
            await ada.prompt("Let's try again.")
            assert UNWRITTEN in ada.messages
            assert ada.cards("Your hand") == ada.round.seats[0].hands[0].cards
            assert ada.cards("Dealer") == ada.round.dealer
        assert ada.journal() == ["bet", *before]
        ada.terminal.send(" ")
        await ada.sees_hand()
        await ada.does(action, *after)
        assert ada.journal() == ["bet", *before, action, *after]


async def test_a_bet_that_cannot_be_remembered_is_a_bet_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise BooksUnavailable("The books can't be written right now.")

    async with impatient_table(tmp_path) as ada:
        monkeypatch.setattr(callers, "set_preferences", refuse)
        await ada.bets(3, hand("stay", ends="win"))
        await ada.does("stay")
        assert ada.online == 63 * MINUTE


async def test_time_that_runs_out_while_nothing_can_be_written_ends_the_call(
    tmp_path: Path,
) -> None:
    async with impatient_table(tmp_path, f"{BOARD}[calls]\nminutes_per_day = 4\n") as ada:
        await ada.bets(2, hand("stay", ends="win"))
        with books_locked(ada.board):
            await ada.board.clock.advance(2 * MINUTE)
            await ada.terminal.until_closed()
            assert "Your hand waits for you on the table." in ada.terminal.picture
        # The hand is as it was; the board closes the call that it could not close.
        await ada.is_gone()
        assert ada.journal() == ["bet"]
        await ada.board.pass_time(2 * RENEW_SECONDS + 1)
        ada.terminal = await ada.board.call()
        await log_on(ada.terminal, ada.name)
        await ada.sees_hand()
        await ada.does("stay")
        assert ada.moved() == [("stake", 120), ("returned", 120), ("won", 120)]


@pytest.mark.parametrize("letter", "bcuvtw")
async def test_a_room_that_needs_locked_books_leads_back_to_the_menu(
    tmp_path: Path, letter: str
) -> None:
    async with impatient_table(tmp_path) as ada:
        await ada.gets_up()
        with books_locked(ada.board):
            refusal = (
                "can't be reached" if letter == "v" else "The books can't be written right now"
            )
            await ada.terminal.send(letter).until(refusal)
            if letter == "v":
                ada.terminal.send("\r")
            await ada.prompt("oodbye")
        assert not ada.terminal.closed
        ada.terminal.send("b")
        await ada.prompt(PLACE_BET)


async def test_a_malformed_hand_stops_neither_board_nor_caller(
    tmp_path: Path,
) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(2, hand("hit"))
        ada.terminal.abort()
        await ada.is_gone()
    sound = replace_action(ada, "not what the table wrote")
    async with world(tmp_path, now=NOON + timedelta(days=2)) as board:
        ada.board = board
        ada.terminal = await board.call()
        await log_on(ada.terminal, ada.name)
        await ada.prompt("Press any key")
        ada.terminal.send(" ")
        await ada.prompt("oodbye")
        ada.terminal.send("b")
        await ada.prompt(PLACE_BET)
        ada.terminal.send("b")
        await ada.message("A hand from this shoe is still in play.")
        ada.terminal.abort()
        await ada.is_gone()
        replace_action(ada, sound)
        await ada.calls_back()


def replace_action(table: Table, text: str) -> str:
    """Replace the text of the bet in the journal; return the old one."""
    books = sqlite3.connect(table.board.config.database)
    (before,) = books.execute("SELECT action FROM actions").fetchone()
    books.execute("UPDATE actions SET action = ?", (text,))
    books.commit()
    books.close()
    return before


async def test_a_disk_that_fills_up_stops_the_bet_and_nothing_else(tmp_path: Path) -> None:
    async with impatient_table(tmp_path) as ada:
        seed = hand(ends="push")
        await ada.board.server.books.run(
            lambda desk: desk.connection.exec_driver_sql("PRAGMA max_page_count = 1").scalar()
        )
        played = 0
        while UNWRITTEN not in ada.messages:
            ada.board.seeds = [seed]
            ada.terminal.send("b")
            await ada.terminal.wait_for(
                lambda _: "Coins to bet" in ada.prompt_row or UNWRITTEN in ada.messages, "a bet"
            )
            if "Coins to bet" in ada.prompt_row:
                ada.terminal.send("\r")
                await ada.prompt(PLACE_BET)
                played += 1
        assert ada.hands_dealt < played + 1
        # The disk has room again.
        await ada.bets(1, seed)
        assert ada.online == ada.time_left == 60 * MINUTE
