"""The same pictures in plain letters, for terminals without others.

Titles are set from the same dots: `8` for a full cell, `"` and `o` for a half one. Everything else
was typed by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tools.draw import pictures
from tools.draw.letters import LOGO, SLIM, TITLE, Font, dots_of

WIDE, NARROW = 80, 40
_OF_DOTS = {(True, True): "8", (True, False): '"', (False, True): "o"}


class Sheet:
    def __init__(self, columns: int, rows: int) -> None:
        self.columns = columns - 1
        self._cells = [[" "] * self.columns for _ in range(rows)]

    def put(self, row: int, column: int, drawing: str, clear: str = "~") -> None:
        """Lay a drawing over the sheet: a blank shows what is below, a tilde hides it."""
        for r, line in enumerate(drawing.strip("\n").split("\n"), row):
            for c, letter in enumerate(line, column):
                if letter != " ":
                    self._cells[r][c] = " " if letter == clear else letter

    def title(self, row: int, column: int, text: str, font: Font = TITLE) -> None:
        dots, width = dots_of(font, text)
        marked = set(dots)
        for r in range(max(y for _, y in dots) // 2 + 1):
            for x in range(width):
                halves = (x, 2 * r) in marked, (x, 2 * r + 1) in marked
                if any(halves):
                    self._cells[row + r][column + x] = _OF_DOTS[halves]

    def centred(self, row: int, text: str, font: Font = TITLE) -> None:
        self.title(row, (self.columns - dots_of(font, text)[1]) // 2, text, font)

    def rule(self, row: int, words: str = "", mark: str = "=") -> None:
        middle = f"[ {words} ]" if words else ""
        self.put(row, 0, middle.center(self.columns, mark).replace(" ", "~"))

    def lines(self) -> list[str]:
        return ["".join(row).rstrip() for row in self._cells]


CLOCK = """
   .--"~12~"--.
 .'~~~~~~~~~~~~'.
/~~~~.~~~~~/~~~~~\\
|~~~~~'.~~/~~~~~~|
|9~~~~~~'o~~~~~~3|
|~~~~~~~~~~~~~~~~|
\\~~~~~~~~~~~~~~~~/
 '.~~~~~~~~~~~~.'
   '-.._~6~_..-'
"""
MIDNIGHT = """
   .--"~12~"--.
 .'~~~~~||~~~~~'.
/~~~~~~~||~~~~~~~\\
|~~~~~~~||~~~~~~~|
|9~~~~~~()~~~~~~3|
|~~~~~~~~~~~~~~~~|
\\~~~~~~~~~~~~~~~~/
 '.~~~~~~~~~~~~.'
   '-.._~6~_..-'
"""
WATCH = """
 .-12-.
/~~~|~~\\
9~~~o--3
\\~~~~~~/
 '-.6-'
"""
SPADE = """
.-------.
|A~~.~~~|
|~~/.\\~~|
|~(_._)~|
|~~~|~~A|
'-------'
"""
HEART = """
.-------.
|J~_~_~~|
|~(~v~)~|
|~~\\~/~~|
|~~~.~~J|
'-------'
"""
DIAMOND = """
.-------.
|A~/\\~~~|
|~/~~\\~~|
|~\\~~/~~|
|~~\\/~~A|
'-------'
"""
BACK = """
.-------.
|:.:.:.:|
|.:.:.:.|
|:.:.:.:|
|.:.:.:.|
'-------'
"""
CHIPS = """
(=====)
(=====)
(=====)~~(=====)
(=====)~~(=====)
"""
FEW_CHIPS = """
(=====)
(=====)
(=====)
"""
MOON = """
  _.-.
