"""A server started by a door: when it ends, and which server follows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from unittest import mock

import pytest

from door.lines import hand_over
from door.server.for_doors import ForDoors, make_way
from tests.clock import FakeClock
from tests.door.peers.boards import until
from tests.door.riding import Rider, started_lock
from tests.terminal import PATIENCE
from tests.world import BOARD, World, world

MINUTES = 5
SECONDS = MINUTES * 60.0
STAYS = f"""
[server]
start_for_doors_minutes = {MINUTES}
[calls]
idle_warning_seconds = 80000
idle_limit_seconds = 86000
[boards.Xibalba]
aliases = ["Synchronet"]
"""
TOML = f"events = []\n{BOARD}{STAYS}"


@asynccontextmanager
async def for_doors(folder: Path, clock: FakeClock | None = None) -> AsyncIterator[World]:
    """A server as a door starts it."""
    part = ForDoors(started_lock(folder))
    with mock.patch("door.call.board.this_process", return_value="here/1:1"):
        async with world(folder, toml=TOML, clock=clock, for_doors=part) as board:
            yield board


def has_ended(board: World) -> bool:
    return board.server.ended.is_set()


async def until_it_ends(board: World) -> None:
    async with asyncio.timeout(PATIENCE):
        await board.server.ended.wait()


async def test_it_listens_for_doors_alone_and_says_that_it_is_there(tmp_path: Path) -> None:
    async with for_doors(tmp_path) as board:
        assert board.server.ports == []
        assert (board.config.board.data / hand_over.NAME).is_socket()


async def test_a_server_for_doors_ends_after_minutes_without_callers(tmp_path: Path) -> None:
    async with for_doors(tmp_path) as board:
        await board.pass_time(SECONDS - 1)
        assert not has_ended(board)
        await board.pass_time(1)
        assert has_ended(board)
        assert not (board.config.board.data / hand_over.NAME).exists(), (
            "the next door starts another"
        )


async def test_the_minutes_begin_when_the_last_caller_has_gone(tmp_path: Path) -> None:
    async with for_doors(tmp_path) as board:
        moth, bee = Rider(board), Rider(board, "Bee", 43)
        await moth.comes_in()
        await board.pass_time(SECONDS - 1)
        await bee.comes_in()
        await moth.hangs_up()
        await board.pass_time(2 * SECONDS)
        assert not has_ended(board)
        await bee.hangs_up()
        await board.pass_time(SECONDS - 1)
        assert not has_ended(board)
        await board.pass_time(1)
        assert has_ended(board)


async def test_a_door_that_is_only_about_to_come_in_is_not_lost(tmp_path: Path) -> None:
    async with for_doors(tmp_path) as board:
        await board.pass_time(SECONDS - 1)
        door = Rider(board)
        door.dials()
        assert not board.server._handed.is_empty, "it waits at the socket"
        await board.pass_time(1)
        assert not has_ended(board)
        door.wire.close()
        await until(lambda: board.server._handed.is_empty, board.server._handed, "_has_gone")
        await board.pass_time(SECONDS)
        assert has_ended(board)


async def test_it_ends_for_another_server_and_hands_its_callers_back(tmp_path: Path) -> None:
    async with for_doors(tmp_path) as board:
        moth = Rider(board)
        await moth.comes_in()
        assert await asyncio.to_thread(make_way, board.config.board.data)
        await until_it_ends(board)
    assert await moth.hears() == [hand_over.AGAIN]
    assert "close the board" not in moth.terminal.transcript
    await moth.leaves()


async def test_no_other_server_makes_room(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        assert not await asyncio.to_thread(make_way, board.config.board.data)
        assert not board.server.board.draining
        rider = Rider(board)
        await rider.comes_in()
        await rider.hangs_up()
        await board.pass_time(2 * SECONDS)
        assert not has_ended(board)


async def test_a_hung_server_does_not_delay_a_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("door.server.control_client.RECEIPT_SECONDS", 0.01)
    async with for_doors(tmp_path) as board:
        assert not make_way(board.config.board.data), "the loop stands still meanwhile"


async def test_settings_that_have_changed_count_for_the_next_door(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with for_doors(tmp_path) as board:
        file = tmp_path / "sysop.toml"
        moth, bee = Rider(board), Rider(board, "Bee", 43)
        file.write_text("[board")
        await moth.comes_in()
        await bee.comes_in()
        assert caplog.text.count("is wrong, the old settings stay") == 1
        ant = Rider(board, "Ant", 44)
        file.write_text(TOML.replace("The Test Board", "Another Board"))
        await ant.comes_in()
        assert board.server.board.config.board.name == "Another Board"
        assert board.server.board.config.listeners == ()
        for each in (moth, bee, ant):
            await each.hangs_up()


async def test_a_drained_server_takes_no_callers_and_ends_with_the_last(tmp_path: Path) -> None:
    async with for_doors(tmp_path) as board:
        moth = Rider(board)
        await moth.comes_in()
        board.server.drain()
        await moth.terminal.until("The sysop is about to close the board")
        bee = Rider(board, "Bee", 43)
        bee.dials()
        assert (await bee.asks())[0] == hand_over.REFUSED
        await bee.leaves()
        await moth.hangs_up()
        await until_it_ends(board)
