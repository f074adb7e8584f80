"""Several servers, each with tables of its own: one that dies in a round, or was only stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from door.games.blackjack.round import BlackjackAction
from door.tables.vegas import news, pits
from door.tables.vegas.room import STOOD_ELSEWHERE
from door.tables.vegas.table import VegasTable
from tests.door.seated import (
    MINUTE,
    Party,
    Sitter,
    arrives,
    everybody_plays,
    on_a_call,
    settled,
    shoe,
)
from tests.door.several import Servers, servers
from tests.door.vegas_callers import Player, player, table_toml
from tests.door.visiting import MENU
from tests.world import World, log_on, world
from timebank.callers import callers
from timebank.callers.notices import read
from timebank.errors import LeaseLost
from timebank.wagers import journal

STOOD = 45  # seconds within which the rounds of a dead server are over


def in_play(two: Servers) -> list[int]:
    """The tables with a round in play."""
    with two[0].books() as desk:
        return sorted(journal.shared_rounds(desk, "vegas").values())


def held(two: Servers) -> list[int]:
    """The pit of each server, 0 for none."""
    holds = [two.room(number).hold for number in range(len(two))]
    return [0 if hold is None else hold.pit for hold in holds]


def is_taken(two: Servers) -> None:
    """Give the second server the pit of the first, as if its lease had expired."""
    with two[1].books() as desk:
        desk.connection.exec_driver_sql("UPDATE leases SET until = 0 WHERE name = 'vegas/1'")
        assert pits.take_lowest(desk, two[1].server.board.server_id).pit == 1


def everything(two: Servers) -> list[Any]:
    """Return everything that a dealer writes."""
    with two[0].books() as desk:
        run = desk.connection.exec_driver_sql
        return [
            run(f"SELECT count(*) FROM {table}").scalar()
            for table in ("rounds", "shoes", "transfers", "actions")
        ]


def notices_of(two: Servers, name: str) -> list[str]:
    """The notices of a caller."""
    words = (
        "SELECT n.text FROM notices n JOIN callers c ON c.id = n.caller_id"
        f" WHERE c.name = '{name}' ORDER BY n.id"
    )
    with two[0].books() as desk:
        return [str(read(text)) for text in desk.connection.exec_driver_sql(words).scalars()]


def staked(two: Servers) -> int:
    """Return the seconds that all callers have on the table."""
    with two[0].books() as desk:
        run = desk.connection.exec_driver_sql
        return int(run("SELECT sum(balance) FROM accounts WHERE kind = 'stake'").scalar_one())


@asynccontextmanager
async def in_mid_round(folder: Path, bank: str) -> AsyncIterator[tuple[Servers, list[Player]]]:
    """Ada and Bob in a round at the first server, and Cyd in one of her own at the second."""
    async with servers(folder, bank, toml=table_toml(turn_seconds=600)) as two:
        two[0].seeds, two[1].seeds = [shoe(2, everybody_plays)], [shoe(1, everybody_plays)]
        players = [await player(two[0], "Ada"), await player(two[0], "Bob")]
        players.append(await player(two[1], "Cyd"))
        for each in players[:2]:
            await each.is_ready()
        await players[2].says_bet(1)
        await players[2].has_the_turn()
        await players[0].has_the_turn()
        yield two, players


async def test_each_server_deals_at_tables_of_its_own(tmp_path: Path, bank: str) -> None:
    async with in_mid_round(tmp_path, bank) as (two, (ada, bob, cyd)):
        assert held(two) == [1, 2]
        assert in_play(two) == [1, 51]
        for each in (ada, bob, cyd):
            await each.stands()
            await each.sees("Vegas")
        await two.pass_time(1)
        assert in_play(two) == []


async def test_rounds_of_a_dead_server_are_stood_and_their_callers_get_notices(
    tmp_path: Path, bank: str
) -> None:
    async with in_mid_round(tmp_path, bank) as (two, (_, _, cyd)):
        two.is_gone(0)
        await two.pass_time(STOOD)
        assert in_play(two) == [51]
        assert staked(two) == MINUTE
        for name in ("Ada", "Bob"):
            (words,) = notices_of(two, name)
            assert "at Vegas was left open; the dealer stood it" in words
        await cyd.stands()
        assert (staked(two), notices_of(two, "Cyd")) == (0, [])
        before = everything(two)
        await two.pass_time(STOOD)
        assert everything(two) == before


async def test_a_caller_who_moves_to_another_server_reads_how_the_hand_ended(
    tmp_path: Path, bank: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with in_mid_round(tmp_path, bank) as (two, (ada, *_)):
        two.is_gone(0)
        await two.pass_time(20)
        ada.board = two[1]
        ada.terminal = await two[1].call()
        await calls_over(ada)
        await ada.reads_that(STOOD_ELSEWHERE)
        await ada.is_asked(MENU)
        await ada.presses("v").reads_that(STOOD_ELSEWHERE)
        await ada.is_asked(MENU)
        await two.pass_time(STOOD - 20)
        await ada.sees("Your hand at Vegas was played out: you")
        assert len(notices_of(two, "Ada")) == 1
    assert "a request failed" not in caplog.text, "it is no fault of the program"


async def calls_over(guest: Player) -> None:
    """Log on at another server, and take over the call that died with the first one."""
    await log_on(guest.terminal, guest.name)
    await guest.terminal.until("You're already on")
    guest.presses("y")


async def test_a_server_that_is_back_in_time_takes_its_round_up(tmp_path: Path, bank: str) -> None:
    async with in_mid_round(tmp_path, bank) as (two, _):
        two.is_gone(0)
        await two.pass_time(29)
        toml = table_toml(timebank=bank, turn_seconds=600)
        with mock.patch("door.call.board.this_process", return_value="here/1:0"):
            (tmp_path / "again").mkdir()
            async with world(tmp_path / "again", toml=toml, clock=two[0].clock) as again:
                back = Party(again, [])
                assert back.at_turn == "Ada"
                await two.pass_time(STOOD - 30)
                assert in_play(two) == [1, 51]
                ada = await comes_back(again, "Ada")
                await ada.does("stay")
                assert back.at_turn == "Bob"
                await (await comes_back(again, "Bob")).does("stay")
                assert back.state.in_play is None  # and Cyd's round is not taken up


async def test_a_server_takes_up_the_rounds_of_its_own_pit_alone(tmp_path: Path, bank: str) -> None:
    async with in_mid_round(tmp_path, bank) as (two, _):
        with two[0].books() as desk:
            rounds = {table: lead for lead, table in journal.shared_rounds(desk, "vegas").items()}
        assert list(rounds) == [1, 51]
        two.is_gone(0)
        await two.pass_time(29)
        toml = table_toml(timebank=bank, turn_seconds=600)
        (tmp_path / "again").mkdir()
        with (
            mock.patch("door.call.board.this_process", return_value="here/1:0"),
            mock.patch.object(VegasTable, "take_up_soon") as taken,
        ):
            async with world(tmp_path / "again", toml=toml, clock=two[0].clock):
                taken.assert_called_once_with([rounds[1]])


async def comes_back(here: World, name: str) -> Sitter:
    with here.books() as desk:
        record = callers.find(desk, name)
    assert record is not None
    sitter = await on_a_call(here.server.board, record, take_over=True)
    assert await sitter.finds_hand()
    return await sitter.sits()


async def test_a_resumed_server_writes_nothing(tmp_path: Path, bank: str) -> None:
    async with in_mid_round(tmp_path, bank) as (two, (ada, bob, _)):
        two.stops(0)
        await two.pass_time(60)
        before = everything(two)
        ada.presses("s")  # which is typed before it looks around
        await two.goes_on(0)
        for each in (ada, bob):  # their calls were closed in the crash
            await each.terminal.until_closed()
        assert everything(two) == before
        assert in_play(two) == [51]
        assert [len(notices_of(two, each.name)) for each in (ada, bob)] == [1, 1]


@pytest.mark.parametrize("keys", ["s", ""], ids=["at a key", "by itself"])
async def test_callers_at_a_lost_table_are_warned_and_sit_down_again(
    tmp_path: Path, bank: str, keys: str
) -> None:
    async with in_mid_round(tmp_path, bank) as (two, (ada, bob, _)):
        is_taken(two)
        before = everything(two)
        if keys:
            ada.presses(keys)
        else:
            await two.room(0).look_after(leads=False)
        for each in (ada, bob):
            await each.sees("This table was stuck for too long.")
            await each.sees("<B>et (Enter)")
        await two.at_rest()
        assert everything(two) == [before[0], before[1] + 1, *before[2:]]  # a shoe
        assert held(two) == [3, 2]


async def test_a_server_that_slept_stands_no_round_of_its_own_tables(
    tmp_path: Path, bank: str
) -> None:
    """Its lease has expired meanwhile, and it is the leader."""
    async with in_mid_round(tmp_path, bank) as (two, _):
        with two[0].books() as desk:
            desk.connection.exec_driver_sql("UPDATE leases SET until = until - 60")
        two.stops(1)
        await two.room(0).look_after(leads=True)
        assert in_play(two) == [1]


@pytest.mark.parametrize("what", ["deal", "act", "new shoe"])
async def test_a_dealer_without_the_lease_writes_nothing(
    tmp_path: Path, bank: str, what: str
) -> None:
    """At each write of a dealer, another server takes the lease just before."""
    async with servers(tmp_path, bank, toml=table_toml()) as two:
        two[0].seeds = [shoe(1, everybody_plays)]
        ada = await arrives(two[0], "Ada")
        await ada.sits()
        dealer = ada.table._dealer
        if what == "act":
            await ada.bets(1)
        ada.seat.bet = MINUTE
        is_taken(two)
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


async def test_a_bet_at_a_table_that_is_lost_is_off_and_the_next_one_counts(
    tmp_path: Path, bank: str
) -> None:
    async with servers(tmp_path, bank, toml=table_toml()) as two:
        two[0].seeds = [shoe(1, everybody_plays)] * 2
        ada = await arrives(two[0], "Ada")
        await ada.sits()
        is_taken(two)
        await ada.bets(1)
        await settled(two[0].server.board)
        assert ada.was_told(news.TableLost) == [news.TableLost()]
        assert in_play(two) == []
        await ada.bets(1)
        assert in_play(two) == [101]
        await ada.does("stay")


async def test_an_unreadable_round_is_logged_once_and_the_others_are_stood(
    tmp_path: Path, bank: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with servers(tmp_path, bank, toml=table_toml(tables=2, seats=1)) as two:
        two[0].seeds = [shoe(1, everybody_plays)] * 2
        for name in ("Ada", "Bob"):
            guest = await player(two[0], name)
            await guest.says_bet(1)
            await guest.has_the_turn()
        with two[0].books() as desk:
            desk.connection.exec_driver_sql(
                "INSERT INTO actions (round_id, sequence, action, cards_used, at)"
                ' SELECT 1, 1, \'{"action":"fold","seat":1}\', 4, dealt FROM rounds WHERE id = 1'
            )
        two.is_gone(0)
        await two.pass_time(2 * STOOD)
        assert in_play(two) == [1]
        assert caplog.text.count("hand 1 at the Vegas table: its journal cannot be read") == 1
        with two[0].books() as desk:
            desk.connection.exec_driver_sql(
                "DELETE FROM actions WHERE round_id = 1 AND sequence = 1"
            )


async def test_a_server_that_drains_keeps_its_tables(tmp_path: Path, bank: str) -> None:
    async with in_mid_round(tmp_path, bank) as (two, (ada, bob, _)):
        two[0].server.drain()
        await two.pass_time(6)
        assert held(two) == [1, 2]
        await ada.stands()
        await bob.stands()
        assert in_play(two) == [51]
