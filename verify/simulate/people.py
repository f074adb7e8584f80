"""Callers who read their screens and press keys: they know menus and questions, not the program.

A person decides by the text on the screen alone, by chance and by temper: the game, the amount,
the time to leave. Sometimes a person leans on the keyboard.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from door.games.registry import GAMES
from verify.robots import phrases, reading
from verify.robots.phrases import Said
from verify.simulate.company import Company
from verify.simulate.wire import Telephone, Wire

PASSWORD = "open sesame"
SILENT = "FT?"  # keys that mean something where no menu names them
ENTER, ESCAPE, DELETE, INTERRUPT = "\r", "\x1b", "\x7f", "\x03"

# How often a room is entered from the main menu.
ROOMS = dict.fromkeys((game.letter for game in GAMES.values()), 20)
ROOMS |= {"B": 30, "C": 25, "U": 20, "V": 35, "T": 20, "W": 2, "N": 1, "Y": 2, "G": 5}
# How often a letter is pressed where all of these are offered, in any language; 4 by default. Keys
# outside the menus are pressed too: in a hand F, T and ? have their fixed meaning.
HABITS: Sequence[tuple[str, dict[str, int]]] = (
    ("KBAQ", {"B": 20, "A": 20, "C": 2, "K": 2, "R": 1, "F": 4, "T": 1, "U": 1, "Q": 2}),
    ("KBQ", {"B": 10, "C": 2, "K": 3, "R": 1, "F": 4, "T": 1, "U": 1, "Q": 2}),
    ("KHS", {"H": 8, "S": 12, "D": 6, "P": 6, "K": 1, "F": 1, "T": 1, "Q": 3}),
    ("BFMLS", {"B": 70, "M": 4, "L": 4, "S": 2, "C": 1, "R": 1, "F": 8, "T": 3, "Q": 5}),
    ("BFTQ", {"B": 60, "R": 1, "F": 8, "C": 2, "U": 1, "T": 5, "Q": 5}),
    ("PMQ", {"P": 60, "M": 2, "Q": 12}),
    ("HS", {"H": 40, "S": 40, "D": 20, "F": 2, "T": 1, "?": 1}),
    ("RS", {"R": 30, "S": 40, "F": 2, "T": 1, "?": 1}),
    ("CN", {"C": 10, "N": 10}),
    ("YN", {"Y": 8, "N": 1}),
    ("NQ", {"N": 6, "Q": 3}),
)
TOUR = Said("First time here? Take a one-minute tour?")
RECOVERY_CODE = Said("Recovery code:")
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
        self.seen = 0  # bytes received at the last decision
        self.company: Company | None = None  # their company, in stories that have it

    @property
    def wire(self) -> Wire | None:
        """Their line, the newest of two."""
        self.wires = [wire for wire in self.wires if not wire.closed]
        return self.wires[-1] if self.wires else None

    def decides(self, prompt: str) -> str:
        """Return the keys that they press at this prompt, "" for none."""
        chance = self.chance
        if chance.random() < 0.01:
            return "".join(chance.choice("yn \rqhspbtd1\x1b\x7f\x08") for _ in range(12))
        if self.company is not None:
            keys = self.company.decides(prompt)
            if keys is not None:
                return keys
        for question, answer in self._questions():
            if question.is_in(prompt):
                return answer()
        if phrases.WINDOW.is_in(prompt):
            return self._weighed(BANK)
        if phrases.MAIN_MENU.is_in(prompt):
            return self._weighed(ROOMS)
        letters = reading.letters(prompt)
        if letters:
            return self._chooses(letters)
        if prompt.endswith("?"):  # the teletype: a line with a y in it, or none, or the way out
            return chance.choice(("y\r", "y\r", ENTER, ENTER, ENTER, ENTER, ENTER, DELETE))
        return chance.choice(("", "", " "))

    def _questions(self) -> tuple[tuple[Said, Callable[[], str]], ...]:
        chance = self.chance
        return (
            (phrases.ANY_KEY, lambda: " "),
            (phrases.PRESS_ENTER, lambda: ENTER),
            (TOUR, lambda: chance.choice("ynnnnnnnn")),
            (phrases.NEW_NAME, lambda: self.name + ENTER),
            (phrases.NAME, lambda: (self.name if self.is_known else "new") + ENTER),
            (phrases.PASSWORD_NOW, lambda: ESCAPE + ESCAPE),
            (phrases.PASSWORD, self._password),
            (phrases.NEW_PASSWORD, lambda: PASSWORD + ENTER),
            (phrases.SAME_AGAIN, lambda: PASSWORD + ENTER),
            (RECOVERY_CODE, lambda: ESCAPE),
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

    def _chooses(self, letters: Sequence[str]) -> str:
        if self.chance.random() < 0.05:
            return ENTER  # for the default shown as "(Enter)", if any
        for offered, weights in HABITS:
            if set(offered) <= set(letters):
                silent = {each: weights[each] for each in SILENT if each in weights}
                return self._weighed({each: weights.get(each, 4) for each in letters} | silent)
        return self._weighed(dict.fromkeys(letters, 1))

    def _weighed(self, weights: dict[str, int]) -> str:
        (letter,) = self.chance.choices(list(weights), list(weights.values()))
        return letter.lower()
