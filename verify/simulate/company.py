"""Callers in company: the daily deal, the hall of fame, pages and messages.

Only stories with `World.company` have it, so that all others stay unchanged. Each written text has
a number that identifies it wherever it appears.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from verify.robots import phrases, reading

ENTER, ESCAPE = "\r", "\x1b"
WALL = "the wall"  # the receiver of a one-liner
ANYBODY = "whoever wrote last"

# How often a room of company is entered, when the main menu is not left for another one.
ROOMS = {"D": 24, "H": 5, "S": 5, "M": 14}
GOES = 0.4
SPEAKS = 0.08  # where anything may be pressed
# By the keys that a question offers, how often each is pressed.
HABITS = (
    (set("PTURLQ"), {"P": 30, "R": 1, "L": 3, "T": 20, "U": 12, "Q": 6}),
    (set("TUVRLQ"), {"R": 1, "L": 2, "T": 12, "U": 8, "V": 1, "Q": 5}),
    (set("PURLQ"), {"P": 50, "R": 1, "L": 3, "U": 12, "Q": 6}),
    (set("UVRLQ"), {"R": 1, "L": 4, "U": 8, "V": 1, "Q": 8}),
    (set("PRLQ"), {"P": 50, "R": 1, "L": 3, "Q": 6}),
    (set("VRLQ"), {"R": 1, "L": 4, "V": 1, "Q": 8}),
    (set("CQ"), {"C": 6, "1": 12, "2": 3, "Q": 6}),
    (set("ADRQ"), {"A": 20, "D": 4, "R": 1, "Q": 4}),
    (set("WRQ"), {"W": 2, "R": 1, "Q": 12}),
    (set("PRQ"), {"P": 30, "R": 1, "Q": 4}),
    (set("VRQ"), {"V": 2, "R": 1, "Q": 8}),
    ({"T", "W", "E", "B", "Q"}, {"T": 2, "W": 2, "E": 2, "B": 1, "Q": 4}),
    ({"L", "Q"}, {"Q": 1}),  # luck is worked out by a process, and none is simulated
)
OF_MESSAGES = {"W": 12, "S": 2, "O": 6, "R": 5, "I": 1, "Q": 9}
# Of a hand of the deal: the way out is another than at a table.
OF_A_HAND = {"H": 20, "S": 24, "D": 6, "I": 3, "N": 6, "Q": 2}


@dataclass(frozen=True)
class Letter:
    """A written text: its author and its reader."""

    number: int
    sender: str
    to: str

    @property
    def mark(self) -> str:
        """The part that no other text contains.

        >>> Letter(7, "Ann", "Bob").mark
        'q00007'
        """
        return f"q{self.number:05}"


class Letters:
    """Everything that was ever written in a story."""

    def __init__(self) -> None:
        self._written: list[Letter] = []
        # Authors; a caller who leans on the keyboard may have another name on the board.
        self.senders: set[str] = set()

    def write(self, sender: str, to: str) -> str:
        """Return the words of a new letter."""
        letter = Letter(len(self._written), sender, to)
        self._written.append(letter)
        return f"{letter.mark} it is your turn"

    def find(self, number: int) -> Letter | None:
        """Return the text with this number; None for an unknown one."""
        return self._written[number] if number < len(self._written) else None


class Company:
    """One caller's acts in company; `others` names possible receivers."""

    def __init__(
        self, name: str, letters: Letters, chance: random.Random, others: Callable[[], list[str]]
    ) -> None:
        self._name, self._letters = name, letters
        letters.senders.add(name)
        self._chance = chance
        self._others = others

    def decides(self, prompt: str) -> str | None:
        """Return the keys that are pressed at this prompt; None where company has no part in it."""
        if (typed := phrases.SAY_COMMAND.search(prompt)) is not None:
            return self._says_again(prompt[typed.end() :])
        if phrases.WRITE_TO.is_in(prompt):
            return self._chance.choice((*self._others(), "nobody")) + ENTER
        if phrases.CHALLENGE.is_in(prompt):
            return self._chance.choice((*self._others(), "nobody", "")) + ENTER
        if phrases.STAKE.is_in(prompt):
            return self._chance.choice(("1", "2", "5", "max")) + ENTER
        if phrases.YOUR_LINE.is_in(prompt):
            return self._letters.write(self._name, WALL) + ENTER
        if phrases.WHOM_TO_IGNORE.is_in(prompt):
            return self._chance.choice((*self._others(), "")) + ENTER
        asked = phrases.WRITE_TEXT.search(prompt)
        if asked is not None and not asked.start():
            return self._writes(asked["name"], prompt[asked.end() :])
        letters = reading.letters(prompt)
        if letters and self._chance.random() < SPEAKS:
            return self.command()
        if phrases.MAIN_MENU.is_in(prompt):
            return self._weighed(ROOMS) if self._chance.random() < GOES else None
        return self._chooses(letters)

    def _chooses(self, letters: Sequence[str]) -> str | None:
        offered = set(letters)
        for known, habits in HABITS:
            if known in (offered, offered - {"B"}):  # B, the boards, joins the deal's keys late
                return self._weighed(habits)
        if {"W", "S", "R", "I", "Q"} <= offered or offered == {"O", "I", "Q"}:
            return self._weighed({each: OF_MESSAGES.get(each, 1) for each in letters})
        if offered <= set(OF_A_HAND) and "Q" in offered and offered & set("HN"):
            return self._weighed({each: OF_A_HAND[each] for each in letters})
        return None

    def command(self) -> str:
        """Return a command: mostly a message to another caller, or an answer."""
        way = self._chance.random()
        if way < 0.1:
            return f"/w{ENTER}"
        if way < 0.3:
            return f"/r {self._letters.write(self._name, ANYBODY)}{ENTER}"
        to = self._chance.choice((*self._others(), "nobody"))
        colon = self._chance.choice(("", ":"))
        return f"/p {to}{colon} {self._letters.write(self._name, to)}{ENTER}"

    def _says_again(self, typed: str) -> str:
        """Say something, resend a refused text, or leave it."""
        if not typed.strip(" /"):
            return self.command()[1:]
        return self._chance.choice((ENTER, ESCAPE, ESCAPE))

    def _writes(self, to: str, typed: str) -> str:
        if typed.strip():
            return self._chance.choice((ENTER, ESCAPE, ESCAPE))
        return self._letters.write(self._name, to) + ENTER

    def _weighed(self, weights: dict[str, int]) -> str:
        (letter,) = self._chance.choices(list(weights), list(weights.values()))
        return letter.lower()
