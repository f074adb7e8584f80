"""Several tables in one room: the choice for a caller, and their separation."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.tables.vegas import news
from door.tables.vegas.room import VegasRoom
from door.tables.vegas.scene import VegasScene
from tests.door.seated import (
    NAMES,
    Party,
    Sitter,
    arrives,
    everybody_plays,
    on_a_call,
    party,
    shoe,
    vegas,
)
from tests.door.vegas import table_of
from tests.door.visiting import Guest
from tests.world import World, world
from timebank.wagers import journal


async def comes(here: World, name: str) -> Sitter:
    """Seat a new caller at the table chosen for them."""
    sitter = await arrives(here, name)
    await seated(sitter)
    return sitter


async def seated(sitter: Sitter) -> None:
    sitter.table = await VegasRoom.among(sitter.board.shared).table_for(sitter.caller)
    await sitter.sits()


async def crowd(here: World, count: int) -> list[Sitter]:
    return [await comes(here, name) for name in NAMES[:count]]


def at(sitters: list[Sitter]) -> list[int]:
    return [sitter.table.number for sitter in sitters]


async def test_a_table_opens_when_all_seats_of_the_others_are_taken(tmp_path: Path) -> None:
    async with world(tmp_path, toml=vegas(tables=3, seats=2)) as here:
        sitters = await crowd(here, 5)
        assert at(sitters) == [1, 1, 2, 2, 3]
        assert [each.seat.chair for each in sitters] == [1, 2, 1, 2, 1]


async def test_a_new_caller_joins_an_open_table_before_another_opens(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=vegas(tables=3, seats=2)) as here:
        ada, bob, _ = await crowd(here, 3)
        await ada.gets_up()
        await bob.gets_up()
        assert (await comes(here, "Dan")).table.number == 2
        assert (await comes(here, "Eve")).table.number == 1


async def test_where_all_seats_are_taken_one_waits_where_the_fewest_do(tmp_path: Path) -> None:
    async with world(tmp_path, toml=vegas(tables=2, seats=1)) as here:
        sitters = await crowd(here, 4)
        assert at(sitters) == [1, 2, 1, 2]
        assert [len(table_of(here.server.board, number).state.waiting) for number in (1, 2)] == [
            1,
            1,
        ]


async def test_a_seat_reserved_for_its_caller_is_taken(tmp_path: Path) -> None:
    async with world(tmp_path, toml=vegas(tables=2, seats=2)) as here:
        here.seeds = [shoe(2, everybody_plays)]
        sitters = await crowd(here, 2)
        await Party(here, sitters).deal()
        sitters[0].table.lose(sitters[0])
        await here.server.board.close_call(sitters[0].caller, "carrier lost")
        assert (await comes(here, "Cyd")).table.number == 2


async def test_tables_have_a_shoe_each_and_play_at_the_same_time(tmp_path: Path) -> None:
    async with world(tmp_path, toml=vegas(tables=2, seats=1)) as here:
        seeds = [shoe(1, everybody_plays), shoe(1, everybody_plays, cut="be lucky")]
        here.seeds = list(seeds)
        ada, bob = await crowd(here, 2)
        await ada.bets(1)
        await bob.table.cut_cards(bob, "be lucky")
        await bob.bets(2)
        assert ada.is_at_turn
        assert bob.is_at_turn
        with here.books() as desk:
            rounds = journal.shared_rounds(desk, "vegas")
            assert list(rounds.values()) == [1, 2]
            found = [journal.stored_round(desk, lead) for lead in rounds]
        assert [stored and stored.caller for stored in found] == ["Ada", "Bob"]
        shoes = [stored and stored.shoe for stored in found]
        assert [each and each.table for each in shoes] == [1, 2]
        assert [each and each.seed for each in shoes] == seeds
        await bob.does("stay")
        assert ada.is_at_turn
        await ada.does("stay")


async def test_news_of_one_table_stays_there(tmp_path: Path) -> None:
    async with world(tmp_path, toml=vegas(tables=2, seats=1)) as here:
        ada, bob = await crowd(here, 2)
        bob.says("good evening")
        await bob.bets(1)
        await bob.gets_up()
        assert [each.name for each in ada.was_told(news.CallerNews)] == ["Ada"]
        assert [each.name for each in bob.was_told(news.TableTalk)] == ["Bob"]


async def crash_at_the_second(folder: Path) -> None:
    """Bob plays alone at the second table when the server ends."""
    async with world(folder, toml=vegas(tables=2, seats=1)) as here:
        here.seeds = [shoe(1, everybody_plays)] * 2
        _, bob = await crowd(here, 2)
        await bob.bets(1)


@pytest.mark.parametrize("tables", [2, 1], ids=["as many tables", "a table less"])
async def test_a_round_of_the_second_table_is_taken_up_there_after_a_crash(
    tmp_path: Path, tables: int
) -> None:
    await crash_at_the_second(tmp_path)
    async with world(tmp_path, toml=vegas(tables=tables, seats=1)) as here:
        second = table_of(here.server.board, 2)
        assert second.state.in_play is not None
        assert table_of(here.server.board, 1).state.in_play is None
        with here.books() as desk:
            assert list(journal.shared_rounds(desk, "vegas").values()) == [2]
        assert second.state.seats[1].name == "Bob"
        await here.pass_time(61)
        assert second.state.in_play is None


async def test_a_caller_with_a_hand_returns_to_its_table(tmp_path: Path) -> None:
    async with world(tmp_path, toml=vegas(tables=2, seats=1)) as here:
        here.seeds = [shoe(1, everybody_plays)] * 2
        ada, bob = await crowd(here, 2)
        await bob.bets(1)
        await ada.gets_up()
        bob.table.lose(bob)
        await here.server.board.close_call(bob.caller, "carrier lost")
        again = await on_a_call(here.server.board, bob.caller.record)
        await seated(again)
        assert again.table.number == 2
        assert again.is_at_turn
        await again.does("stay")


async def test_a_table_is_called_by_its_number_where_there_are_several(tmp_path: Path) -> None:
    async with world(tmp_path, toml=vegas(tables=2, seats=1)) as here:
        ada, bob = await crowd(here, 2)
        titles = [VegasScene(each.table, each.caller).title for each in (ada, bob)]
        assert titles == ["Vegas 1", "Vegas 2"]
    (tmp_path / "other").mkdir()
    async with party(tmp_path / "other", 1) as alone:
        (cyd,) = alone.sitters
        assert VegasScene(cyd.table, cyd.caller).title == "Vegas"


async def test_the_menu_names_no_single_table_where_there_may_be_fifty(tmp_path: Path) -> None:
    async with world(tmp_path, toml=vegas(tables=50)) as here:
        here.enter("Ada")
        ada = Guest(here, "Ada")
        await ada.visits()
        await ada.sees("callers; nobody at the table")
        assert "One table" not in ada.screen
        await ada.presses("yl").is_asked("<Q>uitter")
        await ada.presses("q").sees("Votre jeu, ou")
        assert "Une table" not in ada.screen
