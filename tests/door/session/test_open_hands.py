"""The goodbye mentions an open hand, at every table."""

from __future__ import annotations

from pathlib import Path

from door.games.baccarat.round import BaccaratAction as Card
from tests.door.at_the_teletype import at_the_teletype
from tests.door.punting import at_baccarat, ends, on_5, seed_where
from tests.door.seated import everybody_plays, shoe
from tests.door.teletype import seed_asking
from tests.door.vegas_callers import vegas_callers
from tests.door.visiting import Guest

CLOSING = "The board is closing."


async def closes(guest: Guest) -> None:
    """The board closes while the hand is open."""
    await guest.board.server.stop(CLOSING)
    await guest.terminal.until_closed()
    assert "Your hand waits for you on the table." in guest.screen


async def test_a_round_left_open_at_vegas(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, everybody_plays)) as (ada,):
        await ada.says_bet(2)
        await ada.stands()
        net = ada.has["online"] - 60 * 60
        ada.presses("a")
        await ada.has_the_turn()
        await closes(ada)
        won, lost = int(net > 0), int(net < 0)
        assert f"Vegas: {won} win{'s' * (1 - won)}, {lost} loss{'es' * (1 - lost)}" in ada.screen
        assert "One hand is still open." in ada.screen


async def test_a_coup_left_open_at_baccarat(tmp_path: Path) -> None:
    seed = seed_where(ends("stand-off"), on_5(Card.CARD, ends="bank"))
    async with at_baccarat(tmp_path, seed, mode="t") as ada:
        await ada.wagers(8)
        await ada.wagers_on_5(8)
        await closes(ada)
        assert "One hand is still open." in ada.screen


async def test_a_hand_left_open_at_the_teletype(tmp_path: Path) -> None:
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed_asking("Hit? ", "over"))
        await ada.types("")
        await closes(ada)
        assert "UNIX bj: " in ada.screen
        assert "One hand is still open." in ada.screen
