"""Arrivals at and departures from the Vegas table, and abandoned hands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from door.call.screen import Screen
from door.errors import NotNow
from door.tables.vegas import news
from tests.door.seated import (
    TURN,
    Party,
    arrives,
    everybody_plays,
    party,
    shoe,
)

# Coming


async def test_a_caller_who_arrives_in_mid_round_sits_down_after_it(tmp_path: Path) -> None:
    async with party(tmp_path, 1, seed=shoe(1, everybody_plays)) as two:
        ada = two.sitters[0]
        await ada.bets(1)
        bob = await arrives(two.here, "Bob")
        await bob.sits()
        assert two.table.state.seat_of(bob.caller.record.id) is None
        with pytest.raises(NotNow, match="no seat yet"):
            await bob.bets(1)
        await ada.does("stay")
        assert bob.seat.chair == 2
        assert ada.was_told(news.SatDown)[-1] == news.SatDown("Bob")


async def test_company_that_comes_in_the_middle_of_a_turn_starts_its_countdown(
    tmp_path: Path,
) -> None:
    async with party(tmp_path, 1, seed=shoe(1, everybody_plays)) as two:
        await two.sitters[0].bets(1)
        await two.pass_time(100)
        bob = await arrives(two.here, "Bob")
        await bob.sits()
        assert two.table.seconds_left() == TURN
        await two.pass_time(TURN)
        assert two.journal() == ["1:stay"]


async def test_a_caller_at_a_full_table_waits_for_a_seat(tmp_path: Path) -> None:
    async with party(tmp_path, 3, seats=2) as three:
        ada, bob, cyd = three.sitters
        assert [seat.name for seat in three.state.seated()] == ["Ada", "Bob"]
        await ada.gets_up()
        assert cyd.seat.chair == 1
        assert bob.seat.chair == 2


async def test_a_bystander_is_not_waited_for(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seats=1, seed=shoe(1, everybody_plays)) as two:
        await two.sitters[0].is_ready(1)
        assert two.at_turn == "Ada"


async def test_seats_keep_their_numbers_in_the_journal_when_one_between_is_free(
    tmp_path: Path,
) -> None:
    async with party(tmp_path, 3, seed=shoe(2, everybody_plays)) as three:
        ada, bob, cyd = three.sitters
        await bob.gets_up()
        await ada.is_ready(1)
        await cyd.is_ready(1)
        await ada.does("stay")
        await cyd.does("stay")
        assert three.journal() == ["1:stay", "3:stay"]
        assert [(seat.seat, seat.caller) for seat in three.stored().seats] == [
            (1, "Ada"),
            (3, "Cyd"),
        ]


# Going

Step = Callable[[Party], Awaitable[None]]


async def before_betting(table: Party) -> None: ...


async def with_a_bet(table: Party) -> None:
    await table.sitters[0].bets(2)


async def when_ready(table: Party) -> None:
    await table.sitters[0].is_ready(2)


async def at_their_turn(table: Party) -> None:
    await table.deal(2, 2, 2)


async def after_a_card(table: Party) -> None:
    await table.deal(2, 2, 2)
    await table.sitters[0].does("hit")


async def after_doubling(table: Party) -> None:
    await table.deal(2, 2, 2)
    await table.sitters[0].does("double")


async def at_anothers_turn(table: Party) -> None:
    await table.deal(2, 2, 2)
    await table.sitters[0].does("stay")


async def after_the_round(table: Party) -> None:
    await table.deal(2, 2, 2)
    await table.play_out()


A_SECOND = 1  # the cost of a call without elapsed time
IN_PLAY = [at_their_turn, after_a_card, after_doubling, at_anothers_turn]


@pytest.mark.parametrize("when", [before_betting, with_a_bet, when_ready, after_the_round])
async def test_leaving_between_rounds_returns_the_bet(tmp_path: Path, when: Step) -> None:
    async with party(tmp_path, 3, seed=shoe(3, everybody_plays)) as three:
        await when(three)
        rounds, online = three.rounds_dealt(), three.here.balances("Ada")["online"]
        await three.sitters[0].drops()
        assert [seat.name for seat in three.state.seated()] == ["Bob", "Cyd"]
        accounts = three.here.balances("Ada")
        assert (accounts["online"], accounts["stake"]) == (online - A_SECOND, 0)
        three.sitters.pop(0)
        await three.deal()
        assert three.state.hand.names == ("Bob", "Cyd")
        assert three.rounds_dealt() == rounds + 1


@pytest.mark.parametrize("when", IN_PLAY)
async def test_leaving_in_a_round_stands_the_hand_and_the_result_follows(
    tmp_path: Path, when: Step, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with party(tmp_path, 3, seed=shoe(3, everybody_plays)) as three:
        await when(three)
        ada = three.sitters.pop(0)
        lines: list[str] = []

        def say(screen: Screen, text: str) -> None:
            if screen is ada.caller.console.screen:
                lines.append(text)

        monkeypatch.setattr(Screen, "say", say)
        await ada.gets_up()
        await three.play_out()
        assert three.notices("Ada") == []
        assert "Your hand at Vegas was played out" in lines[0]
        assert ada.caller.purse.posted.stake == 0
        assert ada.caller.purse.posted.online == three.here.balances("Ada")["online"]


async def test_when_the_last_one_goes_the_round_is_played_to_its_end(tmp_path: Path) -> None:
    async with party(tmp_path, 3, seed=shoe(3, everybody_plays)) as three:
        await at_anothers_turn(three)
        for guest in three.sitters:
            await guest.drops()
        for name in ("Ada", "Bob", "Cyd"):
            assert three.here.balances(name)["stake"] == 0
            assert len(three.notices(name)) == 1
        assert three.state.guests() == []


async def test_a_caller_who_returns_during_the_round_resumes_the_hand(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as two:
        ada, bob = two.sitters
        await two.deal()
        await bob.drops()
        bob = await bob.calls_back()
        assert ada.was_told(news.CameBack)[-1] == news.CameBack("Bob")
        await ada.does("stay")
        assert bob.is_at_turn
        await bob.does("stay")
        assert two.notices("Bob") == []
        assert bob.caller.purse.posted.online == two.here.balances("Bob")["online"]


async def test_a_caller_taken_over_who_stays_away_is_stood_after_a_turn(
    tmp_path: Path,
) -> None:
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as two:
        ada, _ = two.sitters
        await two.deal()
        ada.table.hand_over(ada)
        await ada.board.close_call(ada.caller, "taken over")
        await two.pass_time(TURN)
        assert two.at_turn == "Bob"
