"""Books of an earlier release: `door serve` moves them forward, and no door does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
        assert "is open" in process.stdout.readline()
        process.terminate()
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0


async def test_a_door_leaves_them_and_says_so_to_the_log_and_calmly_to_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hosted(tmp_path) as host:
        books = host.config.database
        monkeypatch.setattr("tests.door.hosting.forked_door", lambda _: NEXT)
        before = books.read_bytes()
        status, shown, log = await host.refused("--dropfile", str(host.door32()))
        assert status == 2
        assert "version" not in shown
        assert "can't open right now" in shown
        said = f"The books in {books} are of version {next_version.BEFORE}, which an earlier"
        assert said in log
        assert "`timebank upgrade` moves them forward" in log
        assert books.read_bytes() == before
        host.expected = f"are of version {next_version.BEFORE}"
