"""Books of an earlier release: `door serve` moves them forward, and no door does."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
from pathlib import Path

from tests.door.hosting import hosted
from tests.door.lines.board import PATIENCE
from tests.door.processes import OPEN_ALL_DAY
from tests.timebank import next_version
from tests.timebank.books import Books
from timebank.ledger.sqlite.upgrade import copy_path

# The command of a release that knows a step from the books of today.
NEXT = (sys.executable, next_version.__file__)


def test_a_server_moves_them_forward_and_says_where_the_copy_is(tmp_path: Path) -> None:
    config, data = tmp_path / "sysop.toml", tmp_path / "data"
    config.write_text(OPEN_ALL_DAY, encoding="utf-8")
    data.mkdir(0o700)
    books = data / "board.sqlite3"
    Books(data).close()
    command = [*NEXT, "serve", "--config", str(config)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == (
            f"Moved the books in {books} from version {next_version.BEFORE} to"
            f" {next_version.VERSION}.\n"
        )
        assert process.stdout.readline() == (
            f"A copy of them as they were is in {copy_path(books, next_version.BEFORE)}.\n"
        )
        assert process.stdout.readline().startswith("To go back, install the earlier release")
        assert "is open" in process.stdout.readline()
        process.terminate()
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0


async def test_a_server_for_doors_leaves_older_books_and_refuses_calmly(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path) as host:
        books, older = host.config.database, next_version.BEFORE - 1
        host.database.close()
        with contextlib.closing(sqlite3.connect(books)) as file:
            file.execute(f"PRAGMA user_version = {older}")
        status, shown, _ = await host.refused("--stdio", "--dropfile", str(host.door32()))
        assert status == 2
        assert "version" not in shown
        assert "can't open right now" in shown
        assert f"The books in {books} are of version {older}, which an earlier" in host.log
        assert "`door upgrade` moves them forward" in host.log
        with contextlib.closing(sqlite3.connect(books)) as file:
            assert file.execute("PRAGMA user_version").fetchone() == (older,)
            file.execute(f"PRAGMA user_version = {next_version.BEFORE}")
        host.expected = str(host.config.board.data)
