"""Words hidden from callers at Vegas: of muted and of ignored callers."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.door.seated import everybody_plays, shoe
from tests.door.vegas_callers import AT_TABLE, Player, player, table_toml
from tests.single_shoes import PHRASE
from tests.world import World, world
from timebank.callers import callers, messages
from timebank.keeping import caller_acts
from timebank.wagers import journal

RUDE = "ada was here"


def mutes(here: World, name: str) -> None:
    with here.books() as desk:
        caller_acts.set_muted(desk, callers.number_named(desk, name), True, "the test")


def ignores(here: World, reader: str, writer: str) -> None:
    with here.books() as desk:
        other = callers.find(desk, writer)
        assert other is not None
        messages.ignore(desk, callers.number_named(desk, reader), other, on=True)


@asynccontextmanager
async def after_a_cut(folder: Path) -> AsyncIterator[tuple[Player, Player]]:
    """Ada, who has cut the cards, and Bob, after the deal."""
    async with world(folder, toml=table_toml()) as board:
        board.seeds = [shoe(2, everybody_plays, cut=f"{PHRASE}\n{RUDE}")]
        ada, bob = await player(board, "Ada"), await player(board, "Bob")
        await ada.presses("c").sees("hrase")
        await ada.presses(f"{RUDE}\r").is_asked("<B>et")
        yield ada, bob


async def reads_cuts(guest: Player) -> str:
    await guest.is_asked(AT_TABLE)
    await guest.presses("f").sees("Cut with")
    shown = guest.screen
    await guest.presses("q").is_asked(AT_TABLE)
    return shown


async def test_the_table_says_who_chose_a_cut_and_keeps_the_words_for_the_page_of_fairness(
    tmp_path: Path,
) -> None:
    async with after_a_cut(tmp_path) as (ada, bob):
        for guest in (ada, bob):
            guest.presses("b1\r")
        for guest in (ada, bob):
            await guest.sees("Cut by Ada.")  # the house drew a phrase for Bob
        transcript = bob.terminal.transcript
        assert RUDE not in transcript
        assert not re.search("[0-9a-f]{8}", transcript)
        for guest in (ada, bob):
            assert RUDE in await reads_cuts(guest)


@pytest.mark.parametrize("hide", [mutes, lambda here, name: ignores(here, "Bob", name)])
async def test_the_page_of_fairness_hides_the_words_of_callers_who_are_not_heard(
    tmp_path: Path, hide: Callable[[World, str], None]
) -> None:
    async with after_a_cut(tmp_path) as (ada, bob):
        hide(ada.board, "Ada")
        for guest in (ada, bob):
            guest.presses("b1\r")
        await bob.sees("Cut by ")
        assert RUDE in await reads_cuts(ada)
        shown = await reads_cuts(bob)
        assert RUDE not in shown
        assert "not shown to you" in shown
        with ada.board.books() as desk:
            stored = journal.stored_round(desk, 1)
        assert stored is not None
        assert stored.shoe is not None
        assert RUDE in (stored.shoe.cut or "").split("\n")  # so the hand can be checked
