"""Bets: from the smallest to the largest, never the last coin, so many a day; and how it ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.door.playing import MINUTE, PLACE_BET, Table, at_the_table, hand, house

# Which amount


@pytest.mark.parametrize("coins", [1, 2, 9, 10])
async def test_every_bet_from_the_smallest_to_the_largest_is_taken(ada: Table, coins: int) -> None:
    await ada.bets(coins, hand("stay", ends="lose"))
    assert ada.figure("Bet") == ("1 coin" if coins == 1 else f"{coins} coins")
    assert ada.moved() == [("stake", coins * MINUTE)]
    assert ada.online == ada.time_left == (60 - coins) * MINUTE


@pytest.mark.parametrize(
    ("typed", "refusal"),
    [
        ("0", "The smallest bet is 2 coins."),
        ("1", "The smallest bet is 2 coins."),
        ("7", "The largest bet here is 6 coins."),
        ("0.5", "Bet whole coins."),
        ("2,5", "Bet whole coins."),
        ("9999", "The largest bet here is 6 coins."),
    ],
)
async def test_other_bets_are_refused_and_asked_again(
    tmp_path: Path, typed: str, refusal: str
) -> None:
    async with at_the_table(tmp_path, toml=house(smallest_bet=2, largest_bet=6)) as ada:
        await ada.asks_to_bet()
        assert "Coins to bet, 2 to 6 (Enter for 2):" in ada.prompt_row
        ada.terminal.send(f"{typed}\r")
        await ada.message(refusal)
        await ada.prompt("Coins to bet")
        assert ada.hands_dealt == 0


async def test_the_last_coin_is_never_bet(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(coin_minutes=15)) as ada:
        await ada.asks_to_bet()
        assert "Coins to bet, 1 to 3 (Enter for 1):" in ada.prompt_row
        ada.terminal.send("4\r")
        await ada.message("You can bet up to 3 coins: your last coin stays with you.")
        assert ada.hands_dealt == 0


@pytest.mark.parametrize(
    ("coin_minutes", "smallest_bet", "refusal"),
    [
        (
            60,
            1,
            "You have 1 coin. The smallest bet is 1 coin, and your last coin can't be bet.",
        ),
        (
            12,
            5,
            "You have 5 coins. The smallest bet is 5 coins, and your last coin can't be bet.",
        ),
        (
            61,
            1,
            "You have 0 coins. The smallest bet is 1 coin, and your last coin can't be bet.",
        ),
    ],
)
async def test_a_pot_too_small_for_any_bet_is_explained(
    tmp_path: Path, coin_minutes: int, smallest_bet: int, refusal: str
) -> None:
    toml = house(coin_minutes=coin_minutes, smallest_bet=smallest_bet)
    async with at_the_table(tmp_path, toml=toml) as ada:
        await ada.message(refusal)
        assert PLACE_BET not in ada.prompt_row
        ada.terminal.send("bz")  # the help of B is on the screen already
        await ada.message("Z does nothing here.")
        assert ada.hands_dealt == 0


async def test_no_bet_is_offered_that_the_pot_cannot_pay(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(coin_minutes=30)) as ada:
        await ada.bets(1, hand("stay", ends="lose"))
        ada.terminal.send("s")
        await ada.message("You have 1 coin. The smallest bet is 1 coin, and your last coin")
        await ada.prompt("<R>ules")
        assert "<B>et" not in ada.prompt_row
        assert "<T>ime bank" in ada.prompt_row
        ada.terminal.send("\r")
        await ada.message("Enter does nothing here.")


async def test_an_offered_bet_is_taken_when_the_clock_has_ticked(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(coin_minutes=20)) as ada:
        await ada.asks_to_bet()
        ada.terminal.send("2")
        await ada.prompt(": 2")
        await ada.board.pass_time(5)
        ada.board.seeds = [hand("stay", ends="lose")]
        ada.terminal.send("\r")
        await ada.prompt("<H>it")
        assert ada.hands_dealt == 1
        assert ada.board.balances("Ada")["online"] == 20 * 60 - 5


async def test_an_offer_of_long_ago_is_renewed_and_not_taken(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(coin_minutes=2, largest_bet=99)) as ada:
        await ada.asks_to_bet()
        assert "Coins to bet, 1 to 29" in ada.prompt_row
        await ada.board.pass_time(2 * 60)
        ada.terminal.send("29\r")
        await ada.message("You can bet up to 28 coins: your last coin stays with you.")
        await ada.prompt("Coins to bet, 1 to 28")
        assert ada.hands_dealt == 0


async def test_an_offered_double_is_taken_when_the_clock_has_ticked(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(coin_minutes=20)) as ada:
        await ada.bets(1, hand("stay", ends="lose"))
        await ada.prompt("<D>ouble")
        await ada.board.pass_time(5)
        ada.terminal.send("d")
        await ada.prompt("<R>ules")
        assert ("double", 20 * 60) in ada.board.moved("Ada")


async def test_the_pot_on_the_table_follows_the_time_left(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(coin_minutes=20)) as ada:
        assert ada.figure("Pot") == "3 coins"
        await ada.board.pass_time(1)
        await ada.terminal.wait_for(lambda _: ada.figure("Pot") == "2 coins", "a pot of 2 coins")


async def test_esc_places_no_bet(ada: Table) -> None:
    await ada.asks_to_bet()
    ada.terminal.send("5\x1b")
    await ada.message("No bet.")
    await ada.prompt(PLACE_BET)
    assert ada.hands_dealt == 0
    assert "Turns today: 0 of 20" in ada.terminal.row(0)


# The remembered bet


async def test_enter_bets_the_smallest_at_first_and_the_last_bet_from_then_on(
    tmp_path: Path,
) -> None:
    async with at_the_table(tmp_path, toml=house(smallest_bet=2)) as ada:
        seed = hand(ends="push")
        await ada.bets("", seed)
        assert ada.figure("Bet") == "2 coins"
        await ada.bets(6, seed)
        await ada.bets("", seed)
        assert ada.figure("Bet") == "6 coins"


async def test_the_last_bet_is_remembered_for_the_next_call(ada: Table) -> None:
    await ada.bets(7, hand(ends="push"))
    await ada.logs_off()
    await ada.is_gone()
    await ada.returns()
    await ada.asks_to_bet()
    assert "(Enter for 7):" in ada.prompt_row


async def test_enter_never_bets_half_the_pot(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(coin_minutes=6)) as ada:
        await ada.bets(4, hand("stay", ends="lose"))
        await ada.does("stay")
        await ada.asks_to_bet()
        assert "Coins to bet, 1 to 5 (Enter for 1):" in ada.prompt_row


# Turns


async def test_each_bet_uses_a_turn_and_the_last_of_the_day_is_announced(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(turns_per_day=2)) as ada:
        seed = hand(ends="push")
        assert "Turns today: 0 of 2" in ada.terminal.row(0)
        await ada.bets(1, seed)
        assert "Turns today: 1 of 2" in ada.terminal.row(0)
        ada.board.seeds = [seed]
        await ada.asks_to_bet()
        ada.terminal.send("1\r")
        await ada.prompt("Press any key")
        await ada.message("That was your last turn here today.")
        ada.terminal.send(" ")
        await ada.prompt("oodbye")
        await ada.terminal.until("all 2 turns used today")
        # Sitting down again brings no third one.
        ada.terminal.send("b")
        await ada.terminal.until("No turns left here today: 2 a day. Still open: Baccarat (")
        assert "Your hand" not in ada.terminal.picture
        ada.terminal.send(" ")
        await ada.prompt("oodbye")
        assert ada.hands_dealt == 2


# The caller's totals


async def test_the_statement_tells_how_the_caller_did(ada: Table) -> None:
    await ada.bets(10, hand(ends="natural"))
    await ada.bets(3, hand("stay", ends="lose"))
    await ada.does("stay")
    await ada.bets(5, hand(ends="push"))
    assert ada.figure("Sitting") == "+17:00"
    assert ada.figure("W-L-push") == "1-1-1"
    await ada.gets_up()
    statement = "Your sitting at Black Jack For Time: 1 win, 1 loss, 1 push. You're up 17"
    await ada.terminal.until(statement)
    assert ada.online == (60 + 17) * MINUTE


@pytest.mark.parametrize(
    ("seed", "words", "call"),
    [
        (
            hand(ends="dealer-natural"),
            "0 wins, 1 loss. You're down 4 minutes.",
            "You're down 4 minutes.",
        ),
        (hand(ends="push"), "0 wins, 0 losses, 1 push. You're even.", "You're even."),
    ],
    ids=["behind", "even"],
)
async def test_the_goodbye_and_the_menu_sum_up_the_table_alike(
    ada: Table, seed: bytes, words: str, call: str
) -> None:
    await ada.bets(4, seed)
    await ada.terminal.send("q").until(f"Your sitting at Black Jack For Time: {words}")
    ada.terminal.send("gy")
    await ada.terminal.until_closed()
    text = " ".join(ada.terminal.picture.split())
    assert f"This call: 1 hand for time. {call}" in text
    assert "Black Jack For Time:" not in text
    assert "Goodbye, Ada. Call again!" in text


async def test_a_caller_disconnected_in_a_hand_is_not_told_its_outcome(ada: Table) -> None:
    await ada.bets(2, hand("stay", ends="lose"))
    await ada.board.server.stop("The board is closing.")
    await ada.terminal.until_closed()
    text = " ".join(ada.terminal.picture.split())
    assert "0 losses. One hand is still open." in text
    assert "Your hand waits for you on the table." in text


async def test_a_caller_without_a_bet_gets_no_statement(ada: Table) -> None:
    await ada.logs_off()
    assert "Black Jack For Time: " not in ada.terminal.transcript
