"""Servers on one database are one board to their callers.

One server's write reaches the others at once or, without notifications, at their next look.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

from door.errors import CannotJoin
from door.peers.agreement import terms_in
from door.server import presence
from tests.door.banking import at_the_window, hears, sends
from tests.door.lines.board import PATIENCE
from tests.door.peers.boards import Machine, another_machine, machines, until_known
from tests.door.peers.conftest import Soon
from tests.door.shell import Shell
from tests.door.visiting import MENU, Guest, sysop_toml, visitor
from tests.world import BOARD
from timebank.calls.calls import close_orphaned_calls
from timebank.errors import BooksUnavailable
from timebank.keeping import events
from timebank.keeping.events import EventAsked
from timebank.servers import registry
from timebank.settings.place import ServerPlace

TOML = sysop_toml(events="", timebank="").replace("events = []", "").replace("[timebank]", "")


# Callers.


async def test_a_call_to_one_server_takes_over_that_at_another(
    tmp_path: Path, database: ServerPlace, soon: Soon
) -> None:
    async with machines(tmp_path, database, "north", "south", toml=TOML) as (north, south):
        before = await visitor(north, "Ada")
        ada = Guest(south, "Ada")
        await ada.calls()
        await ada.is_asked("Drop that call")
        assert "You're already on, at node 1." in ada.screen
        await ada.presses("y").goes_on_to(MENU)
        await soon(north)
        await before.is_sent_off("You've logged on from another connection.")
        assert ada.caller.node == 1


async def test_a_call_that_another_server_took_for_dead_was_not_taken_over(
    tmp_path: Path, database: ServerPlace, soon: Soon
) -> None:
    """A server that stood still finds its calls closed."""
    async with machines(tmp_path, database, "north", "south", toml=TOML) as (north, south):
        ada = await visitor(north, "Ada")
        with south.books() as desk:
            assert close_orphaned_calls(desk, lambda process: process == north.server.board.process)
        await soon(north)
        await ada.is_sent_off("Another server has ended this call. Please call again.")
        assert "another connection" not in ada.screen


async def test_minutes_and_a_message_reach_another_server(
    tmp_path: Path, database: ServerPlace, soon: Soon
) -> None:
    both = machines(tmp_path, database, "north", "south", toml=TOML, bank="known_days = 0")
    async with both as (north, south):
        bob = await visitor(south, "Bob")
        ada = await at_the_window(north, "Ada", saved=30)
        await sends(ada, "Bob", 10, "for the tea")
        await hears(ada, "10 minutes sent to Bob.")
        await soon(south)
        await bob.sees('Ada sent you 10 minutes: "for the tea"')
        ada.presses("q")
        await ada.is_asked(MENU)
        await ada.presses("/p Bob are you there?\r").sees("Sent to Bob, who is on.")
        await soon(south)
        await bob.sees("Ada: are you there?")


async def test_an_event_started_early_is_announced_at_all_servers(
    tmp_path: Path, database: ServerPlace, soon: Soon
) -> None:
    async with machines(tmp_path, database, "north", "south", toml=TOML) as (north, south):
        bob = await visitor(south, "Bob")
        with north.books() as desk:
            events.start(desk, EventAsked("Repairs", 5, 10), "Jane")
        await soon(south)
        await bob.sees("The sysop starts Repairs early")
        await bob.sees(" minutes available after Repairs at 12:10.")


async def test_the_list_of_callers_names_their_servers(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with machines(tmp_path, database, "north", "south", toml=TOML) as (north, south):
        await visitor(north, "Ada")
        await until_known(south, "north")
        bob = await visitor(south, "Bob")
        assert "Also on: Ada." in bob.screen
        await bob.presses("w").sees("Who is on")
        rows = [row.split() for row in bob.terminal.lines if row.strip()]
        assert ["1", "Ada", "on", "north", "0:00"] in rows
        assert ["2", "Bob", "Who", "is", "on", "0:00"] in rows


async def test_arrivals_and_departures_are_announced_at_other_servers(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with machines(tmp_path, database, "north", "south", toml=TOML) as (north, south):
        bob = await visitor(south, "Bob")
        with looking(south) as looked:
            ada = await visitor(north, "Ada")
            await looked()
            await south.pass_time(1)
            await bob.sees("Ada logs on.")
            again = Guest(south, "Ada")  # in the place of that call
            await again.calls()
            await again.is_asked("Drop that call")
            await again.presses("y").goes_on_to(MENU)
            await ada.is_sent_off("You've logged on from another connection.")
            await looked()
            await south.pass_time(1)
            assert "Ada has left" not in bob.screen
            await again.logs_off()
            await south.pass_time(1)
            await bob.sees("Ada has left.")
            assert bob.screen.count("Ada logs on.") == 1


@contextmanager
def looking(machine: Machine) -> Iterator[Callable[[], Awaitable[None]]]:
    """Yield a function that waits for a look begun after this call."""
    arrivals, looks = machine.server.board.arrivals, asyncio.Semaphore(0)
    real = arrivals.look

    def look(elsewhere: Mapping[int, str]) -> None:
        real(elsewhere)
        looks.release()

    async def looked() -> None:
        async with asyncio.timeout(PATIENCE):
            await looks.acquire()

    with mock.patch.object(arrivals, "look", look):
        yield looked


# Settings.


async def test_a_server_with_other_settings_does_not_start(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with machines(tmp_path, database, "north") as (north,):
        toml = BOARD.replace("[board]", '[calls]\nnodes = 4\n[board]\ntime_zone = "Asia/Tokyo"', 1)
        keys = r"\[board\] time_zone and \[calls\] nodes"
        with pytest.raises(CannotJoin, match=f"server north serves with other settings: {keys}"):
            async with another_machine(tmp_path, database, "south", toml):
                pass
        with north.books() as desk:
            assert [row.name for row in registry.living_servers(desk)] == ["north"]


async def test_new_settings_count_at_once_and_servers_that_differ_are_named(
    tmp_path: Path, database: ServerPlace, caplog: pytest.LogCaptureFixture
) -> None:
    async with machines(tmp_path, database, "north", "south") as both:
        north, south = both
        differs = "server {} serves with other settings: [calls] nodes. Make the files alike"
        read_again(north, nodes=5)
        assert nodes(*both) == [5, 16]
        await until_said(caplog, north, differs.format("south"))
        read_again(south, nodes=5)
        assert nodes(*both) == [5, 5]
        await south.at_rest()
        assert differs.format("north") not in caplog.text


async def test_a_reload_answers_which_servers_differ(tmp_path: Path, database: ServerPlace) -> None:
    async with machines(tmp_path, database, "north", "south") as (north, south):
        await until_known(south, "north")
        for here, other in ((north, "south"), (south, "")):
            path = here.config.path
            path.write_text(f"{path.read_text('utf-8')}[callers]\napproval = true\n", "utf-8")
            answer = (await asyncio.to_thread(Shell(path), "reload")).output
            assert "callers.approval is true now, was false.\n" in answer
            differs = f"server {other} serves with other settings: [callers] approval. Make the"
            assert (differs in answer) is bool(other)
            assert ("serves with other settings" in answer) is bool(other)


async def test_new_settings_are_announced_once_the_books_can_be_written(
    tmp_path: Path, database: ServerPlace, caplog: pytest.LogCaptureFixture
) -> None:
    async with machines(tmp_path, database, "north") as (north,):
        books = north.server.board.books
        with mock.patch.object(books, "run", side_effect=BooksUnavailable("They are away.")):
            read_again(north, nodes=5)
            await until_said(caplog, north, "They are away.")
        await north.pass_time(presence.RENEW_SECONDS)
        with north.books() as desk:
            assert terms_in(*registry.living_servers(desk))["[calls] nodes"] == "5"


async def until_said(caplog: pytest.LogCaptureFixture, machine: Machine, words: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while words not in caplog.text:
            await machine.at_rest()


def read_again(machine: Machine, nodes: int) -> None:
    path = machine.folder / "sysop.toml"
    head, _, _ = path.read_text("utf-8").partition("[calls]")
    path.write_text(f"{head}[calls]\nnodes = {nodes}\n", "utf-8")
    machine.server.reload()


def nodes(*found: Machine) -> list[int]:
    return [each.server.board.config.calls.nodes for each in found]
