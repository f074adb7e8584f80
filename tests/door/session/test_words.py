"""A caller whose program sends whole lines answers with words, such as a blind caller's client."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from ansi.keys import ENTER
from door.call.whole_lines import chosen, line_begun, whole_lines
from tests.door.playing import hand, moves
from tests.door.teletype import seed_asking
from tests.door.visiting import KEYS_OF_TABLE, MENU, SHORT_MENU, Guest, known, sysop_toml, visitor
from tests.mud_clients import MUD_CLIENTS, MUDLET
from tests.terminal import DONT, IAC, MODERN, READER, REFUSING, WILL, Profile
from tests.world import PASSWORD, World
from timebank.language import Viewer, _, speaking_to

TOML = sysop_toml(events="")
ANY_KEY = "Press Enter"


async def test_a_whole_evening_by_words_alone(board: World) -> None:
    ada = Guest(board, "Ada")
    await ada.dials(READER)
    steps = (
        ("new", "The name you want:"),
        ("Ada", "A password"),
        (PASSWORD, "Once more:"),
        (PASSWORD, ANY_KEY),
        ("", "one-minute tour"),
        ("yes", "Next"),
        ("next", "Next"),
        ("next", "Practice hand"),
        ("practice", "You have 12."),
        ("hit", "You have 18"),
        ("stay", ANY_KEY),
        ("", MENU),
        ("bank", "Your choice"),
        ("deposit 5", "Deposit 5 minutes?"),
        ("yes", "Your choice"),
        ("quit", SHORT_MENU),
        ("rules", "means nothing here. You can type: Black Jack For Time"),
        ("daily", "<P>lay"),
        ("goodbye", SHORT_MENU),
        ("black jack", "<B>et"),
        ("rules", "Next"),
        ("quit", KEYS_OF_TABLE),
    )
    for words, asked in steps:
        ada.presses(f"{words}\r\n")
        await ada.terminal.until_heard(asked)
    board.seeds = [hand("insurance", "hit", "stay", ends="lose"), hand("stay", ends="win")]
    for words, asked in (
        ("bet 5", "<I>nsure"),
        ("insurance", "<H>it"),
        ("hit", "<H>it"),
        ("stand", KEYS_OF_TABLE),
        ("3", "<H>it"),
        ("stay", KEYS_OF_TABLE),
    ):
        ada.presses(f"{words}\r\n")
        await ada.terminal.until_heard(asked)
    assert [(kind, stake) for kind, stake in ada.ledger if kind in ("stake", "insurance")] == [
        ("stake", 300),
        ("insurance", 150),
        ("stake", 180),
    ]
    for words, asked in (("leave", SHORT_MENU), ("goodbye", "Bank your"), ("no", "Goodbye, Ada")):
        ada.presses(f"{words}\r\n")
        await ada.terminal.until_heard(asked)
    await ada.terminal.until_closed()
    assert b"\x1b" not in ada.terminal.received
    assert ada.has["bank"] == 5 * 60


async def test_a_word_that_names_nothing_is_answered_with_those_that_do(board: World) -> None:
    ada = known(board, "Ada")
    await ada.visits(READER)
    await ada.presses("xyzzy\r\n").terminal.until_heard(
        "xyzzy means nothing here. You can type: Black Jack For Time, Baccarat"
    )
    await ada.presses("help\r\n").terminal.until_heard("Next (N, Enter)")
    await ada.presses("next\r\n").terminal.until_heard("such as rules, bank or bet 5.")
    assert "x does nothing" not in ada.terminal.transcript.casefold()


async def test_typed_words_are_shown_once_by_the_program_itself(board: World) -> None:
    ada = known(board, "Ada")
    await ada.visits(READER)
    await ada.presses("bank\r\n").terminal.until_heard("Your choice")
    await ada.presses("deposit\r\n").terminal.until_heard("Deposit how much")
    await ada.presses("12\r\n").terminal.until_heard("Deposit 12 minutes?")
    assert not ada.terminal.heard.lstrip().startswith("12")


def test_what_is_too_long_for_words_is_not_held_back() -> None:
    assert line_begun([*"say", ENTER, *"hel"]) == [*"hel"]
    assert line_begun(["x"] * 80) == ["x"] * 80
    assert line_begun(["x"] * 81) == []


async def test_a_command_with_a_number_is_no_bet(board: World) -> None:
    """As a table closes that answers "stand", the number behind a word would be staked."""
    ada = known(board, "Ada")
    await ada.visits(READER)
    await ada.presses("black jack\r\n").terminal.until_heard("<B>et")
    await ada.presses("bet\r\n").terminal.until_heard("Coins to bet")
    for line in ("stand 5", "transfer 5 Bob yes"):
        await ada.presses(f"{line}\r\n").terminal.until_heard(f"{line} means nothing here.")
        await ada.terminal.until_heard("Coins to bet")
    assert not [kind for kind, _stake in ada.ledger if kind == "stake"]
    board.seeds = [hand("hit", "stay", ends="win")]
    await ada.presses("bet 5 coins\r\n").terminal.until_heard("<H>it")
    assert ("stake", 300) in ada.ledger


async def test_a_caller_who_pressed_keys_before_still_can(board: World) -> None:
    ada = await visitor(board, "Ada", profile=REFUSING)
    await ada.presses("b").is_asked("<B>et")
    await ada.presses("b3\rs").terminal.until_heard(KEYS_OF_TABLE)
    await ada.presses("quit\r").terminal.until_heard(SHORT_MENU)
    await ada.presses("moShuffle up\r").is_asked("<W>rite")


@pytest.mark.parametrize(
    ("line", "letter"),
    [("Hit", "H"), ("tirer", "H"), ("stay", "S"), ("rester", "S"), ("double", "D"), ("oui", None)],
)
def test_words_are_known_in_the_callers_language_and_in_english(line: str, letter: str) -> None:
    with speaking_to(Viewer("fr")):
        choices = {"H": _("Hit"), "S": _("Stand"), "D": _("Double")}
        named = chosen(line, choices)
    assert named == (None if letter is None else (letter, ""))


def test_a_beginning_must_name_one_choice_alone() -> None:
    choices = {"D": "Deposit", "E": "Depart", "W": "Withdraw"}
    assert chosen("dep", choices) is None
    assert chosen("depo 5", choices) == ("D", "5")
    assert chosen("5", choices) is None


@pytest.mark.parametrize("letters", [81, 4000])
def test_a_line_that_is_too_long_for_words_is_only_its_letters(letters: int) -> None:
    keys = [*("x" * letters), ENTER]
    assert whole_lines(keys) == keys


async def test_a_word_ends_a_run_of_unix_bj(board: World) -> None:
    """A MUD client has no key for DEL, which ends the program."""
    ada = known(board, "Ada")
    await ada.visits(READER)
    await ada.presses("unix bj\r\n").terminal.until_heard("Play (P, Enter)")
    await ada.presses("play\r\n").terminal.until_heard("?")
    await ada.presses("quit\r\n").terminal.until_heard("Action $")
    await ada.presses("\r\n").terminal.until_heard("Play (P")


async def test_a_word_at_a_number_is_no_number(board: World) -> None:
    """A bet of Enter was placed for "quit"."""
    ada = known(board, "Ada")
    await ada.visits(READER)
    await ada.presses("black jack\r\n").terminal.until_heard("Quit (Q)")
    await ada.presses("bet\r\n").terminal.until_heard("Coins to bet")
    await ada.presses("hello\r\n").terminal.until_heard("hello means nothing here.")
    await ada.presses("quit\r\n").terminal.until_heard(KEYS_OF_TABLE)
    assert ada.has["stake"] == 0


async def test_a_number_behind_a_word_answers_nothing_but_an_amount(board: World) -> None:
    """It was typed at whatever question came instead, and its Enter left the bank."""
    ada = known(board, "Ada")
    await ada.visits(READER)
    await ada.presses("bank\r\n").terminal.until_heard("Your choice")
    await ada.presses("withdraw 2\r\n").terminal.until_heard("Your time bank is empty.")
    await ada.presses("deposit\r\n").terminal.until_heard("Deposit how much?")
    await ada.presses("\r\n").terminal.until_heard("Your choice")
    assert "2 does nothing here" not in ada.terminal.transcript


async def test_an_amount_that_was_typed_is_not_asked_for(board: World) -> None:
    board.seeds = [hand("stay", ends="win")]
    ada = known(board, "Ada")
    await ada.visits(READER)
    await ada.presses("black jack\r\n").terminal.until_heard("Quit (Q)")
    await ada.presses("bet 5\r\n").terminal.until_heard("Hit (H)")
    assert "Coins to bet" not in ada.terminal.transcript
    await ada.presses("stay\r\n").terminal.until_heard("All keys (?)")
    for word in ("bet 12345", "bet 1.5", "bet 11"):  # too long, no whole coins, too much
        await ada.presses(f"{word}\r\n").terminal.until_heard("Coins to bet, 1 to 10 (Enter for 5)")
        await ada.presses("quit\r\n").terminal.until_heard("All keys (?)")
    assert [kind for kind, _amount in ada.ledger].count("stake") == 1


@pytest.mark.parametrize("profile", [READER, REFUSING], ids=["MTTS", "lines"])
async def test_a_refused_message_does_not_stay_where_nothing_can_erase_it(
    board: World, profile: Profile
) -> None:
    """It was sent again at each Enter, and the next line was added to it."""
    ada = await visitor(board, "Ada", profile=profile)
    await ada.presses("/p nobody hello\r\n").terminal.until_heard("There is no caller of that name")
    await ada.presses("\r\n").terminal.until_heard("Goodbye (G)")
    await ada.presses("/w\r\n").terminal.until_heard("On now: Ada")
    assert ada.terminal.transcript.count("Say (/p name message):") == 1


async def test_help_names_the_words(board: World) -> None:
    ada = known(board, "Ada")
    await ada.visits(READER)
    await ada.presses("help\r\n").terminal.until_heard("Red Dog (R)  Bet that a card falls between")
    assert "Esc  " not in ada.terminal.transcript


async def test_the_words_of_unix_bj_answer_its_questions(board: World) -> None:
    """Its program knows only y, and "help" ended it."""
    board.seeds = [seed_asking("Hit? y", "Hit? ")]
    ada = known(board, "Ada")
    await ada.visits(READER)
    await ada.presses("unix bj\r\n").terminal.until_heard("Play (P, Enter)")
    await ada.presses("play\r\n").terminal.until_heard("Hit? ")
    await ada.presses("help\r\n").terminal.until_heard("The word quit ends the game")
    await ada.presses("hit\r\n").terminal.until_heard("Hit? ")
    assert "hit" not in ada.terminal.heard  # the program that sent it shows it
    await ada.presses("quit\r\n").terminal.until_heard("Action $")
    assert moves(board)[-2:] == ["hit", "stay"]


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("tournament", "Deal and duels"),
        ("send 5", "Transfer"),
        ("loan 5", "Borrow"),
        ("statement", "History"),
        ("say", "Talk"),
        ("call", "Stand"),
    ],
)
def test_other_words_that_callers_use(line: str, label: str) -> None:
    assert (chosen(line, {"X": label, "Q": "Quit"}) or "")[:1] == ("X",)


@pytest.mark.parametrize("profile", MUD_CLIENTS.values(), ids=MUD_CLIENTS)
async def test_an_evening_by_words_with_each_client(board: World, profile: Profile) -> None:
    """The letters of an unknown word were keys for a client without MTTS: the T of "stand" led to
    the bank, and its A switched auto-deposit on. Blightmud was painted."""
    ada = known(board, "Ada")
    ada.terminal = await board.call(profile)
    await ada.terminal.until_heard("Name:")
    board.seeds = [hand("stay", ends="win")]
    for words, asked in (
        ("!", "Name:"),  # plain lines, as the first line offers to those without MTTS
        ("Ada", "Password:"),
        (PASSWORD, ANY_KEY),
        ("", "Goodbye (G)"),
        ("black jack", "Quit (Q)"),
        ("stand", "stand means nothing here."),
        ("bank", "Your choice"),
        ("deposit 2", "Deposit 2 minutes?"),
        ("y", "2 minutes deposited."),
        ("q", KEYS_OF_TABLE),
        ("bet 2", "Hit (H)"),
        ("", "Enter does nothing here."),
        ("stay", KEYS_OF_TABLE),
        ("leave", SHORT_MENU),
        ("help", "Next (N, Enter)"),
        ("quit", SHORT_MENU),
        ("goodbye", "Bank your"),
        ("no", "Goodbye, Ada."),
    ):
        await ada.presses(f"{words}\r\n").terminal.until_heard(asked)
    await ada.terminal.until_closed()
    assert b"\x1b" not in ada.terminal.received
    assert "Auto-deposit is on" not in ada.terminal.transcript
    assert [kind for kind, _amount in ada.ledger].count("stake") == 1


async def test_the_daily_deal_to_its_end_by_words_alone(board: World) -> None:
    ada = known(board, "Ada")
    await ada.visits(READER)
    await ada.presses("daily\r\n").terminal.until_heard("Play (P)")
    answers = {"Copy this": "", "Insure (I)": "no", "Hit (H)": "stand", ANY_KEY: " "}
    words, hands = "play", 0
    while words:
        ada.presses(f"{words}\r\n")
        await ada.terminal.wait_for(lambda it: any(each in it.heard for each in answers), words)
        asked = next(each for each in answers if each in ada.terminal.heard)
        words, hands = answers[asked], hands + (asked == ANY_KEY)
    assert hands == 10
    await ada.terminal.until_heard("Review (V)")
    for words, asked in (
        ("review", "Review of your hands"),
        ("next", "2 of 10"),
        ("quit", "Last deal (L)"),
        ("leave", SHORT_MENU),
    ):
        await ada.presses(f"{words}\r\n").terminal.until_heard(asked)
    assert "means nothing here" not in ada.terminal.transcript


async def test_a_hand_that_was_hung_up_on_goes_on_by_words(board: World) -> None:
    ada = known(board, "Ada")
    await ada.visits(READER)
    await ada.presses("black jack\r\n").terminal.until_heard("Quit (Q)")
    board.seeds = [hand("stay", ends="win")]
    await ada.presses("bet 5\r\n").terminal.until_heard("Hit (H)")
    await ada.drops_carrier()
    await ada.dials(READER)
    await ada.presses("Ada\r\n").terminal.until_heard("Password:")
    await ada.presses(f"{PASSWORD}\r\n").terminal.until_heard("Hit (H)")
    assert "The hand you left is still on the table." in ada.terminal.heard
    await ada.presses("stay\r\n").terminal.until_heard("Bet (B, Enter)")


@pytest.mark.parametrize("profile", [READER, REFUSING], ids=["MTTS", "lines"])
async def test_hostile_lines_leave_the_caller_where_they_are(
    board: World, profile: Profile
) -> None:
    ada = known(board, "Ada")
    ada.terminal = await board.call(profile)
    await ada.terminal.until_heard("Name:")
    for words, asked in (("Ada", "Password:"), (PASSWORD, ANY_KEY), ("", "Goodbye (G)")):
        await ada.presses(f"{words}\r\n").terminal.until_heard(asked)
    for line in (
        b"bet \0 5",
        b"bet " + b"9" * 76,
        b"5" * 80,
        b"\xff\xff\xfe bet",
        b"\x1b[2J\x9b0n hit",
        b"{0} %s |12 \\x1b",
        b"/w \0",
    ):
        ada.terminal.send(line + b"\r\n")
        await ada.presses("=\r\n").terminal.until_heard("Goodbye (G)")


GMCP = 201
WILL_GMCP = bytes((IAC, WILL, GMCP))


def vitals(received: bytes) -> list[dict[str, int]]:
    """All figures that arrived by GMCP."""
    told = re.findall(rb"\xff\xfa\xc9Char\.Vitals (.*?)\xff\xf0", received)
    return [json.loads(each) for each in told]


async def test_a_mud_client_that_wants_gmcp_is_told_time_pot_and_bank(board: World) -> None:
    ada = known(board, "Ada", saved=300)
    await ada.visits(replace(MUDLET, accepts=MUDLET.accepts | {GMCP}))
    assert ada.terminal.wire.count(WILL_GMCP) == 1
    assert vitals(bytes(ada.terminal.wire))[-1] == {"time": 3600, "pot": 60, "bank": 300}
    before = len(vitals(bytes(ada.terminal.wire)))
    await board.pass_time(3)
    await ada.presses("bank\r\n").terminal.until_heard("Your choice")
    told = vitals(bytes(ada.terminal.wire))
    assert [each["time"] for each in told[before:]] == [3599, 3598, 3597]
    await ada.presses("withdraw 5\r\n").terminal.until_heard("Withdraw 5 minutes?")
    await ada.presses("yes\r\n").terminal.until_heard("5 minutes withdrawn.")
    await board.pass_time(1)
    await ada.presses("quit\r\n").terminal.until_heard(SHORT_MENU)
    assert vitals(bytes(ada.terminal.wire))[-1] == {"time": 3896, "pot": 64, "bank": 0}
    ada.terminal.send(bytes((IAC, DONT, GMCP)))
    await board.pass_time(2)
    await ada.presses("news\r\n").terminal.until_heard(ANY_KEY)
    assert vitals(bytes(ada.terminal.wire))[-1]["time"] == 3896


async def test_a_client_that_refuses_gmcp_is_told_nothing(board: World) -> None:
    ada = known(board, "Ada")
    await ada.visits(MUDLET)
    await board.pass_time(2)
    await ada.presses("news\r\n").terminal.until_heard(ANY_KEY)
    assert vitals(bytes(ada.terminal.wire)) == []


async def test_figures_wait_until_the_cards_are_shown(board: World) -> None:
    ada = known(board, "Ada")
    await ada.visits(replace(MUDLET, accepts=MUDLET.accepts | {GMCP}))
    before = len(vitals(bytes(ada.terminal.wire)))
    with ada.caller.status.suspense():
        await board.pass_time(2)
    await ada.presses("news\r\n").terminal.until_heard(ANY_KEY)
    assert len(vitals(bytes(ada.terminal.wire))) == before


async def test_the_pot_is_said_once_on_the_way_back_from_the_bank(board: World) -> None:
    ada = known(board, "Ada")
    await ada.visits(READER)
    await ada.presses("black jack\r\n").terminal.until_heard("Quit (Q)")
    board.seeds = [hand("stay", ends="win")]
    await ada.presses("bet 5\r\n").terminal.until_heard("Hit (H)")
    await ada.presses("stay\r\n").terminal.until_heard("All keys (?)")
    await ada.presses("bank\r\n").terminal.until_heard("Your choice")
    await ada.presses("deposit 5\r\n").terminal.until_heard("Deposit 5 minutes?")
    await ada.presses("yes\r\n").terminal.until_heard("5 minutes deposited.")
    await ada.presses("quit\r\n").terminal.until_heard("All keys (?)")
    assert "Your pot: 60 coins." in ada.terminal.heard
    assert ada.terminal.heard.casefold().count("pot: ") == 1


@pytest.mark.parametrize("line", ["no", "n", "yes", "y", "non", "oui"])
def test_yes_and_no_answer_only_yes_or_no_questions(line: str) -> None:
    """Any word of a label counted, so "no" chose plain letters without colour."""
    with speaking_to(Viewer("fr")):
        assert chosen(line, {"4": "Plain letters, no colour", "5": "Lines, oui, non, yes"}) is None
        assert chosen(line, {"O": _("Yes"), "X": _("No")}) is not None
        assert chosen("no", {"Y": _("Yes"), "K": "No card"}) == ("K", "")


def test_a_word_behind_no_does_not_mean_no() -> None:
    """At Baccarat "card" took no card."""
    choices = {"Y": "Yes", "N": "No card", "T": "Tutor"}
    assert [chosen(line, choices) for line in ("card", "c")] == [None, None]
    for line in ("no card", "no", "n", "stand"):
        assert chosen(line, choices) == ("N", "")


async def test_a_line_client_is_told_of_enter_and_not_of_keys_that_it_lacks(board: World) -> None:
    ada = Guest(board, "Ada")
    await ada.dials(READER)
    await ada.presses("new\r\n").terminal.until_heard("Press Enter alone at any time to go back.")
    for words, asked in (
        ("Ada", "A password"),
        (PASSWORD, "Once more:"),
        ("", "Name:"),
        ("new", "The name you want:"),
        ("Ada", "A password"),
        (PASSWORD, "Once more:"),
        (PASSWORD, "It is valid as soon as you go on. Press Enter"),
        ("help", "There is nothing to choose here."),
        ("", "one-minute tour"),
    ):
        await ada.presses(f"{words}\r\n").terminal.until_heard(asked)
    assert "any key" not in ada.terminal.transcript


async def test_a_line_client_is_told_of_enter_in_french(board: World) -> None:
    ada = known(board, "Ada")
    await ada.dials(READER)
    await ada.presses("*\r\n").terminal.until_heard("Votre nom")
    await ada.presses("new\r\n").terminal.until_heard("Entrée seule")
    await ada.presses("\r\n").terminal.until_heard("Votre nom")
    await ada.presses("Ada\r\n").terminal.until_heard(":")
    await ada.presses(f"{PASSWORD}\r\n").terminal.until_heard("Appuyez sur Entrée")


async def test_a_word_at_a_pause_answers_the_next_question(board: World) -> None:
    ada = known(board, "Ada")
    await ada.dials(READER)
    await ada.presses("Ada\r\n").terminal.until_heard("Password:")
    await ada.presses(f"{PASSWORD}\r\n").terminal.until_heard("Press Enter")
    await ada.presses("bank\r\n").terminal.until_heard("Your choice")


@pytest.mark.parametrize("line", ["", "yes", "no", "next", "5", "q", " "])
async def test_what_only_ends_a_pause_chooses_nothing(board: World, line: str) -> None:
    """A second Enter chose the game that Enter stands for."""
    ada = known(board, "Ada")
    await ada.dials(READER)
    await ada.presses("Ada\r\n").terminal.until_heard("Password:")
    await ada.presses(f"{PASSWORD}\r\n").terminal.until_heard("Press Enter")
    await ada.presses(f"{line}\r\n\r\n").terminal.until_heard("Goodbye (G)")
    await ada.presses("bank\r\n").terminal.until_heard("Your choice")
    assert "means nothing" not in ada.terminal.transcript
    assert "A coin is" not in ada.terminal.transcript


@pytest.mark.parametrize("profile", [READER, REFUSING], ids=["MTTS", "lines"])
@pytest.mark.parametrize("table", ["black jack", "red dog"])
async def test_the_question_for_a_phrase_keeps_the_amount(
    board: World, profile: Profile, table: str
) -> None:
    ada = await visitor(board, "Ada", profile=profile)
    for words, asked in (
        (table, "Quit (Q)"),
        ("cut", KEYS_OF_TABLE),
        ("bet 2", "Your phrase"),
        ("lucky seven", "You get" if table == "black jack" else "Raise (A)"),
    ):
        await ada.presses(f"{words}\r\n").terminal.until_heard(asked)
    assert "Coins to bet" not in ada.terminal.transcript
    assert ("stake", 120) in ada.ledger


@pytest.mark.parametrize("is_painted", [True, False])
async def test_an_amount_that_was_forgotten_is_asked_for(board: World, is_painted: bool) -> None:
    ada = await visitor(board, "Ada", profile=MODERN if is_painted else READER)
    await ada.presses("b" if is_painted else "black jack\r").is_asked("<Q>uit")
    await ada.presses("c" if is_painted else "cut\r").sees("Cut is on")
    await ada.presses("bet 2\r").terminal.until_heard("Your phrase")
    if not is_painted:
        await ada.presses("?\r").terminal.until_heard(ANY_KEY)
        await ada.presses("\r").terminal.until_heard("Your phrase")
    await ada.presses("lucky seven\r").is_asked("Coins to bet")
    assert "stake" not in dict(ada.ledger)


KEYS = re.compile(r"\b(Esc|Ctrl|DEL|F1|Backspace|Page Up|arrow|any key)\b|[Pp]ress (?!Enter\b)")


async def test_nothing_tells_a_line_client_of_a_key_that_it_lacks(board: World) -> None:
    board.seeds = [seed_asking("Hit? y", "Hit? ")]
    ada = known(board, "Ada", saved=600)
    await ada.visits(READER)
    for words, asked in (
        ("help", "Next (N, Enter)"),
        ("?", "You can type: Next, Quit."),
        ("yes", "You can type: Next, Quit."),
        ("quit", MENU),
        ("xyzzy", "means nothing here"),
        ("x", "does nothing here"),
        ("settings", "Quit (Q)"),
        ("help", "Next (N, Enter)"),
        ("quit", "View the tour (V)"),
        ("phrase", "Read the anchors"),
        ("no", "Your new phrase:"),
        ("?", ANY_KEY),
        ("", "Your new phrase:"),
        ("", "Your setting"),
        ("limits", "Most lost a day (M)"),
        ("most", "Minutes you can lose"),
        ("help", ANY_KEY),
        ("", "Minutes you can lose"),
        ("quit", "Most lost a day (M)"),
        ("quit", "Your setting"),
        ("quit", SHORT_MENU),
        ("unix bj", "Play (P, Enter)"),
        ("help", ANY_KEY),
        ("manual", "BJ(VI)"),
        ("next", "The word quit"),
        ("quit", "Play (P, Enter)"),
        ("play", "Hit? "),
        ("help", "The word quit ends the game"),
        ("quit", ANY_KEY),
        ("", "Play (P"),
        ("quit", SHORT_MENU),
        ("vegas", "Talk (K)"),
        ("help", "Next (N, Enter)"),
        ("fairness", ANY_KEY),
        ("", "All keys (?)"),
        ("quit", SHORT_MENU),
    ):
        await ada.presses(f"{words}\r\n").terminal.until_heard(asked)
    assert KEYS.findall(ada.terminal.transcript) == []


async def test_help_at_a_field_waits_for_enter_and_says_how_to_go_back(board: World) -> None:
    """The Enter behind the question mark ended the help, and one more left the field."""
    ada = Guest(board, "Ada")
    await ada.dials(READER)
    await ada.presses("new\r\n").terminal.until_heard("The name you want:")
    await ada.presses("?\r\n").terminal.until_heard(ANY_KEY)
    assert "Enter alone goes back" in ada.terminal.heard
    assert "The name you want:" not in ada.terminal.heard
    await ada.presses("\r\n").terminal.until_heard("The name you want:")


async def test_help_at_an_amount_is_no_amount(board: World) -> None:
    """The letters of "max" and of hours are taken there, so "help" was refused as an amount."""
    ada = known(board, "Ada")
    await ada.visits(READER)
    await ada.presses("bank\r\n").terminal.until_heard("Your choice")
    await ada.presses("deposit\r\n").terminal.until_heard("Deposit how much?")
    await ada.presses("help\r\n").terminal.until_heard("Enter alone leaves everything")
    await ada.presses("\r\n").terminal.until_heard("Deposit how much?")


async def test_a_word_on_a_page_answers_the_next_question(board: World) -> None:
    """It was passed over without a word."""
    ada = known(board, "Ada")
    await ada.visits(READER)
    await ada.presses("help\r\n").terminal.until_heard("Next (N, Enter)")
    await ada.presses("bank\r\n").terminal.until_heard("Your choice")
    await ada.presses("help\r\n").terminal.until_heard("Next (N, Enter)")
    await ada.presses("deposit 5\r\n").terminal.until_heard("Deposit 5 minutes?")


async def test_a_new_size_of_the_window_keeps_the_words_for_enter(board: World) -> None:
    ada = known(board, "Ada")
    await ada.visits(READER)
    await ada.presses("news\r\n").terminal.until_heard(ANY_KEY)
    await ada.presses("/\r\n").terminal.until_heard("Say (")
    ada.terminal.resize(70, 30)
    await ada.presses("\r\n").terminal.until_heard(ANY_KEY)
    await ada.presses("/w\r\n").terminal.until_heard("On now: Ada")
    assert "any key" not in ada.terminal.transcript


async def test_enter_alone_at_the_password_goes_back_to_the_name(board: World) -> None:
    """Somebody who typed "help" at the name lost a try for each way back."""
    ada = known(board, "Ada")
    await ada.dials(READER)
    for _try in range(4):
        await ada.presses("help\r\n").terminal.until_heard("Password:")
        await ada.presses("\r\n").terminal.until_heard("Name:")
    await ada.presses("Ada\r\n").terminal.until_heard("Password:")
    await ada.presses(f"{PASSWORD}\r\n").terminal.until_heard(ANY_KEY)


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("quitter", "Goodbye"),
        ("partir", "Quit"),
        ("carte", "Hit"),
        ("servi", "Stand"),
        ("oui", "Insure"),
        ("suite", "Next"),
        ("envoyer 5", "Transfer"),
        ("tournoi", "Deal and duels"),
        ("courrier", "Messages"),
        ("mail", "Messages"),
        ("stats", "Statistics"),
    ],
)
def test_french_callers_have_other_words_too(line: str, label: str) -> None:
    with speaking_to(Viewer("fr")):
        assert (chosen(line, {"X": _(label)}) or "")[:1] == ("X",)


async def test_a_whisper_may_begin_with_a_slash(board: World) -> None:
    """Its refusal told the caller to, and then refused that as well."""
    ada, bob = known(board, "Ada"), known(board, "Bob")
    for each in (ada, bob):
        await each.visits(READER)
        await each.presses("vegas\r\n").terminal.until_heard("Talk (K)")
    await bob.presses("/ hello\r\n").terminal.until_heard("Use: /name message")
    await bob.presses("/ada good evening\r\n").terminal.until_heard("good evening")
    await ada.terminal.until_heard("whispers to you: good evening")
