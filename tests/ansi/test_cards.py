from itertools import product

import pytest

from ansi.canvas import Canvas
from ansi.cards import (
    CARD_HEIGHT,
    CARD_WIDTH,
    LARGE_HEIGHT,
    LARGE_WIDTH,
    card_step,
    draw,
    draw_across,
    draw_large,
    paint_across,
    paint_card,
    paint_hand,
    short,
)
from ansi.charset import Charset, encode
from ansi.style import Colour
from tests.ansi.terminal import shown

DECK = ["".join(card) for card in product("A23456789TJQK", "HSDC")]


def test_every_card_fills_its_block_in_every_charset() -> None:
    for card, charset in product([*DECK, None], (Charset.CP437, Charset.ASCII)):
        lines = draw(card)
        assert [len(line) for line in lines] == [CARD_WIDTH] * CARD_HEIGHT
        assert [len(encode(line, charset)) for line in lines] == [CARD_WIDTH] * CARD_HEIGHT
        assert b"?" not in encode("".join(lines), charset)


def test_no_two_cards_look_alike_not_even_their_visible_edge_in_a_fan() -> None:
    corners = {draw(card)[1][:4] for card in [*DECK, None]}
    assert len(corners) == 53
    assert len({encode(corner, Charset.ASCII) for corner in corners}) == 53


def test_a_card_shows_rank_and_suit_in_two_corners() -> None:
    assert draw("TH") == ("┌─────┐", "│10♥  │", "│  ♥  │", "│  ♥10│", "└─────┘")
    assert encode("\n".join(draw("AS")), Charset.ASCII).decode().split("\n") == [
        "+-----+",
        "|AS   |",
        "| .S. |",
        "|   SA|",
        "+-----+",
    ]


def test_a_card_laid_across_shows_rank_and_suit_at_both_ends() -> None:
    assert draw_across("TH") == ("┌────────┐", "│10♥  ♥10│", "└────────┘")
    assert draw_across("AS")[1] == "│A♠    ♠A│"


def test_every_card_laid_across_fills_its_block_in_every_charset() -> None:
    for card, charset in product(DECK, (Charset.CP437, Charset.ASCII)):
        assert [len(encode(line, charset)) for line in draw_across(card)] == [10] * 3


def test_a_card_laid_across_is_painted_in_the_colour_of_its_suit() -> None:
    canvas = Canvas(30, 5)
    paint_across(canvas, 1, 2, "9D")
    paint_across(canvas, 1, 14, "9C")
    assert canvas.text(2) == "  │9♦    ♦9│  │9♣    ♣9│"
    assert canvas.style_at(2, 3).foreground is Colour.RED
    assert canvas.style_at(2, 15).foreground is Colour.BLACK


def test_a_card_face_down_shows_nothing_of_itself() -> None:
    assert not set("".join(draw(None))) & set("♥♦♣♠A23456789JQK")


@pytest.mark.parametrize(
    ("card", "sign"),
    [
        ("TH", "10♥"),
        ("AS", "A♠"),
        ("2D", "2♦"),
        ("JC", "J♣"),
        ("QH", "Q♥"),
        ("KS", "K♠"),
    ],
)
def test_cards_in_signs(card: str, sign: str) -> None:
    assert short(card) == sign


@pytest.mark.parametrize("card", ["", "T", "1H", "10H", "AX", "HA", "ah"])
def test_an_invalid_card_is_refused_in_a_sentence(card: str) -> None:
    for say in (short, draw):
        with pytest.raises(ValueError, match=f"'{card}' is not a card: a rank of .* suit of HSDC"):
            say(card)


