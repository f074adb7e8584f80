"""Books of an earlier release: `door serve` moves them forward, and no door does."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.door.hosting import hosted
from tests.door.lines.board import PATIENCE
from tests.door.processes import OPEN_ALL_DAY, dealt_door
from tests.timebank import earlier
from timebank.ledger.schema import SCHEMA_VERSION
from timebank.ledger.sqlite.migrations import backup_path


def test_a_server_moves_them_forward_and_says_where_the_copy_is(tmp_path: Path) -> None:
    config, data = tmp_path / "sysop.toml", tmp_path / "data"
    config.write_text(OPEN_ALL_DAY, encoding="utf-8")
    data.mkdir(0o700)
    books = data / "board.sqlite3"
    earlier.make_version_1(books)
    command = [*dealt_door(tmp_path), "serve", "--config", str(config)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == (
            f"Moved the books in {books} from version 1 to {SCHEMA_VERSION}.\n"
        )
        assert process.stdout.readline() == (
            f"A copy of them as they were is in {backup_path(books, 1)}.\n"
        )
        assert "is open" in process.stdout.readline()
        process.terminate()
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0


async def test_a_door_leaves_them_and_says_so_to_the_log_and_calmly_to_the_caller(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path) as host:
        books = host.config.database
        kept = books.rename(books.with_name("kept"))
        earlier.make_version_1(books)
        before = books.read_bytes()
        status, shown, log = await host.refused("--dropfile", str(host.door32()))
        assert status == 2
        assert "version" not in shown
        assert "can't open right now" in shown
        assert f"The books in {books} are of version 1, which an earlier release wrote" in log
        assert "`timebank upgrade` moves them forward" in log
        assert books.read_bytes() == before
        host.expected = "are of version 1"
        kept.replace(books)
