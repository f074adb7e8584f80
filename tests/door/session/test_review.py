"""The review of a try: its hands walked on the felt, and its table of decisions uncut."""

from __future__ import annotations

from itertools import product

import pytest

from ansi.canvas import Canvas
from door.call.scene import Area
from door.games.blackjack.duplicate import TryDecision
from door.games.blackjack.round import BlackjackAction, BlackjackRound, start
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
from door.games.engine.cards import parse_cards
from door.session.review import Rated, ReviewScene
from door.session.shared_hands import ACTIONS
from tests.door.session.test_daily_deal import keys_to_the_end, sealed
from tests.terminal import MODERN, REFUSING
from tests.world import World, newcomer
from timebank.language import LANGUAGES, Viewer, _, speaking_to

RIGHT, LEFT = "\x1b[C", "\x1b[D"
BOX = str.maketrans("│└┘─", "    ")
# Soft and hard hands, and one with a question about insurance.
ROUNDS: list[BlackjackRound] = [
    start(BLACK_JACK_FOR_TIME, parse_cards(cards), [10])[0]
    for cards in ("AS TH 8D 8C 5C", "TS 6H 2D 9C 4H", "5S AH 4D 9C 4H")
]


async def test_keys_walk_the_hands_on_the_felt(board: World) -> None:
    ada = await newcomer(board, "Ada", MODERN)
    await ada.send("d").until("You haven't played it yet.")
    await ada.send("p" + keys_to_the_end(sealed(board))).until("by the book")
    await ada.send("v").until("Review of your hands")
    await ada.until("1 of 10")
    assert "┌─────┐" in ada.picture
    assert "Stand" in ada.picture
    for keys, number in (("n", 2), (RIGHT, 3), (LEFT, 2), ("p", 1), ("0", 10), ("4", 4), (" ", 5)):
        await ada.send(keys).until(f"{number} of 10")
    await ada.send("0").until("<Q>uit (Enter)")
    assert "<N>ext" not in ada.picture
    await ada.send("\r").until("<L>ast deal")


async def test_plain_lines_read_each_hand_with_its_decisions(board: World) -> None:
    ada = await newcomer(board, "Ada", REFUSING)
    await ada.send("d").until("You haven't played it yet.")
    await ada.send("p" + keys_to_the_end(sealed(board))).until("by the book")
    await ada.send("v").until("Review of your hands - 1 of 10")
    await ada.until("<Q>uit")
    await ada.send("n").until("Review of your hands - 2 of 10")
    await ada.send("q").until("<L>ast deal")
    read = ada.transcript.partition("Review of your hands - 1")[2]
    for words in ("Dealer: ", "You: ", "Stand, as the book says."):
        assert words in read
    assert "shows 11" not in read


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (40, 22), (100, 30)])
def test_no_word_of_a_decision_is_cut(language: str, columns: int, rows: int) -> None:
    with speaking_to(Viewer(language)):
        words = [_(label) for _key, label, _meaning in ACTIONS.values()]
        for round_, move, best, other in product(ROUNDS, ACTIONS, ACTIONS, ("", words[0])):
            each = Rated(TryDecision(1, round_, move), best, 10_252, other)
            scene = ReviewScene(coin=1, turns_limit=None, has_purse=False, is_dealt=True)
            scene.name, scene.rated = "Wolfesc", [each]
            scene.lay(round_)
            canvas = Canvas(columns, rows)
            scene.paint(canvas, Area(0, columns - 1, rows - (5 if columns >= 80 else 3)))
            first, left = (13, 0) if columns < 80 else (2, columns - 47)
            table = "".join(canvas.text(row)[left:] + " " for row in range(first, rows))
            assert " ".join(each.words()).strip() in " ".join(table.translate(BOX).split())


def test_a_decision_about_insurance_is_named() -> None:
    asked = TryDecision(1, ROUNDS[2], BlackjackAction.NO_INSURANCE)
    words = Rated(asked, BlackjackAction.NO_INSURANCE, 0, "").words()
    assert words == ("Insurance", "No", "No", "0%", "")
