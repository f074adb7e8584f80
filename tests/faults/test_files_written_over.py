"""A real `door serve` under which somebody writes over its files, or cuts its end off."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.door.processes import Served, forked_door, served
from tests.faults.points import SOON, InAHand, household
from tests.faults.test_lying_disk import rounds
from tests.faults.test_trouble import TOML
from timebank.cli.main import main
from timebank.ledger.sqlite import high_water

NO_MORE = "its books are damaged"


def beside(path: Path, ending: str) -> Path:
    return path.with_name(f"{path.name}{ending}")


def carry_over(path: Path) -> None:
    """What a checkpoint does, by a shell."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as shell:
        assert shell.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def commits(board: Served) -> int:
    with board.books() as desk:
        return high_water.count_of(desk.connection)


async def timebank(board: Served, *words: str) -> tuple[int, str]:
    told = await asyncio.to_thread(
        CliRunner().invoke, main, [words[0], "--config", str(board.config.path), *words[1:]]
    )
    return told.exit_code, told.output


async def is_refused(board: Served) -> str:
    """Start it again, in vain; returns what it says."""
    process = await asyncio.create_subprocess_exec(
        *(*forked_door(board.folder), "serve", "--config", str(board.config.path)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    _, said = await process.communicate()
    assert process.returncode != 0
    return said.decode()


async def test_books_that_are_written_over_close_the_board_and_are_served_by_nobody(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, toml=TOML) as board:
        books, copy = board.config.database, tmp_path / "copy.sqlite3"
        (point,) = await household(board, [InAHand])
        assert (await timebank(board, "backup", str(copy)))[0] == 0
        before = commits(board)
        point.tries()
        # The prompt may stand there still; only what is written now makes the copy an older one.
        await point.terminal.wait_for(lambda _: commits(board) > before, "an answer in the books")
        await point.one_of("<Q>uit", *point.ASKED)
        board.database.close()  # it must not be the last to close what is spoiled
        carry_over(books)
        with books.open("wb") as file:
            file.write(copy.read_bytes())
        await point.terminal.until(NO_MORE, SOON)
        await point.terminal.until_closed()
        assert await board.ends() != 0
        (line,) = [line for line in board.said if "was written over or cut off" in line]
        assert "timebank restore" in line
        said = await is_refused(board)
        assert f"The books at {books} were written over while the board served." in said
        assert "Traceback" not in said
        code, said = await timebank(board, "restore", str(copy))
        assert code == 0, said
        for rescued in books.parent.glob(f"{books.name}.rescued-*"):
            rescued.unlink()
        board.database.open()
        await board.serve()
        assert rounds(board) == 1
        await point.comes_back()


@pytest.mark.long
async def test_an_index_that_is_cut_off_loses_nothing(tmp_path: Path) -> None:
    async with served(tmp_path, toml=TOML) as board:
        (point,) = await household(board, [InAHand])
        played = rounds(board)
        board.database.close()
        os.truncate(beside(board.config.database, "-shm"), 0)
        await point.terminal.until_closed()
        await board.process.wait()  # the kernel ends whoever looks into it
        board.port = 0
        board.database.open()
        assert rounds(board) == played
        await board.serve()
        await point.finds_all_again()
