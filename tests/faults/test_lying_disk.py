"""A real `door serve` with a disk that fails in a COMMIT, or a log without its index."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from door import wording
from tests.door.processes import served
from tests.failing_disk import SYNC_LOG, FailingDisk
from tests.faults.points import UNWRITTEN, ABet, InAHand, household
from tests.faults.test_trouble import TOML

pytestmark = pytest.mark.long


def rounds(board) -> int:
    with board.books() as desk:
        return desk.connection.exec_driver_sql("SELECT count(*) FROM rounds").scalar_one()


async def test_a_bet_reported_as_refused_is_absent_after_kill_9(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FailingDisk(tmp_path)
    for name, value in disk.environment.items():
        monkeypatch.setenv(name, value)
    async with served(tmp_path, toml=TOML) as board:
        (point,) = await household(board, [ABet])
        disk.fail(SYNC_LOG)
        point.tries()
        await point.sees_one_of(str(wording.IN_DOUBT))
        assert UNWRITTEN not in point.screen
        disk.mend()
        await point.reads_slowly(UNWRITTEN)
        board.process.kill()
        await board.process.wait()
        await point.terminal.until_closed()
        board.port = 0
        assert rounds(board) == 0
        await board.serve()
        await point.comes_back()


async def test_an_index_that_is_cut_off_loses_nothing(tmp_path: Path) -> None:
    async with served(tmp_path, toml=TOML) as board:
        (point,) = await household(board, [InAHand])
        played = rounds(board)
        board.database.close()
        books = board.config.database
        os.truncate(books.with_name(f"{books.name}-shm"), 0)
        await point.terminal.until_closed()
        await board.process.wait()  # the kernel ends any process that reads the file
        board.port = 0
        board.database.open()
        assert rounds(board) == played
        await board.serve()
        await point.finds_all_again()
