"""Servers of one board find each other by their rows, and know when one has gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.server.presence import RENEW_SECONDS
from tests.door.peers.boards import machines, until_known
from timebank.servers import registry
from timebank.settings.place import ServerPlace


async def test_a_server_that_starts_or_stops_is_known_at_once(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with machines(tmp_path, database, "north") as (north,):
        assert north.server.board.server_id
        (tmp_path / "more").mkdir()
        async with machines(tmp_path / "more", database, "south", "north") as (south, other):
            await until_known(north, "south", "north-2")
            await until_known(south, "north", "north-2")
            await until_known(other, "north", "south")
        await until_known(north)


async def test_a_server_wrongly_removed_registers_again(
    tmp_path: Path, database: ServerPlace, caplog: pytest.LogCaptureFixture
) -> None:
    async with machines(tmp_path, database, "north", "south") as (north, south):
        await until_known(north, "south")
        number = south.server.board.server_id
        with north.books() as desk:
            registry.leave(desk, number)
        await north.server.board.peers.look()
        assert not north.server.board.peers.others
        await south.pass_time(RENEW_SECONDS)
        await until_known(north, "south")
        assert south.server.board.server_id > number
        assert "it has entered itself again" in caplog.text


async def test_a_killed_server_is_removed_when_its_row_is_old(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with machines(tmp_path, database, "north", "south") as (north, _):
        await until_known(north, "south")
        with north.books() as desk:
            desk.connection.exec_driver_sql(
                f"UPDATE servers SET renewed = renewed - {registry.LIVING_SECONDS + 5}"
                " WHERE name = 'south'"
            )
        await north.pass_time(RENEW_SECONDS)
        assert not north.server.board.peers.others
