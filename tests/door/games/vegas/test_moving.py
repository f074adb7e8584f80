"""A table whose server is gone, or was only slow: another one deals there, from the same cards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from door.call.guest_caller import HostCaller
from door.errors import Closing, TableMoved
from door.games.blackjack.round import BlackjackAction
from door.games.vegas.company import (
    PATIENCE_SECONDS,
    SETTLED_SECONDS,
    UNREACHED,
    Company,
    DoorCompany,
)
from door.games.vegas.table import VegasTable
from tests.clock import FakeClock
from tests.door.company import Player, player, table_toml
from tests.door.handed_over import comes_in
from tests.door.seated import MINUTE, arrives, everybody_plays, shoe
from tests.door.several import Servers, servers
from tests.door.visiting import MENU
from tests.door.wall import Told
from tests.terminal import MODERN, PATIENCE, REFUSING, Profile
from tests.world import NOON, World
from timebank.errors import LeaseLost
from timebank.wagers import journal
from timebank.wagers.journal import StoredRound

pytestmark = pytest.mark.long

TAKEN_UP = 15  # seconds within which another server deals at the table
MOVING = "Another one takes the table up: please wait."
SILENT = "Nothing was heard of the server of this table"
HAND_GOES_ON = "The table has moved to another server. Your hand goes on."


def open_round(two: Servers) -> StoredRound:
    with two[0].books() as desk:
        (found,) = journal.table_rounds(desk, "vegas")
    return found


async def journaled(two: Servers) -> list[str]:
    """The decisions of the last round, which is over, as "2:stay"."""
    await two.at_rest()
    with two[0].books() as desk:
        run = desk.connection.exec_driver_sql
        lead = run("SELECT coalesce(lead, id) FROM rounds ORDER BY id DESC LIMIT 1").scalar_one()
        stored = journal.stored_round(desk, lead)
    assert stored is not None
    assert all(seat.settled for seat in stored.seats)
    return [
        f"{action['seat']}:{action['action']}"
        for _, action in stored.actions
        if action["action"] != "bet"
    ]


@asynccontextmanager
async def at_the_door_of(
    here: World,
) -> AsyncIterator[tuple[HostCaller, Told, asyncio.Task[None]]]:
    """A guest whose door goes by the server that listens in the data folder, at the table."""
    caller = await comes_in(here, seconds=3600)
    wall = caller.console.line
    assert isinstance(wall, Told)
    caller.clock.start()
    visit = asyncio.create_task(DoorCompany(here.server.board, caller).visit())
    try:
        async with asyncio.timeout(PATIENCE):
            yield caller, wall, visit
    finally:
        caller.clock.stop()
        visit.cancel()
        await asyncio.gather(visit, return_exceptions=True)
        await here.server.board.close_call(caller, "log-off")


def dealer_at(two: Servers) -> list[int]:
    """Which servers take the table for theirs."""
    return [number for number in range(len(two)) if two.room(number).table().tenure.is_held]


async def test_a_table_that_nobody_uses_is_let_go(tmp_path: Path) -> None:
    async with servers(tmp_path, toml=table_toml()) as two:
        ada = await player(two[0], "Ada")
        await ada.gets_up()
        await two.pass_time(6)
        assert dealer_at(two) == []
        await player(two[1], "Bob")
        assert dealer_at(two) == [1]


# A server is gone


@asynccontextmanager
async def in_mid_round(
    folder: Path,
    *names: str,
    count: int = 2,
    bank: str = "",
    profile: Profile = MODERN,
    **keys: object,
) -> AsyncIterator[tuple[Servers, list[Player]]]:
    """A round that everybody has to play: the first caller is on the first server, which deals, and
    all others on the second one, or each on the next of more."""
    async with servers(folder, count, toml=table_toml(timebank=bank, **keys)) as several:
        several[0].seeds = [shoe(len(names), everybody_plays)]
        players = [
            await player(several[min(number, count - 1)], name, profile if number else MODERN)
            for number, name in enumerate(names)
        ]
        for each in players:
            await each.is_ready()
        await players[0].has_the_turn()
        yield several, players


async def test_when_its_server_is_gone_the_table_goes_on_where_a_caller_is(
    tmp_path: Path, bank: str
) -> None:
    async with in_mid_round(tmp_path, "Ada", "Bob", bank=bank) as (two, (_, bob)):
        before, cards = open_round(two), bob.block(2)
        two.is_gone(0)
        await bob.sees(MOVING)
        await two.pass_time(TAKEN_UP)
        await bob.sees(HAND_GOES_ON)
        assert two.room(1).table().tenure.is_held
        assert open_round(two) == before
        await bob.sees_at(2, cards)
        await two.pass_time(60)  # Ada's seat has waited long enough
        await bob.stands()
        assert await journaled(two) == ["1:stay", "2:stay"]


@pytest.mark.parametrize("later", range(5), ids=lambda later: f"{later} s after a renewal")
async def test_another_server_deals_within_fifteen_seconds(tmp_path: Path, later: int) -> None:
    async with in_mid_round(tmp_path, "Ada", "Bob") as (two, _):
        await two.pass_time(5 + later)
        two.is_gone(0)
        await two.pass_time(TAKEN_UP)
        assert two.room(1).table().tenure.is_held


async def test_an_orderly_end_of_its_server_moves_the_table_at_once(tmp_path: Path) -> None:
    async with in_mid_round(tmp_path, "Ada", "Bob") as (two, (_, bob)):
        await two.room(0).stop()
        two[0].server.board.interrupt_all(Closing("The board is closing."))
        await bob.sees(HAND_GOES_ON)
        assert two.room(1).table().tenure.is_held


async def test_a_server_that_drains_leaves_its_tables_to_another(tmp_path: Path) -> None:
    async with in_mid_round(tmp_path, "Ada", "Bob") as (two, (ada, bob)):
        two[0].server.drain()
        await ada.sees(HAND_GOES_ON)
        await bob.sees(HAND_GOES_ON)
        assert dealer_at(two) == [1]
        await ada.stands()
        await bob.stands()
        assert await journaled(two) == ["1:stay", "2:stay"]


@pytest.mark.parametrize("why", ["nobody reaches it", "it drains too", "none is there"])
async def test_a_server_that_drains_keeps_its_tables_where_no_other_takes_them(
    tmp_path: Path, why: str
) -> None:
    count = 1 if why == "none is there" else 2
    async with in_mid_round(tmp_path, "Ada", count=count) as (two, (ada,)):
        if why == "nobody reaches it":
            two.cut_links(1)
        elif why == "it drains too":
            two[1].server.drain()
            await two.at_rest()
        two[0].server.drain()
        await two.pass_time(5)
        assert dealer_at(two) == [0]
        await ada.stands()


async def test_who_waits_for_a_table_may_leave(tmp_path: Path) -> None:
    async with in_mid_round(tmp_path, "Ada", "Bob") as (two, (_, bob)):
        two.is_gone(0)
        await bob.sees(MOVING)
        await bob.presses("q").is_asked(MENU)


async def test_nobody_waits_for_longer_than_half_a_minute(tmp_path: Path) -> None:
    async with in_mid_round(tmp_path, "Ada", "Bob") as (two, (ada, bob)):
        two.cut_links(0)  # it lives, and goes on dealing
        await bob.sees(MOVING)
        await two.pass_time(27)
        await bob.sees("The table can't be reached just now.")
        await bob.presses(" ").is_asked(MENU)
        assert open_round(two).caller == "Ada"
        assert two.room(0).table().tenure.is_held
        await ada.has_the_turn()


@pytest.mark.parametrize(
    ("at_table", "told_at"),
    [
        (SETTLED_SECONDS - 1, PATIENCE_SECONDS),
        (SETTLED_SECONDS, 6 + SETTLED_SECONDS + PATIENCE_SECONDS),
    ],
)
async def test_a_table_that_is_lost_again_at_once_makes_nobody_wait_twice(
    at_table: float, told_at: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They look for 6 s, are at the table that was taken up for a moment or longer, and it is
    lost for good."""
    clock = FakeClock(NOON)
    monkeypatch.setattr("door.games.vegas.company.room_of", mock.Mock())
    console = mock.Mock(waits_from=clock.monotonic())
    company = Company(mock.Mock(clock=clock), mock.Mock(console=console))
    looks = 0

    async def looks_for_it() -> bool:
        nonlocal looks
        looks += 1
        if looks == 8:
            company._sits(clock.monotonic())
            await clock.advance(at_table)
            console.waits_from = clock.monotonic()
        return False

    async def waits_a_second() -> bool:
        await clock.advance(1)
        return False

    began = clock.monotonic()
    with (
        mock.patch.object(company, "_is_over", looks_for_it),
        mock.patch.object(company, "_leaves_meanwhile", waits_a_second),
        mock.patch.object(company, "_tell", mock.AsyncMock()) as told,
    ):
        await company.visit()
    told.assert_awaited_once_with(UNREACHED)
    assert clock.monotonic() - began == told_at


