"""Coups that were left on a 5, calls that end at the table, and books that cannot be written."""

from __future__ import annotations

import re
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from door.games.baccarat.round import BaccaratAction, BaccaratPhase, BaccaratRound, start
from door.games.baccarat.rules import BACCARAT, rules_from_mapping
from door.games.engine import shuffle
from door.games.tables.play import Play
from tests.door.processes import OPEN_ALL_DAY, served
from tests.door.punting import (
    CARD_ASKED,
    MENUS,
    MINUTE,
    Punter,
    at_baccarat,
    baccarat_toml,
    ends,
    on_5,
    punter_of,
    seed_where,
    shoe_of,
)
from tests.door.visiting import PATIENT
from tests.terminal import MODERN, REFUSING, Terminal
from tests.world import NOON, log_on, world
from timebank.errors import BooksUnavailable

CARD_WINS = on_5(BaccaratAction.CARD, ends="player")
CARD_LOSES = on_5(BaccaratAction.CARD, ends="bank")
STANDING_LOSES = on_5(BaccaratAction.NO_CARD, ends="bank")

A_QUARTER = "\n".join(
    ("[calls]", *(f"{key} = {value}" for key, value in PATIENT.items()), "minutes_per_day = 15\n")
)

# Hang-ups


@pytest.mark.parametrize("hang_up", [Terminal.hang_up_half, Terminal.abort], ids=["close", "reset"])
@pytest.mark.parametrize("mode", ["b", "t"])
async def test_a_coup_left_on_5_waits_with_the_same_cards(
    tmp_path: Path, hang_up: Callable[[Terminal], None], mode: str
) -> None:
    seed = seed_where(CARD_WINS)
    coup, _ = start(BACCARAT, shoe_of(seed), 1)
    async with at_baccarat(tmp_path, seed, mode=mode) as ada:
        await ada.wagers_on_5(8)
        cards = [row[:55] for row in ada.terminal.lines[4:11]]
        caller = ada.caller
        hang_up(ada.terminal)
        await caller.ended.wait()
        assert ada.board.findings() == []
        await ada.calls()
        await ada.is_asked("Card?")
        await ada.sees("The coup you left is still on the table.")
        assert [row[:55] for row in ada.terminal.lines[4:11]] == cards
        await ada.answers("c")
        assert await ada.named("Seal of this shoe") == sha256(seed).hexdigest()
        assert ada.journal() == ["bet", "card"]
        assert f"Player  {coup.apply(BaccaratAction.CARD)[0].player_point}" in ada.terminal.row(4)
        if mode == "b":
            assert ada.play_money("usd-cent")["bankroll"] == 100_008
        else:
            # A second went with the call that was cut off.
            assert ada.has["online"] == 68 * MINUTE - 1
            assert "Played for time - 1 of 20 turns" in ada.terminal.row(0)


async def test_a_coup_in_francs_stays_in_francs_against_the_same_bank(tmp_path: Path) -> None:
    seed = seed_where(ends("player"), CARD_WINS)
    async with at_baccarat(tmp_path, seed, toml=baccarat_toml(language="french")) as ada:
        await ada.wagers(100_000)
        await ada.wagers_on_5(50_000)
        await ada.drops_carrier()
        # Whatever language Ada chose meanwhile, in another window.
        with ada.board.books() as desk:
            desk.connection.exec_driver_sql(
                "UPDATE callers SET preferences = json_set(preferences, '$.language', 'en')"
            )
        await ada.calls()
        await ada.is_asked("Card?")
        assert ada.figure("The bank") == "FR 900,000"
        assert ada.figure("Bet") == "FR 50,000"
        ada.presses("c ")
        await ada.is_asked_any(*MENUS)
        # Ada has returned: the bank is whole again, and Ada keeps the winnings.
        assert ada.play_money("frf-cent") == {
            "bankroll": 250_000,
            "casino": 1_000_000,
            "stake": 0,
        }


async def test_a_bank_broken_by_the_coup_that_was_left_stays_broken(tmp_path: Path) -> None:
    wins = ends("player")
    seed = seed_where(wins, wins, wins, CARD_WINS)
    async with at_baccarat(tmp_path, seed) as ada:
        for wager in (100_000, 200_000, 400_000):
            await ada.wagers(wager)
        await ada.wagers_on_5(300_000)
        await ada.drops_carrier()
        await ada.calls()
        await ada.is_asked("Card?")
        ada.presses("c ")
        await ada.is_asked("Press any key")
        await ada.sees("and leaves with $1,100,000.")
        ada.presses(" ")
        await ada.is_asked_any(*MENUS)
        ada.presses("b")
        await ada.sees("The bank is broken.")


