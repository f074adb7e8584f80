"""The sysop's commands reach all servers of the board, and say what they did not reach."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from door.errors import Unreachable
from door.lines import link
from door.server import asking as shell
from door.server import control, everywhere
from door.servers import peers
from tests.door.lines.board import PATIENCE
from tests.door.servers.boards import Machine, machines
from tests.door.shell import Shell, Told
from tests.door.visiting import MENU, Guest, sysop_toml, visitor
from timebank.errors import BooksUnavailable
from timebank.settings.place import ServerPlace

pytestmark = pytest.mark.long

TOML = sysop_toml(events="").replace("events = []", "").replace("[timebank]", "")
Said = dict[str, Any]


@asynccontextmanager
async def two(folder: Path, database: ServerPlace | None) -> AsyncIterator[tuple[Machine, Machine]]:
    """Serve from north and south."""
    async with machines(folder, database, "north", "south", toml=TOML) as (north, south):
        yield north, south


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let servers on a machine that has much to do answer late."""
    monkeypatch.setattr(peers, "ANSWER_SECONDS", PATIENCE)
    monkeypatch.setattr(peers, "DIAL_SECONDS", PATIENCE)
    monkeypatch.setattr(everywhere, "BOOKS_SECONDS", PATIENCE)
    monkeypatch.setattr(shell, "SECONDS", PATIENCE)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def books(request: pytest.FixtureRequest) -> ServerPlace | None:
    """Books of either kind: processes of one machine, or machines with links."""
    if request.param == "sqlite":
        return None
    place: ServerPlace = request.getfixturevalue("database")
    return place


async def sysop(machine: Machine, *words: str) -> Told:
    return await asyncio.to_thread(Shell(machine.config.path), *words)


async def callers(north: Machine, south: Machine) -> tuple[Guest, Guest, Guest]:
    """Ada and Cyd are on north, Bob is on south."""
    ada = await visitor(north, "Ada")
    bob = await visitor(south, "Bob")
    return ada, bob, await visitor(north, "Cyd")


@contextlib.contextmanager
def answering(machine: Machine, answer: Callable[[Said], Any]) -> Iterator[None]:
    """Have one server answer commands of others in its own way."""
    do = control.do

    def lies(server: control.Served, said: Said) -> Any:
        return answer(said) if server is machine.server else do(server, said)

    with mock.patch.object(control, "do", lies):
        yield


# All of them, or one


async def test_callers_of_all_servers_are_in_one_list(
    tmp_path: Path, books: ServerPlace | None
) -> None:
    async with two(tmp_path, books) as (north, south):
        await callers(north, south)
        told = await sysop(north, "nodes")
        assert told.status == 0
        header, *rows = told.output.splitlines()
        assert header.split()[:4] == ["Node", "Caller", "Server", "Where"]
        assert [row.split()[:3] for row in rows] == [
            ["1", "Ada", "north"],
            ["2", "Bob", "south"],
            ["3", "Cyd", "north"],
        ]
        assert all(row.split()[-2:] == ["1:00:00", "127.0.0.1"] for row in rows)
        assert await sysop(south, "nodes") == told, "wherever it is asked"
        only = json.loads((await sysop(north, "nodes", "--server", "south", "--json")).output)
        assert [(on["name"], on["server"]) for on in only["nodes"]] == [("Bob", "south")]
        assert only["servers"] == [{"name": "south", "log_ons": 0, "draining": False}]


async def test_words_and_ends_reach_a_caller_wherever_they_are(
    tmp_path: Path, books: ServerPlace | None
) -> None:
    async with two(tmp_path, books) as (north, south):
        ada, bob, cyd = await callers(north, south)
        assert await sysop(north, "say", "all", "Hello") == Told(0, "3 callers can read it.\n", "")
        for guest in (ada, bob, cyd):
            await guest.sees("The sysop: Hello")
        told = await sysop(north, "say", "--server", "south", "all", "Below")
        assert told.output == "Bob can read it.\n"
        assert (await sysop(south, "say", "3", "To you alone")).output == "Cyd can read it.\n"
        await cyd.sees("The sysop: To you alone")
        assert "To you alone" not in ada.screen + bob.screen
        told = await sysop(north, "kick", "2", "--server", "north")
        why = "Bob on node 2 was not reached: they are on server south.\n"
        assert told == Told(2, "", why)
        assert bob.prompt.find(MENU) >= 0
        told = await sysop(north, "kick", "2")
        assert told == Told(0, "Bob on node 2 is told and hung up.\n", "")
        await bob.is_sent_off("The sysop ended this call.")
        told = await sysop(north, "say", "all", "Hello", "--server", "west")
        assert told == Told(2, "", "There is no server west, but north, south.\n")


