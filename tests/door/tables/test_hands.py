"""Hands at the table, outcome by outcome: messages, screen and ledger, to the second."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.door.playing import MINUTE, Table, at_the_table, hand, house, insurance_is_offered
from tests.world import seed_of

Moved = list[tuple[str, int]]  # kinds of rows and seconds, in their order

KEPT = [("stake", 240), ("returned", 240)]
WON = [*KEPT, ("won", 240)]
WON_TWICE = [*KEPT, ("won", 480)]
LOST = [("stake", 240), ("lost", 240)]
WON_DOUBLED = [("stake", 240), ("double", 240), ("returned", 480), ("won", 480)]
LOST_DOUBLED = [("stake", 240), ("double", 240), ("lost", 480)]


def net(moved: Moved) -> int:
    return sum({"won": amount, "lost": -amount}.get(kind, 0) for kind, amount in moved)


@pytest.mark.parametrize(
    ("actions", "outcome", "words", "moved"),
    [
        ((), "natural", "BLACKJACK! You win 8 coins: 8 minutes.", WON_TWICE),
        (
            ("hit", "hit", "hit"),
            "charlie",
            "FIVE-CARD CHARLIE! You win 8 coins: 8 minutes.",
            WON_TWICE,
        ),
        (("hit",), "twenty-one", "21! You win 8 coins: 8 minutes.", WON_TWICE),
        (("stay",), "win", "You win 4 coins: 4 minutes.", WON),
        ((), "push", "Push: your bet comes back.", KEPT),
        (("stay",), "lose", "You lose 4 coins: 4 minutes.", LOST),
        (("hit",), "bust", "You lose 4 coins: 4 minutes.", LOST),
        ((), "dealer-natural", "Dealer has blackjack. You lose 4 coins: 4 minutes.", LOST),
        (
            ("stay",),
            "dealer-charlie",
            "Dealer has a Five-Card Charlie. You lose 4 coins: 4 minutes.",
            LOST,
        ),
        (("double",), "win", "You win 8 coins: 8 minutes.", WON_DOUBLED),
        (
            ("double",),
            "twenty-one",
            "21! You win 8 coins: 8 minutes.",
            WON_DOUBLED,
        ),
        (("double",), "bust", "You lose 8 coins: 8 minutes.", LOST_DOUBLED),
        (("double",), "lose", "You lose 8 coins: 8 minutes.", LOST_DOUBLED),
    ],
)
async def test_the_messages_of_a_hand_match_the_ledger(
    ada: Table, actions: tuple[str, ...], outcome: str, words: str, moved: Moved
) -> None:
    await ada.bets(4, hand(*actions, ends=outcome))
    await ada.does(*actions)
    await ada.message(words)
    assert ada.moved() == moved
    assert ada.online == ada.time_left == 60 * MINUTE + net(moved)
    assert ada.journal() == ["bet", *actions]


@pytest.mark.parametrize(
    ("ending", "words", "moved"),
    [
        (
            "dealer-natural",
            "Your insurance pays. You win 5 coins: 5 minutes. "
            "Dealer has blackjack. You lose 5 coins: 5 minutes.",
            # Half of five coins is two and a half; it comes back with two more for each one.
            [("stake", 300), ("insurance", 150), ("lost", 300), ("returned", 150), ("won", 300)],
        ),
        (
            "push",
            "Your insurance pays. You win 5 coins: 5 minutes. Push: your bet comes back.",
            [("stake", 300), ("insurance", 150), ("returned", 450), ("won", 300)],
        ),
    ],
)
async def test_insurance_is_paid_two_to_one_on_a_dealers_natural(
    ada: Table, ending: str, words: str, moved: Moved
) -> None:
    await ada.bets(5, hand("insurance", ends=ending))
    assert "Insurance for 2.5 coins?" in ada.prompt_row
    await ada.does("insurance")
    await ada.message(words)
    assert ada.moved() == moved
    assert ada.online == ada.time_left == 60 * MINUTE + net(moved)


async def test_the_first_insurance_of_a_sitting_is_explained_by_the_rules(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(insurance_pays=3)) as ada:
        await ada.bets(2, seed_of(insurance_is_offered))
        rule = "you can insure half your bet. It pays 3 to 1 if the dealer has blackjack."
        await ada.message(rule)
        await ada.terminal.send("?").until("I  When the dealer shows an ace")
        ada.terminal.send("q")
        await ada.sees_hand()
        await ada.does("no-insurance")
        await ada.stands()
        await ada.bets(2, seed_of(insurance_is_offered))
        assert rule not in ada.messages


async def test_insurance_is_lost_and_the_bet_stays_in_play(ada: Table) -> None:
    await ada.bets(5, hand("insurance", "stay", ends="win"))
    await ada.does("insurance")
    await ada.message("Your insurance of 2.5 coins is lost.")
    assert ada.moved() == [("stake", 300), ("insurance", 150), ("lost", 150)]
    assert ada.figure("Insured") == "2.5 coins"
    await ada.does("stay")
    await ada.message("You win 5 coins: 5 minutes.")
    assert ada.moved()[3:] == [("returned", 300), ("won", 300)]
    assert ada.figure("Sitting") == "+2:30"


async def test_a_natural_is_offered_insurance_too(ada: Table) -> None:
    await ada.bets(2, hand("insurance", ends="natural"))
    await ada.does("insurance")
    await ada.message("Your insurance of 1 coin is lost.")
    await ada.message("BLACKJACK! You win 4 coins: 4 minutes.")
    assert ada.online == 60 * MINUTE + 4 * MINUTE - MINUTE


async def test_insurance_that_would_take_the_last_coin_is_declined_unasked(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(coin_minutes=4)) as ada:
        # Fifteen coins: a bet of ten leaves five, which insurance would cost.
        await ada.bets(10, hand("no-insurance"), unasked=("no-insurance",))
        await ada.message("Insurance would take your last coin: declined.")
        assert ada.journal() == ["bet", "no-insurance"]
        assert ada.moved() == [("stake", 2400)]


async def test_insurance_that_leaves_one_coin_is_offered(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(coin_minutes=4)) as ada:
        await ada.bets(9, seed_of(insurance_is_offered))
        assert "Insurance for 4.5 coins?" in ada.prompt_row
        await ada.does("insurance")
        assert ada.moved()[1] == ("insurance", 1080)


async def test_doubling_that_would_take_the_last_coin_is_not_offered(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(coin_minutes=3)) as ada:
        await ada.bets(10, hand("hit"))
        assert "ouble" not in ada.prompt_row
        ada.terminal.send("d")
        await ada.does("hit")
        assert ada.journal() == ["bet", "hit"]


async def test_doubling_that_leaves_one_coin_is_offered(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(coin_minutes=3, largest_bet=9)) as ada:
        await ada.bets(9, hand("double", ends="win"))
        assert "<D>ouble" in ada.prompt_row
        await ada.does("double")
        assert ada.online == 60 * MINUTE + 18 * 3 * MINUTE


async def test_doubling_is_offered_on_the_first_two_cards_only(ada: Table) -> None:
    await ada.bets(2, hand("hit"))
    assert "<D>ouble" in ada.prompt_row
    await ada.does("hit")
    assert "<D>ouble" not in ada.prompt_row


async def test_the_largest_bet_bounds_the_opening_bet_alone(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(largest_bet=3)) as ada:
        await ada.bets(3, hand("double", ends="lose"))
        await ada.does("double")
        assert ada.moved() == [("stake", 180), ("double", 180), ("lost", 360)]


async def test_time_that_ticked_is_on_the_ledger_before_the_bet(ada: Table) -> None:
    await ada.board.clock.advance(37)
    await ada.bets(2, hand("stay", ends="win"))
    await ada.board.clock.advance(21)
    await ada.does("stay")
    assert ada.online == ada.time_left == 60 * MINUTE - 37 - 21 + 2 * MINUTE


async def test_a_hand_may_be_settled_on_cards_that_take_no_part_of_the_time_left(
    tmp_path: Path,
) -> None:
    async with at_the_table(tmp_path, toml=house(coin_minutes=3, largest_bet=19)) as ada:
        await ada.bets(19, hand("stay", ends="lose"))
        assert ada.figure("Pot") == "1 coin"
        await ada.does("stay")
        assert ada.online == ada.time_left == 3 * MINUTE
