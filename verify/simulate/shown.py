"""What callers see, held against the books: nothing is shown that is not durable.

Cards are read from the screen as a person reads them. Every one of them must be among those that
the journal, dealt again, has on the table; every seal must be in the books, and every seed be that
of a shoe that is done.
"""

from __future__ import annotations

import re
import sqlite3
from typing import Any

from door.games.registry import GAMES
from door.games.rounds import found
from timebank.ledger.database import Desk
from timebank.wagers import journal
from verify.robots import phrases, reading
from verify.robots.phrases import versions as titles
from verify.simulate.wire import Screen
from verify.simulate.wrong import must

NAMES = {game.title: game.name for game in GAMES.values()}
# Where what is told of a round begins, for those whose screen scrolls.
_BEGINS = (
    phrases.WELCOME,
    phrases.COINS_TO_BET,
    phrases.NO_MORE_BETS,
    phrases.LEAVE_BOARD,
    phrases.LAY_THERE,
    *(phrases.Said(f"{title} - ") for game in GAMES.values() for title in titles(game.title)),
)
_DEALT = re.compile(
    r"new game|(?:^[^\n:]+: [^\n]* \(.*\)\r?\n)*(?=^(?:"
    + "|".join(phrases.versions("Dealer:"))
    + ") )",
    re.MULTILINE,
)
_RANKS = {"ace": "A", "king": "K", "queen": "Q", "jack": "J", "10": "T"}
_SUITS = {"♥": "H", "♦": "D", "♣": "C", "♠": "S"}
_SIGNS = re.compile(r"(?<![0-9A-Z])(10|[2-9AJQK])([♥♦♣♠])")
_WORDS = re.compile(r"\b(ace|king|queen|jack|10|[2-9]) of (hearts|diamonds|clubs|spades)")
_FRENCH = re.compile(
    r"\b(as|roi|dame|valet|dix|neuf|huit|sept|six|cinq|quatre|trois|deux) de "
    r"(cœur|coeur|carreau|tr.fle|pique)"
)
_NUMBERS = ("deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf")
_FRENCH_RANKS = {"as": "A", "roi": "K", "dame": "Q", "valet": "J", "dix": "T"} | {
    name: str(number) for number, name in enumerate(_NUMBERS, start=2)
}
_FRENCH_SUITS = {"co": "H", "cœ": "H", "ca": "D", "tr": "C", "pi": "S"}
_LETTERS = re.compile(r"(?<![0-9A-Za-z])([2-9TJQKA])([HDCS])(?![0-9A-Za-z])")
_HEXADECIMAL = re.compile(r"\b[0-9a-f]{64}\b")


def cards(game: str, screen: Screen, *, paints: bool) -> set[str]:
    """Read the cards of the round that is told or painted."""
    if game == "unix-bj":
        parts = screen.memory.rsplit("new game", 1)
        # Of the letters, not of the manual that is read after them, nor of the drawn front page.
        letters = re.split(r"BJ\(VI\)|░", parts[1])[0] if len(parts) == 2 else ""
        found = _LETTERS.findall(letters)
        return {rank + suit for rank, suit in found}
    if paints:
        text = "\n".join(screen.rows[:19])
        return {
            ("T" if rank == "10" else rank) + _SUITS[suit] for rank, suit in _SIGNS.findall(text)
        }
    begins = [
        found.start() for said in (*_BEGINS, _DEALT) for found in said.finditer(screen.memory)
    ]
    text = screen.memory[max(begins) :] if begins else ""
    seen = {_RANKS.get(rank, rank) + suit[0].upper() for rank, suit in _WORDS.findall(text)}
    french = {_FRENCH_RANKS[rank] + _FRENCH_SUITS[suit[:2]] for rank, suit in _FRENCH.findall(text)}
    return seen | french


def time_left(screen: Screen) -> int | None:
    """Read the seconds of time left on the status line; None where there is none."""
    found = phrases.TIME_LEFT.search(screen.rows[-1])
    return None if found is None else reading.clock(found["clock"])


def seals_are_kept(screen: Screen, file: sqlite3.Connection, *, paints: bool) -> int:
    """Seals that are shown are in the books, seeds that are shown are of shoes that are done.

    Returns how many there are.
    """
    text = screen.picture if paints else screen.memory
    whole = set(_HEXADECIMAL.findall(text))
    for shown in whole:
        if file.execute("SELECT 1 FROM shoes WHERE seal = ?", (shown,)).fetchone():
            continue
        _is_done(file, shown)
    if not paints:
        return len(whole)
    for said in phrases.SHORT_SEAL.finditer(text):
        asked = ("SELECT 1 FROM shoes WHERE seal LIKE ?", (f"{said['digits']}%",))
        must(file.execute(*asked).fetchone(), "the seal {} is in no book", said["digits"])
    for said in phrases.SHORT_SEED.finditer(text):
        _is_done(file, said["digits"])
    return len(whole)


def _is_done(file: sqlite3.Connection, digits: str) -> None:
    """These are digits, the first ones at least, of the seed of a shoe that is done."""
    asked = "SELECT max(closed IS NOT NULL) FROM shoes WHERE hex(seed) LIKE ?"
    (is_done,) = file.execute(asked, (f"{digits.upper()}%",)).fetchone()
    must(is_done is not None, "{} is shown, and in no book", digits)
    must(is_done, "the seed {} is shown of a shoe that is open", digits)


class Journal:
    """The rounds of the books, dealt again; each once for every action it has."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], set[str]] = {}

    def cards(self, desk: Desk, caller_id: int, game: str, most: int) -> list[set[str]]:
        """Give the cards that lie open after the last rounds of a caller at a game, newest first.

        At the table that everybody shares, those of the last rounds there.
        """
        whose = "1" if GAMES[game].kind.most_seats > 1 else "caller_id = :caller"
        leads = desk.connection.exec_driver_sql(
            f"SELECT DISTINCT coalesce(lead, id) FROM rounds WHERE {whose} AND game = :game"
            " ORDER BY coalesce(lead, id) DESC LIMIT :most",
            {"caller": caller_id, "game": game, "most": most},
        ).scalars()
        return [self._open_cards(desk, lead) for lead in leads.all()]

    def _open_cards(self, desk: Desk, lead: int) -> set[str]:
        stored = journal.stored_round(desk, lead)
        assert stored is not None
        key = (lead, stored.sequence)
        if key not in self._known:
            self._known[key] = _open_cards(stored.game, found(stored).round)
        return self._known[key]


def _open_cards(game: str, round_: Any) -> set[str]:
    """Give the cards that lie face up: a bank's are turned up before a toss decides its next."""
    lies = GAMES[game].kind.lies(round_, settled=False)
    return {rank + suit for rank, suit in _LETTERS.findall(lies)}
