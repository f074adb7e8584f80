"""What a robot presses at which question: by chance, by its taste, and by the words that it reads.

Robots know the house as callers know it: letters that are lit, questions that recur, and that a
bank wants a number.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence

from door.games.registry import GAMES
from timebank.words import span
from verify.robots import reading
from verify.robots.watcher import Expected

ENTER, ESCAPE, DELETE = "\r", "\x1b", "\x7f"

_LETTER = re.compile(r"<(\S)>")
_UP_TO = re.compile(r"(\w+) how much, up to (?:(\d+) minutes?|0 seconds)")
_SURE = re.compile(r"(Deposit|Withdraw|Borrow|Repay|Transfer) (.+?)\?")
_BET = re.compile(r"Coins to bet, (\d+) to (\d+)")
_KINDS = {"Deposit": "deposit", "Withdraw": "withdraw", "Borrow": "loan", "Repay": "repay"}

# How often a room is entered from the main menu, by what a robot likes best.
TASTES: Mapping[str, Mapping[str, int]] = {
    "black jack": {"B": 60, "C": 5, "U": 5, "V": 2, "T": 10, "W": 3, "N": 1},
    "baccarat": {"B": 5, "C": 60, "U": 5, "V": 2, "T": 10, "W": 3, "N": 1},
    "teletype": {"B": 5, "C": 5, "U": 60, "V": 2, "T": 10, "W": 3, "N": 1},
    "company": {"B": 5, "C": 5, "U": 5, "V": 60, "T": 5, "W": 5, "N": 1},
    "savings": {"B": 15, "C": 10, "U": 5, "V": 1, "T": 50, "W": 3, "N": 1},
}
# And how often where nothing is said of a game.
_CURIOSITY = {game.letter: game.samples.taste for game in GAMES.values()}
# How many robots of a hundred have each taste: at Vegas there are seven chairs for all of them.
_SHARES = {"black jack": 40, "baccarat": 28, "teletype": 18, "company": 3, "savings": 11}

# How often a letter is pressed where a question has these words; 1 where none is said.
_HABITS: Sequence[tuple[str, Mapping[str, int]]] = (
    *(habit for game in GAMES.values() for habit in game.samples.habits.items()),
    ("Take over?", {"Y": 1, "N": 0}),
    ("<O>lder", {"O": 1, "Q": 2}),
    ("<N>ext", {"N": 1, "Q": 2}),
)
_WINDOW = {"D": 12, "W": 12, "T": 8, "B": 6, "R": 6, "A": 1, "L": 1, "H": 2, "Q": 14}
_TALK = ("hello all", "good luck", "that was close", "who deals here?", "a card, a card")


class Chooser:
    """Decides for the caller of this name, who sends minutes to their `friend`."""

    def __init__(
        self,
        name: str,
        password: str,
        chance: random.Random,
        *,
        friend: str,
        taste: str | None,
    ) -> None:
        self.chance = chance
        self.taste = taste or chance.choices(list(_SHARES), list(_SHARES.values()))[0]
        self.is_known = False  # whether the board has the name
        self.is_leaving = False
        self.expected: Expected | None = None  # what the last key asked of the bank's window
        self._name = name
        self._password = password
        self._friend = friend
        self._amount = 0

    def keys_at(self, prompt: str, *, paints: bool) -> str:
        """Return what is pressed at this question, "" for nothing."""
        for words, answer in self._entries():
            if words in prompt:
                return answer()
        if self.is_leaving:
            return self._way_out(prompt)
        if found := _UP_TO.search(prompt):
            return f"{self.chance.randint(1, min(30, int(found[2] or 1)))}{ENTER}"
        if found := _SURE.search(prompt):
            return self._confirm(found[1], found[2])
        if "Your choice:" in prompt:
            return self._weighed(_WINDOW)
        if "Your game" in prompt:
            return self._weighed({**_CURIOSITY, **self._liking(), "G": 2})
        letters = _LETTER.findall(prompt)
        if letters:
            return self._chooses(prompt, letters, paints=paints)
        if prompt.endswith("?"):  # the teletype asks for a line
            return self.chance.choice(("y\r", "\r", "\r", "\r") * 4 + (DELETE,))
        return ""

    def _entries(self) -> tuple[tuple[str, Callable[[], str]], ...]:
        """Return what is typed where something is asked for in words."""
        chance = self.chance
        return (
            ("any key", lambda: " "),
            ("Appuyez", lambda: " "),
            ("Press Enter", lambda: ENTER),
            ("The name you want:", lambda: ESCAPE if self.is_known else self._name + ENTER),
            ("Name:", lambda: (self._name if self.is_known else "new") + ENTER),
            ("A password (", lambda: self._password + ENTER),
            ("The same once more:", lambda: self._password + ENTER),
            ("Password:", lambda: self._password + ENTER),
            ("Your choice (Enter for", lambda: ENTER),
            ("Coins to bet", lambda: ESCAPE if self.is_leaving else self._bet()),
            ("Coins of insurance", lambda: ENTER),
            ("lace your bets", lambda: ESCAPE if self.is_leaving else self._wager()),
            ("aites vos jeux", lambda: ESCAPE if self.is_leaving else self._wager()),
            ("Send to:", self._to_whom),
            ("Add a note", self._send),
            ("cut the cards", lambda: chance.choice(("", "lucky seven")) + ENTER),
            ("pour couper", lambda: chance.choice(("", "la chance")) + ENTER),
            ("Name contains", lambda: ESCAPE),
            ("Say:", lambda: chance.choice(_TALK) + ENTER),
            ("Whisper", lambda: ESCAPE),
        )

    def _liking(self) -> Mapping[str, int]:
        """Return how often a room is entered by this taste, which may be the name of a game."""
        if self.taste in GAMES:
            return {GAMES[self.taste].letter: 60}
        return TASTES[self.taste]

    def _bet(self) -> str:
        return self.chance.choice(("", "", "1", "2", "3", "5")) + ENTER

    def _wager(self) -> str:
        return self.chance.choice(("", "", "1", "2", "5", "1000", "5000", "20000")) + ENTER

    def _to_whom(self) -> str:
        return ESCAPE if self.is_leaving else self._friend + ENTER

    def _confirm(self, what: str, amount: str) -> str:
        """Say yes to an amount, and expect the window to say that it is done."""
        self._amount = reading.span(amount)
        if what != "Transfer":
            said = f"{what}: {span(self._amount)}. Done."
            self.expected = Expected(_KINDS[what], self._amount, "", said)
        return "y"

    def _send(self) -> str:
        said = f"{span(self._amount)} sent to {self._friend}."
        self.expected = Expected("transfer", self._amount, self._friend, said)
        return self.chance.choice(("here you are", "")) + ENTER

    def _way_out(self, prompt: str) -> str:
        """Return the shortest way off the board."""
        if "how much, up to" in prompt:
            return ESCAPE
        if "Your choice:" in prompt:
            return "q"
        if "Your game" in prompt:
            return "g"
        letters = _LETTER.findall(prompt)
        for letter in "YQSNC":
            if letter in letters:
                return letter.lower()
        if prompt.endswith("?"):
            return DELETE
        return ESCAPE if prompt.endswith(":") else ""

    def _chooses(self, prompt: str, letters: Sequence[str], *, paints: bool) -> str:
        for words, weights in _HABITS:
            if words in prompt:
                known = {letter: weights.get(letter, 1) for letter in letters}
                if not paints:
                    known.pop("L", None)  # a plain terminal stays with English
                return self._weighed(known)
        return self._weighed(dict.fromkeys(letters, 1))

    def _weighed(self, weights: Mapping[str, int]) -> str:
        (letter,) = self.chance.choices(list(weights), list(weights.values()))
        return letter.lower()
