"""A robot's key at each question: by chance, by its taste, and by the words on the screen.

Robots know the house as callers do: highlighted letters, recurring questions, and that a bank
wants a number.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from door.games.registry import GAMES
from door.lobby.window import SERVICES
from verify.robots import phrases, reading
from verify.robots.reading import Done
from verify.samples import SAMPLES

ENTER, ESCAPE, DELETE = "\r", "\x1b", "\x7f"

# Standings and the daily deal, for all tastes.
READING = {"D": 4, "H": 1, "S": 1}
# How often a game that no taste mentions is entered from the main menu.
_CURIOSITY = {GAMES[name].letter: samples.taste for name, samples in SAMPLES.items()}
# How often a room is entered from it, by a robot's taste.
TASTES: Mapping[str, Mapping[str, int]] = {
    "black jack": {"B": 60, "C": 5, "U": 5, "V": 2, "T": 10, "W": 3, "N": 1, **READING},
    "baccarat": {"B": 5, "C": 60, "U": 5, "V": 2, "T": 10, "W": 3, "N": 1, **READING},
    "teletype": {"B": 5, "C": 5, "U": 60, "V": 2, "T": 10, "W": 3, "N": 1, **READING},
    "company": {"B": 5, "C": 5, "U": 5, "V": 60, "T": 5, "W": 5, "N": 1, **READING},
    "the deal": {"B": 5, "T": 20, "W": 3, "N": 1, **READING, "D": 60},
    "black jack alone": {**dict.fromkeys(_CURIOSITY, 0), "B": 60, "T": 10, **READING},
    "savings": {"B": 15, "C": 10, "U": 5, "V": 1, "T": 50, "W": 3, "N": 1, **READING},
}
# The percentage of robots with each taste: Vegas has seven chairs for all of them.
_SHARES = {
    "black jack": 35,
    "baccarat": 28,
    "teletype": 13,
    "company": 3,
    "the deal": 10,
    "savings": 11,
}

# How often a letter is pressed where a question has these words; 1 by default.
_HABITS: Sequence[tuple[str, Mapping[str, int]]] = (
    *(habit for samples in SAMPLES.values() for habit in samples.habits.items()),
    ("<N>ext", {"N": 1, "Q": 2}),
)
# The same in rooms other than games, by their keys.
_IN_A_ROOM: Mapping[str, Mapping[str, int]] = {
    "CQ": {"C": 6, "Q": 4},  # no duels yet
    "TWEBQ": {"T": 3, "W": 3, "E": 6, "B": 1, "Q": 6},
}
# The same at the daily deal, a tournament or a duel: accept, play, look at the review.
_AT_A_CONTEST = {"A": 30, "P": 30, "T": 8, "U": 8, "V": 3, "Q": 8}
_DUELS = {"1": 8, "2": 4, "3": 2, "C": 4, "Q": 6}
_WINDOW = {
    **dict.fromkeys(SERVICES, 6),
    "D": 12,
    "W": 12,
    "T": 8,
    "A": 1,
    "L": 1,
    "H": 2,
    "Q": 14,
}
# The same for a table with other words beside the letters in its language.
_AT_A_TABLE = {"B": 80, "F": 8, "Q": 4, "H": 40, "S": 45, "D": 12, "P": 10, "Y": 20, "N": 20}
_READS_FAIRNESS = 8
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
        self.has_duel = False  # whether the menu says that a duel waits
        self.expected: Done | None = None  # the act requested at the bank's window
        self._name = name
        self._password = password
        self._friend = friend
        self._amount = 0

    def keys_at(self, prompt: str, *, paints: bool) -> str:
        """Return the keys for this question, "" for none."""
        for phrase, answer in self._entries(prompt):
            if phrase.is_in(prompt):
                return answer()
        letters = reading.letters(prompt)
        if phrases.DROP_CALL.is_in(prompt):
            return "y"
        if self.is_leaving:
            return self._way_out(prompt, letters)
        if match := phrases.HOW_MUCH.search(prompt):
            most = reading.span(match["most"]) // 60
            return f"{self.chance.randint(1, min(30, most or 1))}{ENTER}"
        if phrases.SURE_OF_STAKE.is_in(prompt):
            return "y"
        for kind, phrase in phrases.SURE.items():
            if match := phrase.search(prompt):
                return self._confirm(kind, match["amount"])
        if phrases.WINDOW.is_in(prompt):
            return self._weighed(_WINDOW)
        if phrases.MAIN_MENU.is_in(prompt) and self.has_duel:
            return "d"
        if phrases.NUMBER_OF_A_DUEL.is_in(prompt):
            return self._weighed(_DUELS)
        if phrases.MAIN_MENU.is_in(prompt):
            return self._weighed({**_CURIOSITY, **self._liking(), "G": 2})
        if letters:
            return self._chooses(prompt, letters, paints=paints)
        if prompt.endswith("?"):  # the teletype asks for a line
            return self.chance.choice(("y\r", "\r", "\r", "\r") * 4 + (DELETE,))
        return ""

    def _entries(self, prompt: str) -> tuple[tuple[phrases.Said, Callable[[], str]], ...]:
        """Return the text for a question that needs words."""
        chance = self.chance
        return (
            (phrases.SAY_COMMAND, lambda: ESCAPE),
            (phrases.ANY_KEY, lambda: " "),
            (phrases.PRESS_ENTER, lambda: ENTER),
            (phrases.NEW_NAME, lambda: ESCAPE if self.is_known else self._name + ENTER),
            (phrases.NAME, lambda: (self._name if self.is_known else "new") + ENTER),
            (phrases.NEW_PASSWORD, lambda: self._password + ENTER),
            (phrases.SAME_AGAIN, lambda: self._password + ENTER),
            (phrases.PASSWORD, lambda: self._password + ENTER),
            (phrases.ENTER_FOR, lambda: ENTER),
            (phrases.COINS_TO_BET, lambda: ESCAPE if self.is_leaving else self._bet()),
            (phrases.INSURANCE, lambda: ENTER),
            (phrases.PLACE_BETS, lambda: ESCAPE if self.is_leaving else self._wager()),
            (phrases.PAY, lambda: chance.choice("yyyn")),
            (phrases.SEND_TO, self._to_whom),
            (phrases.CHALLENGE, self._to_whom),
            (phrases.STAKE, lambda: chance.choice("125") + ENTER),
            (phrases.NOTE, self._send),
            (phrases.CUT, lambda: chance.choice(("", "lucky seven")) + ENTER),
            (phrases.NAME_CONTAINS, lambda: ESCAPE),
            (phrases.SAY, lambda: self._talk(prompt)),
            (phrases.WHISPER, lambda: ESCAPE),
            (phrases.WRITE_TO, lambda: ESCAPE),
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

    def _talk(self, prompt: str) -> str:
        """Say something; a line refused as too fast is sent again or given up."""
        if not prompt.endswith(":"):
            return self.chance.choice((ENTER, ESCAPE))
        return self.chance.choice(_TALK) + ENTER

    def _to_whom(self) -> str:
        return ESCAPE if self.is_leaving else self._friend + ENTER

    def _confirm(self, kind: str, amount: str) -> str:
        """Say yes to an amount, and expect the window to say that it is done."""
        self._amount = reading.span(amount)
        if kind != "transfer":
            self.expected = Done(kind, self._amount, "")
        return "y"

    def _send(self) -> str:
        self.expected = Done("transfer", self._amount, self._friend)
        return self.chance.choice(("here you are", "")) + ENTER

    def _way_out(self, prompt: str, letters: Sequence[str]) -> str:
        """Return the shortest way off the board."""
        if phrases.HOW_MUCH.is_in(prompt):
            return ESCAPE
        if phrases.WINDOW.is_in(prompt):
            return "q"
        if phrases.MAIN_MENU.is_in(prompt) or phrases.GRACE_MENU.is_in(prompt):
            return "g"
        for letter in "YQSNC":
            if letter in letters:
                return letter.lower()
        if prompt.endswith("?"):
            return DELETE
        return ESCAPE if prompt.endswith(":") else ""

    def _chooses(self, prompt: str, letters: Sequence[str], *, paints: bool) -> str:
        if (habit := _IN_A_ROOM.get("".join(letters))) is not None:
            return self._weighed({letter: habit.get(letter, 0) for letter in letters})
        if {"R", "Q"} <= set(letters) and "F" not in letters:
            if self.has_duel and "U" in letters:
                return "u"
            return self._weighed({each: _AT_A_CONTEST.get(each, 1) for each in letters})
        habit = next((weights for words, weights in _HABITS if words in prompt), _AT_A_TABLE)
        known = {letter: habit.get(letter, 1) for letter in letters}
        if reading.is_between_hands(prompt):
            known["F"] = max(known["F"], _READS_FAIRNESS)
            if self.taste == "the deal":  # plays a hand or two, and goes on
                known["Q"] = sum(known.values()) // 2
        if not paints:
            known.pop("L", None)  # a plain terminal stays with English
        return self._weighed(known)

    def _weighed(self, weights: Mapping[str, int]) -> str:
        (letter,) = self.chance.choices(list(weights), list(weights.values()))
        return letter.lower()
