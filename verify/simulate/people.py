"""Callers who read their screens and press keys: they know menus and questions, not the program.

A person decides from the text on the screen alone, by chance and by temper: which game, how much,
when to leave. Now and then somebody leans on the keyboard.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from door.games.registry import GAMES
from verify.simulate.wire import Telephone, Wire

PASSWORD = "open sesame"
ENTER, ESCAPE, DELETE, INTERRUPT = "\r", "\x1b", "\x7f", "\x03"

_LETTER = re.compile(r"<(\S)>")

# How often a letter is chosen where it is offered, by a word of the question; 4 where none is said.
HABITS: Sequence[tuple[str, dict[str, int]]] = (
    (
        "Your game",
        {
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
        },
    ),
    ("<R>eady", {"R": 30, "B": 10, "T": 1, "C": 1, "L": 1, "K": 2, "U": 1, "Q": 2}),
    ("<T>alk", {"B": 20, "R": 20, "H": 8, "S": 12, "D": 6, "P": 6, "T": 1, "K": 1, "L": 1, "Q": 3}),
    ("<P>lace", {"P": 60, "R": 1, "C": 2, "U": 1, "T": 5, "S": 2, "M": 4, "L": 3, "Q": 5}),
    ("<P>onter", {"P": 60, "T": 4, "S": 2, "M": 4, "L": 6, "R": 1, "C": 1, "Q": 5}),
    ("<P>lay", {"P": 60, "M": 2, "Q": 12}),
    ("<H>it", {"H": 40, "S": 40, "D": 20}),
    ("Take over?", {"Y": 9, "N": 1}),
    ("<Y>es", {"Y": 8, "N": 1}),
    *(
        (words, dict(habit))
        for each in GAMES.values()
        for words, habit in each.samples.habits.items()
    ),
)
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
        for words, answer in self._questions():
            if words in prompt:
                return answer()
        if "Your choice" in prompt and "Enter for" not in prompt:
            return self._weighed(BANK)
        letters = _LETTER.findall(prompt)
        if letters:
            return self._chooses(prompt, letters)
        if prompt.endswith("?"):  # the teletype: a line with a y in it, or none, or the way out
            return chance.choice(("y\r", "y\r", ENTER, ENTER, ENTER, ENTER, ENTER, DELETE))
        return chance.choice(("", "", " "))

    def _questions(self) -> tuple[tuple[str, Callable[[], str]], ...]:
        chance = self.chance
        return (
            ("Press any key", lambda: " "),
            ("Press Enter", lambda: ENTER),
            ("Appuyez", lambda: " "),
            ("The name you want:", lambda: self.name + ENTER),
            ("Name:", lambda: (self.name if self.is_known else "new") + ENTER),
            ("Password:", self._password),
            ("A password (", lambda: PASSWORD + ENTER),
            ("The same once more:", lambda: PASSWORD + ENTER),
            ("Your password now:", lambda: ESCAPE + ESCAPE),
            ("Your choice (Enter for", lambda: ENTER),
            ("Coins to bet", lambda: self._number(1, 12)),
            ("Coins of insurance", lambda: self._number(1, 4)),
            ("lace your bets", self._wager),
            ("aites vos jeux", self._wager),
            ("how much, up to", lambda: self._number(1, 45)),
            ("Send to:", lambda: chance.choice([*self.others(), "nobody", ""]) + ENTER),
            ("Add a note", lambda: chance.choice(("here you are", "")) + ENTER),
            ("cut the cards", lambda: chance.choice(("", "lucky seven", ESCAPE)) + ENTER),
            ("pour couper", lambda: chance.choice(("", "la chance")) + ENTER),
            ("Name contains", lambda: ENTER),
            ("Say:", lambda: chance.choice(("hello all", "", "/" + self.name)) + ENTER),
            ("Whisper", lambda: chance.choice(("Ann01 psst", ESCAPE)) + ENTER),
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
        for words, weights in HABITS:
            if words in prompt:
                if words == "Your game":
                    return self._weighed(weights)
                return self._weighed({letter: weights.get(letter, 4) for letter in letters})
        return self._weighed(dict.fromkeys(letters, 1))

    def _weighed(self, weights: dict[str, int]) -> str:
        (letter,) = self.chance.choices(list(weights), list(weights.values()))
        return letter.lower()
