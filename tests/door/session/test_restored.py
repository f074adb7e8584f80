"""Books put back by hand are recognised before a card is dealt from them."""

from __future__ import annotations

import re
import shutil
import sqlite3
from pathlib import Path

from door.config.config import load
from tests.door.hosting import end_started, hosted
from tests.door.playing import Table, hand, sit_down
from tests.door.shell import Shell
from tests.world import World, log_on, world
from timebank.ledger.sqlite import live_mark

SEED, OTHER_SEED = hand("hit"), hand(ends="natural")


async def calls_again(board: World) -> Table:
    """Have Ada call on a new day and go to the table."""
    ada = Table(board, await board.call(), "Ada")
    await log_on(ada.terminal, "Ada")
    screen = ada.terminal
    await screen.wait_for(lambda each: re.search("any key|oodbye", each.picture), "the menu")
    if "any key" in screen.picture:  # after her notices
        screen.send(" ")
        await ada.prompt("oodbye")
    screen.send("b")
    await ada.prompt("<B>et")
    return ada


async def sees_a_seal(ada: Table, seed: bytes) -> str:
    ada.board.seeds = [seed]
    seal = await ada.seal()
    await ada.asks_to_bet()
    return seal


async def hangs_up(ada: Table) -> None:
    ada.terminal.abort()
    await ada.is_gone()


async def test_a_restored_copy_never_deals_shown_cards_again(tmp_path: Path, caplog) -> None:
    copy = tmp_path / "kept.sqlite3"
    async with world(tmp_path) as board:
        books = board.config.database
        ada = await sit_down(board, "Ada")
        seal = await sees_a_seal(ada, SEED)
        await hangs_up(ada)
    shutil.copy(books, copy)
    async with world(tmp_path) as board:
        ada = await calls_again(board)
        assert await sees_a_seal(ada, OTHER_SEED) == seal
        await ada.types_bet(2, SEED)
        await ada.stands()
        assert await ada.seed() == SEED.hex()  # now she knows every card of it
        await hangs_up(ada)
    shutil.copy(copy, books)
    async with world(tmp_path) as board:
        ada = await calls_again(board)
        assert await sees_a_seal(ada, OTHER_SEED) != seal
        await hangs_up(ada)
    assert "Closed 1 open shoe: none of its cards is dealt again." in caplog.messages


async def test_a_hand_voided_by_a_restore_is_shown_as_void(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        ada = await sit_down(board, "Ada")
        await ada.bets(2, SEED)
        await hangs_up(ada)
    live_mark.file_path(board.config.database).unlink()
    async with world(tmp_path):
        pass
    door = Shell(tmp_path / "sysop.toml")
    output = door("hand", "1").output
    assert "Result   void: the books were restored with the hand open, and the stake" in output
    assert "Books" not in output  # of the first generation
    assert f"Seed     {SEED.hex()}" in output
    assert door("hand", "1", "--json").error == (
        "Hand 1 was never played to its end: it is void.\n"
    )
    assert "They are in generation 2: a backup was restored." in door("audit").output


async def test_a_server_that_a_door_starts_knows_them_too(tmp_path: Path) -> None:
    async with hosted(tmp_path) as host:
        visit = await host.a_visit()
        assert await visit.goes() == 0
        await end_started(host.config.board.data)
        database = load(tmp_path / "sysop.toml").database
        live_mark.file_path(database).unlink()
        visit = await host.a_visit()
        assert await visit.goes() == 0
        with sqlite3.connect(database) as connection:
            assert connection.execute("SELECT number FROM generations").fetchall() == [(2,)]
        connection.close()
