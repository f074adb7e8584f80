"""The daily bulletin: in the texts folder, and in the lobby."""

import asyncio
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from ansi import art
from bench import large
from door.lobby import bulletins
from door.server.server import Server
from tests.clock import FakeClock
from tests.door.visiting import MENU, seated, sysop_toml, visitor
from tests.terminal import REFUSING
from tests.world import BOARD, NOON, World, newcomer, seed_of, world
from timebank.callers import standings
from timebank.ledger.sqlite.database import SqliteDatabase

# So late that little time is left of the day; in seconds.
LATE, BY_MIDNIGHT = NOON.replace(hour=23, minute=50), 600


def natural(deal) -> bool:
    return deal.over and deal.outcomes[0] == "natural"


async def test_yesterdays_winner_is_in_todays_bulletin(tmp_path: Path) -> None:
    async with world(tmp_path, now=LATE) as board:
        board.seeds = [seed_of(natural)]
        caller = await newcomer(board, "Alice")
        await caller.send("b").until("<B>et")
        await caller.send("b5").until("Coins to bet")
        await caller.send("\r").until("10:00")
        await caller.send("q").until("oodbye")
        caller.send("gy")
        await caller.until_closed()
        texts = tmp_path / "texts"
        assert "no hands played" in (texts / "bulletin.asc").read_text("cp437")
        await board.clock.advance(BY_MIDNIGHT)
        await board.at_rest()
        reader = await newcomer(board, "Bob", REFUSING)
        written = (texts / "bulletin.asc").read_text("cp437")
        assert "Friday 20 November 2026" in written
        assert "1 Alice                       10:00" in written
        assert "1 hand                     -10:00" in written
        picture = art.read((texts / "bulletin.ans").read_bytes())
        assert "Friday 20 November 2026" in picture.text
        await reader.send("n").until("<N>ext")
        await reader.send(">").until("<P>revious")
        assert "1 Alice                       10:00" in reader.heard


async def test_the_bulletin_covers_the_day_so_far(tmp_path: Path) -> None:
    async with world(tmp_path, toml=sysop_toml(events="")) as board:
        ada = await seated(board, "Ada")
        await ada.bets(5, "stay", ends="win")
        await ada.stays()
        await ada.presses("q").is_asked(MENU)
        await ada.presses("n").sees("Friday 20 November 2026, so far")
        for words in ("1 Ada", "5:00", "1 hand", "-5:00"):
            assert words in ada.screen
        # The day before was empty, and no line says that the caller lost.
        assert "Thursday" not in ada.screen
        assert "Losers" not in ada.screen
        bob = await visitor(board, "Bob", profile=REFUSING)
        await bob.presses("n").sees("Friday 20 November 2026, so far")
        await bob.sees("1 Ada")


async def test_the_news_tell_of_today_before_yesterday(tmp_path: Path) -> None:
    async with world(tmp_path, toml=sysop_toml(events=""), now=LATE) as board:
        ada = await visitor(board, "Ada", profile=REFUSING)
        await ada.caller.remember({standings.NAMED_AS_LOSER: True})
        await ada.sits_down()
        await ada.bets(5, "stay", ends="lose")
        await ada.stays()
        await ada.presses("q").is_asked(MENU)
        await ada.logs_off()
        await board.pass_time(BY_MIDNIGHT)
        await ada.visits(REFUSING)
        await ada.presses("n").is_asked("<N>ext")
        await ada.presses(">").sees("Winners of all time")
        today, _, yesterday = ada.terminal.transcript.rpartition("Friday 20 November 2026")
        assert "Saturday 21 November 2026, so far" in today
        assert "no hands played" in today
        assert "Losers of the day" in yesterday
        assert "1 Ada                         -5:00" in yesterday


async def test_no_row_of_the_bulletin_is_wider_than_a_screen(tmp_path: Path) -> None:
    async with world(tmp_path):
        rows = (tmp_path / "texts" / "bulletin.asc").read_text("cp437").splitlines()
        assert max(map(len, rows)) <= 78


