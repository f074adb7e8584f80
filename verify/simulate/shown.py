"""What callers see, held against the books: nothing is shown that is not durable.

Cards are read from the screen as a person reads them. Every one of them must be among those that
the journal, dealt again, has on the table; every seal must be in the books, and every seed be that
of a shoe that is done.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Sequence
from itertools import product
from typing import Any

from door.call.console import Console
from door.games.engine import shuffle
from door.games.registry import GAMES
from door.games.rounds import rebuild
from timebank.ledger.database import Desk
from timebank.wagers import journal
from verify.robots import phrases, reading
from verify.robots.phrases import Said, one_of
from verify.simulate.wire import Screen
from verify.simulate.wrong import must

NAMES = {game.title: game.name for game in GAMES.values()}
# Where what is told of a round begins, for those whose screen scrolls.
_BEGINS = one_of(
    *(phrases.WELCOME, phrases.COINS_TO_BET, phrases.NO_MORE_BETS, phrases.LEAVE_BOARD),
    Said("A round is still on the table. Seats are kept for {time}."),
    *(Said(f"{title} - ") for each in NAMES for title in phrases.versions(each)),
    Said("new game"),
)
_DEALER = "|".join(
    re.escape(each.split("{")[0].strip()) for each in phrases.versions("Dealer: {cards}")
)
_BEGINS_AT_VEGAS = re.compile(
    rf"(?:^[^\n:]+: [^\n]* \(.*\)\r?\n)*(?=^(?:{_DEALER}) )", re.MULTILINE
)
# The manual, or the page that a run begins from, with the cards that are drawn on it.
# Pictures, such as the welcome of the next call on the same screen, begin with blocks.
_LEFT_THE_PAPER = re.compile(r"BJ\(VI\)|\$ bj|The black jack of UNIX|[░▒▓█]")
_SUITS = {"♥": "H", "♦": "D", "♣": "C", "♠": "S"}
_SIGNS = re.compile(r"(?<![0-9A-Z])(10|[2-9AJQK])([♥♦♣♠])")
TIMERS_LATE = 0.001  # seconds by which a timer may be
LETTERS = re.compile(r"(?<![0-9A-Za-z])([2-9TJQKA])([HDCS])(?![0-9A-Za-z])")


def fold(text: str) -> str:
    """Return letters as a terminal without accents has them."""
    parts = unicodedata.normalize("NFKD", text.replace("\N{LATIN SMALL LIGATURE OE}", "oe"))
    return "".join(part for part in parts if not unicodedata.combining(part))


def _in_words() -> dict[str, str]:
    """Return every card by its names, in all languages."""
    ranks = {"A": "ace", "K": "king", "Q": "queen", "J": "jack", "T": "10"}
    ranks |= {str(number): str(number) for number in range(2, 10)}
    names: dict[str, str] = {}
    for rank, called in ranks.items():
        for suit in ("hearts", "diamonds", "clubs", "spades"):
            card = rank + suit[0].upper()
            names |= {fold(each): card for each in phrases.versions(f"{called} of {suit}")}
            for name in (called, f"the {called}"):
                parts = (name, suit, "{rank} of {suit}")
                every = product(*map(phrases.versions, parts))
                names |= {fold(form.format(rank=a, suit=b)): card for a, b, form in every}
    return names


_IN_WORDS = _in_words()
_WORDS = re.compile(rf"\b({'|'.join(sorted(map(re.escape, _IN_WORDS), key=len, reverse=True))})\b")
HEADER_EDGE = "░▒▓▀"
_HEXADECIMAL = re.compile(r"\b[0-9a-f]{64}\b")
# What the page behind <F>airness says that a seal or a seed is of.
_SEALS = {
    "this": phrases.THIS_SEAL,
    "next": phrases.NEXT_SEAL,
    "last": phrases.LAST_SEAL,
}
_SEEDS = {"this": phrases.THIS_SEED, "last": phrases.LAST_SEED}


def cards(game: str, screen: Screen, *, paints: bool) -> set[str]:
    """Read the cards of the round that is told or painted."""
    if game == "unix-bj":
        parts = screen.memory.rsplit("new game", 1)
        letters = _LEFT_THE_PAPER.split(parts[1])[0] if len(parts) == 2 else ""
        found = LETTERS.findall(letters)
        return {rank + suit for rank, suit in found}
    if paints:
        titles = tuple(phrases.versions(GAMES[game].title))
        is_header_left = any(HEADER_EDGE in row for row in screen.rows)  # the line broke
        if is_header_left or not screen.rows[0].strip().startswith(titles):
            return set()  # those of the header that is drawn on the way to the table
        return painted_cards(screen.rows[:19])
    text = fold(screen.memory)
    begins = [
        found.start() for found in (*_BEGINS.finditer(text), *_BEGINS_AT_VEGAS.finditer(text))
    ]
    return told_cards(text[max(begins) :] if begins else "")


def painted_cards(rows: Sequence[str]) -> set[str]:
    """Read the cards that are drawn in these rows."""
    found = _SIGNS.findall("\n".join(rows))
    return {("T" if rank == "10" else rank) + _SUITS[suit] for rank, suit in found}


def told_cards(text: str) -> set[str]:
    """Read the cards that a text names."""
    return {_IN_WORDS[words] for words in _WORDS.findall(" ".join(fold(text).split()))}


def time_left(screen: Screen) -> int | None:
    """Read the seconds of time left on the status line; None where there is none."""
    found = phrases.TIME_LEFT.search(screen.rows[-1])
    return None if found is None else reading.clock(found["clock"])


def is_on_its_way(console: Console, monotonic: float) -> bool:
    """Tell whether the screen is about to change: what a caller who is being served has been told
    is sent at once with the answer, or `SERVED_WITHIN` seconds later."""
    sending = console.screen.echo
    return sending is not None and monotonic < sending.when() + TIMERS_LATE


def seals_are_kept(screen: Screen, file: sqlite3.Connection, *, paints: bool) -> int:
    """Seals that are shown are in the books, seeds that are shown are of shoes that are done.

    It is the same for the first digits of them. The seed of a link in a chain is the seal of the
    next, so the same digits may be shown as both. Return how many there are.
    """
    text = screen.picture if paints else screen.memory
    every = set(_HEXADECIMAL.findall(text))
    seals = {found["digits"] for found in phrases.SHORT_SEAL.finditer(text)}
    seeds = {found["digits"] for found in phrases.SHORT_SEED.finditer(text)}
    for shown in every | seals | seeds:
        is_seal = file.execute(SEALED, (shown,)).fetchone() is not None
        must(is_seal or shown not in seals, "{} is shown, and in no book", shown)
        if shown not in seeds and (is_seal or _is_sealed_ahead(shown, file)):
            continue
        row = file.execute(SEEDED, (shown,)).fetchone()
        must(row is not None, "{} is shown, and in no book", shown)
        must(row[0] is not None, "the seed {} is shown of a shoe that is open", shown)
    _belong_together(text, file)
    return len(every | seals | seeds)


def _is_sealed_ahead(digits: str, file: sqlite3.Connection) -> bool:
    """Tell whether it is the anchor of a chain, or what commits a caller to their phrase."""
    if file.execute(ANCHORED, (digits,)).fetchone():
        return True
    phrases_of_callers = [phrase for (phrase,) in file.execute(PHRASES) if phrase]
    for seed, link, cut in file.execute(SHARED):
        every = {*phrases_of_callers, *(cut or "").split("\n")}
        if any(shuffle.commitment(bytes(seed), each, link) == digits for each in every):
            return True
    return False


def _belong_together(text: str, file: sqlite3.Connection) -> None:
    """On each page of fair cards a seed is of the shoe that the page says."""
    found = sorted(
        (each.start(), whose, said is _SEEDS, each["digits"])
        for said in (_SEALS, _SEEDS)
        for whose, words in said.items()
        for each in words.finditer(text)
    )
    seals: dict[str, str] = {}  # of the page, by whose they are
    for _place, whose, is_seed, digits in found:
        if not is_seed:
            seals = {**seals, whose: digits} if whose == "last" else {whose: digits}
            continue
        (seal,) = file.execute(OPENS, (digits,)).fetchone() or ("",)
        told = seals.get(whose)
        must(told in (None, seal), "{} is told as the seed of {}, and is of {}", digits, told, seal)
        others = [each for other, each in seals.items() if other != whose]
        must(seal not in others, "{} is told as the seed of another shoe than {}", digits, seal)


ANCHORED = "SELECT 1 FROM chains WHERE anchor = ?"
PHRASES = "SELECT preferences ->> '$.phrase.text' FROM callers"
SHARED = "SELECT seed, link, cut FROM shoes WHERE anchor IS NOT NULL"
# The shoes of tables, and those that are dealt to everybody once a day.
_SHOES = "(SELECT seal, seed, closed FROM shoes UNION ALL SELECT seal, seed, closed FROM deals)"
SEALED = f"SELECT 1 FROM {_SHOES} WHERE seal LIKE ? || '%'"
SEEDED = f"SELECT closed FROM {_SHOES} WHERE lower(hex(seed)) LIKE ? || '%' ORDER BY closed IS NULL"
OPENS = "SELECT seal FROM shoes WHERE lower(hex(seed)) = ?"


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
            self._known[key] = _open_cards(stored.game, rebuild(stored).round)
        return self._known[key]


def _open_cards(game: str, round_: Any) -> set[str]:
    """Give the cards that lie face up: a bank's are turned up before a toss decides its next."""
    lies = GAMES[game].kind.lies(round_, settled=False)
    return {rank + suit for rank, suit in LETTERS.findall(lies)}