@pytest.mark.parametrize(
    ("card", "ink", "paper"),
    [
        ("AH", "red", "white"),
        ("TD", "red", "white"),
        ("AS", "black", "white"),
        ("KC", "black", "white"),
        (None, "cyan", "blue"),
    ],
)
def test_red_suits_are_red_and_backs_are_blue(card: str | None, ink: str, paper: str) -> None:
    canvas = Canvas(20, 7)
    paint_card(canvas, 1, 2, card)
    terminal = shown(canvas)
    assert [line[2:9] for line in terminal.display[1:6]] == list(draw(card))
    corner = terminal.buffer[2][3]
    assert (corner.fg, corner.bg) == (ink, paper)


def test_the_edge_of_a_red_card_is_not_red() -> None:
    canvas = Canvas(20, 7)
    paint_card(canvas, 0, 0, "AH")
    assert canvas.style_at(1, 0).foreground == Colour.BLACK


@pytest.mark.parametrize(
    ("count", "width", "step"),
    [(0, 39, 8), (1, 7, 8), (2, 39, 8), (5, 39, 8), (5, 38, 7), (5, 25, 4), (5, 10, 4)],
)
def test_cards_fan_out_as_far_as_there_is_room(count: int, width: int, step: int) -> None:
    assert card_step(count, width) == step


def test_five_cards_fit_side_by_side_where_there_is_room() -> None:
    canvas = Canvas(60, 5)
    assert paint_hand(canvas, 0, 1, ["3H", None, "TH", "AC", "QD"], 39) == 40
    assert canvas.text(1) == " │3♥   │ │░▒▓▒░│ │10♥  │ │A♣   │ │Q♦   │"


def test_in_a_fan_every_rank_and_suit_can_still_be_read() -> None:
    canvas = Canvas(60, 5)
    assert paint_hand(canvas, 0, 0, ["3H", "TH", "AC"], 15) == 15
    assert [canvas.text(row) for row in range(5)] == [
        "┌───┬───┬─────┐",
        "│3♥ │10♥│A♣   │",
        "│  ♥│  ♥│ ·♣· │",
        "│   │   │   ♣A│",
        "└───┴───┴─────┘",
    ]


@pytest.mark.parametrize(("large", "width"), [(False, 17), (True, 29)])
def test_a_covered_ten_shows_its_rank_whole_or_not(large: bool, width: int) -> None:
    canvas = Canvas(60, 9)
    paint_hand(canvas, 0, 0, ["TD", "TD", "TC"], width, large=large)
    row = 7 if large else 3
    assert canvas.text(row).count("1") == 1
    assert canvas.text(row).rstrip("│").endswith("♣10")
    assert canvas.text(1).count("10") == 3


def test_an_empty_hand_takes_no_room() -> None:
    canvas = Canvas(60, 5)
    assert paint_hand(canvas, 0, 3, [], 39) == 3
    assert canvas.text(0) == ""


def test_every_large_card_fills_its_block_in_every_charset() -> None:
    for card, charset in product([*DECK, None], (Charset.CP437, Charset.ASCII)):
        lines = draw_large(card)
        assert [len(line) for line in lines] == [LARGE_WIDTH] * LARGE_HEIGHT
        assert [len(encode(line, charset)) for line in lines] == [LARGE_WIDTH] * LARGE_HEIGHT
        assert b"?" not in encode("".join(lines), charset)


@pytest.mark.parametrize("rank", "23456789T")
def test_a_large_card_has_as_many_pips_as_it_counts(rank: str) -> None:
    pips = "".join(line[1:-1] for line in draw_large(f"{rank}S")[2:-2])
    assert pips.count("♠") == (10 if rank == "T" else int(rank))


def test_large_cards_fan_out_too() -> None:
    canvas = Canvas(80, 9)
    assert paint_hand(canvas, 0, 0, ["3H", "TH", "AC"], 80, large=True) == 35
    assert canvas.text(1) == "│3♥       │ │10♥      │ │A♣       │"
    canvas = Canvas(80, 9)
    assert paint_hand(canvas, 0, 0, ["3H", "TH", "AC"], 20, large=True) == 19
    assert canvas.text(1) == "│3♥ │10♥│A♣       │"
