"""The shared table: seats, bets, bell, turns, and departures."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from door.errors import NotNow
from door.tables.vegas import news
from tests.door.seated import (
    BELL,
    MINUTE,
    TURN,
    ace_up,
    arrives,
    dealers_natural,
    everybody_plays,
    first_may_hit,
    over_at_once,
    party,
    settled,
    shoe,
)

# Bets, and when the cards are dealt


async def test_played_alone_the_cards_come_with_the_bet(tmp_path: Path) -> None:
    async with party(tmp_path, 1, seed=shoe(1, everybody_plays)) as alone:
        await alone.sitters[0].bets(3)
        assert alone.at_turn == "Ada"
        assert alone.here.balances("Ada")["stake"] == 3 * MINUTE


async def test_a_lone_player_has_no_countdown(tmp_path: Path) -> None:
    async with party(tmp_path, 1, seed=shoe(1, everybody_plays)) as alone:
        await alone.sitters[0].bets(1)
        await alone.pass_time(10 * TURN)
        assert alone.at_turn == "Ada"
        assert alone.state.alarm is None


async def test_the_cards_are_dealt_when_all_are_ready(tmp_path: Path) -> None:
    async with party(tmp_path, 3, seed=shoe(3, everybody_plays)) as three:
        ada, bob, cyd = three.sitters
        await ada.is_ready(1)
        await bob.is_ready(2)
        assert three.rounds_dealt() == 0
        await cyd.bets(3)
        assert [seat.bet for seat in three.round.seats] == [MINUTE, 2 * MINUTE, 3 * MINUTE]


async def test_the_bell_deals_to_the_seats_with_bets(tmp_path: Path) -> None:
    async with party(tmp_path, 3, seed=shoe(2, everybody_plays)) as three:
        ada, bob, _ = three.sitters
        await ada.bets(1)
        await bob.is_ready(2)
        await three.pass_time(BELL - 1)
        assert three.rounds_dealt() == 0
        await three.pass_time(1)
        assert three.state.hand.names == ("Ada", "Bob")
        assert ada.was_told(news.BellRang)


async def test_a_bell_is_cancelled_when_every_seat_with_a_bet_has_left(tmp_path: Path) -> None:
    async with party(tmp_path, 2) as two:
        ada, bob = two.sitters
        await ada.bets(1)
        assert two.state.alarm.what == "bell"
        two.table.leave(ada)
        await bob.gets_up()  # in the same moment
        assert two.state.alarm is None
        await bob.sits()
        await bob.bets(1)  # alone, Bob waits for no bell
        assert two.rounds_dealt() == 1


async def test_a_seat_that_ignored_the_bell_is_skipped_until_a_key(
    tmp_path: Path,
) -> None:
    async with party(tmp_path, 2, seed=shoe(1, everybody_plays)) as two:
        ada, bob = two.sitters
        await ada.bets(1)
        await two.pass_time(BELL)
        await ada.does("stay")
        await ada.is_ready(1)
        assert two.rounds_dealt() == 2
        await two.pass_time(TURN)
        assert two.at_turn == ""
        two.table.wake(bob)
        await ada.is_ready(1)
        assert two.rounds_dealt() == 2
        assert two.state.alarm.what == "bell"


async def test_a_seat_with_a_bet_is_dealt_to_at_once_when_the_others_leave(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(1, everybody_plays)) as two:
        ada, bob = two.sitters
        await ada.bets(1)
        await bob.gets_up()
        assert two.at_turn == "Ada"
        assert two.state.alarm is None


async def test_a_seat_that_can_bet_nothing_is_not_waited_for(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, over_at_once), turns_per_day=1) as two:
        await two.deal()
        await settled(two.here.server.board)
        cyd = await arrives(two.here, "Cyd")
        await cyd.sits()
        two.sitters.append(cyd)
        await cyd.is_ready(1)
        assert two.state.hand.names == ("Cyd",)


async def test_a_bet_may_be_changed_until_the_cards_are_dealt(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as two:
        ada, bob = two.sitters
        await ada.is_ready(1)
        await ada.bets(5)
        await bob.is_ready(1)
        assert two.round.seats[0].bet == 5 * MINUTE


@pytest.mark.parametrize("coins", [0, 11, 60])
async def test_bets_outside_the_limits_are_refused(tmp_path: Path, coins: int) -> None:
    async with party(tmp_path, 1) as alone:
        with pytest.raises(NotNow, match="bet"):
            await alone.sitters[0].bets(coins)


async def test_a_bet_no_longer_affordable_is_skipped_in_the_deal(
    tmp_path: Path,
) -> None:
    toml = {"largest_bet": 60, "bell_seconds": 120}
    async with party(tmp_path, 2, seed=shoe(1, everybody_plays), **toml) as two:
        ada, bob = two.sitters
        await ada.is_ready(59)
        await two.pass_time(61)
        await bob.is_ready(1)
        assert two.state.hand.names == ("Bob",)
        (refused,) = ada.was_told(news.BetRefused)
        assert "must stay in your pot" in str(refused.reason)
        assert two.here.balances("Ada")["stake"] == 0


async def test_no_bet_is_taken_while_the_cards_are_on_the_table(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as two:
        await two.deal()
        for guest in two.sitters:
            with pytest.raises(NotNow, match="when this round is over"):
                await guest.bets(1)


# Decisions


async def test_decisions_go_round_and_everybody_sees_them(tmp_path: Path) -> None:
    async with party(tmp_path, 3, seed=shoe(3, everybody_plays)) as three:
        await three.deal()
        order = []
        while three.at_turn:
            order.append(three.at_turn)
            counts = [len(guest.was_told(news.RoundWentOn)) for guest in three.sitters]
            await next(each for each in three.sitters if each.is_at_turn).does("stay")
            after = [len(guest.was_told(news.RoundWentOn)) for guest in three.sitters]
            assert after == [count + 1 for count in counts]
        assert order == ["Ada", "Bob", "Cyd"]
        assert three.journal() == ["1:stay", "2:stay", "3:stay"]


async def test_a_decision_out_of_turn_is_refused(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as two:
        await two.deal()
        _, bob = two.sitters
        with pytest.raises(NotNow, match="not your turn"):
            await bob.does("hit")
        assert two.journal() == []


async def test_simultaneous_keys_are_decisions_in_sequence(
    tmp_path: Path,
) -> None:
    async with party(tmp_path, 3, seed=shoe(3, everybody_plays)) as three:
        await three.deal()
        presses = [guest.does("stay") for guest in reversed(three.sitters) for _ in range(4)]
        done = await asyncio.gather(*presses, return_exceptions=True)
        assert sorted(three.journal()) == sorted(set(three.journal()))
        assert [type(each) for each in done if each is not None] == [NotNow] * (
            len(done) - len(three.journal())
        )


async def test_a_silent_seat_is_stood(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as two:
        await two.deal()
        await two.pass_time(TURN - 1)
        assert two.at_turn == "Ada"
        await two.pass_time(1)
        assert two.at_turn == "Bob"
        assert two.journal() == ["1:stay"]
        assert two.sitters[1].was_told(news.StoodFor) == [news.StoodFor("Ada")]


async def test_a_card_gives_the_full_time_again(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, first_may_hit), turn_seconds=10) as two:
        await two.deal()
        await two.pass_time(9)
        await two.sitters[0].does("hit")
        assert two.at_turn == "Ada"
        assert two.table.seconds_left() == 10


async def test_a_silent_seat_goes_without_insurance(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, ace_up)) as two:
        await two.deal(2, 2)
        await two.pass_time(TURN)
        assert two.journal() == ["1:no-insurance"]
        await two.sitters[1].does("insurance")
        # A silent seat is not waited for a second time in a round.
        assert two.journal() == ["1:no-insurance", "2:insurance", "1:stay"]


async def test_a_key_after_a_silence_restarts_the_wait(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, ace_up)) as two:
        ada, bob = two.sitters
        await two.deal(2, 2)
        await two.pass_time(TURN)
        two.table.wake(ada)
        await bob.does("no-insurance")
        assert ada.is_at_turn


async def test_any_amount_up_to_half_the_bet_may_be_insured(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, dealers_natural)) as two:
        ada, bob = two.sitters
        await two.deal(4, 4)
        with pytest.raises(NotNow, match="1 to 120"):
            await ada.does("insurance", amount=121)
        await ada.does("insurance", amount=7)
        await bob.does("insurance")
        assert two.journal() == ["1:insurance:7", "2:insurance"]
        assert two.here.balances("Ada")["online"] == 60 * MINUTE - 240 + 14
        assert two.here.balances("Bob")["online"] == 60 * MINUTE


async def test_insurance_that_cannot_be_paid_is_declined_unasked(tmp_path: Path) -> None:
    async with party(tmp_path, 1, seed=shoe(1, ace_up), largest_bet=59) as alone:
        await alone.sitters[0].bets(59)
        assert alone.journal() == ["1:no-insurance"]
        assert alone.at_turn == "Ada"


async def test_an_unaffordable_double_is_refused_and_changes_nothing(
    tmp_path: Path,
) -> None:
    async with party(tmp_path, 1, seed=shoe(1, everybody_plays), largest_bet=40) as alone:
        (ada,) = alone.sitters
        await ada.bets(40)
        before = alone.round
        with pytest.raises(Exception, match="must stay in your pot"):
            await ada.does("double")
        assert alone.round is before
        assert alone.journal() == []


# Failures


async def test_a_guest_with_a_broken_screen_delays_no_other(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as two:
        ada, bob = two.sitters

        def breaks(happened: object) -> None:
            raise RuntimeError("a screen that breaks")

        ada.on_news = breaks
        await two.deal()
        await two.pass_time(TURN)
        await bob.does("stay")
        assert two.journal() == ["1:stay", "2:stay"]


async def test_while_the_books_are_slow_the_table_waits_and_talk_does_not(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as two:
        ada, bob = two.sitters
        await two.deal()
        async with two.here.slow_books():
            stays = asyncio.create_task(ada.does("stay"))
            await asyncio.sleep(0)
            bob.says("are you asleep?")
            assert ada.was_told(news.TableTalk) == [news.TableTalk("Bob", "are you asleep?")]
            assert ada.is_at_turn  # the screen shows only what is in the books
        await stays
        assert bob.is_at_turn


async def test_a_decision_under_way_counts_though_its_caller_leaves(
    tmp_path: Path,
) -> None:
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as two:
        ada, _ = two.sitters
        await two.deal()
        async with two.here.slow_books():
            stays = asyncio.create_task(ada.does("stay"))
            await asyncio.sleep(0)
            stays.cancel()
        await ada.drops()
        assert two.journal() == ["1:stay"]
        assert two.at_turn == "Bob"


# Too much of it


async def test_changes_of_bets_are_rate_limited(tmp_path: Path) -> None:
    async with party(tmp_path, 2) as two:
        ada, bob = two.sitters
        bets = [ada.bets(1 + number % 2) for number in range(20)]
        done = await asyncio.gather(*bets, return_exceptions=True)
        assert "Not so fast" in str(done[-1])
        count = len(bob.was_told(news.BetAnnounced))
        assert count < 10
        await two.pass_time(10)
        await ada.bets(3)
        assert len(bob.was_told(news.BetAnnounced)) == count + 1


async def test_the_cut_is_not_changed_again_and_again(tmp_path: Path) -> None:
    async with party(tmp_path, 2) as two:
        ada, _ = two.sitters
        cuts = [ada.table.cut_cards(ada, f"words {number}") for number in range(20)]
        done = await asyncio.gather(*cuts, return_exceptions=True)
        assert "Not so fast" in str(done[-1])
        assert done.count(None) < 10


async def test_repeated_arrivals_and_departures_are_not_announced(tmp_path: Path) -> None:
    async with party(tmp_path, 2) as two:
        ada, bob = two.sitters
        for _ in range(20):
            await bob.gets_up()
            await bob.sits()
        assert len(ada.was_told(news.SatDown)) + len(ada.was_told(news.GotUp)) < 12
        assert bob.seat.chair == 2