async def test_who_hangs_up_while_the_cards_slide_has_their_coup_in_the_books(
    tmp_path: Path,
) -> None:
    async with at_baccarat(tmp_path, seed_where(ends("player"))) as ada:
        await ada.asks_to_bet()
        ada.presses("7000\r")
        await ada.sees("No more bets.")
        await ada.drops_carrier()
        assert ada.play_money("usd-cent")["bankroll"] == 107_000


async def test_a_coup_that_nobody_returns_to_takes_no_card(tmp_path: Path) -> None:
    late = NOON.replace(hour=23, minute=50)
    async with at_baccarat(tmp_path, seed_where(STANDING_LOSES), now=late) as ada:
        await ada.wagers_on_5(40_000)
        await ada.drops_carrier()
        await ada.board.clock.advance(24 * 3600)
        assert ada.journal() == ["bet"], "not before a whole day has passed"
        await ada.board.clock.advance(3600)
        await ada.board.settled()
        assert ada.journal() == ["bet", "no-card"]
        assert ada.play_money("usd-cent")["bankroll"] == 60_000


TOSSES = rules_from_mapping({"bank_option_3v9": "toss", "bank_option_5v4": "toss"}, BACCARAT)


def tosses_after_a_card(coup: BaccaratRound) -> bool:
    if coup.legal() != (BaccaratAction.CARD, BaccaratAction.NO_CARD):
        return False
    return coup.apply(BaccaratAction.CARD)[0].phase is BaccaratPhase.BANK


