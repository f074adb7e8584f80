"""Plain lines in place of a painted screen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from door.call.screen import Paint
from door.lobby import looks
from door.lobby.pulse import EVERY_SECONDS
from tests.door.playing import hand
from tests.door.visiting import MENU, TABLE, Guest, seated, sysop_toml, visitor
from tests.terminal import REFUSING
from tests.thinking import AtOurWord
from tests.world import World, world

TOML = sysop_toml(events="")
ANY_KEY = "Press any key"
NEVER_TOLD = ("Time  ", "Seed  ")
OF_A_SITTING = ("Sitting  ", "W-L-push  ")


async def test_a_tables_help_in_plain_lines_explains_only_plain_lines(board: World) -> None:
    ada = await seated(board, "Ada", profile=REFUSING)
    await ada.presses("?").is_asked(ANY_KEY)
    for line in (
        "Pot  Your time left in coins.",
        "A coin  What a coin is worth.",
        "Turns today",
    ):
        assert line in ada.screen
    for field in (*NEVER_TOLD, *OF_A_SITTING, "Bet  What"):
        assert field not in ada.terminal.transcript, field


async def test_a_tables_help_explains_additions_of_the_current_hand(board: World) -> None:
    ada = await seated(board, "Ada", profile=REFUSING)
    await ada.bets(1)
    await ada.stays()
    await ada.presses("?").sees("=  Show or read this screen again.")
    await ada.presses("n").sees("W-L-push  Hands won")
    for field in (*OF_A_SITTING, "Bet  What"):
        assert field in ada.screen, field
    for field in NEVER_TOLD:
        assert field not in ada.terminal.transcript, field


async def test_a_menu_shown_before_is_short_in_plain_lines(board: World) -> None:
    ada = await visitor(board, "Ada", profile=REFUSING)
    await ada.presses("moShuffle up\r").is_asked("<W>rite")
    await board.pass_time(EVERY_SECONDS)
    await ada.presses("q").is_asked(MENU)
    assert "Ada: Shuffle up" in ada.screen
    first = ada.terminal.transcript
    assert first.count("Beat the dealer, win minutes") == 1
    await ada.presses("n").is_asked(ANY_KEY)
    await board.pass_time(EVERY_SECONDS)
    await ada.presses(" ").is_asked(MENU)
    again = ada.terminal.transcript[len(first) :]
    assert "Time left" in again
    for line in ("Black Jack", "Time bank", "Good to see you", "Ada: Shuffle up"):  # read before
        assert line not in again, line
    await ada.presses("=").terminal.until_heard("Goodbye (G)")


async def test_the_help_of_baccarat_explains_the_scoreboard_that_lines_have(
    board: World,
) -> None:
    ada = await visitor(board, "Ada", profile=REFUSING)
    ada.presses("c")
    await ada.terminal.until("<Q>uit")
    ada.presses("t")
    await ada.terminal.until("<R>ules")
    await ada.presses("?").is_asked("<N>ext")
    await ada.presses(">").sees("Scoreboard  The last coups, the latest last:")
    assert "at the right" not in ada.screen


async def test_choices_are_written_for_screen_readers_everywhere(board: World) -> None:
    ada = await visitor(board, "Ada", profile=REFUSING)
    for keys in ("t", "d5\ry", "q", "y", "l", "q", "b", "u", "?", " ", "q", "v", "b1\r", "q"):
        before = len(ada.terminal.transcript)
        ada.presses(keys)
        await ada.terminal.wait_for(
            lambda _, before=before: len(ada.terminal.transcript) > before, f"an answer to {keys}"
        )
    await ada.board.settled()
    transcript = ada.terminal.transcript
    assert "duels (D)" in transcript
    assert "Miser (B, Entree)" in transcript
    assert not re.search(r"<\w>", transcript)


async def test_the_bank_tells_its_answer_and_then_only_what_has_changed(board: World) -> None:
    ada = await visitor(board, "Ada", profile=REFUSING)
    await ada.goes_to_the_bank()
    first = len(ada.terminal.transcript)
    await ada.presses("d5\r").is_asked("Deposit 5 minutes?")
    await ada.presses("y").is_asked("Your choice (Enter to quit):")
    lines = [line.strip() for line in ada.terminal.transcript[first:].splitlines() if line.strip()]
    answer = lines.index("5 minutes deposited.")
    assert lines[answer + 1] == "Award: Saver!"
    assert lines[answer + 2].split() == ["Bank", "5:00"]
    assert not {"Time bank", "Deposit (D)"} & set(lines)
    heading = lines.index("You can still")
    assert lines[heading + 1].split() == ["Deposit", "50:00"]
    assert not any(line.startswith("Owed") for line in lines)


async def test_the_settings_tell_only_the_one_that_has_changed(board: World) -> None:
    ada = await visitor(board, "Ada", profile=REFUSING)
    await ada.presses("y").is_asked("<Q>uit")
    ada.presses("c")
    await ada.is_asked("Your setting, or ? for the list:")
    heard = [line.split() for line in ada.terminal.heard.splitlines() if line.strip()]
    assert heard[1:-1] == [["Cut", "the", "cards", "on"]]
    await ada.presses("=").terminal.until_heard("Animation (A)")


async def test_a_finished_hand_is_not_read_again_after_a_look_at_the_rules(board: World) -> None:
    ada = await seated(board, "Ada", profile=REFUSING)
    await ada.bets(1)
    await ada.stays()
    await ada.presses("r").is_asked("<N>ext")
    await ada.presses("q").is_asked(TABLE)
    assert "Dealer:" not in ada.terminal.heard
    assert "Your pot:" in ada.terminal.heard
    await ada.bets(1)
    await ada.presses("r").is_asked("<N>ext")
    await ada.presses("q").is_asked("<H>it")
    assert "Dealer:" in ada.terminal.heard  # the hand is open


@pytest.mark.parametrize(
    ("table", "hand_at_once", "first"),
    [
        ("b", "b1\rs", "Bet (B, Enter)"),
        ("r", "b1\rs", "Bet (B, Enter)"),
        ("ct", "b1\rn", "Bet (B, Enter)"),
        ("v", "b1\rs", "Bet (B, Enter)"),
        ("u", "p\x03 ", "Play (P, Enter)"),
    ],
)
async def test_a_menu_heard_before_names_the_key_of_enter_and_new_keys_alone(
    board: World, table: str, hand_at_once: str, first: str
) -> None:
    ada = await visitor(board, "Ada", profile=REFUSING)
    for key in table:
        await ada.presses(key).is_asked("<Q>uit")
    board.seeds = [hand("stay", ends="win")]
    await ada.presses(hand_at_once).terminal.until_heard("All keys (?)")
    last = ada.terminal.heard.splitlines()[-1]
    assert last.strip() in (f"{first}, All keys (?)", f"{first}, Again (A), All keys (?)")
    await ada.presses("=").terminal.until_heard("Quit (Q)")
    assert "Fairness (F)" in ada.terminal.heard
    await ada.presses("?").terminal.until_heard("F  See how the shuffle is sealed")


async def test_a_hand_at_vegas_names_its_actions_alone_from_the_second_on(board: World) -> None:
    ada = await visitor(board, "Ada", profile=REFUSING)
    await ada.presses("v").is_asked("<Q>uit")
    board.seeds = [hand("stay", ends="win")]
    ada.presses("b1\rs")
    await ada.terminal.until_heard("Talk (K), Quit (Q)")
    await ada.terminal.until_heard("Again (A), All keys (?)")
    await ada.presses("a").terminal.until_heard("Stand (S)")
    assert "Talk (K)" not in ada.terminal.heard
    await ada.presses("=").terminal.until_heard("Talk (K)")


async def waits_for_advice(board: World) -> Guest:
    """Somebody whose hand is dealt, and whose tutor thinks."""
    ada = await seated(board, "Ada", profile=REFUSING)
    await ada.presses("u").is_asked(TABLE)
    board.seeds = [hand()]
    await ada.presses("b").is_asked("Coins to bet")
    ada.presses("1\r")
    await ada.terminal.until_heard("You have ")
    await board.settled()
    return ada


async def test_the_tutor_speaks_before_the_question_which_comes_once(tmp_path: Path) -> None:
    thinking = AtOurWord()
    async with world(tmp_path, toml=TOML, thinking=thinking) as board:
        ada = await waits_for_advice(board)
        assert "Hit (H)" not in ada.terminal.heard
        thinking.answers()
        await ada.is_asked("<H>it")
        heard = ada.terminal.heard
        assert heard.count("Hit (H)") == 1
        assert heard.index("Book: ") < heard.index("Hit (H)")


async def test_a_key_is_obeyed_before_the_tutor_has_spoken(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML, thinking=AtOurWord()) as board:
        ada = await seated(board, "Ada", profile=REFUSING)
        await ada.presses("u").is_asked(TABLE)
        board.seeds = [hand()]
        ada.presses("b1\r")
        await ada.terminal.until_heard("You have ")
        await ada.presses("s").is_asked(TABLE)


@pytest.mark.parametrize("key", ["\r", "\x1b", "!"])
async def test_the_choice_of_a_screen_keeps_plain_lines(board: World, key: str) -> None:
    ada = await visitor(board, "Ada", profile=REFUSING)
    await ada.presses("y").is_asked("<Q>uit")
    await ada.presses("s").is_asked("Your choice (Enter for 5)?")
    heard = ada.terminal.heard
    assert heard.index("5  Text only") < heard.index("1  CP437")
    assert "boxes" not in heard
    await ada.presses(key).is_asked("Your setting, or ? for the list:")
    assert ada.caller.console.screen.look.paint is Paint.LINES
    assert "\x1b" not in ada.terminal.transcript


@pytest.mark.parametrize(
    ("keys", "at"),
    [
        ("", MENU),
        ("y", "<Q>uit"),
        ("t", "Your choice (Enter to quit):"),
        ("b", TABLE),
        ("v", "<Q>uit"),
        ("n", "Press any key"),
    ],
)
async def test_a_key_switches_to_plain_lines_at_every_question(
    board: World, keys: str, at: str
) -> None:
    ada = await visitor(board, "Ada")
    await ada.presses(keys).is_asked(at)
    await ada.presses("!").terminal.until_heard("Plain lines from now on.")
    await ada.is_asked(at)
    assert ada.caller.console.screen.look.paint is Paint.LINES
    await board.settled()
    stored = looks.remembered(ada.caller.record.preferences, ada.caller.console.line.hints)
    assert stored is not None
    assert stored.paint is Paint.LINES
    await ada.presses("!").terminal.until_heard("You have plain lines already.")


async def test_painted_boxes_can_be_left_for_plain_lines_and_keep_what_is_set(
    board: World,
) -> None:
    ada = await visitor(board, "Ada")
    await ada.presses("y").is_asked("<Q>uit")
    await ada.presses("s").is_asked("Your choice (Enter for 2)?")
    await ada.presses("3").is_asked("<Q>uit")
    await ada.presses("s").is_asked("Your choice (Enter for 3)?")
    ada.presses("!")
    await ada.terminal.until_heard("Quit (Q)")
    assert "Animation" in ada.terminal.heard, "all is new"
    assert ada.caller.console.screen.look.paint is Paint.LINES


async def test_every_wrong_key_is_answered_in_plain_lines(board: World) -> None:
    ada = await visitor(board, "Ada", profile=REFUSING)
    await ada.presses("b").is_asked(TABLE)
    for key in "ZX":
        await ada.presses(key).terminal.until_heard(f"{key} does nothing here.")
    await ada.presses("q").is_asked(MENU)
    await ada.presses("v").is_asked("<Q>uit")
    for key in "ZX":
        await ada.presses(key).terminal.until_heard(f"{key} does nothing here.")


async def test_everything_is_told_again_in_another_language(board: World) -> None:
    ada = await visitor(board, "Ada", profile=REFUSING)
    await ada.presses("y").is_asked("<Q>uit")
    ada.presses("l")
    await ada.terminal.until_heard("Quitter (Q)")
    assert "Animation" in ada.terminal.heard  # the same word
    ada.presses("q")
    await ada.terminal.until_heard("Votre jeu, ou")
    assert "Black Jack For Time" in ada.terminal.heard


async def test_anchors_are_read_in_plain_lines_on_request_alone(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        ada = await visitor(board, "Ada", profile=REFUSING)
        await ada.presses("y").is_asked("<Q>uit")
        await ada.presses("y").is_asked("Read the anchors")
        await ada.presses("\r").is_asked("Your new phrase:")
        assert not re.search("[0-9a-f]{64}", ada.terminal.transcript)
        await ada.presses("\x1b").is_asked("? for the list:")
        await ada.presses("y").is_asked("Read the anchors")
        ada.presses("y")
        await ada.terminal.until_heard("anchors seal")
        assert re.search("[0-9a-f]{64}", ada.terminal.heard)


async def test_advice_is_read_without_capitals_and_again_on_request(tmp_path: Path) -> None:
    thinking = AtOurWord()
    async with world(tmp_path, toml=TOML, thinking=thinking) as board:
        ada = await waits_for_advice(board)
        thinking.answers()
        await ada.is_asked("<H>it")
        (advice,) = re.findall(r"Book: (?:Hit|Stand|Double) \(", ada.terminal.heard)
        for key in "x=":
            ada.presses(key)
            await ada.terminal.until_heard("Hit (H)")
        assert "Dealer:" in ada.terminal.heard
        assert advice in ada.terminal.heard
        assert "does nothing here" not in ada.terminal.heard


async def test_the_pages_of_the_tour_are_counted_in_words(board: World) -> None:
    ada = await visitor(board, "Ada", profile=REFUSING)
    await ada.presses("y").is_asked("<Q>uit")
    ada.presses("v")
    await ada.terminal.until_heard("(1 of 3)")
