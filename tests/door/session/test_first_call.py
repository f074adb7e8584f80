"""The first call: plain lines before any art, a name that was not typed, and the tour."""

from dataclasses import replace

import pytest

from door.games.blackjack.round import BlackjackAction, start
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
from door.games.engine.cards import parse_cards
from door.session.tour import DECK
from tests.door.games.solver.advised import advice_on
from tests.door.visiting import MENU, Guest, sysop_toml, visitor
from tests.terminal import MODERN, READER, REFUSING, SYNCTERM, Profile
from tests.world import PASSWORD, World

TOML = sysop_toml(events="")
TOUR = "Take a one-minute tour?"
TITLES = (
    "Your minutes are your chips",
    "How a hand goes",
    "Closing time and the bank",
)
ONWARD = ("<N>ext (Enter)", "<N>ext (Enter)", "<P>ractice hand (Enter)")
OFFER = "Using a screen reader? Type ! for plain lines."
SIGHTED = replace(READER, terminal_types=("MUDLET", "XTERM", "MTTS 2317"))
PAINTING = replace(MODERN, terminal_types=("TINTIN++", "XTERM", "MTTS 783"), environment={})
DUMB = replace(MODERN, terminal_types=("dumb",))


async def registers(board: World, profile: Profile = MODERN, key: str = "") -> Guest:
    """Register as Ada, each answer at its question, and read on to the offer of the tour."""
    ada = Guest(board, "Ada")
    await ada.dials(profile)
    if key:
        await ada.presses(key).sees("Plain lines from now on.")
        await ada.is_asked("Name:")
    for question, answer in (
        ("Name:", "new"),
        ("The name you want:", "Ada"),
        ("A password", PASSWORD),
        ("Once more:", PASSWORD),
    ):
        await ada.is_asked(question)
        ada.presses(f"{answer}\r")
    await ada.is_asked("It is valid as soon as you go on")
    ada.presses(" ")
    if profile in (MODERN, SYNCTERM) and not key:
        await ada.is_asked("Your choice")
        ada.presses("\r")
    await ada.sees("You have 60 minutes today.")
    await ada.is_asked(TOUR)
    return ada


async def test_the_offer_of_plain_lines_is_whole_in_forty_columns(board: World) -> None:
    ada = Guest(board, "Ada")
    await ada.dials(replace(SYNCTERM, columns=40, rows=25))
    rows = ada.terminal.picture.splitlines()[:2]
    assert " ".join(row.strip() for row in rows) == OFFER


async def test_plain_lines_are_offered_once_before_the_picture(board: World) -> None:
    ada = Guest(board, "Ada")
    await ada.dials(SYNCTERM)
    received = bytes(ada.terminal.received)
    assert received.count(OFFER.encode()) == 1
    assert received.index(OFFER.encode()) < received.index(b"\xdb")


@pytest.mark.parametrize("profile", [READER, SIGHTED, DUMB], ids=["reader", "mud", "dumb"])
async def test_a_terminal_that_is_read_aloud_gets_lines_unasked(board: World, profile) -> None:
    ada = await registers(board, profile)
    await ada.presses("n").is_asked(MENU)
    assert b"\x1b" not in ada.terminal.received
    assert "Which of these boxes" not in ada.terminal.transcript


async def test_a_reader_that_is_off_is_asked_as_others_are(board: World) -> None:
    ada = Guest(board, "Ada")
    await ada.dials(PAINTING)
    assert ada.terminal.transcript.count(OFFER) == 1


async def test_one_key_at_the_name_gives_plain_lines_now_and_next_time(board: World) -> None:
    ada = await registers(board, key="!")
    await ada.presses("n").is_asked(MENU)
    assert "Which of these boxes" not in ada.terminal.transcript
    await ada.logs_off()
    await ada.calls()
    await ada.is_asked(MENU)
    assert not ada.caller.console.screen.is_painted


async def test_plain_lines_explain_no_row_that_they_lack(board: World) -> None:
    ada = await registers(board, key="!")
    ada.presses("y")
    await ada.sees("The menu tells you your time left, and each table your pot in coins.")
    await ada.is_asked("<N>ext")
    await ada.presses("q").is_asked(MENU)
    await ada.presses("?").is_asked("<N>ext")
    await ada.presses("n").sees("Under each game: what it is")
    await ada.is_asked("<P>revious")
    assert "last row" not in ada.terminal.transcript


async def test_the_boxes_are_explained(board: World) -> None:
    ada = Guest(board, "Ada")
    await ada.dials(MODERN)
    ada.presses(f"new\rAda\r{PASSWORD}\r{PASSWORD}\r")
    await ada.is_asked("It is valid as soon as you go on")
    await ada.presses(" ").is_asked("Your choice")
    await ada.presses("?").is_asked("Press any key")
    _boxes, _asked, rest = ada.terminal.picture.rpartition("Help")
    for line in (
        "1  CP437 (SyncTERM, classic BBS terminals)",
        "5  Text only, best for screen readers",
        "Enter  UTF-8 (most terminals today)",
    ):
        assert line in rest


