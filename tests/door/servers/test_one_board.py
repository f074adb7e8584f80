"""Servers are one board to their callers, whatever its books are in."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

import pytest

from door.call.board_clock import BoardClock
from door.call.comings import Comings
from door.call.console import Console
from door.errors import CannotJoin
from door.run import process
from door.server import early, presence
from door.server.leadership import LOOK_SECONDS
from door.servers import bus, datagrams
from door.servers.agreement import encode, terms_in
from tests.door.banking import at_the_window, hears, sends
from tests.door.handed_over import LINES, a_guest
from tests.door.lines.board import PATIENCE
from tests.door.servers.boards import Machine, beside, machines, until_known
from tests.door.visiting import MENU, Guest, sysop_toml, visitor
from tests.door.wall import Told
from tests.world import BOARD
from timebank.calls import calls
from timebank.errors import BooksUnavailable
from timebank.keeping import events
from timebank.keeping.events import EventAsked
from timebank.servers import registry
from timebank.servers.registry import Newcomer
from timebank.settings.place import ServerPlace

TOML = sysop_toml(events="", timebank="").replace("events = []", "").replace("[timebank]", "")

NAME = "Moth@Xibalba"

# Callers.


async def test_a_call_to_one_server_takes_over_that_at_another_at_once(
    tmp_path: Path, place: ServerPlace | None
) -> None:
    """No clock goes on meanwhile."""
    async with machines(tmp_path, place, "north", "south", toml=TOML) as (north, south):
        before = await visitor(north, "Ada")
        ada = Guest(south, "Ada")
        await ada.calls()
        await ada.is_asked("Drop that call")
        assert "You're already on, at node 1." in ada.screen
        await ada.presses("y").goes_on_to(MENU)
        await before.is_sent_off("You've logged on from another connection.")
        assert ada.caller.node == 1


async def test_a_message_alone_takes_no_call_over(
    tmp_path: Path, place: ServerPlace | None
) -> None:
    """The books decide, and they know of no other call."""
    async with machines(tmp_path, place, "north", "south", toml=TOML) as (north, south):
        ada = await visitor(north, "Ada")
        loop, looked, renew = asyncio.get_running_loop(), asyncio.Event(), calls.renew

        def look(*what: Any) -> list[int]:
            closed = renew(*what)
            loop.call_soon_threadsafe(looked.set)
            return closed

        with mock.patch("timebank.calls.calls.renew", look):
            south.server.board.bus.publish(bus.TAKEN_OVER, call=ada.caller.call_id)
            async with asyncio.timeout(PATIENCE):
                await looked.wait()
        await ada.presses("w").sees("Node 1")


async def test_who_is_on_is_told_with_the_server(tmp_path: Path, place: ServerPlace | None) -> None:
    async with machines(tmp_path, place, "north", "south", toml=TOML) as (north, south):
        await visitor(north, "Ada")
        await until_known(south, "north")
        bob = await visitor(south, "Bob")
        assert "Also on: Ada." in bob.screen
        await bob.presses("w").sees("Who is on")
        rows = [row.split() for row in bob.terminal.lines if row.strip()]
        assert ["1", "Ada", "on", "north", "0:00"] in rows
        assert ["2", "Bob", "Who", "is", "on", "0:00"] in rows


async def test_an_event_that_is_started_early_is_told_at_once_at_any_server(
    tmp_path: Path, place: ServerPlace | None
) -> None:
    """No clock goes on meanwhile."""
    async with machines(tmp_path, place, "north", "south", toml=TOML) as (north, south):
        await until_known(north, "south")
        bob = await visitor(south, "Bob")
        with north.books() as desk:
            events.start(desk, EventAsked("Repairs", 5, 10), "Jane")
        await asyncio.to_thread(early.tell_servers, north.config.path)
        await bob.sees("The sysop starts Repairs early")
        await bob.sees("50 minutes available after Repairs at 12:10.")


@asynccontextmanager
async def by_its_door(machine: Machine) -> AsyncIterator[Told]:
    """A guest whom a door on this machine serves by itself."""
    line = Told()
    console = Console(line, LINES, machine.clock)
    guest = a_guest(machine)
    door = asyncio.create_task(process.serve(machine.config, console, machine.clock, guest, None))
    async with asyncio.timeout(PATIENCE):
        await line.until(b"tour?")
        console.received(b"n")
        await line.until(b"oodbye")
        yield line
        console.hung_up("the test is over")
        assert await door


async def test_a_caller_of_a_door_is_told_at_once_what_another_server_has_for_them(
    tmp_path: Path, place: ServerPlace | None
) -> None:
    """No clock goes on meanwhile."""
    both = machines(tmp_path, place, "north", "south", toml=TOML, bank="known_days = 0")
    async with both as (north, south), by_its_door(north) as line:
        ada = await at_the_window(south, "Ada", saved=30)
        await sends(ada, NAME, 10, "for the tea")
        await line.until(b'Ada sent you 10 minutes: "for the tea"')


@contextmanager
def heard_elsewhere() -> Iterator[asyncio.Event]:
    """Give what is set when a process hears that somebody came or went in another one."""
    news, begin = asyncio.Event(), Comings._begin

    def begun(self: Comings, seconds: float) -> None:
        begin(self, seconds)
        if self._calls:
            news.set()

    with mock.patch.object(Comings, "_begin", begun):
        yield news


async def test_who_logs_on_at_one_server_is_told_of_at_another_and_at_a_door(
    tmp_path: Path, place: ServerPlace | None
) -> None:
    both = machines(tmp_path, place, "north", "south", toml=TOML)
    async with both as (north, south), asyncio.timeout(PATIENCE):
        bob = await visitor(south, "Bob")
        with heard_elsewhere() as news:

            async def is_told(machine: Machine) -> None:
                await news.wait()
                news.clear()
                await machine.pass_time(1)

            async with by_its_door(north) as line:
                await is_told(south)
                await bob.sees(f"{NAME} logs on.")
                ada = await visitor(south, "Ada")
                await is_told(north)
                await line.until(b"Ada logs on.")
                await south.pass_time(1)
                await ada.logs_off()
                await bob.board.pass_time(1)
                await is_told(north)
                await line.until(b"Ada has left.")
                assert b"Bob logs on" not in line.written
            await is_told(south)
            await bob.sees(f"{NAME} has left.")


async def test_where_a_door_may_not_write_beside_the_books_it_says_once_that_it_hears_late(
    tmp_path: Path, database: ServerPlace, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(path: Path) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied")

    both = machines(tmp_path, database, "north", "south", toml=TOML, bank="known_days = 0")
    async with both as (north, south):
        with mock.patch.object(datagrams, "bound", refused):
            door = by_its_door(north)
            line = await door.__aenter__()
        ada = await at_the_window(south, "Ada", saved=30)
        await sends(ada, NAME, 10, "for the tea")
        await hears(ada, f"10 minutes sent to {NAME}.")
        assert b"for the tea" not in line.written
        await north.pass_time(LOOK_SECONDS)
        await line.until(b"for the tea")
        await door.__aexit__(None, None, None)
    assert [each for each in caplog.messages if "late" in each] == [
        f"No socket can be made in {north.config.board.data} (Permission denied): notices and"
        " words of other processes are heard some seconds late."
    ]


# Settings.


async def test_a_server_with_other_settings_does_not_start(
    tmp_path: Path, place: ServerPlace | None
) -> None:
    async with machines(tmp_path, place, "north") as (north,):
        toml = BOARD.replace("[board]", '[calls]\nnodes = 4\n[board]\ntime_zone = "Asia/Tokyo"', 1)
        keys = r"\[calls\] nodes and \[board\] time_zone"
        with pytest.raises(CannotJoin, match=f"server north serves with other settings: {keys}"):
            async with beside(tmp_path, place, "south", toml):
                pass
        with north.books() as desk:
            assert [row.name for row in registry.living(desk)] == ["north"]


async def test_one_that_was_alone_with_a_file_is_waited_for(tmp_path: Path) -> None:
    """It has not said that it lives, and does so when it sees that another came."""
    real = presence.sleep

    async with machines(tmp_path, None, "north") as (north,):
        with north.books() as desk:
            desk.connection.exec_driver_sql("UPDATE servers SET renewed = renewed - 600")

        async def sleeps(clock: BoardClock, seconds: float) -> None:
            if clock is north.server.board.clock:
                await real(clock, seconds)
            else:
                await north.pass_time(presence.RENEW_SECONDS)

        toml = f"[calls]\nnodes = 4\n{BOARD}"
        with (
            mock.patch.object(presence, "sleep", sleeps),
            pytest.raises(CannotJoin, match="server north serves with other settings"),
        ):
            async with beside(tmp_path, None, "south", toml):
                pass


async def test_one_that_is_dead_is_not_waited_for_for_long(tmp_path: Path) -> None:
    async with machines(tmp_path, None, "north") as (north,):
        await north.server._presence.end()
        with north.books() as desk:
            said = encode({"[calls] nodes": "4"})
            registry.enter(desk, Newcomer("west", "elsewhere/1:1", said, "0.1.0"))
            desk.connection.exec_driver_sql("UPDATE servers SET renewed = renewed - 600")
        real, waited = presence.sleep, 0.0

        async def sleeps(clock: BoardClock, seconds: float) -> None:
            nonlocal waited
            if seconds == presence.WAKING_SECONDS:
                waited += seconds
                await clock.monotonic.__self__.advance(seconds)
            else:
                await real(clock, seconds)

        with mock.patch.object(presence, "sleep", sleeps):
            async with beside(tmp_path, None, "south") as south:
                assert south.server.board.server_id
        assert waited == presence.WAKE_SECONDS


async def test_new_settings_count_at_once_and_servers_that_differ_are_named(
    tmp_path: Path, place: ServerPlace | None, caplog: pytest.LogCaptureFixture
) -> None:
    async with machines(tmp_path, place, "north", "south") as both:
        north, south = both
        differs = "server {} serves with other settings: [calls] nodes. Make the files alike"
        read_again(north, nodes=5)
        assert nodes(*both) == [5, 16]
        await until_said(caplog, north, differs.format("south"))
        read_again(south, nodes=5)
        assert nodes(*both) == [5, 5]
        await south.at_rest()
        assert differs.format("north") not in caplog.text


async def test_new_settings_are_told_once_the_books_can_be_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with machines(tmp_path, None, "north") as (north,):
        books = north.server.board.books
        with mock.patch.object(books, "run", side_effect=BooksUnavailable("They are away.")):
            read_again(north, nodes=5)
            await until_said(caplog, north, "They are away.")
        await north.pass_time(presence.RENEW_SECONDS)
        with north.books() as desk:
            assert terms_in(*registry.living(desk))["[calls] nodes"] == "5"


async def until_said(caplog: pytest.LogCaptureFixture, machine: Machine, words: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while words not in caplog.text:
            await machine.at_rest()


def read_again(machine: Machine, nodes: int) -> None:
    path = machine.folder / "sysop.toml"
    head, _, _ = path.read_text("utf-8").partition("[calls]")
    path.write_text(f"{head}[calls]\nnodes = {nodes}\ngrace_minutes = 0\n", "utf-8")
    machine.server.reload()


def nodes(*found: Machine) -> list[int]:
    return [each.server.board.config.calls.nodes for each in found]


async def test_what_is_written_at_one_server_is_read_at_once_at_another(
    tmp_path: Path, place: ServerPlace | None
) -> None:
    """No clock goes on meanwhile."""
    async with machines(tmp_path, place, "north", "south", toml=TOML) as (north, south):
        await until_known(north, "south")
        ada, bob = await visitor(north, "Ada"), await visitor(south, "Bob")
        await ada.presses("/p Bob are you there?\r").sees("Sent to Bob, who is on.")
        await bob.sees("Ada: are you there?")
        bob.presses("/r I am\r")
        await ada.sees("Bob: I am")