# A server that stands still


@pytest.mark.parametrize("profile", [MODERN, REFUSING], ids=["painted", "lines"])
async def test_they_see_the_table_again_where_it_goes_on_after_all(
    tmp_path: Path, profile: Profile
) -> None:
    async with in_mid_round(tmp_path, "Ada", "Bob", profile=profile) as (two, (ada, bob)):
        cards = bob.block(2)
        with two.stands_still(0):
            await two.pass_time(10)
            await bob.sees(SILENT)
        await two.room(0)._keep()
        await two.pass_time(3)
        if profile is MODERN:
            await bob.terminal.until_gone(SILENT)
            assert bob.block(2) == cards
        await ada.stands()
        await bob.stands()
        assert await journaled(two) == ["1:stay", "2:stay"]


async def test_a_server_that_is_cut_off_from_the_books_alone_is_looked_at_as_ever(
    tmp_path: Path,
) -> None:
    async with in_mid_round(tmp_path, "Ada", "Bob") as (two, (ada, bob)):
        two.stops(0)
        for _ in range(10):
            await two.pass_time(1)
            await ada.presses("k").is_asked("Say:")
            ada.presses("hello\r")
            await bob.sees("hello")
        assert SILENT not in bob.screen


# A server that was only slow


async def slept(two: Servers, bob: Player) -> VegasTable:
    """Let the first server sleep until the second one has its table; return what it takes for
    its table yet."""
    table = two.room(0).table()
    two.stops(0)
    await two.pass_time(TAKEN_UP)
    await bob.sees(HAND_GOES_ON)
    assert table.tenure.is_held
    assert two.room(1).table().tenure.is_held
    return table