async def test_one_server_is_drained_and_the_other_serves_on(
    tmp_path: Path, books: ServerPlace | None
) -> None:
    async with two(tmp_path, books) as (north, south):
        ada, bob, _ = await callers(north, south)
        told = await sysop(north, "drain", "--server", "south")
        assert told.output == (
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
        await sysop(north, "drain", "--server", "south")
        assert south.server.ended.is_set()
        assert not north.server.ended.is_set()


async def test_all_are_drained_and_at_the_second_time_close(
    tmp_path: Path, books: ServerPlace | None
) -> None:
    async with two(tmp_path, books) as (north, south):
        await callers(north, south)
        await sysop(north, "drain", "--server", "south")
        told = await sysop(north, "drain")
        assert told.output.splitlines() == [
            "Server north takes no more calls; 2 callers are on. It closes when the last has gone.",
            "Server south takes no more calls; 1 caller is on. It closes when the last has gone.",
        ]
        assert "The board is draining" in (await sysop(south, "nodes")).output
        told = await sysop(south, "drain")
        closing = "Server north is closing.\nServer south is closing.\n"
        assert told == Told(0, closing, "")
        assert north.server.ended.is_set()
        assert south.server.ended.is_set()


# What is not known


async def test_a_server_that_cannot_be_reached_is_named_and_the_rest_is_shown(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with two(tmp_path, database) as (north, south):
        await callers(north, south)
        with socket.create_server(("127.0.0.1", 0)) as nobody:
            port = nobody.getsockname()[1]
        with north.books() as desk:
            desk.connection.exec_driver_sql(
                f"UPDATE servers SET link = '127.0.0.1:{port}' WHERE name = 'south'"
            )
        told = await sysop(north, "nodes")
        assert told.status == 1
        assert told.error.startswith("Server south cannot be reached: ")
        ada, bob, cyd = (row.split() for row in told.output.splitlines()[1:])
        assert ada[-2] == cyd[-2] == "1:00:00"
        assert bob[:4] == ["2", "Bob", "south", "-"]
        assert bob[-3:] == ["-", "-", "127.0.0.1"]
        told = await sysop(north, "say", "all", "Hello")
        assert told.output == "2 callers can read it.\n"
        assert told.error.startswith("Server south cannot be reached: ")
        assert told.error.endswith("It did nothing.\n")
        assert told.status == 1
        told = await sysop(north, "kick", "2")
        assert told.status == 2
        assert told.error.startswith(
            "Bob on node 2 was not reached: they are on server south. Server south cannot be"
        )
        told = await sysop(north, "stop", "--server", "south")
        assert told.status == 2
        assert told.error.endswith("It did nothing.\n")


async def test_what_a_server_does_that_does_not_answer_is_not_known(
    tmp_path: Path, database: ServerPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "ANSWER_SECONDS", 0.5)
    answer, goes_on, left = control.answer_control, asyncio.Event(), []

    async def keeps_silent(server: control.Served, *asked: Any) -> None:
        if server is south.server:
            left.append(asyncio.current_task())
            await goes_on.wait()
        await answer(server, *asked)

    monkeypatch.setattr("door.server.server.answer_control", keeps_silent)
    async with two(tmp_path, database) as (north, south):
        ada, _, _ = await callers(north, south)
        late = "Server south does not answer within 0.5 seconds."
        unknown = f"{late} Nobody knows whether it did this.\n"
        told = await sysop(north, "nodes")
        assert (told.status, told.error) == (1, f"{late}\n")
        assert "Bob" in told.output
        told = await sysop(north, "say", "all", "Hello")
        assert told == Told(1, "2 callers can read it.\n", unknown)
        await ada.sees("Hello")
        told = await sysop(north, "drain")
        assert told == Told(
            1,
            "Server north takes no more calls; 2 callers are on."
            " It closes when the last has gone.\n",
            unknown,
        )
        assert not north.server.ended.is_set()
        told = await sysop(north, "stop", "--server", "south")
        assert told == Told(2, "", unknown)
        goes_on.set()
        await asyncio.gather(*left)
        assert not south.server.board.draining
        assert not south.server.ended.is_set(), "what was told so long ago is not done"


async def test_a_second_drain_closes_nothing_while_a_server_is_silent(
    tmp_path: Path, database: ServerPlace
) -> None:
    """It may be said again because of that one."""
    async with two(tmp_path, database) as (north, south):
        await callers(north, south)
        unreachable = mock.AsyncMock(side_effect=Unreachable("Server south cannot be reached."))
        with mock.patch.object(north.server.board.peers, "ask", unreachable):
            for _ in range(2):
                told = await sysop(north, "drain")
                assert told.status == 1
                assert told.output.startswith("Server north takes no more calls; 2 callers are on.")
                assert not north.server.ended.is_set()
        assert (await sysop(north, "drain")).status == 0
        assert south.server.board.draining
        assert not north.server.ended.is_set()
        await sysop(north, "drain")
        assert north.server.ended.is_set()
        assert south.server.ended.is_set()


async def test_a_server_that_has_gone_silent_is_named(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with two(tmp_path, database) as (north, south):
        await callers(north, south)
        with north.books() as desk:
            desk.connection.exec_driver_sql(
                "UPDATE servers SET renewed = renewed - 95 WHERE name = 'south'"
            )
        told = await sysop(north, "nodes")
        assert told.status == 1
        assert told.error.startswith(
            "Server south was not asked: nothing was heard of it for 1 minute"
        )
        assert "Bob" in told.output
        told = await sysop(north, "stop", "--server", "south")
        assert told.status == 2
        assert told.error.startswith("Server south was not asked")
        assert not south.server.ended.is_set()


async def test_without_the_books_servers_say_who_is_on(
    tmp_path: Path, books: ServerPlace | None
) -> None:
    async with two(tmp_path, books) as (north, south):
        await callers(north, south)
        await sysop(north, "nodes")  # the others are known by now
        unavailable = mock.AsyncMock(side_effect=BooksUnavailable("The disk is full."))
        with mock.patch.object(north.server.books, "run", unavailable):
            told = await sysop(north, "nodes")
            assert told.status == 1
            assert told.error.startswith("The books do not answer: whoever is on a door process")
            rows = [row.split() for row in told.output.splitlines()[1:]]
            assert [row[:3] for row in rows] == [
                ["1", "Ada", "north"],
                ["2", "Bob", "south"],
                ["3", "Cyd", "north"],
            ]
            told = await sysop(north, "kick", "2")
            nothing = "The books do not say now who is on. Nothing was done.\n"
            assert told == Told(2, "", nothing)


# A server that lies


@pytest.mark.parametrize(
    "lie",
    [
        [],
        {"calls": []},
        {"calls": {"1": {"where": 7}}, "log_ons": 0, "draining": False},
        {"calls": {}, "log_ons": "many", "draining": False},
        {"calls": {}, "log_ons": 2**40, "draining": False},
        {"calls": {}, "log_ons": 0, "draining": 1},
    ],
)
def test_an_answer_of_another_shape_is_none(lie: object) -> None:
    assert not everywhere.fits(lie, everywhere._SHAPES["nodes"])


async def test_a_server_is_believed_about_its_own_callers_alone(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with two(tmp_path, database) as (north, south):
        ada, bob, _ = await callers(north, south)
        numbers = {guest.name: str(guest.caller.call_id) for guest in (ada, bob)}
        seen = {
            "node": 9,
            "name": "Eve",
            "address": "\x1b[2J",
            "where": "\x1b]0;Owned\x07",
            "idle": 1,
            "left": 2,
            "away": False,
        }

        def lies(said: Said) -> Said:
            if said["control"] == "nodes":
                calls = {numbers["Ada"]: seen, numbers["Bob"]: seen, "777": seen}
                return {"calls": calls, "log_ons": 0, "draining": False}
            return {"callers": {"777": "Eve", numbers["Ada"]: "Eve"}}

        with answering(south, lies):
            told = await sysop(north, "nodes")
            first, second, third = told.output.splitlines()[1:]
            assert first.split()[1] == "Ada"
            assert first.split()[-2:] == ["1:00:00", "127.0.0.1"]
            assert second.split() == ["2", "Bob", "south", "]0;Owned", *second.split()[4:]]
            assert "\x1b" not in told.output
            assert third.split()[1] == "Cyd"
            told = await sysop(north, "kick", "2")
            assert told.status == 2, "nobody has reached Bob"
            told = await sysop(north, "say", "all", "Hello")
            assert told.output == "2 callers can read it.\n"


async def test_an_answer_that_makes_no_sense_keeps_nobody_from_the_rest(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with two(tmp_path, database) as (north, south):
        await callers(north, south)
        for lie, why in (
            ({"error": "\x1b[2JNo."}, "Server south says: [2JNo."),
            ({}, everywhere.STRANGE.format(name="south")),
        ):
            with answering(south, lambda said, lie=lie: lie):
                told = await sysop(north, "nodes")
            assert (told.status, told.error) == (1, f"{why}\n")
            rows = told.output.splitlines()[1:]
            assert [row.split()[1] for row in rows] == ["Ada", "Bob", "Cyd"]


# At the shell


async def test_where_no_server_runs_it_is_said_which_machines_have_one(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with machines(tmp_path, database, "north", toml=TOML) as (north,):
        text = north.config.path.read_text("utf-8")
        (tmp_path / "here").mkdir()
        path = tmp_path / "here" / "sysop.toml"
        path.write_text(text, "utf-8")
        told = await asyncio.to_thread(Shell(path), "nodes")
        assert told.status == 2
        assert told.error.startswith("This board's server is not running: ")
        assert told.error.endswith("On other machines these run, and take commands there: north.\n")
    told = await asyncio.to_thread(Shell(path), "nodes")
    assert told.error.endswith("No other server of the board runs either.\n")


async def test_a_server_that_has_stopped_gets_no_command_that_another_carries_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "HERE_SECONDS", 0.2)
    async with two(tmp_path, None) as (north, south):
        ada, bob, _ = await callers(north, south)
        data = north.config.board.data
        (data / link.NAME).unlink()
        with socket.socket(socket.AF_UNIX) as stopped:
            stopped.bind(str(data / link.NAME))
            stopped.listen()
            told = await sysop(north, "say", "all", "Once")
            assert told == Told(0, "3 callers can read it.\n", "")
            said, _ = stopped.accept()
            with said:
                assert b"Once" not in said.recv(4096)
        await bob.sees("The sysop: Once")
        assert ada.screen.count("Once") == 1
