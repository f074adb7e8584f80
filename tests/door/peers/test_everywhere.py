"""A sysop's commands reach the callers of all servers, and one server each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from unittest import mock

import pytest

from door.server import board_commands
from door.server import control_client as shell
from tests.door.lines.board import PATIENCE
from tests.door.peers.boards import Machine, machines, until_known
from tests.door.peers.conftest import Soon
from tests.door.server.test_sysop_looks import Sysop
from tests.door.shell import CommandResult, Shell
from tests.door.visiting import Guest, sysop_toml, visitor
from timebank.errors import BooksUnavailable
from timebank.settings.place import ServerPlace

pytestmark = pytest.mark.long

TOML = sysop_toml(events="").replace("events = []", "").replace("[timebank]", "")


@asynccontextmanager
async def two(folder: Path, database: ServerPlace) -> AsyncIterator[tuple[Machine, Machine]]:
    """Serve from north and south."""
    async with machines(folder, database, "north", "south", toml=TOML) as (north, south):
        yield north, south


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give servers on a busy machine more time to answer."""
    monkeypatch.setattr(board_commands, "BOOKS_SECONDS", PATIENCE)
    monkeypatch.setattr(shell, "ANSWER_SECONDS", PATIENCE)


async def sysop(machine: Machine, *words: str) -> CommandResult:
    return await asyncio.to_thread(Shell(machine.config.path), *words)


async def callers(north: Machine, south: Machine) -> tuple[Guest, Guest, Guest]:
    """Ada and Cyd are on north, Bob is on south."""
    ada = await visitor(north, "Ada")
    bob = await visitor(south, "Bob")
    return ada, bob, await visitor(north, "Cyd")


async def test_callers_of_all_servers_are_in_one_list(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with two(tmp_path, database) as (north, south):
        await callers(north, south)
        result = await sysop(north, "nodes")
        assert result.status == 0
        header, *rows = [row.split() for row in result.output.splitlines()]
        assert header[:4] == ["Node", "Caller", "Server", "Where"]
        assert [row[:3] for row in rows] == [
            ["1", "Ada", "north"],
            ["2", "Bob", "south"],
            ["3", "Cyd", "north"],
        ]
        assert [row[-2:] for row in rows] == [
            ["1:00:00", "127.0.0.1"],
            ["-", "127.0.0.1"],
            ["1:00:00", "127.0.0.1"],
        ]
        listed = json.loads((await sysop(south, "nodes", "--json")).output)
        assert [(on["name"], on["left"]) for on in listed["nodes"]] == [
            ("Ada", None),
            ("Bob", 3600),
            ("Cyd", None),
        ]
        assert [server["draining"] is False for server in listed["servers"]] == [True, True]


async def test_words_reach_a_caller_wherever_they_are(
    tmp_path: Path, database: ServerPlace, soon: Soon
) -> None:
    async with two(tmp_path, database) as (north, south):
        ada, bob, cyd = await callers(north, south)
        assert await sysop(north, "say", "all", "Hello") == CommandResult(
            0, "3 callers can read it.\n", ""
        )
        await soon(south)
        for guest in (ada, bob, cyd):
            await guest.sees("The sysop: Hello")
        assert (await sysop(south, "say", "3", "To|12you")).output == "Cyd can read it.\n"
        await soon(north)
        await cyd.sees("The sysop: To│12you")
        assert "To│12you" not in ada.screen + bob.screen


@pytest.mark.parametrize(
    ("words", "reason"),
    [((), "The sysop ended this call."), (("--why", "Go to|12 bed"), "Go to│12 bed")],
)
async def test_a_caller_of_another_server_reads_the_reason_and_is_hung_up(
    tmp_path: Path, database: ServerPlace, soon: Soon, words: tuple[str, ...], reason: str
) -> None:
    async with two(tmp_path, database) as (north, south):
        _, bob, _ = await callers(north, south)
        result = await sysop(north, "kick", "2", *words)
        answer = "Bob on node 2, on server south, sees why and is disconnected in a moment.\n"
        assert result == CommandResult(0, answer, "")
        await soon(south)
        await bob.is_sent_off(reason)
        assert (await sysop(north, "kick", "2")).error == "Node 2 is empty.\n"


async def test_a_kicked_caller_who_acts_first_reads_the_same_reason(
    tmp_path: Path, database: ServerPlace
) -> None:
    """The first entry finds the call closed."""
    async with two(tmp_path, database) as (north, south):
        _, bob, _ = await callers(north, south)
        with mock.patch.object(south.server.board, "renew_leases", mock.AsyncMock()):
            await sysop(north, "kick", "2", "--why", "Go to bed")
            bob.presses("t")  # the time bank asks the books
            await bob.is_sent_off("Go to bed")


async def test_a_server_is_drained_and_closed_by_itself(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with two(tmp_path, database) as (north, south):
        ada, bob, _ = await callers(north, south)
        await until_known(south, "north")
        result = await sysop(south, "drain")
        assert result.output == (
            "Server south takes no more calls; 1 caller is on. It closes when the last has gone.\n"
        )
        await bob.sees("The sysop is about to close the board.")
        assert "The sysop" not in ada.screen
        assert not north.server.board.draining
        lines = (await sysop(north, "nodes")).output.splitlines()
        assert lines[-1] == (
            "Server south is draining: it takes no more calls and closes when its last caller"
            " leaves."
        )
        assert not south.server.ended.is_set()
        assert (await sysop(south, "drain")).output == "Server south is closing.\n"
        assert south.server.ended.is_set()
        assert not north.server.ended.is_set()


async def test_only_the_callers_own_server_shows_their_screen(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with two(tmp_path, database) as (north, south):
        _, bob, _ = await callers(north, south)
        looks = await Sysop(north).looks(node=2, call=bob.caller.call_id)
        why = "Bob is on server south, whose screens are seen from there alone."
        await looks.until(lambda _, told: told == {"error": why})
        await looks.leaves()


async def test_a_server_that_has_gone_silent_is_named(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with two(tmp_path, database) as (north, south):
        await callers(north, south)
        with north.books() as desk:
            desk.connection.exec_driver_sql(
                "UPDATE servers SET renewed = renewed - 95 WHERE name = 'south'"
            )
        result = await sysop(north, "nodes")
        assert result.status == 1
        assert result.error.startswith(
            "Server south is silent: nothing was heard of it for 1 minute"
        )
        assert "Bob" in result.output


async def test_without_the_books_a_server_lists_its_own_callers(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with two(tmp_path, database) as (north, south):
        await callers(north, south)
        unavailable = mock.AsyncMock(side_effect=BooksUnavailable("The disk is full."))
        with mock.patch.object(north.server.books, "run", unavailable):
            result = await sysop(north, "nodes")
            assert result.status == 1
            assert (
                result.error
                == "The books do not answer: callers of other servers are missing here.\n"
            )
            rows = [row.split() for row in result.output.splitlines()[1:]]
            assert [row[:3] for row in rows] == [["1", "Ada", "north"], ["3", "Cyd", "north"]]
            nothing = "The books do not say now who is on. Nothing was done.\n"
            for words in (("kick", "2"), ("say", "all", "Hello")):
                assert await sysop(north, *words) == CommandResult(2, "", nothing)