async def test_a_coup_that_was_cut_off_before_its_toss_is_tossed_at_the_return(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = seed_where(tosses_after_a_card, rules=TOSSES)
    toml = baccarat_toml(bank_option_3v9="toss", bank_option_5v4="toss")
    async with at_baccarat(tmp_path, seed, toml=toml) as ada:
        await ada.wagers_on_5(1000)
        toss = Play.toss

        async def falls_out(play: Play) -> None:
            if play.round.phase is BaccaratPhase.BANK:
                raise ConnectionError("the power fails")
            await toss(play)

        monkeypatch.setattr(Play, "toss", falls_out)
        caller = ada.caller
        ada.presses("c ")
        await caller.ended.wait()
        assert ada.journal() == ["bet", "card"]
        monkeypatch.undo()
        await ada.calls()
        await ada.sees("The bank may draw or stand, and leaves it to a toss.")
        ada.presses(" ")
        await ada.is_asked_any(*MENUS)
        landed = shuffle.draws(seed, "toss 5", "")(2)
        assert ada.journal() == ["bet", "card", "bank-card" if landed else "bank-no-card"]


# No time, no books


async def test_time_that_is_up_on_5_takes_no_card_and_the_win_is_paid(tmp_path: Path) -> None:
    seed = seed_where(on_5(BaccaratAction.NO_CARD, ends="player"))
    toml = baccarat_toml() + A_QUARTER
    async with at_baccarat(tmp_path, seed, mode="t", toml=toml) as ada:
        await ada.wagers_on_5(10)
        await ada.board.pass_time(5 * MINUTE)
        await ada.is_asked_any(*MENUS)
        assert ada.journal() == ["bet", "no-card"]
        await ada.sees("Your time was up: you took no card.")
        await ada.sees("you win 10 coins.")
        assert ada.has["online"] == 20 * MINUTE


async def test_who_comes_back_without_time_has_their_coup_stood_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_disk(*_: object) -> None:
        raise BooksUnavailable("The books can't be written right now (disk full).")

    toml = "events = []\n" + baccarat_toml() + A_QUARTER
    async with at_baccarat(tmp_path, seed_where(STANDING_LOSES), toml=toml) as ada:
        await ada.wagers_on_5(30_000)
        with monkeypatch.context() as disk:
            disk.setattr("timebank.wagers.wagers.act", no_disk)
            await ada.board.pass_time(15 * MINUTE)
            await ada.is_sent_off("Please call again later.")
        await ada.calls()
        await ada.sees("you lose $30,000.")
        await ada.reads_that("Your time was up: you took no card.")
        await ada.is_sent_off("You're out of time.")
        assert ada.play_money("usd-cent")["bankroll"] == 70_000


async def test_books_that_cannot_be_written_change_nothing(tmp_path: Path) -> None:
    seed = seed_where(CARD_LOSES)
    async with at_baccarat(tmp_path, seed, busy_seconds=0.05) as ada:
        await ada.wagers_on_5(1000)
        with locked(ada):
            ada.presses("c")
            await ada.sees("The books can't be written right now. Nothing has changed.")
            await ada.is_asked("Press any key to try again")
        assert ada.journal() == ["bet"]
        ada.presses(" ")
        await ada.is_asked("Card?")
        await ada.answers("c")
        assert ada.play_money("usd-cent")["bankroll"] == 99_000
        with locked(ada):
            for key in "bmlc":
                ada.presses(key)
                await ada.sees("The books can't be written right now.")
                await ada.is_asked_any(*MENUS)
                ada.presses("s")
                await ada.sees("cards left")
        assert "Played in dollars" in ada.terminal.row(0)


async def test_books_that_cannot_be_written_let_nobody_sit_down(tmp_path: Path) -> None:
    async with world(tmp_path, busy_seconds=0.05) as board:
        ada = await punter_of(board, "Ada")
        ada.presses("c")
        await ada.is_asked("<T>ime  <B>ank")
        with locked(ada):
            ada.presses("b")
            await ada.sees("The books can't be written right now.")
        await ada.goes_on_to("oodbye")


@contextmanager
def locked(ada: Punter) -> Iterator[None]:
    """Another program writes to the books and does not come to an end."""
    other = sqlite3.connect(ada.board.config.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


# Killed


async def test_a_server_that_is_killed_on_a_5_loses_nothing(tmp_path: Path) -> None:
    async with served(tmp_path, toml=OPEN_ALL_DAY) as board:
        ada = await punter_of(board, "Ada")
        await ada.sits_down_at_baccarat()
        await plays_to_a_5(ada)
        before = ada.play_money("usd-cent")
        cards = [row[:55] for row in ada.terminal.lines[4:11]]
        board.process.kill()
        assert await board.ends() == -signal.SIGKILL
        await ada.terminal.until_closed()
        assert ada.play_money("usd-cent") == before
        assert before["stake"] == 500

        await board.serve()
        ada.terminal = await board.call(MODERN)
        await log_on(ada.terminal, "Ada")
        await ada.is_asked("Card?")
        assert [row[:55] for row in ada.terminal.lines[4:11]] == cards
        await ada.answers("n")
        assert ada.journal() == ["bet", "no-card"]
        after = ada.play_money("usd-cent")
        assert after["stake"] == 0
        assert after["bankroll"] - before["bankroll"] in (0, 500, 1000)


async def plays_to_a_5(ada: Punter) -> None:
    """Wager until a coup stands on the caller's 5."""
    while True:
        await ada.asks_to_bet()
        ada.presses("500\r ")
        await ada.is_asked_any(*MENUS, *CARD_ASKED)
        if "Card?" in ada.prompt:
            return


async def test_a_server_that_is_killed_while_wagers_pour_in_keeps_its_books(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, toml=OPEN_ALL_DAY) as board:
        ada = await punter_of(board, "Ada")
        await ada.sits_down_at_baccarat()
        for _ in range(3):
            dealt = coups(board)
            # Wagers and answers, typed far ahead; keys that fit no question are ignored.
            ada.presses("b100\rn" * 80)
            await ada.terminal.wait_for(
                lambda _, dealt=dealt: coups(board) > dealt + 5, "some coups"
            )
            board.process.kill()
            await board.ends()
            await board.serve()
            ada.terminal = await board.call(MODERN)
            await log_on(ada.terminal, "Ada")
            await ada.is_asked_any("oodbye", "Card?", "Press any key")
            if "Press any key" in ada.prompt:  # how the last coup ended, if it was under way
                ada.presses(" ")
                await ada.is_asked_any("oodbye", "Card?")
            if "Card?" in ada.prompt:
                await ada.answers("n")
            else:
                await ada.sits_down_at_baccarat()
        with board.books() as desk:
            net = desk.connection.exec_driver_sql(
                "SELECT sum(won - lost) / 100 FROM rounds"
            ).scalar_one()
        assert ada.play_money("usd-cent")["bankroll"] == 100_000 + net


def coups(board) -> int:
    with board.books() as desk:
        return desk.connection.exec_driver_sql("SELECT count(*) FROM rounds").scalar_one()


# Plain lines


async def test_a_caller_with_plain_lines_finds_the_coup_told(tmp_path: Path) -> None:
    seed = seed_where(STANDING_LOSES)
    async with at_baccarat(tmp_path, seed) as ada:
        await ada.wagers_on_5(1000)
        await ada.drops_carrier()
        await ada.calls(REFUSING)
        await ada.terminal.until("Card?  <C>ard  <N>o card")
        assert "Five for the player." in ada.terminal.heard
        assert re.search(r"Player: .+ of .+ \(five\)", ada.terminal.heard)
        assert "(five)" in ada.terminal.heard
        ada.presses("n")
        await ada.terminal.until_heard("you lose $1,000.")
        await ada.terminal.until_heard("<S>hoe")
        assert "Bankroll: $99,000" in ada.terminal.heard


async def test_midnight_leaves_a_coup_as_it_is(tmp_path: Path) -> None:
    late = NOON + timedelta(hours=11, minutes=58)
    toml = "events = []\n" + baccarat_toml() + A_QUARTER
    async with at_baccarat(tmp_path, seed_where(CARD_WINS), toml=toml, now=late) as ada:
        await ada.wagers_on_5(1000)
        await ada.board.pass_time(4 * MINUTE)
        await ada.answers("c")
        assert ada.play_money("usd-cent")["bankroll"] == 101_000
