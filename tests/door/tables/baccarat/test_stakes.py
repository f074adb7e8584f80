"""Stakes at baccarat: against the bank to the last franc, and for time in coins."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from door.games.baccarat.events import BaccaratOutcome
from tests.door.punting import (
    MENUS,
    MINUTE,
    at_baccarat,
    baccarat_toml,
    ends,
    punter_of,
    seed_where,
)
from tests.door.tables.test_trouble import UNWRITTEN, books_locked
from tests.world import NOON, log_on, world

WINS, LOSES = ends(BaccaratOutcome.PLAYER), ends(BaccaratOutcome.BANK)

# Against the bank


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("0", "The smallest bet is $1."),
        ("100001", "You can't bet more than your bankroll of $100,000."),
        ("1.50", "Whole amounts only, such as $100,000."),
        ("1,00,000", "Whole amounts only, such as $100,000."),
    ],
)
async def test_an_impossible_stake_is_explained_and_asked_again(
    tmp_path: Path, typed: str, expected: str
) -> None:
    async with at_baccarat(tmp_path, seed_where(WINS)) as ada:
        await ada.asks_to_bet()
        await ada.presses(f"{typed}\r").sees(expected)
        await ada.is_asked("Place your bets: $1 to $100,000")
        assert ada.play_money("usd-cent")["stake"] == 0
        ada.presses("1\r ")
        await ada.is_asked_any(*MENUS)
        assert ada.play_money("usd-cent")["bankroll"] == 100_001


async def test_the_last_wager_is_the_one_that_enter_repeats(tmp_path: Path) -> None:
    async with at_baccarat(tmp_path, seed_where(LOSES, WINS, LOSES)) as ada:
        await ada.asks_to_bet()
        assert "(Enter for $1,000)" in ada.prompt
        ada.presses("60000\r ")
        await ada.is_asked_any(*MENUS)
        # Enter never bets half of what is left.
        await ada.asks_to_bet()
        assert "$1 to $40,000 (Enter for $1,000)" in ada.prompt
        ada.presses("15000\r ")
        await ada.is_asked_any(*MENUS)
        assert ada.play_money("usd-cent")["bankroll"] == 55_000
        await ada.asks_to_bet()
        assert "(Enter for $15,000)" in ada.prompt


async def test_a_wager_that_was_not_written_is_not_on_the_table(tmp_path: Path) -> None:
    async with at_baccarat(tmp_path, seed_where(WINS), busy_seconds=0.02) as ada:
        await ada.asks_to_bet()
        with books_locked(ada.board):
            await ada.presses("1000\r").sees(UNWRITTEN)
            await ada.is_asked_any(*MENUS)
        assert ada.figure("Bet") == ""
        assert ada.play_money("usd-cent")["bankroll"] == 100_000


async def test_a_bankroll_is_renewed_at_midnight_for_a_seated_player(tmp_path: Path) -> None:
    late = NOON + timedelta(hours=11, minutes=50)
    async with at_baccarat(tmp_path, seed_where(LOSES, WINS), toml=ALL_DAY, now=late) as ada:
        await ada.wagers(100_000)
        await ada.board.pass_time(11 * MINUTE)
        await ada.asks_to_bet()
        assert "$1 to $100,000" in ada.prompt
        await ada.sees("A new day, and a new bankroll: $100,000.")
        # Ada has not returned to the table, so the bank keeps its winnings.
        assert ada.figure("The bank") == "$1,100,000"
        await ada.presses("\x03q").is_asked("oodbye")
        await ada.sits_down_at_baccarat()
        assert ada.figure("The bank") == "$1,000,000"


async def test_a_player_without_francs_reads_in_french_when_there_will_be_more(
    tmp_path: Path,
) -> None:
    french = baccarat_toml(language="french")
    async with at_baccarat(tmp_path, seed_where(LOSES), mode="f", toml=french) as ada:
        await ada.wagers("100 000")
        await ada.sees("Votre capital est épuisé. Dès minuit, la maison vous avance 100 000 F.")


GONE = "Your bankroll is gone. Come back after midnight for a fresh $100,000."

ALL_DAY = (
    "events = []\n"
    + baccarat_toml()
    + ("[calls]\nidle_warning_seconds = 86399\nidle_limit_seconds = 86400\n")
)


async def test_without_a_bankroll_no_bet_is_offered(tmp_path: Path) -> None:
    async with at_baccarat(tmp_path, seed_where(LOSES), toml=ALL_DAY) as ada:
        assert "<B>et (Enter)" in ada.prompt
        await ada.wagers(100_000)
        await ada.sees(GONE)
        assert "<B>et" not in ada.prompt
        await ada.presses("\r").sees("Enter does nothing here.")


# The bank is broken


def breaking() -> bytes:
    """Return a shoe whose first four coups are the player's.

    100,000 becomes 200,000, 400,000 and 800,000, and the bank has 300,000 left.
    """
    return seed_where(WINS, WINS, WINS, WINS, LOSES)


async def test_the_bank_can_be_broken_and_that_is_celebrated(tmp_path: Path) -> None:
    async with at_baccarat(tmp_path, breaking()) as ada:
        for wager in (100_000, 200_000, 400_000):
            await ada.wagers(wager)
        assert ada.play_money("usd-cent") == {"bankroll": 800_000, "casino": 300_000, "stake": 0}
        await ada.asks_to_bet()
        # Never more than the bank still has.
        await ada.presses("300001\r").sees("The bank has only $300,000 left to win.")
        await ada.is_asked("$1 to $300,000 (Enter for $1,000)")
        await ada.presses("300000\r ").is_asked("Press any key")
        assert "Ladies and gentlemen, the bank is broken!" in ada.screen
        assert "Ada" in ada.terminal.picture
        await ada.sees("broke the bank at this table")
        await ada.sees("and leaves with $1,100,000.")
        await ada.sees("It took 4 coups and nerves of steel.")
        assert "▒▒▒▒▒▒▒▒" in ada.terminal.row(18)
        ada.presses(" ")
        await ada.is_asked_any(*MENUS)
        ada.presses("b")
        await ada.sees("The bank is broken. It opens again with $1,000,000 when you come back.")
        await ada.presses("q").is_asked("oodbye")
        await ada.sits_down_at_baccarat()
        assert ada.play_money("usd-cent") == {
            "bankroll": 1_100_000,
            "casino": 1_000_000,
            "stake": 0,
        }
        await ada.wagers(1_000_000)
        assert ada.play_money("usd-cent")["bankroll"] == 100_000


async def test_the_cloth_falls_row_by_row_and_the_plaque_is_read_line_by_line(
    tmp_path: Path,
) -> None:
    async with at_baccarat(tmp_path, breaking()) as ada:
        for wager in (100_000, 200_000, 400_000):
            await ada.wagers(wager)
        await ada.asks_to_bet()
        await ada.presses("300000\r").sees("Banco!")
        cloth, read = set(), set()
        while "Press any key" not in ada.prompt:
            picture = ada.terminal.picture
            cloth.add(sum(row.startswith("▒▒") for row in ada.terminal.lines))
            read.add("Champagne!" in picture)
            await ada.board.clock.advance(0.01)
            await ada.board.settled()
        assert cloth >= set(range(1, 15))
        assert read == {False}
        assert "Champagne!" in ada.terminal.picture


async def test_the_brass_plate_names_a_player_who_broke_the_bank(tmp_path: Path) -> None:
    async with at_baccarat(tmp_path, breaking()) as ada:
        ada.presses("r ")
        await ada.terminal.until("Nobody has broken the bank yet.")
        ada.presses("q")
        await ada.is_asked_any(*MENUS)
        for wager in (100_000, 200_000, 400_000):
            await ada.wagers(wager)
        await ada.wagers(300_000, ("Press any key",))
        ada.presses(" ")
        await ada.is_asked_any(*MENUS)
        assert "They broke the bank" in ada.terminal.picture
        # Others see it too, also after the bank was refilled.
        for name in ("Bob", "Cleo"):
            await ada.comes_back()
            other = await punter_of(ada.board, name)
            await other.sits_down_at_baccarat()
            await other.sees("They broke the bank: Ada.")
            assert "│ Ada " in other.terminal.picture
            other.presses("r ")
            await other.terminal.until("They broke the bank: Ada.")


# For time


async def test_for_time_coins_are_won_and_lost(tmp_path: Path) -> None:
    async with at_baccarat(tmp_path, seed_where(WINS, LOSES), mode="t") as ada:
        assert ada.figure("Pot") == "60 coins"
        await ada.wagers(10)
        await ada.sees(". You win 10 coins: 10 minutes.")
        assert ada.has["online"] == 70 * MINUTE
        await ada.wagers(4)
        await ada.sees("You lose 4 coins: 4 minutes.")
        assert ada.has["online"] == 66 * MINUTE
        assert "Turns today: 2 of 20" in ada.terminal.row(0)
        assert ada.ledger[-4:] == [
            ("returned", 10 * MINUTE),
            ("won", 10 * MINUTE),
            ("stake", 4 * MINUTE),
            ("lost", 4 * MINUTE),
        ]
        assert ada.play_money("usd-cent") == {}


async def test_a_wager_is_not_shown_in_a_unit_it_was_not_made_in(tmp_path: Path) -> None:
    async with at_baccarat(tmp_path, seed_where(WINS), mode="t") as ada:
        await ada.wagers(5)
        assert ada.figure("Bet") == "5 coins"
        await ada.presses("md").sees("Played in dollars")
        assert ada.figure("Bankroll") == "$100,000"
        assert ada.figure("Bet") == ""


async def test_a_caller_without_time_plays_for_nothing(tmp_path: Path) -> None:
    """Dollars buy no time: the call ends when the time does, and no coup is dealt after that."""
    async with world(tmp_path, toml=ALL_DAY) as board:
        ada = await punter_of(board, "Ada")
        board.seeds = [seed_where(WINS)]
        await ada.sits_down_at_baccarat()
        await board.pass_time(60 * MINUTE)
        await ada.is_sent_off("You're out of time.")
        ada.terminal = await board.call()
        await log_on(ada.terminal, "Ada")
        await ada.sees("You're out of time.")
