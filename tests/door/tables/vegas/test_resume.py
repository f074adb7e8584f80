"""A round of the Vegas table that its server did not finish: found again, kept, and stood."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from door.tables.vegas import news
from tests.door.seated import (
    MINUTE,
    NAMES,
    RESUME,
    TURN,
    Party,
    Sitter,
    ace_up,
    arrives,
    everybody_plays,
    on_a_call,
    party,
    settled,
    shoe,
    vegas,
)
from tests.world import NOON, world
from timebank.callers import callers
from timebank.keeping import deletion


@asynccontextmanager
async def after_a_crash(folder: Path, **keys: object) -> AsyncIterator[Party]:
    """The next server on the same books, a minute later: the leases of the old calls are dead."""
    later = NOON + timedelta(minutes=1)
    async with world(folder, toml=vegas(**keys), now=later) as here:
        await settled(here.server.board)
        yield Party(here, [])


async def returns(after: Party, name: str) -> Sitter:
    """Have a caller cut off by the crash call again and return to their hand."""
    with after.here.books() as desk:
        record = callers.find(desk, name)
    assert record is not None
    sitter = await on_a_call(after.here.server.board, record)
    assert await sitter.finds_hand()
    await sitter.sits()
    after.sitters.append(sitter)
    return sitter


async def crash_in(folder: Path, count: int, seed: bytes, *actions: str) -> None:
    """Leave a round on the table after these actions of the seats at turn."""
    async with party(folder, count, seed=seed) as before:
        await before.deal(*[2] * count)
        for action in actions:
            await next(each for each in before.sitters if each.is_at_turn).does(action)


async def test_each_seat_waits_for_its_caller_and_then_stands(tmp_path: Path) -> None:
    await crash_in(tmp_path, 3, shoe(3, everybody_plays))
    async with after_a_crash(tmp_path) as after:
        assert after.at_turn == "Ada"
        await after.pass_time(RESUME - 1)
        assert after.journal() == []
        await after.pass_time(1)
        assert after.journal() == ["1:stay", "2:stay", "3:stay"]
        for name in NAMES[:3]:
            assert after.here.balances(name)["stake"] == 0
            assert len(after.notices(name)) == 1


async def test_a_caller_who_returns_in_time_plays_on_with_the_same_cards(tmp_path: Path) -> None:
    seed = shoe(2, everybody_plays)
    async with party(tmp_path, 2, seed=seed) as before:
        await before.deal(3, 4)
        await before.sitters[0].does("stay")
        cards, dealer = before.round.seats, before.round.dealer
    async with after_a_crash(tmp_path) as after:
        assert (after.round.seats, after.round.dealer) == (cards, dealer)
        bob = await returns(after, "Bob")
        assert bob.is_at_turn
        await after.pass_time(RESUME)  # Bob is alone, so there is no countdown
        await bob.does("stay")
        assert after.journal() == ["1:stay", "2:stay"]
        assert bob.caller.purse.posted.stake == 0
        assert after.notices("Bob") == []
        assert len(after.notices("Ada")) == 1


async def test_seats_wait_one_after_the_other_but_all_from_the_same_moment(tmp_path: Path) -> None:
    await crash_in(tmp_path, 3, shoe(3, everybody_plays))
    async with after_a_crash(tmp_path) as after:
        await after.pass_time(RESUME - 10)
        cyd = await returns(after, "Cyd")
        await after.pass_time(10)
        assert after.journal() == ["1:stay", "2:stay"]
        assert cyd.is_at_turn


async def test_turns_have_a_countdown_when_several_callers_returned(tmp_path: Path) -> None:
    await crash_in(tmp_path, 2, shoe(2, ace_up), "insurance")
    async with after_a_crash(tmp_path) as after:
        await returns(after, "Ada")
        bob = await returns(after, "Bob")
        assert bob.is_at_turn
        assert after.table.seconds_left() == TURN
        await after.pass_time(TURN)
        assert after.journal() == ["1:insurance", "2:no-insurance"]
        assert after.at_turn == "Ada"


async def test_a_stranger_sits_down_when_the_round_is_over(tmp_path: Path) -> None:
    await crash_in(tmp_path, 2, shoe(2, everybody_plays))
    async with after_a_crash(tmp_path) as after:
        dan = await (await arrives(after.here, "Dan")).sits()
        assert after.table.state.seat_of(dan.caller.record.id) is None
        await after.pass_time(RESUME)
        assert dan.seat.chair == 1
        await dan.bets(1)
        assert after.state.hand.names == ("Dan",)


async def test_the_shoe_continues_after_a_crash(tmp_path: Path) -> None:
    seed = shoe(1, everybody_plays)
    await crash_in(tmp_path, 1, seed)
    async with after_a_crash(tmp_path) as after:
        ada = await returns(after, "Ada")
        await ada.does("stay")
        used = after.round.cards_used
        await ada.bets(1)
        stored = after.stored()
        assert stored.shoe is not None
        assert (stored.shoe.seed, stored.start) == (seed, used)


async def test_a_shoe_that_was_cut_stays_cut_after_a_crash(tmp_path: Path) -> None:
    seed = shoe(1, everybody_plays, cut="be lucky")
    async with party(tmp_path, 1, seed=seed) as before:
        ada = before.sitters[0]
        await ada.table.cut_cards(ada, "be lucky")
        await before.deal()
    async with after_a_crash(tmp_path) as after:
        seal = sha256(seed).hexdigest()
        ada = await returns(after, "Ada")
        assert (after.state.shoe.seal, after.state.cut) == (seal, "be lucky")
        await ada.does("stay")
        assert (after.state.shoe.seal, after.state.cut) == (seal, "be lucky")
        await ada.bets(1)
        assert after.rounds_dealt() == 2
        assert ada.was_told(news.BetRefused) == []


async def test_a_round_keeps_the_coin_of_its_deal(tmp_path: Path) -> None:
    await crash_in(tmp_path, 1, shoe(1, everybody_plays))
    async with after_a_crash(tmp_path, coin_minutes=5, dealer="hit 17") as after:
        ada = await returns(after, "Ada")
        assert after.state.hand.coin == MINUTE
        assert after.round.rules.dealer == "stand 17"
        await ada.does("stay")
        await ada.bets(1)
        assert after.round.seats[0].bet == 5 * MINUTE
        assert after.round.rules.dealer == "hit 17"


async def test_an_orderly_stop_leaves_the_round_unchanged(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as before:
        await before.deal()
        await before.table.stop()
        for sitter in before.sitters:  # with the notice that the board closes
            before.table.leave(sitter)
        assert before.journal() == []
    async with after_a_crash(tmp_path) as after:
        assert after.at_turn == "Ada"
        await returns(after, "Ada")
        await returns(after, "Bob")
        await after.play_out()
        assert after.journal() == ["1:stay", "2:stay"]


async def test_a_closed_table_refuses_actions(tmp_path: Path) -> None:
    async with party(tmp_path, 1) as alone:
        await alone.table.stop()
        with pytest.raises(Exception, match="The board is closing"):
            await alone.sitters[0].bets(1)


async def test_an_unreadable_round_is_logged_and_the_table_opens(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with party(tmp_path, 1, seed=shoe(1, everybody_plays)) as before:
        await before.deal()
        with before.here.books() as desk:
            desk.connection.exec_driver_sql(
                "INSERT INTO actions (round_id, sequence, action, cards_used, at)"
                ' SELECT id, 1, \'{"action":"fold","seat":1}\', 4, dealt FROM rounds'
            )
    async with after_a_crash(tmp_path) as after:
        assert "hand 1 at the Vegas table: its journal cannot be read" in caplog.text
        dan = await (await arrives(after.here, "Dan")).sits()
        await dan.bets(1)
        assert after.state.hand.names == ("Dan",)


async def test_a_deleted_callers_seat_is_played_for_the_others(
    tmp_path: Path,
) -> None:
    await crash_in(tmp_path, 2, shoe(2, everybody_plays))
    async with after_a_crash(tmp_path) as after:
        with after.here.books() as desk:
            deletion.delete(desk, callers.number_named(desk, "Ada"))
        bob = await returns(after, "Bob")
        await after.pass_time(RESUME)
        assert bob.is_at_turn
        await bob.does("stay")
        assert after.journal() == ["1:stay", "2:stay"]
        assert bob.caller.purse.posted.stake == 0
