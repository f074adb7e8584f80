"""Words hidden from callers at Vegas: of muted and of ignored callers."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.tables.vegas import news
from tests.door.seated import Party, everybody_plays, party, shoe
from tests.door.vegas_callers import AT_TABLE, player, table_toml
from tests.world import World, world
from timebank.callers import callers, messages
from timebank.keeping import caller_acts

RUDE = "ada was here"
AHEAD = "\n[fairness]\nshoes_ahead = 3\n"


def mutes(here: World, name: str) -> None:
    with here.books() as desk:
        caller_acts.set_muted(desk, callers.number_of(desk, name), True, "the test")


def ignores(here: World, reader: str, writer: str) -> None:
    with here.books() as desk:
        other = callers.find(desk, writer)
        assert other is not None
        messages.ignore(desk, callers.number_of(desk, reader), other, on=True)


def cuts(three: Party) -> list[list[str | None]]:
    """Return the words of Ada's cut as each of the three read them."""
    return [
        [each.words for each in sitter.was_told(news.CutMade) if each.name == "Ada"]
        for sitter in three.sitters
    ]


@pytest.mark.parametrize("ahead", ["", AHEAD])
async def test_a_caller_who_ignores_the_cutter_sees_the_cut_without_its_phrase(
    tmp_path: Path, ahead: str
) -> None:
    async with party(tmp_path, 3, ahead=ahead) as three:
        ignores(three.here, "Bob", "Ada")
        await three.table.cut_cards(three.sitters[0], RUDE)
        await three.deal()
        assert cuts(three) == [[RUDE], [None], [RUDE]]


@pytest.mark.parametrize("ahead", ["", AHEAD])
async def test_a_muted_callers_cut_counts_and_its_phrase_is_hidden(
    tmp_path: Path, ahead: str
) -> None:
    async with party(tmp_path, 3, ahead=ahead) as three:
        mutes(three.here, "Ada")
        await three.table.cut_cards(three.sitters[0], RUDE)
        await three.deal()
        assert cuts(three) == [[RUDE], [None], [None]]
        stored = three.stored()
        assert stored.shoe is not None
        assert RUDE in (stored.shoe.cut or "").split("\n")  # so the hand can be checked


async def test_the_page_of_fairness_hides_the_words_too(tmp_path: Path) -> None:
    async with world(tmp_path, toml=table_toml()) as board:
        board.seeds = [shoe(2, everybody_plays, cut=RUDE)]
        ada, bob = await player(board, "Ada"), await player(board, "Bob")
        await ada.presses("c").sees("A phrase to cut the cards")
        ada.presses(f"{RUDE}\r")
        await bob.sees(f"Ada cuts with: {RUDE}")
        mutes(board, "Ada")
        for guest, words in ((ada, RUDE), (bob, "not shown to you")):
            await guest.is_asked(AT_TABLE)
            await guest.presses("f").sees("Cut with")
            assert words in guest.screen
            guest.presses(" ")
