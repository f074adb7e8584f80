"""The keys of the tables: a letter that every table has means the same at each of them."""

from __future__ import annotations

import re
from pathlib import Path

from door.call.keyboard import HELP_KEYS
from door.games.baccarat.round import BaccaratAction
from door.tables import words
from door.tables.baccarat import words as baccarat
from door.tables.black_jack_for_time.table import BlackJackForTimeTable
from door.tables.red_dog.table import RedDogTable
from door.tables.unix_bj import table as unix_bj
from door.tables.vegas import seat as vegas
from tests.door.punting import on_5, punter_of, seed_where
from tests.door.tables.red_dog.playing import at_red_dog, ends
from tests.door.visiting import known, seated
from tests.world import world

OWN_KEYS = {
    "black-jack-for-time": [letter for letter, *_ in BlackJackForTimeTable.action_keys.values()],
    "red-dog": [letter for letter, *_ in RedDogTable.action_keys.values()],
    "vegas": [*vegas.ACTIONS, vegas.AGAIN, vegas.TALK],
    "baccarat": [*baccarat.card_choices(), baccarat.MODE, baccarat.LANGUAGE, baccarat.SHOE],
    "unix-bj": [unix_bj.PLAY, unix_bj.MANUAL],
}


def test_no_table_gives_a_key_of_every_table_another_meaning() -> None:
    common = {*words.MEANINGS, words.BET, *HELP_KEYS}
    twice = {game: common.intersection(letters) for game, letters in OWN_KEYS.items()}
    assert not any(twice.values()), twice


async def test_r_shows_the_rules_in_a_hand_of_red_dog(tmp_path: Path) -> None:
    async with at_red_dog(tmp_path) as ada:
        await ada.bets(5, ends("win", 3))
        await ada.terminal.send("r").until("The rules of Red Dog")
        await ada.terminal.send("q").until("R<a>ise")
        await ada.does("raise")


async def test_rules_and_fairness_are_open_in_a_coup_and_c_takes_no_card(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        ada = await punter_of(board, "Ada")
        board.seeds = [seed_where(on_5(BaccaratAction.CARD))]
        await ada.sits_down_at_baccarat()
        await ada.wagers_on_5(1000)
        await ada.presses("r").sees("The rules of baccarat")
        await ada.presses("q").is_asked("Card?  <Y>es  <N>o card")
        await ada.presses("f").sees("Fairness")
        await ada.presses("q").is_asked("Card?")
        await ada.presses("cc").is_asked("Card?")
        assert ada.journal() == ["bet"]
        await ada.answers("y")
        assert ada.journal() == ["bet", "card"]


async def test_r_shows_the_manual_of_unix_bj(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        ada = known(board, "Ada")
        await ada.visits()
        await ada.presses("u").is_asked("<P>lay")
        await ada.presses("r").sees("BJ(VI)")


async def test_keys_typed_ahead_become_no_phrase(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        ada = await seated(board, "Ada")
        await ada.presses("c").sees("Cut is on")
        await ada.presses("b2ry").sees("Your phrase (Enter: ")
        assert not ada.prompt.strip(), "the field has a row of its own, and is empty"
        await ada.presses("\r").is_asked("Coins to bet")


async def test_the_prompt_for_a_phrase_shows_the_one_in_use(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        ada = await seated(board, "Ada")
        await ada.presses("c").sees("Cut is on")
        await ada.presses("b").sees("Your phrase (Enter: ")
        assert re.search(r"Your phrase \(Enter: (\w{4}-){4}\w{4}\):", ada.screen), ada.screen


async def test_a_line_about_a_key_goes_with_its_question(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        ada = await seated(board, "Ada")
        await ada.presses("z").sees("Z does nothing here.")
        await ada.presses("b").is_asked("Coins to bet")
        assert "does nothing" not in ada.screen
