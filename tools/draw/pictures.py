"""Our pictures, each by its name: whole screens, and headers of five rows for the rooms.

Names between at-signs are fields that the board fills in (docs/guide/screens.md).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ansi.style import Colour
from tools.draw.letters import SLIM, SUITS
from tools.draw.paper import Paper
from tools.draw.things import (
    back,
    bar,
    card,
    clock,
    felt,
    logo,
    stack,
    title,
    width_of,
)

WIDE, NARROW = 80, 40
HEADER_ROWS, NARROW_HEADER_ROWS = 5, 4
TEN_PAST_TEN, MIDNIGHT = (10.15, 9), (12, 0)

# Whole screens.


def welcome() -> Paper:
    paper = Paper(WIDE, 20)
    bar(paper, 0)
    logo(paper, "BLACK", 1, 1)
    logo(paper, "JACK", 1, 46)
    felt(paper, 10, 9, bulge=5)
    title(paper, "FOR", 7, 6)
    title(paper, "TIME", 7, 31)
    clock(paper, 7, 57, 20, *TEN_PAST_TEN)
    card(paper, 11, 6, "A", "S")
    card(paper, 11, 14, "J", "H")
    back(paper, 11, 29)
    stack(paper, 17, 44, 9, "gold")
    stack(paper, 18, 49, 5, "red")
    _facts(paper, 19)
    return paper


def _facts(paper: Paper, row: int) -> None:
    """Leave room for the board's own facts, above and below."""
    paper.sign(0, 7, "@BOARD.........................@", Colour.WHITE, Colour.BLUE)
    paper.sign(0, 46, "@RUNBY.......................@", Colour.LIGHT_CYAN, Colour.BLUE)
    bar(paper, row)
    paper.sign(row, 7, "@NEWS" + "." * 54 + "@", Colour.LIGHT_CYAN, Colour.BLUE)


def narrow_welcome() -> Paper:
    paper = Paper(NARROW, 18)
    bar(paper, 0)
    title(paper, "BLACK", 1, 2)
    title(paper, "JACK", 5, 2)
    paper.sign(6, 32, "F O R", Colour.WHITE)
    paper.sign(7, 31, "T I M E", Colour.WHITE)
    felt(paper, 11, 6, bulge=3)
    clock(paper, 9, 23, 14, *TEN_PAST_TEN)
    card(paper, 9, 2, "A", "S")
    card(paper, 9, 10, "J", "H")
    paper.sign(0, 6, "@BOARD....................@", Colour.WHITE, Colour.BLUE)
    bar(paper, 17)
    paper.sign(17, 1, "@NEWS" + "." * 31 + "@", Colour.LIGHT_CYAN, Colour.BLUE)
    return paper


def first_call(left: str = "WELCOME", right: str = "IN!") -> Paper:
    """Minutes become chips, chips go on the felt."""
    paper = Paper(WIDE, 16)
    bar(paper, 0)
    title(paper, left, 2, 3)
    title(paper, right, 2, 58)
    felt(paper, 7, 8, bulge=5)
    clock(paper, 6, 5, 18, *TEN_PAST_TEN)
    _arrow(paper, 11, 26)
    for column, count, colour in ((33, 7, "gold"), (41, 4, "red"), (37, 5, "cyan")):
        stack(paper, 13 + (colour == "cyan"), column, count, colour)
    _arrow(paper, 11, 50)
    card(paper, 8, 57, "A", "D")
    card(paper, 8, 65, "K", "S")
    bar(paper, 15)
    paper.centre(15, " @...............NAME..............@ ", Colour.WHITE, Colour.BLUE)
    return paper


def _arrow(paper: Paper, row: int, column: int) -> None:
    paper.sign(row, column, "■ ■ ►", Colour.YELLOW)


def narrow_first_call(words: str = "WELCOME!") -> Paper:
    paper = Paper(NARROW, 15)
    bar(paper, 0)
    _slim_title(paper, words, 2)
    felt(paper, 6, 8, bulge=3)
    clock(paper, 6, 1, 14, *TEN_PAST_TEN)
    stack(paper, 12, 17, 7, "gold")
    stack(paper, 13, 20, 4, "red")
    card(paper, 6, 27, "A", "D")
    bar(paper, 14)
    paper.centre(14, "@..........NAME...........@", Colour.WHITE, Colour.BLUE)
    return paper


