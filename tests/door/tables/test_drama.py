"""Drama where it counts: held cards of a high bet, streaks on the felt, large banners."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from door.games.blackjack.kind import BlackJackKind
from door.games.engine.cards import parse_cards
from door.tables.scene import SHORTEST_STREAK, Banner, TableTally
from door.tables.sitting import HOLD_SECONDS, SLOWNESS
from door.tables.vegas.seat import BEAT_SECONDS
from tests.door.playing import PAST_HEADER, PLACE_BET, Table, at_the_table, hand
from tests.door.punting import at_baccarat, ends, seed_where
from tests.door.vegas_callers import Player, table_toml, vegas_callers
from tests.terminal import MODERN, REFUSING, Profile
from tests.world import BOARD, world

STEP = 0.05
DEALER_BUSTS = (*parse_cards("TS 6D 9S TD"), *parse_cards("8C " * 60))


def staged(animation: str) -> str:
    """Return a board of twenty minutes a day, of which ten may be bet at once."""
    board = BOARD.replace('animation = "off"', f'animation = "{animation}"')
    return f"{board}\n[calls]\nminutes_per_day = 20\n"


def part(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


async def seconds_to(ada: Table, prompt: str) -> float:
    """Let time pass until the prompt comes, and return how much."""
    began = ada.board.clock.monotonic()
    while prompt not in ada.prompt_row:
        assert ada.board.clock.monotonic() < began + 60, ada.terminal.picture
        await ada.board.clock.advance(STEP)
        await ada.board.settled()
    return ada.board.clock.monotonic() - began


async def stays(folder: Path, animation: str, coins: int) -> float:
    """Return how long the dealer's cards take after a bet of so many coins of twenty."""
    async with at_the_table(folder, toml=staged(animation)) as ada:
        ada.board.seeds = [hand("stay", ends="lose")]
        await ada.asks_to_bet()
        ada.terminal.send(f"{coins}\r")
        await seconds_to(ada, "<H>it")
        ada.terminal.send("s")
        await ada.board.at_rest()
        return await seconds_to(ada, PLACE_BET)


@pytest.mark.parametrize(("animation", "is_slow"), [("normal", True), ("fast", False)])
async def test_a_bet_of_half_the_pot_holds_the_hole_card_and_slows_the_cards(
    tmp_path: Path, animation: str, *, is_slow: bool
) -> None:
    low = await stays(part(tmp_path, "low"), animation, 4)
    high = await stays(part(tmp_path, "high"), animation, 10)
    expected = HOLD_SECONDS + SLOWNESS * low if is_slow else low
    assert high == pytest.approx(expected, abs=2 * STEP)


async def test_a_key_skips_a_held_card_and_counts(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=staged("normal")) as ada:
        ada.board.seeds = [hand("stay", ends="lose")]
        await ada.asks_to_bet()
        ada.terminal.send("10\r")
        await seconds_to(ada, "<H>it")
        began = ada.board.clock.monotonic()
        ada.terminal.send("s ")
        await ada.prompt(PLACE_BET)
        assert ada.board.clock.monotonic() == began


async def test_a_high_bet_holds_the_dealers_card_at_vegas_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deck = (*parse_cards("TS 6D 9S TD 2D"), *parse_cards("2C " * 60))
    monkeypatch.setattr(BlackJackKind, "cards", lambda *_asked: deck)
    async with vegas_callers(
        tmp_path, "Ada", toml=table_toml(minutes=20).replace('"off"', '"normal"')
    ) as (ada,):
        ada.presses("b10\r")
        await ada.board.at_rest()
        await ada.board.pass_time(8 * SLOWNESS * BEAT_SECONDS)
        await ada.sees("You have 19")
        ada.presses("s")
        await ada.terminal.wait_for(lambda _: ada.round.over, "the end")
        await ada.board.settled()
        await ada.board.pass_time(HOLD_SECONDS - STEP)
        assert "Dealer  6 " in ada.screen
        await ada.board.pass_time(2 * STEP)
        await ada.sees("Dealer  16")
        await ada.board.pass_time(SLOWNESS * BEAT_SECONDS - 3 * STEP)
        assert "Dealer  16" in ada.screen
        await ada.board.pass_time(3 * STEP)
        await ada.sees("Dealer  18")
        await ada.sees("Y O U   W I N !   + 1 0   c o i n s")