async def test_plain_lines_show_each_list_separately(board: World) -> None:
    """Two lists side by side were read out mixed up, row by row."""
    reader = await newcomer(board, "Bob", REFUSING)
    await reader.send("n").until("Richest callers")
    rows = reader.heard.splitlines()
    for heading in ("Richest callers", "The house's day", "Winners of the day, all hands"):
        assert heading in rows


async def test_an_unwritable_texts_folder_does_not_stop_the_board(tmp_path: Path) -> None:
    (tmp_path / "texts").write_text("a file, not a folder")
    async with world(tmp_path) as board:
        await newcomer(board, "Alice")


def test_a_link_planted_in_a_shared_folder_is_replaced_and_its_target_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user may change any name in the folder, at any moment."""
    ours, texts, replace = tmp_path / "ours", tmp_path / "texts", os.replace
    ours.write_bytes(b"only ours")
    ours.chmod(0o600)
    texts.mkdir()
    (texts / "bulletin.asc").symlink_to(ours)
    nothing = bulletins.DayNews(NOON.date(), (), (), ())

    def planting(begun: str, *values: Any, **folders: Any) -> None:
        written = texts / Path(begun).name
        written.unlink()
        written.symlink_to(ours)
        replace(begun, *values, **folders)

    monkeypatch.setattr(os, "chmod", lambda *_: pytest.fail("what has the name may be a link"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", planting)
        bulletins.write(bulletins.Bulletin(nothing, (), (), ()), "Board", texts)
    assert ours.read_bytes() == b"only ours"
    assert stat.S_IMODE(ours.stat().st_mode) == 0o600
    bulletins.write(bulletins.Bulletin(nothing, (), (), ()), "Board", texts)
    for name in ("bulletin.asc", "bulletin.ans"):
        assert not (texts / name).is_symlink()
        assert stat.S_IMODE((texts / name).stat().st_mode) == 0o644
    assert len(list(texts.iterdir())) == 2


async def test_the_news_are_read_while_the_writer_is_busy(board: World) -> None:
    caller = await newcomer(board, "Alice", REFUSING)
    async with board.slow_books():
        await caller.send("n").until("Winners of all time")


async def test_midnight_is_reported_while_the_writer_is_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, loop, write = asyncio.Event(), asyncio.get_running_loop(), bulletins.write

    def write_and_tell(*values: Any) -> None:
        write(*values)
        loop.call_soon_threadsafe(written.set)

    late = NOON.replace(hour=23, minute=59)
    async with world(tmp_path, now=late) as board, board.slow_books():
        monkeypatch.setattr(bulletins, "write", write_and_tell)
        bulletin = tmp_path / "texts" / "bulletin.asc"
        bulletin.unlink()
        await board.clock.advance(60)
        await written.wait()
        assert "Friday 20 November 2026" in bulletin.read_text("cp437")


async def start_steps(folder: Path, transfers: int) -> int:
    """Count the steps of SQLite's machine when a board opens."""
    (folder / "data").mkdir(parents=True)
    (folder / "sysop.toml").write_text(BOARD, encoding="utf-8")
    large.write(folder / "data" / "board.sqlite3", transfers)
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    board = World(folder, FakeClock(NOON), busy_seconds=1)
    database = SqliteDatabase(board.config.database)
    event.listen(
        database.engine,
        "connect",
        lambda connection, _: connection.set_progress_handler(count, 1),
    )
    database.open()
    server = Server(board.config, database, board.clock, board.new_seed)
    await server.start()
    await server.stop("The board is closing.")
    database.close()
    return steps


async def test_a_start_reads_no_more_of_years_of_play_than_of_a_month(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("door.server.server.REMEMBERED", 20)  # the maximum number of calls to read
    month = await start_steps(tmp_path / "month", 2_000)
    years = await start_steps(tmp_path / "years", 40_000)
    assert 0 < years < 1.3 * month


def test_the_house_reads_its_wins_and_losses_with_their_signs() -> None:
    house = [standings.HouseDay("baccarat", 5, 1020), standings.HouseDay("red-dog", 2, -120)]
    news = bulletins.DayNews(NOON.date(), [], [], house)
    rows = bulletins.lines(bulletins.Bulletin(news, [], [], []), "Board")
    assert [row for row in rows if "+17:00" in row]
    assert [row for row in rows if "-2:00" in row]