def goodbye(words: str = "GOODBYE") -> Paper:
    """The lamp is low, the cards lie face down, the chips wait."""
    paper = Paper(WIDE, 16)
    bar(paper, 0)
    title(paper, words, 2, 3)
    _moon(paper, 64, 3)
    for x, y in ((57, 5), (60, 12), (55, 9), (76, 9), (78, 4), (62, 7)):
        paper.sign(y // 2, x, "·", Colour.WHITE, Colour.BLACK)
    felt(paper, 7, 8, bulge=5)
    back(paper, 8, 10)
    back(paper, 8, 18)
    card(paper, 8, 26, "A", "H")
    stack(paper, 14, 43, 10, "gold")
    stack(paper, 14, 51, 6, "red")
    stack(paper, 14, 59, 8, "blue")
    bar(paper, 15)
    paper.centre(15, " @..............BOARD..............@ ", Colour.WHITE, Colour.BLUE)
    return paper


def _moon(paper: Paper, column: int, y: int) -> None:
    for down in range(10):
        for across in range(10):
            inside = (across - 4.5) ** 2 + (down - 4.5) ** 2 <= 24
            if inside and (across - 7.5) ** 2 + (down - 3.5) ** 2 > 17:
                paper.dot(column + across, y + down, Colour.YELLOW)


def narrow_goodbye(words: str = "GOODBYE", column: int = 1) -> Paper:
    """Leave room for the words about call and day, which fill half of a small screen."""
    paper = Paper(NARROW, 7)
    bar(paper, 0)
    _slim_title(paper, words, 2, column)
    if column:  # else the words take its place
        _moon(paper, 30, 2)
    bar(paper, 6)
    paper.centre(6, "@..........BOARD..........@", Colour.WHITE, Colour.BLUE)
    return paper


def time_up(left: str = "TIME'S", right: str = "UP!", column: int = 61) -> Paper:
    """Midnight on the clock, and no chip left on the felt."""
    paper = Paper(WIDE, 16)
    bar(paper, 0, Colour.RED)
    title(paper, left, 3, 1, Colour.RED)
    title(paper, right, 3, column, Colour.RED)
    felt(paper, 8, 7, bulge=5)
    clock(paper, 3, 38, 20, *MIDNIGHT)
    back(paper, 8, 8)
    back(paper, 8, 61)
    bar(paper, 15, Colour.RED)
    paper.centre(15, " @..............BOARD..............@ ", Colour.WHITE, Colour.RED)
    return paper


def narrow_time_up(words: str = "TIME'S UP!") -> Paper:
    paper = Paper(NARROW, 7)
    bar(paper, 0, Colour.RED)
    _slim_title(paper, words, 2)
    bar(paper, 6, Colour.RED)
    paper.centre(6, "@..........BOARD..........@", Colour.WHITE, Colour.RED)
    return paper


# Headers.


def _slim_title(paper: Paper, text: str, row: int, column: int | None = None) -> None:
    if column is None:
        column = (paper.columns - width_of(text, SLIM)) // 2
    title(paper, text, row, column, Colour.BLACK, SLIM)


Ornament = Callable[[Paper, int], None]


def _header(words: str, rim: Colour, ornament: Ornament) -> Paper:
    """Set a title of three rows between two rails, and something of the room at the right."""
    paper = Paper(WIDE, HEADER_ROWS)
    _rails(paper, rim)
    title(paper, words, 1, 3)
    ornament(paper, 60)
    return paper


def _narrow_header(words: str, rim: Colour) -> Paper:
    paper = Paper(NARROW, NARROW_HEADER_ROWS)
    fade = "░▒▓" + "█" * (paper.columns - 6) + "▓▒░"
    paper.sign(0, 0, fade.replace("█", "▀"), rim, Colour.BLACK)
    _slim_title(paper, words, 1)
    return paper


def _rails(paper: Paper, rim: Colour) -> None:
    """Draw a thin rail above and below; its ends fade."""
    for row, y in ((0, 0), (HEADER_ROWS - 1, HEADER_ROWS * 2 - 1)):
        paper.fill(3, y, paper.columns - 6, 1, rim)
        paper.sign(row, 0, "░▒▓", rim, Colour.BLACK)
        paper.sign(row, paper.columns - 3, "▓▒░", rim, Colour.BLACK)


def _suits(paper: Paper, column: int) -> None:
    for number, suit in enumerate("SH"):
        colour = Colour.WHITE if suit == "S" else Colour.LIGHT_RED
        paper.spread(SUITS[suit], column + 3 + number * 8, 1, colour)


def _small_clock(paper: Paper, column: int) -> None:
    clock(paper, 0, column + 8, 10, *TEN_PAST_TEN)


def _chips(paper: Paper, column: int) -> None:
    stack(paper, 4, column - 6, 4, "gold")
    stack(paper, 4, column + 2, 6, "red")
    stack(paper, 4, column + 10, 5, "cyan")


def _tape(paper: Paper, column: int) -> None:
    """Draw the paper of a teletype, with its holes."""
    paper.fill(column - 6, 2, 22, 6, Colour.GREY)
    for row in range(1, 4):
        paper.sign(row, column - 6, "o", Colour.BLACK)
        paper.sign(row, column + 15, "o", Colour.BLACK)
    paper.sign(1, column - 3, "$ bj", Colour.BLACK)
    paper.sign(2, column - 3, "JC up", Colour.BLACK)
    paper.sign(3, column - 3, "AH+TS Hit?", Colour.BLACK)


def _posts(paper: Paper, column: int) -> None:
    """Draw two cards, and the gap between them that the third is to fall in."""
    for left, mark in ((column - 4, "4♣"), (column + 12, "J♦")):
        paper.fill(left, 1, 6, 8, Colour.GREY)
        colour = Colour.RED if "♦" in mark else Colour.BLACK
        paper.sign(1, left + 1, mark, colour)
        paper.sign(3, left + 3, mark, colour)
    paper.sign(2, column + 4, "◄ ░▒░ ►", Colour.LIGHT_RED)


def _safe(paper: Paper, column: int) -> None:
    """Draw the door of a safe, its wheel a clock."""
    paper.fill(column + 4, 1, 13, 8, Colour.CYAN)
    clock(paper, 0, column + 5, 10, *TEN_PAST_TEN)


def _newspaper(paper: Paper, column: int) -> None:
    """Draw the front page of a newspaper, two columns below its headline."""
    paper.fill(column - 1, 1, 17, 8, Colour.GREY)
    paper.sign(1, column + 4, "EXTRA!", Colour.RED)
    for row in (2, 3):
        paper.sign(row, column + 1, "───── ───────", Colour.BLACK)


ROOMS: dict[str, tuple[str, str, Colour, Ornament]] = {
    "menu": ("LOBBY", "LOBBY", Colour.BROWN, _chips),
    "black-jack-for-time": ("BLACK JACK", "BLACK JACK", Colour.GREEN, _small_clock),
    "baccarat": ("BACCARAT", "BACCARAT", Colour.MAGENTA, _suits),
    "vegas": ("VEGAS", "VEGAS", Colour.RED, _chips),
    "unix-bj": ("UNIX BJ", "UNIX BJ", Colour.CYAN, _tape),
    "red-dog": ("RED DOG", "RED DOG", Colour.RED, _posts),
    "time-bank": ("TIME BANK", "TIME BANK", Colour.CYAN, _safe),
    "hall-of-fame": ("FAME", "FAME", Colour.BROWN, _chips),
    "news": ("NEWS", "NEWS", Colour.CYAN, _newspaper),
    # For callers who read French; the names of the other games are the same.
    "menu.fr": ("ACCUEIL", "ACCUEIL", Colour.BROWN, _chips),
    "baccarat.fr": ("BACCARA", "BACCARA", Colour.MAGENTA, _suits),
    "time-bank.fr": ("BANQUE", "BANQUE", Colour.CYAN, _safe),
    "hall-of-fame.fr": ("GLOIRE", "GLOIRE", Colour.BROWN, _chips),
    "news.fr": ("JOURNAL", "JOURNAL", Colour.CYAN, _newspaper),
}
FIRST_CALL_FR, NARROW_FIRST_CALL_FR = ("BONJOUR", "!"), "BONJOUR!"
GOODBYE_FR = "A DEMAIN"
TIME_UP_FR, NARROW_TIME_UP_FR = ("C'EST", "FINI", 58), "C'EST FINI"

PICTURES: dict[str, tuple[Callable[[], Paper], Callable[[], Paper]]] = {
    "welcome": (welcome, narrow_welcome),
    "first-call": (first_call, narrow_first_call),
    "goodbye": (goodbye, narrow_goodbye),
    "time-up": (time_up, narrow_time_up),
    "first-call.fr": (
        partial(first_call, *FIRST_CALL_FR),
        partial(narrow_first_call, NARROW_FIRST_CALL_FR),
    ),
    "goodbye.fr": (partial(goodbye, GOODBYE_FR), partial(narrow_goodbye, GOODBYE_FR, 0)),
    "time-up.fr": (partial(time_up, *TIME_UP_FR), partial(narrow_time_up, NARROW_TIME_UP_FR)),
} | {
    name: (partial(_header, wide, rim, ornament), partial(_narrow_header, slim, rim))
    for name, (wide, slim, rim, ornament) in ROOMS.items()
}