async def test_who_was_only_slow_writes_nothing_and_its_callers_follow(
    tmp_path: Path, bank: str
) -> None:
    async with in_mid_round(tmp_path, "Ada", "Bob", bank=bank, turn_seconds=600) as (
        two,
        (ada, bob),
    ):
        table = await slept(two, bob)
        before = open_round(two)
        await ada.presses("s").sees(HAND_GOES_ON)
        assert table.has_moved
        assert open_round(two) == before
        await ada.stands()
        await bob.stands()
        assert await journaled(two) == ["1:stay", "2:stay"]
        await ada.sees_at(2, "Bob")


async def test_what_was_asked_of_a_table_that_has_moved_is_refused(tmp_path: Path) -> None:
    async with servers(tmp_path, toml=table_toml()) as two:
        ada = await arrives(two[0], "Ada")
        await ada.sits()
        two.stops(0)
        await two.pass_time(13)
        cyd = await arrives(two[1], "Cyd")
        await cyd.sits()
        with pytest.raises(TableMoved):
            await ada.bets(1)
        with pytest.raises(TableMoved):
            await ada.bets(1)
        assert ada.has_moved
        ada.table.leave(ada)  # nothing happens
        await cyd.bets(1)
        assert [seat.caller for seat in open_round(two).seats] == ["Cyd"]


@pytest.mark.parametrize("what", ["deal", "act", "new shoe"])
async def test_nothing_is_written_by_the_old_server_after_the_new_one_has_begun(
    tmp_path: Path, bank: str, what: str
) -> None:
    """Each thing that a dealer writes, with the lease another's in the very moment."""
    async with servers(tmp_path, toml=table_toml(timebank=bank)) as two:
        two[0].seeds = [shoe(1, everybody_plays)]
        ada = await arrives(two[0], "Ada")
        await ada.sits()
        dealer = ada.table._dealer
        if what == "act":
            await ada.bets(1)
        ada.seat.bet = MINUTE
        with two[1].books() as desk:
            desk.connection.exec_driver_sql("UPDATE leases SET until = 0")
        taken = two.room(1).table()
        assert await taken.tenure.take()
        before = everything(two)
        if what == "new shoe":
            ada.table.state.shoe = None
        write = {
            "deal": dealer.deal,
            "act": lambda: dealer.act(BlackjackAction.STAY, None),
            "new shoe": dealer.lay_shoe,
        }[what]
        with pytest.raises(LeaseLost):
            await write()
        assert everything(two) == before


def everything(two: Servers) -> list[Any]:
    with two[0].books() as desk:
        run = desk.connection.exec_driver_sql
        return [
            tuple(run(f"SELECT count(*), max(id) FROM {table}").one())
            for table in ("rounds", "shoes", "transfers")
        ] + [run("SELECT count(*) FROM actions").scalar()]


# Several tables, on several servers


async def test_tables_open_where_callers_come(tmp_path: Path) -> None:
    async with servers(tmp_path, toml=table_toml(tables=2, seats=1)) as two:
        ada = await player(two[0], "Ada")
        bob = await player(two[1], "Bob")
        assert two.room(0).table(1).tenure.is_held
        assert two.room(1).table(2).tenure.is_held
        await ada.sees("Vegas 1")
        await bob.sees("Vegas 2")
        cyd = await player(two[1], "Cyd")
        await cyd.sees("You get the next free seat when this round is over.")
        await cyd.sees("Vegas 1")


# Callers of doors


async def test_a_doors_caller_is_passed_on_to_the_server_of_the_table(tmp_path: Path) -> None:
    async with servers(tmp_path, toml=table_toml(turn_seconds=600)) as two:
        two[1].seeds = [shoe(2, everybody_plays)]
        ada = await player(two[1], "Ada")
        async with at_the_door_of(two[0]) as (moth, wall, visit):
            await wall.until(b"Tal<k>")
            await ada.sees_at(2, "Moth@Xibalba")
            await ada.is_ready()
            wall.receiver.received(b"b1\r")
            await ada.has_the_turn()
            two.is_gone(1)
            await two.pass_time(TAKEN_UP)
            await wall.until(b"Your hand goes on.")
            assert two.room(0).table().state.seat_of(moth.record.id) is not None
            await two.pass_time(61)  # Ada's seat has waited
            await wall.until(b"You have")
            wall.receiver.received(b"s")
            await two.at_rest()
            wall.receiver.received(b"q")
            await visit
        assert await journaled(two) == ["1:stay", "2:stay"]
