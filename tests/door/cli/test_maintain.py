"""The nightly work of `timebank` on hands that only the board can stand."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from door.games import hand_check
from tests.door.playing import at_the_table, hand
from tests.world import NOON
from timebank.keeping.maintain import installed_stand, maintain
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.settings.settings import load


async def test_maintain_stands_an_abandoned_hand_without_a_server(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(4, hand("stay", ends="win"))
        ada.terminal.abort()
        await ada.is_gone()
    settings = load(tmp_path / "sysop.toml")
    database = SqliteDatabase(settings.database)
    now = NOON + timedelta(days=2)
    done = maintain(
        lambda: database.transaction(settings, now),
        lambda: database.reading(settings, now),
        installed_stand(),
    )
    assert (done.stood, done.left) == ((1,), ())
    with database.reading(settings, now) as desk:
        assert hand_check.audit(desk) == ([], 1)
        (result,) = desk.connection.exec_driver_sql("SELECT outcome FROM rounds").scalars()
    database.close()
    assert result == "win"
