"""The terms of a bet at Vegas: those at its time, despite later settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.errors import NotNow
from door.games.blackjack.rules import VEGAS
from door.tables.vegas import news
from tests.door.reading import read_again
from tests.door.seated import (
    MINUTE,
    Party,
    ace_up,
    everybody_plays,
    over_at_once,
    party,
    shoe,
    vegas,
)
from tests.door.vegas_callers import AT_TABLE, player, table_toml
from tests.terminal import SILENT
from tests.world import world

FIRST_DECKS, OTHER_DECKS = 2, 6


async def reload(party: Party, **keys: object) -> None:
    """Have the sysop change the keys of the Vegas table."""
    read_again(party.here, vegas(**keys))
    await party.here.at_rest()


async def test_a_bet_costs_the_price_at_which_it_was_made(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as two:
        ada, bob = two.sitters
        await ada.is_ready(5)
        await reload(two, coin_minutes=10, smallest_bet=1)
        assert two.table.coin == MINUTE  # shown while a bet is on the table
        await bob.is_ready(2)
        assert [seat.bet for seat in two.round.seats] == [5 * MINUTE, 2 * MINUTE]
        assert two.here.balances("Ada")["stake"] == 5 * MINUTE


async def test_a_bet_stays_within_the_limits_that_it_was_made_under(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as two:
        ada, bob = two.sitters
        await ada.is_ready(5)
        await reload(two, largest_bet=2, turns_per_day=1, natural_pays=3)
        await bob.is_ready(4)
        assert [seat.bet for seat in two.round.seats] == [5 * MINUTE, 4 * MINUTE]
        assert two.round.rules.natural_pays == VEGAS.natural_pays


async def test_the_shoe_under_a_bet_stays_that_which_was_sealed(tmp_path: Path) -> None:
    keys = {"seed": shoe(2, everybody_plays), "decks": FIRST_DECKS}
    async with party(tmp_path, 2, **keys) as two:
        ada, bob = two.sitters
        await ada.is_ready(1)
        seal = two.state.shoe.seal
        await reload(two, decks=OTHER_DECKS)
        await bob.is_ready(1)
        stored = two.stored()
        assert stored.shoe is not None
        assert (stored.shoe.seal, stored.shoe.decks) == (seal, FIRST_DECKS)


async def test_a_round_is_played_out_under_the_terms_of_its_bets(tmp_path: Path) -> None:
    async with party(tmp_path, 1, seed=shoe(1, ace_up)) as alone:
        (ada,) = alone.sitters
        await ada.bets(4)
        await reload(alone, coin_minutes=20, double="10-11")
        assert alone.table.coin == MINUTE
        await ada.does("insurance", amount=2 * MINUTE)
        assert alone.here.balances("Ada")["stake"] == 6 * MINUTE
        if alone.at_turn:
            await ada.does("double")
            assert ada.hand.hands[0].stake == 8 * MINUTE


async def test_new_terms_begin_with_the_first_bet_of_the_next_round(tmp_path: Path) -> None:
    async with party(tmp_path, 2, seed=shoe(2, over_at_once), smallest_bet=1) as two:
        ada, bob = two.sitters
        await ada.is_ready(1)
        await reload(two, coin_minutes=2)
        await bob.is_ready(1)
        assert two.table.coin == 2 * MINUTE
        await two.deal(3, 3)
        assert [seat.bet for seat in two.round.seats] == [6 * MINUTE, 6 * MINUTE]


async def test_a_bet_that_was_asked_for_under_other_terms_is_not_taken(tmp_path: Path) -> None:
    async with party(tmp_path, 1) as alone:
        (ada,) = alone.sitters
        asked = alone.table.betting(ada.caller)
        await reload(alone, coin_minutes=2)
        with pytest.raises(NotNow, match="terms of this table have changed"):
            await alone.table.bet(ada, asked, 5)
        assert alone.rounds_dealt() == 0
        assert not ada.was_told(news.BetAnnounced)


async def test_same_as_last_time_is_not_bet_before_a_new_coin_was_named(tmp_path: Path) -> None:
    toml = table_toml(coin_minutes=1)
    seed = shoe(1, over_at_once)
    async with world(tmp_path, toml=toml) as board:
        board.seeds = [seed]
        ada = await player(board, "Ada", SILENT)
        await ada.says_bet(2)
        await ada.is_asked("<A>gain")
        read_again(ada.board, table_toml(coin_minutes=4))
        await ada.board.at_rest()
        await ada.presses("a").sees("A coin is 4 minutes of your time now.")
        assert ada.round.seats[0].bet == 2 * MINUTE
        await ada.is_asked(AT_TABLE)
        ada.presses("a")
        await ada.terminal.wait_for(lambda _: ada.on_the_table.lead == 2, "a second round")
        assert ada.round.seats[0].bet == 8 * MINUTE


async def test_a_caller_hears_of_new_rules_before_they_bet(tmp_path: Path) -> None:
    async with world(tmp_path, toml=table_toml()) as board:
        ada = await player(board, "Ada", SILENT)
        read_again(ada.board, table_toml(natural_pays=3))
        await ada.board.at_rest()
        await ada.presses("b").sees("The rules of this table have changed: R shows them.")
        await ada.is_asked("Coins to bet")
