"""The screen at a caller's end: 24 rows of 80 columns, and the lines that scrolled by.

A terminal emulator would do (the tests hold this one against pyte), but a thousand of them in one
process would cost more than the board. This one draws runs of text, not single characters, and
knows no colours: a robot reads words.
"""

from __future__ import annotations

import codecs
import re

from tests.home_computer import SCREENS, Atari
from verify.robots import phrases

ROWS, COLUMNS = 24, 80
MOST_PIECES = 4_000  # of unread text

_PIECE = re.compile(
    r"\x1b\[([?0-9;]*)([A-Za-z])|[\r\n\b]|[^\x00\x07\x1b\r\n\b]+|[\x00\x07]|\x1b[^\[]"
)
# A choice as plain lines write it: "Hit (H)".
_READ_OUT = re.compile(r"((?:[^\s,.:;?!()]| (?! ))+) \(([A-Z])(?:, (\w+))?\)(?:, ?(?=\S|$))?")
_ANSWERED = re.compile(r"\s\S$")
# CP437's pictures for the control characters used on cards.
_SUITS = str.maketrans({"\x03": "♥", "\x04": "♦", "\x05": "♣", "\x06": "♠", "\x10": "►"})


def marked(text: str) -> str:
    """Return text with the choices of plain lines as painted screens mark them.

    >>> marked("Press any key  Statement (S)"), marked("Beat the dealer; (3)")
    ('Press any key  <S>tatement', 'Beat the dealer; (3)')
    >>> marked("You have 14.  Hit (H), Stand (S), Tutor (U, Enter)")
    'You have 14.  <H>it  <S>tand  T<u>tor (Enter)'
    """

    def mark(choice: re.Match[str]) -> str:
        label, letter, enter = choice.groups()
        at = label.casefold().find(letter.casefold())
        start, after = (label[:at], label[at + 1 :]) if at >= 0 else ("", f" {label}")
        lit = f"{start}<{label[at] if at >= 0 else letter}>{after}"
        comma = "  " if choice[0].rstrip().endswith(",") else ""
        return f"{lit} ({enter}){comma}" if enter else f"{lit}{comma}"

    return _READ_OUT.sub(mark, text)


class Screen:
    """The screen of a terminal with this character set."""

    def __init__(self, charset: str) -> None:
        self._decoder = codecs.getincrementaldecoder(charset)("replace")
        self._unread = ""  # a sequence that has only begun
        self._scrolled: list[str] = []
        self.rows = [" " * COLUMNS] * ROWS
        self.row = self.column = 0

    def feed(self, data: bytes) -> None:
        """Process output."""
        text = self._unread + self._decoder.decode(data).translate(_SUITS)
        position = 0
        for piece in _PIECE.finditer(text):
            if piece.start() != position:
                break
            position = piece.end()
            if piece[2]:
                self._control(piece[1], piece[2])
            else:
                self._show(piece[0])
        self._unread = text[position:]

    @property
    def prompt(self) -> str:
        """The text before the cursor, with the row above where both belong together.

        They are rows of one menu, or a question with a row for its answer. In scrolling lines, an
        answer follows the question above.
        """
        first = self.row
        while first and self.rows[first - 1].rstrip().endswith("),"):  # choices in plain lines
            first -= 1
        prompt = marked(" ".join(map(str.strip, self.rows[first : self.row + 1])))
        above = self.rows[first - 1].strip() if first else ""
        # Where lines scroll, an empty answer leaves an empty row below many a question.
        if above.endswith(":") and (self.row == ROWS - 2 or phrases.CUT.is_in(above)):
            return f"{above} {prompt}".rstrip()
        is_menu = "<" in prompt and "<" in above and not _ANSWERED.search(above)
        return f"{above}  {prompt}" if is_menu else prompt

    @property
    def is_asking(self) -> bool:
        """Whether the cursor of a painted screen is at a question of the board."""
        return self.row == ROWS - 2 and bool(self.prompt)

    @property
    def picture(self) -> str:
        return "\n".join(row.rstrip() for row in self.rows)

    def typed(self, keys: str) -> bytes:
        """Return what the terminal sends for these keys."""
        return keys.encode(errors="ignore")

    def heard(self) -> list[str]:
        """Take the lines completed since the last time; a painted screen has none."""
        *lines, rest = "".join(self._scrolled).split("\n")
        self._scrolled = [rest] if rest else []
        return lines

    def _show(self, piece: str) -> None:
        if piece == "\r":
            self.column = 0
        elif piece == "\n":
            self._feed_line()
            self._scrolled.append("\n")
        elif piece == "\b":
            self.column = max(0, self.column - 1)
        elif piece[0] not in "\x00\x07\x1b":
            self._scrolled.append(piece)
            if len(self._scrolled) > MOST_PIECES:
                del self._scrolled[: MOST_PIECES // 2]
            self._draw(piece)

    def _draw(self, text: str) -> None:
        while text:
            if self.column >= COLUMNS:
                self.column = 0
                self._feed_line()
            part, text = text[: COLUMNS - self.column], text[COLUMNS - self.column :]
            row, end = self.rows[self.row], self.column + len(part)
            self.rows[self.row] = row[: self.column] + part + row[end:]
            self.column = end

    def _feed_line(self) -> None:
        if self.row + 1 < ROWS:
            self.row += 1
        else:
            self.rows = [*self.rows[1:], " " * COLUMNS]

    def _control(self, values: str, letter: str) -> None:
        numbers = [int(part) for part in values.lstrip("?").split(";") if part]
        first = numbers[0] if numbers else 0
        if letter == "H":
            second = numbers[1] if len(numbers) > 1 else 1
            self.row, self.column = min(max(first, 1), ROWS) - 1, min(max(second, 1), COLUMNS) - 1
            self._scrolled.clear()  # a caller with a painted screen does not read lines
        elif letter == "C":
            self.column = min(self.column + max(first, 1), COLUMNS - 1)
        elif letter == "D":
            self.column = max(self.column - max(first, 1), 0)
        elif letter == "K":
            self.rows[self.row] = self.rows[self.row][: self.column].ljust(COLUMNS)
        elif letter == "J" and first == 2:
            self.rows = [" " * COLUMNS] * ROWS


class HomeComputerScreen(Screen):
    """The screen of a home computer, read from the model that the tests have of one."""

    def __init__(self, charset: str) -> None:
        super().__init__("ascii")
        self._computer = Atari(COLUMNS, ROWS) if charset == "atascii" else SCREENS[charset]()

    def feed(self, data: bytes) -> None:
        self._computer.feed(data)
        self.rows = [row.replace("|", "│") for row in self._computer.display]
        self.row, self.column = self._computer.cursor.y, self._computer.cursor.x

    def typed(self, keys: str) -> bytes:
        return self._computer.keys(keys)
