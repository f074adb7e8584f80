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
from verify.simulate.wire import Screen
from verify.simulate.wrong import must

NAMES = {game.title: game.name for game in GAMES.values()}
# Where what is told of a round begins, for those whose screen scrolls.
_BEGINS = re.compile(
    r"Good to see you|Seal [0-9a-f]{64}|No more bets\.|Rien ne va plus\.|new game|Leave the board|"
    r"(?:^[^\n:]+: [^\n]* \(.*\)\r?\n)*(?=^Dealer: )|are kept for|"
    + "|".join(f"{title} - " for title in NAMES),
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
_TIME_LEFT = re.compile(r"Time left (?:(\d+):)?(\d+):(\d\d)\s")


def cards(game: str, screen: Screen, *, paints: bool) -> set[str]:
    """Read the cards of the round that is told or painted."""
    if game == "unix-bj":
        parts = screen.memory.rsplit("new game", 1)
        # Of the letters, not of the manual that is read after them.
        letters = parts[1].partition("BJ(VI)")[0] if len(parts) == 2 else ""
        found = _LETTERS.findall(letters)
        return {rank + suit for rank, suit in found}
    if paints:
        text = "\n".join(screen.rows[:19])
        return {
            ("T" if rank == "10" else rank) + _SUITS[suit] for rank, suit in _SIGNS.findall(text)
        }
    begins = [found.start() for found in _BEGINS.finditer(screen.memory)]
    text = screen.memory[begins[-1] :] if begins else ""
    seen = {_RANKS.get(rank, rank) + suit[0].upper() for rank, suit in _WORDS.findall(text)}
    french = {_FRENCH_RANKS[rank] + _FRENCH_SUITS[suit[:2]] for rank, suit in _FRENCH.findall(text)}
    return seen | french


def time_left(screen: Screen) -> int | None:
    """Read the seconds of time left on the status line; None where there is none."""
    found = _TIME_LEFT.search(screen.rows[-1])
    if found is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return hours * 3600 + minutes * 60 + seconds


def seals_are_kept(screen: Screen, file: sqlite3.Connection, *, paints: bool) -> None:
    """Seals that are shown are in the books, seeds that are shown are of shoes that are done."""
    text = screen.picture if paints else screen.memory
    for shown in set(_HEXADECIMAL.findall(text)):
        if file.execute("SELECT 1 FROM shoes WHERE seal = ?", (shown,)).fetchone():
            continue
        shoe = file.execute("SELECT closed FROM shoes WHERE hex(seed) = ?", (shown.upper(),))
        row = shoe.fetchone()
        must(row is not None, "{} is shown, and in no book", shown)
        must(row[0] is not None, "the seed {} is shown of a shoe that is open", shown)


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
