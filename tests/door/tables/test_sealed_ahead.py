"""A phrase that is always there, and seeds that were sealed before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.call import phrases
from door.games import hand_check, proofs
from door.games.engine.shuffle import Phrases, commitment, seal, shuffle
from door.tables.fairness import Fairness
from door.tables.vegas import news
from tests.door.playing import PLACE_BET, Table, at_the_table, house
from tests.door.seated import party
from tests.single_shoes import planted
from tests.world import World
from timebank.callers import callers
from timebank.wagers import journal


def stored(board: World) -> journal.StoredRound:
    with board.books() as desk:
        rounds = list(journal.rounds_between(desk, 1, 999))
    assert isinstance(rounds[-1], journal.StoredRound)
    return rounds[-1]


def phrase_of(board: World, name: str) -> phrases.CutPhrase | None:
    with board.books() as desk:
        record = callers.find(desk, name)
    assert record is not None
    return phrases.stored(record.preferences)


async def plays_a_hand(ada: Table) -> journal.StoredRound:
    """Bet a coin, stand, and return the hand."""
    before = ada.hands_dealt
    ada.terminal.send("b")
    await ada.prompt("Coins to bet")
    ada.terminal.send("1\r")
    await ada.terminal.wait_for(lambda _: ada.hands_dealt > before, "that it is dealt")
    while not stored(ada.board).settled:
        ada.terminal.send("ns")
        await ada.board.settled()
    await ada.prompt(PLACE_BET)
    return stored(ada.board)


async def test_a_hand_is_cut_with_the_phrase_that_the_caller_has(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, is_planted=False) as ada:
        for link in (1, 2):
            hand, phrase = await plays_a_hand(ada), phrase_of(ada.board, "Ada")
            assert phrase is not None
            assert not phrase.is_own
            shoe = hand.shoe
            assert shoe is not None
            assert (shoe.cut, shoe.link) == (phrase.text, link)
            dealt = shuffle(shoe.seed, Phrases(phrase.text, link), shoe.decks)
            with ada.board.books() as desk:
                used = hand_check.as_json(desk, hand.id)
                description = hand_check.describe(desk, hand.id)
                assert hand_check.audit(desk)[0] == []
            assert " ".join(dealt[: hand.cards_used]) in used
            assert f"Chain    {shoe.anchor}, of which it is number {link}" in description


async def test_after_a_shoe_without_a_chain_comes_one_of_a_chain(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, toml=house(shuffle="shoe"), is_planted=False) as ada:
        with planted():
            old = (await plays_a_hand(ada)).shoe
        assert old is not None
        assert (old.anchor, old.done) == (None, False)
        new = (await plays_a_hand(ada)).shoe
        assert new is not None
        assert (new.anchor is None, new.link) == (False, 1)
        with ada.board.books() as desk:
            first = journal.stored_round(desk, 1)
            assert first is not None
            assert proofs.proof(first)["anchor"] == ""
            assert hand_check.audit(desk)[0] == []


async def test_words_typed_after_the_seal_are_the_phrase_from_then_on(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, is_planted=False) as ada:
        ada.terminal.send("c")
        await ada.message("Cut is on")
        ada.terminal.send("b")
        await ada.prompt("Your phrase")
        drawn = phrase_of(ada.board, "Ada")
        ada.terminal.send("my own words\r")
        await ada.prompt("Coins to bet")
        ada.terminal.send("\x1b")
        await ada.prompt(PLACE_BET)
        chosen = phrase_of(ada.board, "Ada")
        assert drawn is not None
        assert chosen is not None
        assert (drawn.is_own, chosen.text, chosen.is_own) == (False, "my own words", True)
        with ada.board.books() as desk:
            query = "SELECT anchor FROM shoes WHERE closed IS NULL"
            anchor = desk.connection.exec_driver_sql(query).scalar_one()
        assert chosen.proves(anchor)
        assert not drawn.proves(anchor)
        await ada.terminal.send("f").until("sealed, so the house")
        page = ada.terminal.picture
        assert anchor in page
        assert "my own words" in page


@pytest.mark.parametrize(
    ("is_own", "proves", "words"),
    [
        (False, False, "The house chose this phrase, so it proves nothing. Type C, and"),
        (True, False, "Today's chain is newer than your phrase. Type a new one"),
        (True, True, "You chose yours after this chain was sealed"),
    ],
)
def test_the_page_says_what_a_phrase_proves_and_what_to_press(
    is_own: bool, proves: bool, words: str
) -> None:
    phrase = phrases.CutPhrase("my words", is_own, ("anchor",) if proves else ())
    assert phrase.proves("anchor") is proves
    page = Fairness(anchor="anchor", phrase="my words", is_own=is_own, proves=proves).text()
    assert words in page


async def test_settings_show_every_anchor_before_they_ask_for_a_phrase(tmp_path: Path) -> None:
    async with at_the_table(tmp_path, is_planted=False) as ada:
        ada.terminal.send("q")
        await ada.prompt("oodbye")
        await ada.terminal.send("y").until("Your settings")
        await ada.terminal.send("y").until("anchors seal your next")
        with ada.board.books() as desk:
            query = "SELECT anchor FROM chains WHERE closed IS NULL"
            anchors = desk.connection.exec_driver_sql(query).scalars().all()
        assert len(anchors) >= 3
        assert all(anchor in ada.terminal.transcript for anchor in anchors)
        before = phrase_of(ada.board, "Ada")
        assert before is not None
        assert not before.is_own
        await ada.terminal.send("q").until("Your new phrase")
        await ada.terminal.send("after all of them\r").until("after all of them")
        await ada.board.settled()
        phrase = phrase_of(ada.board, "Ada")
        assert phrase is not None
        assert all(phrase.proves(anchor) for anchor in anchors)


async def test_a_phrase_that_the_house_knew_proves_nothing_when_it_is_typed_again(
    tmp_path: Path,
) -> None:
    async with at_the_table(tmp_path, is_planted=False) as ada:
        (caller,) = ada.board.server.board.callers()
        old = {"text": "of yesterday", "own": True, "after": ["another chain"]}
        await caller.remember({phrases.PREFERENCE: old, "cut": True})
        ada.terminal.send("b")
        await ada.prompt("Your phrase")
        ada.terminal.send("of yesterday\r")
        await ada.message("The house knows that phrase already, so it proves nothing new.")
        await ada.prompt("Coins to bet")
        ada.terminal.send("\x1b")
        await ada.prompt(PLACE_BET)
        ada.terminal.send("q")
        await ada.prompt("oodbye")
        await ada.terminal.send("yy").until("anchors seal your next")
        await ada.terminal.send("q").until("Your new phrase")
        await ada.terminal.send("of yesterday\r").until("The house knows that phrase already")
        await ada.board.settled()
        assert phrase_of(ada.board, "Ada") == phrases.CutPhrase(
            "of yesterday", is_own=True, after=("another chain",)
        )


# The Vegas table


async def test_every_seat_commits_before_any_phrase_is_shown(tmp_path: Path) -> None:
    async with party(tmp_path, 3, is_planted=False) as three:
        ada, bob, _cy = three.sitters
        commitments = {each.name: each.commitment for each in three.state.commitments}
        assert len(commitments) == 3
        assert ada.was_told(news.CutMade) == []
        await ada.table.cut_cards(ada, "mine")
        commitments |= {each.name: each.commitment for each in three.state.commitments}
        await bob.gets_up()
        seated = [three.sitters[0], three.sitters[2]]
        for sitter in seated:
            await sitter.is_ready(1)
        shoe = three.stored().shoe
        assert shoe is not None
        (made,) = ada.was_told(news.CutMade)
        assert made.names == ("Ada",)  # the others have phrases that the house drew
        cuts = (shoe.cut or "").split("\n")
        assert cuts[-1] == "mine"
        # The caller who left is included.
        for name, words in zip(("Bob", "Cyd", "Ada"), cuts, strict=True):
            assert commitment(shoe.seed, words, shoe.link) == commitments[name]
        assert seal(shoe.seed) == shoe.seal
        dealt = shuffle(shoe.seed, Phrases(shoe.cut, shoe.link), shoe.decks)
        assert three.round.shoe[:20] == dealt[:20]


async def test_words_chosen_in_the_settings_cut_a_shoe_that_is_not_dealt_yet(
    tmp_path: Path,
) -> None:
    async with party(tmp_path, 2, is_planted=False) as two:
        ada, _bob = two.sitters
        await phrases.choose(ada.caller, "chosen elsewhere")
        for sitter in two.sitters:
            await sitter.is_ready(1)
        shoe = two.stored().shoe
        assert shoe is not None
        assert "chosen elsewhere" in (shoe.cut or "").split("\n")
