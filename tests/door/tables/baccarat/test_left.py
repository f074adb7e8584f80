"""Coups that were left on a 5, and the toss of a coup that was cut off."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.games.baccarat.game import BACCARAT_KIND
from door.games.baccarat.round import BaccaratAction, BaccaratPhase, BaccaratRound
from door.games.baccarat.rules import BACCARAT
from door.games.engine import shuffle
from door.tables.play import Play
from tests.door.punting import (
    MENUS,
    at_baccarat,
    baccarat_toml,
    ends,
    on_5,
    seed_where,
)

CARD_WINS = on_5(BaccaratAction.CARD, ends="player")
# Hang-ups


async def test_a_coup_in_francs_stays_in_francs_against_the_same_bank(tmp_path: Path) -> None:
    seed = seed_where(ends("player"), CARD_WINS)
    french = baccarat_toml(language="french")
    async with at_baccarat(tmp_path, seed, mode="f", toml=french) as ada:
        await ada.wagers(100_000)
        await ada.wagers_on_5(50_000)
        await ada.drops_carrier()
        # Whichever language Ada has chosen meanwhile in another window.
        with ada.board.books() as desk:
            desk.connection.exec_driver_sql(
                "UPDATE callers SET preferences = json_set(preferences, '$.language', 'en')"
            )
        await ada.calls()
        await ada.goes_on_to("Card?")
        assert ada.figure("The bank") == "FR 900,000"
        assert ada.figure("Bet") == "FR 50,000"
        ada.presses("y ")
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
        await ada.goes_on_to("Card?")
        await ada.presses("y ").is_asked("Press any key")
        await ada.sees("and leaves with $1,100,000.")
        ada.presses(" ")
        await ada.is_asked_any(*MENUS)
        await ada.presses("b").sees("The bank is broken.")


async def test_a_hang_up_during_the_deal_leaves_the_coup_in_the_books(
    tmp_path: Path,
) -> None:
    async with at_baccarat(tmp_path, seed_where(ends("player"))) as ada:
        await ada.asks_to_bet()
        await ada.presses("7000\r").sees("No more bets.")
        await ada.drops_carrier()
        assert ada.play_money("usd-cent")["bankroll"] == 107_000


TOSSES = BACCARAT_KIND.vary({"bank_option_3v9": "toss", "bank_option_5v4": "toss"}, BACCARAT)


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
        ada.presses("y ")
        await caller.ended.wait()
        assert ada.journal() == ["bet", "card"]
        monkeypatch.undo()
        await ada.calls()
        await ada.terminal.until("The bank may draw or stand, and leaves it to a toss.")
        ada.presses(" ")
        await ada.is_asked_any(*MENUS)
        landed = shuffle.draws(seed, "toss 5", "")(2)
        assert ada.journal() == ["bet", "card", "bank-card" if landed else "bank-no-card"]
