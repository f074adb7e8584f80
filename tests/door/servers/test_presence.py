"""Servers of one board find each other by their rows, and know when one has gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.errors import CannotListen, Unreachable
from door.server.presence import RENEW_SECONDS
from door.servers import notifications
from tests.door.lines.board import PATIENCE
from tests.door.servers.boards import machines, until_known
from timebank.servers import registry
from timebank.settings.place import ServerPlace


async def test_who_begins_and_ends_is_known_at_once(
    tmp_path: Path, database: ServerPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "LAST_SECONDS", PATIENCE)
    async with machines(tmp_path, database, "north") as (north,):
        assert north.server.board.server_id
        (tmp_path / "more").mkdir()
        async with machines(tmp_path / "more", database, "south", "north") as (south, other):
            await until_known(north, "south", "north-2")
            await until_known(south, "north", "north-2")
            await until_known(other, "north", "south")
        await until_known(north)


async def test_two_machines_reach_each_other_by_their_links(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with machines(tmp_path, database, "north", "south") as (north, south):
        await until_known(north, "south")
        for here, there in ((north, south), (south, north)):
            board = here.server.board
            said = {"control": "refused", "alone": True}
            answer = await board.peers.ask(there.server.board.server_id, said)
            assert answer == {"held": [], "more": 0, "names": 0}


async def test_without_a_link_it_is_said_what_is_missing(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with machines(tmp_path, database, "north", "south", link="") as (north, south):
        await until_known(north, "south")
        with pytest.raises(Unreachable, match="Server south is not on this machine, and has no"):
            await north.server.board.peers.dial(south.server.board.server_id)


async def test_who_was_thought_dead_enters_again(
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
        assert "it is back" in caplog.text
        await north.server.board.peers.ask(south.server.board.server_id, {"control": "refused"})


async def test_who_is_killed_is_forgotten_when_its_row_is_old(
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


async def test_a_link_that_cannot_be_opened_is_told(tmp_path: Path, database: ServerPlace) -> None:
    with pytest.raises(CannotListen, match=r"The link at 192\.0\.2\.1:2324 cannot be opened"):
        async with machines(tmp_path, database, "north", link='link = "192.0.2.1:2324"'):
            pass
