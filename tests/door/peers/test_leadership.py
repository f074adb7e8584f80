"""Jobs that only one of several servers may do: the holder, and takeovers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from unittest import mock

import pytest

from door.server import leadership
from door.server.leadership import JOBS, attend
from tests.door.lines.board import PATIENCE
from tests.door.peers.boards import Machine, another_machine, machines
from tests.timebank.books import Books
from timebank.servers import leases, registry
from timebank.servers.registry import Newcomer, ServerRecord
from timebank.settings.place import ServerPlace


@pytest.fixture
def books(database: ServerPlace, tmp_path: Path) -> Iterator[Books]:
    made = Books(tmp_path, server=database)
    yield made
    made.close()


@pytest.fixture
def alpha(books: Books) -> ServerRecord:
    return enter(books, "alpha")


@pytest.fixture
def beta(books: Books, alpha: ServerRecord) -> ServerRecord:
    return enter(books, "beta")


def enter(books: Books, name: str) -> ServerRecord:
    return books.do(registry.enter, Newcomer(name, name, "{}", "1"))


def look(books: Books, server: ServerRecord, *, draining: bool = False) -> bool:
    """Have a server look at the books; return whether it leads."""
    books.do(lambda desk: registry.renew(desk, server.id, draining=draining))
    return books.do(lambda desk: attend(desk, server.id, draining=draining))


def run_out(books: Books) -> None:
    books.sql("UPDATE leases SET until = until - ?", leadership.LEASE_SECONDS)


class TestTheLeader:
    def test_one_of_several(self, books, alpha, beta):
        for _ in range(3):
            assert [look(books, alpha), look(books, beta)] == [True, False]

    def test_another_once_the_lease_of_the_dead_has_run_out(self, books, alpha, beta):
        look(books, alpha)
        assert not look(books, beta)
        run_out(books)
        assert look(books, beta)
        assert not look(books, alpha)

    def test_the_same_when_it_was_only_slow(self, books, alpha, beta):
        look(books, alpha)
        run_out(books)
        assert [look(books, alpha), look(books, beta)] == [True, False]

    def test_another_at_once_when_it_has_left(self, books, alpha, beta):
        look(books, alpha)
        books.do(registry.leave, alpha.id)
        assert look(books, beta)

    def test_is_recovered_within_fifteen_seconds(self):
        assert leadership.LEASE_SECONDS + leadership.LOOK_SECONDS < 15


class TestADrainingServer:
    def test_hands_the_jobs_to_one_that_does_not(self, books, alpha, beta):
        look(books, alpha)
        assert not look(books, alpha, draining=True)
        assert look(books, beta)

    def test_takes_none_where_another_could(self, books, alpha, beta):
        assert not look(books, alpha, draining=True)
        assert look(books, beta)

    def test_keeps_them_where_no_other_server_could_take_them(self, books, alpha):
        assert look(books, alpha)
        assert look(books, alpha, draining=True)

    def test_keeps_them_where_all_do(self, books, alpha, beta):
        look(books, alpha)
        books.do(lambda desk: registry.renew(desk, beta.id, draining=True))
        assert look(books, alpha, draining=True)
        assert not look(books, beta, draining=True)


# Whole servers.


def leader(*found: Machine) -> list[str]:
    """The servers that think that they lead."""
    return [each.config.server.name for each in found if each.server._housekeeping._leads]


async def look_again(machine: Machine) -> None:
    await machine.pass_time(leadership.LOOK_SECONDS + 1)


async def until_it_leads(machine: Machine) -> None:
    """Wait until a server leads; its clock does not move."""
    keeping = machine.server._housekeeping
    lead, news = keeping._lead, asyncio.Event()

    async def led(leads: bool) -> None:
        await lead(leads)
        news.set()

    with mock.patch.object(keeping, "_lead", led):
        async with asyncio.timeout(PATIENCE):
            while not keeping._leads:
                news.clear()
                await news.wait()


async def test_the_first_leads_and_the_next_as_soon_as_it_ends(
    tmp_path: Path, database: ServerPlace
) -> None:
    async with AsyncExitStack() as stack:
        (north,) = await stack.enter_async_context(machines(tmp_path, database, "north"))
        async with another_machine(tmp_path, database, "south") as south:
            await look_again(south)
            assert leader(north, south) == ["north"]
            await stack.aclose()
            await until_it_leads(south)


async def test_the_next_leads_when_one_is_dead(tmp_path: Path, database: ServerPlace) -> None:
    async with machines(tmp_path, database, "north", "south") as (north, south):
        with north.books() as desk:
            desk.connection.exec_driver_sql("UPDATE leases SET until = until - 60")
        await look_again(south)
        if not leader(south):  # on a busy machine that look may still have seen the lease of before
            await look_again(south)
        await until_it_leads(south)
        assert leader(south) == ["south"]
        await look_again(north)
        assert leader(north, south) == ["south"]
        with north.books() as desk:
            holder = leases.holder(desk, JOBS)
        assert holder is not None
        assert holder.server_id == south.server.board.server_id


async def test_one_that_drains_hands_the_jobs_on(tmp_path: Path, database: ServerPlace) -> None:
    async with machines(tmp_path, database, "north", "south") as (north, south):
        terminal = await north.call()
        await terminal.until("Your name")  # keep the server from ending at once
        north.server.drain()
        await look_again(north)
        await look_again(south)
        assert leader(north, south) == ["south"]