.'~.'
|~(
'.~'._
  '-.-'
"""

BOARD, RUN_BY = "@BOARD..................@", "@RUNBY.......................@"
CENTRED_BOARD = "@..........BOARD.........@"
NEWS, SHORT_NEWS = (f"@NEWS{'.' * dots}@" for dots in (54, 31))
CENTRED_NAME = "@..........NAME.........@"


def _rail(sheet: Sheet, row: int) -> None:
    """The edge of the felt."""
    sheet.put(row, 0, "~" * sheet.columns)
    sheet.put(row, 0, ".".ljust(sheet.columns - 1, "_").replace("_", "-") + ".")


def welcome() -> list[str]:
    sheet = Sheet(WIDE, 20)
    sheet.rule(0)
    sheet.title(1, 2, "BLACK", LOGO)
    sheet.title(1, 46, "JACK", LOGO)
    sheet.title(7, 5, "FOR")
    sheet.title(7, 30, "TIME")
    _rail(sheet, 11)
    sheet.put(12, 5, SPADE)
    sheet.put(12, 11, HEART)
    sheet.put(12, 24, BACK)
    sheet.put(14, 38, CHIPS)
    sheet.put(8, 58, CLOCK)
    sheet.put(0, 4, f"[~{BOARD}~]")
    # Without a frame, for it may be empty; the rule ends before it.
    sheet.put(0, 40, f"~{RUN_BY}".ljust(sheet.columns - 40, "~"))
    sheet.rule(18)
    sheet.put(19, 4, NEWS)
    return sheet.lines()


def narrow_welcome() -> list[str]:
    sheet = Sheet(NARROW, 17)
    sheet.rule(0)
    sheet.title(1, 2, "BLACK")
    sheet.title(5, 2, "JACK")
    sheet.put(6, 32, "F O R")
    sheet.put(7, 31, "T I M E")
    sheet.put(9, 2, SPADE)
    sheet.put(9, 8, HEART)
    sheet.put(9, 26, WATCH)
    sheet.rule(0, CENTRED_BOARD)
    sheet.rule(15)
    sheet.put(16, 1, SHORT_NEWS)
    return sheet.lines()


def first_call(left: str = "WELCOME", right: str = "IN!") -> list[str]:
    sheet = Sheet(WIDE, 16)
    sheet.rule(0)
    sheet.title(2, 3, left)
    sheet.title(2, 58, right)
    sheet.put(5, 4, CLOCK)
    sheet.put(9, 27, "- - >")
    sheet.put(8, 35, CHIPS)
    sheet.put(9, 54, "- - >")
    sheet.put(7, 61, DIAMOND)
    sheet.put(7, 67, SPADE)
    sheet.rule(15, CENTRED_NAME)
    return sheet.lines()


def narrow_first_call(words: str = "WELCOME!") -> list[str]:
    sheet = Sheet(NARROW, 13)
    sheet.rule(0)
    sheet.centred(2, words, SLIM)
    sheet.put(6, 2, WATCH)
    sheet.put(8, 14, FEW_CHIPS)
    sheet.put(6, 26, DIAMOND)
    sheet.rule(12, CENTRED_NAME)
    return sheet.lines()


def goodbye(words: str = "GOODBYE") -> list[str]:
    sheet = Sheet(WIDE, 15)
    sheet.rule(0)
    sheet.title(2, 3, words)
    sheet.put(1, 64, MOON)
    for row, column in ((2, 57), (4, 59), (1, 74), (5, 73)):
        sheet.put(row, column, ".")
    _rail(sheet, 7)
    sheet.put(8, 10, BACK)
    sheet.put(8, 16, BACK)
    sheet.put(8, 22, SPADE)
    sheet.put(10, 42, CHIPS)
    sheet.put(11, 60, FEW_CHIPS)
    sheet.rule(14, CENTRED_BOARD)
    return sheet.lines()


def narrow_goodbye(words: str = "GOODBYE", column: int = 1) -> list[str]:
    sheet = Sheet(NARROW, 7)
    sheet.rule(0)
    sheet.title(2, column, words, SLIM)
    sheet.put(1, 31, MOON)
    sheet.rule(6, CENTRED_BOARD)
    return sheet.lines()


def time_up(left: str = "TIME'S", right: str = "UP!", column: int = 61) -> list[str]:
    sheet = Sheet(WIDE, 14)
    sheet.rule(0)
    sheet.title(3, 1, left)
    sheet.title(3, column, right)
    _rail(sheet, 7)
    sheet.put(2, 39, MIDNIGHT)
    sheet.put(8, 9, BACK.replace("\n'-------'", ""))
    sheet.put(8, 64, BACK.replace("\n'-------'", ""))
    sheet.rule(13, CENTRED_BOARD)
    return sheet.lines()


def narrow_time_up(words: str = "TIME'S UP!") -> list[str]:
    sheet = Sheet(NARROW, 7)
    sheet.rule(0)
    sheet.centred(2, words, SLIM)
    sheet.rule(6, CENTRED_BOARD)
    return sheet.lines()


ORNAMENTS = {
    "menu": "           (====)\n   (====)  (====)\n   (====)  (====)",
    "black-jack-for-time": ' .12.\n9  o-3\n "6" ',
    "baccarat": "  _ _\n ( v )    /\\\n  \\ /     \\/",
    "vegas": "           (====)\n   (====)  (====)\n   (====)  (====)",
    "unix-bj": "  o $ bj       o\n  o JC up      o\n  o AH+TS Hit? o",
    "red-dog": " .----.      .----.\n |4C  | <--> |JD  |\n '----'      '----'",
    "time-bank": "   .---.\n o( .12.)\n   '---'",
    "hall-of-fame": "           (====)\n   (====)  (====)\n   (====)  (====)",
    "news": " .---------------.\n | EXTRA!  ----- |\n | ------  ----- |",
}
TITLES = {
    "menu": ("LOBBY", 58),
    "black-jack-for-time": ("BLACK JACK", 72),
    "baccarat": ("BACCARAT", 63),
    "vegas": ("VEGAS", 58),
    "unix-bj": ("UNIX BJ", 58),
    "red-dog": ("RED DOG", 57),
    "time-bank": ("TIME BANK", 66),
    "hall-of-fame": ("FAME", 58),
    "news": ("NEWS", 58),
    "menu.fr": ("ACCUEIL", 58),
    "baccarat.fr": ("BACCARA", 63),
    "time-bank.fr": ("BANQUE", 66),
    "hall-of-fame.fr": ("GLOIRE", 58),
    "news.fr": ("JOURNAL", 58),
}


def _header(name: str) -> list[str]:
    words, column = TITLES[name]
    sheet = Sheet(WIDE, 5)
    sheet.rule(0)
    sheet.title(1, 3, words)
    sheet.put(1, column, ORNAMENTS[name.partition(".")[0]])
    sheet.rule(4)
    return sheet.lines()


def _narrow_header(name: str) -> list[str]:
    sheet = Sheet(NARROW, 4)
    sheet.rule(0)
    sheet.centred(1, TITLES[name][0], SLIM)
    return sheet.lines()


Lines = Callable[[], list[str]]

PICTURES: dict[str, tuple[Lines, Lines]] = {
    "welcome": (welcome, narrow_welcome),
    "first-call": (first_call, narrow_first_call),
    "goodbye": (goodbye, narrow_goodbye),
    "time-up": (time_up, narrow_time_up),
    "first-call.fr": (
        partial(first_call, *pictures.FIRST_CALL_FR),
        partial(narrow_first_call, pictures.NARROW_FIRST_CALL_FR),
    ),
    "goodbye.fr": (
        partial(goodbye, pictures.GOODBYE_FR),
        partial(narrow_goodbye, pictures.GOODBYE_FR, 0),
    ),
    "time-up.fr": (
        partial(time_up, *pictures.TIME_UP_FR),
        partial(narrow_time_up, pictures.NARROW_TIME_UP_FR),
    ),
} | {name: (partial(_header, name), partial(_narrow_header, name)) for name in TITLES}