async def test_the_tour_ends_with_a_hand_for_nothing(board: World) -> None:
    ada = await registers(board)
    ada.presses("y")
    for title, onward in zip(TITLES, ONWARD, strict=True):
        await ada.sees(title)
        if title == "How a hand goes":
            await ada.sees("The dealer wins ties. 21 pays 2 to 1.")
        await ada.is_asked(onward)
        ada.presses("\r")
    await ada.sees("You have 12. Hit: only a ten-card takes you over 21")
    await ada.sees("A practice hand. Your bet: 2 coins")
    await ada.presses("h").sees("You have 18")
    await ada.presses("s").sees("Dealer busts: you win!")
    await ada.is_asked("Press any key")
    await ada.presses(" ").is_asked(MENU)
    assert [kind for kind, _seconds in ada.ledger] == ["grant"]
    assert ada.caller.prefers("toured")


async def test_a_screen_of_the_tour_that_takes_two_pages_numbers_those_alone(board: World) -> None:
    ada = await registers(board, key="!")
    ada.terminal.resize(40, 16)
    await ada.presses("y").sees(f"{TITLES[0]} (1 of 2)")
    await ada.presses("\r").sees(f"{TITLES[0]} (2 of 2)")


def test_the_advice_of_the_practice_hand_is_the_book_and_true() -> None:
    """Of the 12 only a ten-card makes more than 21."""
    hand, _events = start(BLACK_JACK_FOR_TIME, parse_cards(DECK), [10])
    assert advice_on(hand, hand.legal()).best is BlackjackAction.HIT
    assert hand.hand is not None
    assert hand.hand.count == (12, False)
    hand, _events = hand.apply(BlackjackAction.HIT)
    assert advice_on(hand, hand.legal()).best is BlackjackAction.STAY


@pytest.mark.parametrize(
    "steps",
    [
        (("\x1b", MENU),),
        (("y", TITLES[0]), ("\x1b", MENU)),
        (("y", TITLES[0]), ("q", MENU)),
        (("y", TITLES[0]), ("\r", TITLES[1]), ("\x1b", MENU)),
        (
            ("y", TITLES[0]),
            ("\r", TITLES[1]),
            ("\r", TITLES[2]),
            ("\r", "A practice hand"),
            ("q", MENU),
        ),
    ],
    ids=["offer", "esc", "quit", "second", "hand"],
)
async def test_the_tour_is_left_at_any_time(board: World, steps) -> None:
    ada = await registers(board)
    for key, shown in steps:
        await ada.presses(key).sees(shown)


async def test_a_known_caller_is_not_offered_the_tour_but_can_open_it(board: World) -> None:
    ada = await visitor(board, "Ada")
    await ada.presses("y").sees("Your settings")
    await ada.presses("v").sees("Your minutes are your chips")


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize(("columns", "rows"), [(40, 22), (40, 25), (80, 22), (80, 24)])
async def test_all_boxes_and_their_question_are_on_the_screen_at_once(
    board: World, language: str, columns: int, rows: int
) -> None:
    board.enter("Ada", looks={})
    environment = {"LANG": f"{language}_CA.UTF-8"}
    terminal = await board.call(
        replace(MODERN, environment=environment, columns=columns, rows=rows)
    )
    words = {
        "en": ("Name:", "Password:", "Your choice", "Which of"),
        "fr": ("Nom :", "Mot de passe :", "Votre choix", "Lequel s'affiche"),
    }
    name, password, choice, title = words[language]
    await terminal.until(name)
    await terminal.send("Ada\r").until(password)
    await terminal.send(f"{PASSWORD}\r").until(choice)
    for line in (title, " 1  ", " 2  ", " 3  ", " 4  ", " 5  "):
        assert line in terminal.picture, terminal.picture


async def test_a_terminal_that_names_no_language_is_offered_the_other_in_its_words(
    board: World,
) -> None:
    ada = Guest(board, "Ada")
    board.enter("Ada")
    await ada.dials(SYNCTERM)
    await ada.sees("En français : tapez *.")
    before = len(ada.terminal.transcript)
    await ada.presses("*").is_asked("Nom :")
    again = ada.terminal.transcript[before:]
    assert "60 min/jour" in again
    assert "lecteur d" in again
    await ada.sees("In English: type *.")
    await ada.presses("Ada\r").is_asked("Mot de passe :")
    await ada.presses(f"{PASSWORD}\r").sees("Vous avez 60 minutes aujourd'hui.")
    await ada.presses(" ").is_asked("<G> Au revoir")
    # The answer is kept for the next calls.
    await ada.drops_carrier()
    await ada.calls(SYNCTERM)
    await ada.is_asked("<G> Au revoir")


async def test_a_new_caller_registers_in_the_language_that_they_chose(board: World) -> None:
    ada = Guest(board, "Ada")
    await ada.dials(REFUSING)
    await ada.presses("*").is_asked("Nom :")
    await ada.sees("ou NOUVEAU si c'est votre premier appel.")
    await ada.presses("nouveau\r").sees("Bienvenue !")


@pytest.mark.parametrize("language", ["en_US.UTF-8", "de_DE.UTF-8"])
async def test_a_terminal_that_names_a_language_is_offered_none(
    board: World, language: str
) -> None:
    ada = Guest(board, "Ada")
    await ada.dials(replace(MODERN, environment={"LANG": language}))
    assert "appuyez" not in ada.screen
    await ada.presses("*\r").sees("Type your name, then press Enter.")
    await ada.is_asked("Name:")