# Streaks


def test_a_streak_is_of_wins_and_a_push_does_not_end_it() -> None:
    tally = TableTally()
    told = []
    for net in (1, 1, 0, 1, 1, -1, 1):
        tally.count(net)
        told.append(tally.streak_words())
    assert SHORTEST_STREAK == 3
    assert told == ["", "", "", "3 in a row", "4 in a row", "", ""]


async def test_a_streak_is_on_the_felt(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=BOARD) as ada:
        for _number in range(3):
            assert "in a row" not in ada.terminal.picture
            ada.board.seeds = [hand("stay", ends="win")]
            await ada.asks_to_bet()
            ada.terminal.send("1\r")
            await ada.prompt("<H>it")
            ada.terminal.send("s")
            await ada.prompt(PLACE_BET)
        assert "3 in a row" in ada.terminal.picture


@pytest.mark.parametrize("profile", [MODERN, replace(MODERN, columns=40), REFUSING])
async def test_a_streak_is_at_the_callers_seat_at_vegas_and_in_plain_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: Profile
) -> None:
    monkeypatch.setattr(BlackJackKind, "cards", lambda *_asked: DEALER_BUSTS)
    async with world(tmp_path, toml=table_toml()) as board:
        board.enter("Ada")
        ada = Player(board, "Ada")
        await ada.visits(profile)
        await ada.presses(f"v{PAST_HEADER}").sees("Tal<k>")
        for _number in range(3):
            assert "in a row" not in ada.screen
            await ada.presses("b1\r").sees("You have 19")
            ada.presses("s")
            await ada.terminal.wait_for(lambda _: ada.round.over, "the end")
            await board.settled()
        await ada.sees("3 in a row")
        await ada.presses("b1\r").sees("You have 19")
        assert profile is REFUSING or "in a row" not in ada.screen


async def test_a_streak_and_a_big_win_are_on_the_baize_of_baccarat(tmp_path: Path) -> None:
    wins = ends("player")
    async with at_baccarat(tmp_path, seed_where(wins, wins, wins), mode="t") as ada:
        for coins in (1, 1):
            await ada.wagers(coins)
            assert "in a row" not in ada.terminal.picture
        await ada.wagers(10)
        assert "■ YOU WIN 10 COINS - 3 IN A ROW ■" in ada.terminal.picture


# The table cheers


async def test_the_table_cheers_a_natural(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deck = (*parse_cards("AS 9H 6D KS 9C TD"), *parse_cards("8C " * 60))
    monkeypatch.setattr(BlackJackKind, "cards", lambda *_asked: deck)
    async with vegas_callers(tmp_path, "Ada", "Bob") as (ada, bob):
        for each in (ada, bob):
            each.presses("b1\r")
        await ada.sees("BLACKJACK! The table cheers.")
        await bob.sees("Ada has blackjack! The table cheers.")


async def test_nobody_cheers_a_caller_who_sits_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deck = (*parse_cards("AS 6D KS TD"), *parse_cards("8C " * 60))
    monkeypatch.setattr(BlackJackKind, "cards", lambda *_asked: deck)
    async with vegas_callers(tmp_path, "Ada") as (ada,):
        await ada.presses("b1\r").sees("BLACKJACK!")
        assert "cheers" not in ada.screen


# Banners


def test_a_big_win_is_larger_and_keeps_its_words_whole() -> None:
    assert len(Banner("YOU WIN").lines(54)) == 3
    large = Banner("YOU WIN +12", 12).lines(54)
    assert len(large) == 5
    assert "Y O U   W I N   + 1 2" in large[2]
    assert large[1].count("■") == 12
    assert "YOU WIN +12" in Banner("YOU WIN +12", 12).lines(30)[2]
    assert "B L A C K" in Banner("B L A C K", 12).lines(54)[2]
