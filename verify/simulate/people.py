"""Callers who read their screens and press keys: they know menus and questions, not the program.

A person decides from the text on the screen alone, by chance and by temper: which game, how much,
when to leave. Now and then somebody leans on the keyboard.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from door.games.registry import GAMES
from verify.robots import phrases, reading
from verify.simulate.wire import Telephone, Wire

PASSWORD = "open sesame"
ENTER, ESCAPE, DELETE, INTERRUPT = "\r", "\x1b", "\x7f", "\x03"

# How often a letter is chosen where it is offered, by a word of the question; 4 where none is said.
HABITS: Sequence[tuple[str, dict[str, int]]] = (
    ("<N>ext", {"N": 6, "Q": 3}),
    ("Tal<k>", {"B": 25, "A": 25, "H": 8, "S": 12, "D": 6, "P": 6, "C": 1, "R": 1, "F": 8, "T": 1}),
    ("<S>hoe", {"B": 60, "R": 1, "F": 10, "C": 2, "T": 4, "S": 2, "M": 4, "L": 4, "Q": 5}),
    ("<S>abot", {"B": 60, "R": 1, "F": 10, "C": 2, "T": 4, "S": 2, "M": 4, "L": 8, "Q": 5}),
    ("<F>airness", {"B": 60, "R": 1, "F": 10, "C": 2, "U": 1, "T": 5, "Q": 5}),
    ("<P>lay", {"P": 60, "M": 2, "Q": 12}),
    ("<H>it", {"H": 40, "S": 40, "D": 20}),
    ("<Y>", {"Y": 8, "N": 1}),
    *(
        (words, dict(habit))
        for each in GAMES.values()
        for words, habit in each.samples.habits.items()
    ),
)
MAIN_MENU = {
    **{game.letter: 20 for game in GAMES.values()},
    "B": 30,
    "C": 25,
    "U": 20,
    "V": 35,
    "T": 20,
    "W": 2,
    "N": 1,
    "Y": 2,
    "G": 5,
}
# The same in a language whose labels are not known.
ANY_TABLE = {"B": 60, "F": 10, "H": 40, "S": 40, "D": 20, "L": 8, "Q": 5, "Y": 8, "N": 1}
BANK = {"D": 10, "W": 12, "T": 10, "B": 8, "R": 8, "A": 1, "L": 1, "H": 2, "Q": 14}


class Person:
    """A caller of this name, with a telephone of their own."""

    def __init__(
        self,
        name: str,
        telephone: Telephone,
        chance: random.Random,
        others: Callable[[], list[str]],
    ) -> None:
        self.name = name
        self.telephone = telephone
        self.chance = chance
        self.others = others
        self.is_known = False  # whether the board has their name
        self.wires: list[Wire] = []  # two while they take over a call of their own
        self.seen = 0  # bytes that had come when they last decided

    @property
    def wire(self) -> Wire | None:
        """The line they are on, the newest if there are two."""
        self.wires = [wire for wire in self.wires if not wire.closed]
        return self.wires[-1] if self.wires else None

    def decides(self, prompt: str) -> str:
        """Return the keys that they press at this prompt, "" for none."""
        chance = self.chance
        if chance.random() < 0.01:
            return "".join(chance.choice("yn \rqhspbtd1\x1b\x7f\x08") for _ in range(12))
        for said, answer in self._questions():
            if said.is_in(prompt):
                return answer()
        if phrases.WINDOW.is_in(prompt):
            return self._weighed(BANK)
        if phrases.MAIN_MENU.is_in(prompt):
            return self._weighed(MAIN_MENU)
        letters = reading.letters(prompt)
        if letters:
            return self._chooses(prompt, letters)
        if prompt.endswith("?"):  # the teletype: a line with a y in it, or none, or the way out
            return chance.choice(("y\r", "y\r", ENTER, ENTER, ENTER, ENTER, ENTER, DELETE))
        return chance.choice(("", "", " "))

    def _questions(self) -> tuple[tuple[phrases.Said, Callable[[], str]], ...]:
        chance = self.chance
        return (
            (phrases.ANY_KEY, lambda: " "),
            (phrases.PRESS_ENTER, lambda: ENTER),
            (phrases.NEW_NAME, lambda: self.name + ENTER),
            (phrases.NAME, lambda: (self.name if self.is_known else "new") + ENTER),
            (phrases.PASSWORD_NOW, lambda: ESCAPE + ESCAPE),
            (phrases.PASSWORD, self._password),
            (phrases.NEW_PASSWORD, lambda: PASSWORD + ENTER),
            (phrases.SAME_AGAIN, lambda: PASSWORD + ENTER),
            (phrases.ENTER_FOR, lambda: ENTER),
            (phrases.COINS_TO_BET, lambda: self._number(1, 12)),
            (phrases.INSURANCE, lambda: self._number(1, 4)),
            (phrases.PLACE_BETS, self._wager),
            (phrases.HOW_MUCH, lambda: self._number(1, 45)),
            (phrases.SEND_TO, lambda: chance.choice([*self.others(), "nobody", ""]) + ENTER),
            (phrases.NOTE, lambda: chance.choice(("here you are", "")) + ENTER),
            (phrases.CUT, lambda: chance.choice(("", "lucky seven", ESCAPE)) + ENTER),
            (phrases.NAME_CONTAINS, lambda: ENTER),
            (phrases.SAY, lambda: chance.choice(("hello all", "", "/" + self.name)) + ENTER),
            (phrases.WHISPER, lambda: chance.choice(("Ann01 psst", ESCAPE)) + ENTER),
        )

    def _password(self) -> str:
        return ("wrong" if self.chance.random() < 0.02 else PASSWORD) + ENTER

    def _number(self, least: int, most: int) -> str:
        odd = ("", "0", "9999", ESCAPE, "1:30", "99")
        if self.chance.random() < 0.15:
            return self.chance.choice(odd) + ENTER
        return f"{self.chance.randint(least, most)}{ENTER}"

    def _wager(self) -> str:
        chance = self.chance
        if chance.random() < 0.3:
            return ENTER
        return f"{chance.choice((1, 3, 10, 100, 5000, 50_000, 100_000, 400_000))}{ENTER}"

    def _chooses(self, prompt: str, letters: Sequence[str]) -> str:
        weights = next((weights for words, weights in HABITS if words in prompt), ANY_TABLE)
        return self._weighed({letter: weights.get(letter, 4) for letter in letters})

    def _weighed(self, weights: dict[str, int]) -> str:
        (letter,) = self.chance.choices(list(weights), list(weights.values()))
        return letter.lower()
