"""Callers' screens, compared with the books: only durable facts are shown.

Cards are read from the screen as by a person. Every card must be among those on the table of the
replayed journal. Every seal must be in the books, and every seed that of a finished shoe.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Sequence, Set
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
# The beginning of a round's text, on scrolling screens.
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
# The manual, or the first page of a run, with its drawn cards. Pictures, such as the welcome of
# the next call on the same screen, begin with blocks.
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
# The words of the page behind <F>airness for a seal or a seed.
_SEALS = {
    "this": phrases.THIS_SEAL,
    "next": phrases.NEXT_SEAL,
    "last": phrases.LAST_SEAL,
}
_SEEDS = {"this": phrases.THIS_SEED, "last": phrases.LAST_SEED}


def cards(game: str, screen: Screen, *, paints: bool) -> set[str]:
    """Read the cards of the round, from lines or a painted screen."""
    if game == "unix-bj":
        parts = screen.memory.rsplit("new game", 1)
        letters = _LEFT_THE_PAPER.split(parts[1])[0] if len(parts) == 2 else ""
        matches = LETTERS.findall(letters)
        return {rank + suit for rank, suit in matches}
    if paints:
        titles = tuple(phrases.versions(GAMES[game].title))
        is_header_left = any(HEADER_EDGE in row for row in screen.rows)  # the line broke
        if is_header_left or not screen.rows[0].strip().startswith(titles):
            return set()  # those of the header drawn on the way to the table
        return painted_cards(screen.rows[:19])
    text = fold(screen.memory)
    begins = [
        matches.start() for matches in (*_BEGINS.finditer(text), *_BEGINS_AT_VEGAS.finditer(text))
    ]
    return told_cards(text[max(begins) :] if begins else "")


def painted_cards(rows: Sequence[str]) -> set[str]:
    """Read the cards that are drawn in these rows."""
    matches = _SIGNS.findall("\n".join(rows))
    return {("T" if rank == "10" else rank) + _SUITS[suit] for rank, suit in matches}


def told_cards(text: str) -> set[str]:
    """Read the cards that a text names."""
    return {_IN_WORDS[words] for words in _WORDS.findall(" ".join(fold(text).split()))}


def time_left(screen: Screen) -> int | None:
    """Read the seconds of time left on the status line; None without one."""
    match = phrases.TIME_LEFT.search(screen.rows[-1])
    return None if match is None else reading.clock(match["clock"])


def is_on_its_way(console: Console, monotonic: float) -> bool:
    """Return whether the screen is about to change.

    A caller being served gets their news with the answer, or after `ECHO_SECONDS`.
    """
    sending = console.screen.echo
    return sending is not None and monotonic < sending.when() + TIMERS_LATE


def callers_phrases(file: sqlite3.Connection) -> set[str]:
    """Return the phrases that callers have for their shuffles now."""
    return {phrase for (phrase,) in file.execute(PHRASES) if phrase}


def seals_are_kept(
    screen: Screen, file: sqlite3.Connection, phrases_ever: Set[str], *, paints: bool
) -> int:
    """Check that shown seals are in the books, and shown seeds are of finished shoes.

    The same holds for their first digits. The seed of a link in a chain is the seal of the next,
    so the same digits may appear as both. `phrases_ever` are those that callers have ever had: a
    screen may still show the commitment to one that was changed. Returns their number.
    """
    text = screen.picture if paints else screen.memory
    every = set(_HEXADECIMAL.findall(text))
    seals = {match["digits"] for match in phrases.SHORT_SEAL.finditer(text)}
    seeds = {match["digits"] for match in phrases.SHORT_SEED.finditer(text)}
    for shown in every | seals | seeds:
        is_seal = file.execute(SEALED, (shown,)).fetchone() is not None
        must(is_seal or shown not in seals, "{} is shown, and in no book", shown)
        if shown not in seeds and (is_seal or _is_sealed_ahead(shown, file, phrases_ever)):
            continue
        row = file.execute(SEEDED, (shown,)).fetchone()
        must(row is not None, "{} is shown, and in no book", shown)
        must(row[0] is not None, "the seed {} is shown of a shoe that is open", shown)
    _belong_together(text, file)
    return len(every | seals | seeds)


def _is_sealed_ahead(digits: str, file: sqlite3.Connection, phrases_ever: Set[str]) -> bool:
    """Return whether it is the anchor of a chain, or a caller's commitment to a phrase."""
    if file.execute(ANCHORED, (digits,)).fetchone():
        return True
    for seed, link, cut in file.execute(SHARED):
        every = {*phrases_ever, *(cut or "").split("\n")}
        if any(shuffle.commitment(bytes(seed), each, link) == digits for each in every):
            return True
    return False


def _belong_together(text: str, file: sqlite3.Connection) -> None:
    """On each page of fair cards a seed is of the shoe that the page says."""
    digits_shown = sorted(
        (each.start(), whose, kinds is _SEEDS, each["digits"])
        for kinds in (_SEALS, _SEEDS)
        for whose, words in kinds.items()
        for each in words.finditer(text)
    )
    seals: dict[str, str] = {}  # of the page, by their owners
    for _place, whose, is_seed, digits in digits_shown:
        if not is_seed:
            seals = {**seals, whose: digits} if whose == "last" else {whose: digits}
            continue
        (seal,) = file.execute(OPENS, (digits,)).fetchone() or ("",)
        shown_seal = seals.get(whose)
        must(
            shown_seal in (None, seal),
            "{} is told as the seed of {}, and is of {}",
            digits,
            shown_seal,
            seal,
        )
        others = [each for other, each in seals.items() if other != whose]
        must(seal not in others, "{} is told as the seed of another shoe than {}", digits, seal)


ANCHORED = "SELECT 1 FROM chains WHERE anchor = ?"
PHRASES = "SELECT preferences ->> '$.phrase.text' FROM callers"
SHARED = "SELECT seed, link, cut FROM shoes WHERE anchor IS NOT NULL"
# The shoes of tables, and of contests. The seed of a world's deal is no secret.
_SHOES = """(SELECT seal, seed, closed FROM shoes UNION ALL
    SELECT seal, seed, CASE WHEN seal LIKE 'world/%' THEN opened ELSE closed END FROM deals)"""
SEALED = f"SELECT 1 FROM {_SHOES} WHERE seal LIKE ? || '%'"
SEEDED = f"SELECT closed FROM {_SHOES} WHERE lower(hex(seed)) LIKE ? || '%' ORDER BY closed IS NULL"
OPENS = "SELECT seal FROM shoes WHERE lower(hex(seed)) = ?"


class Journal:
    """The rounds of the books, dealt again; each once for every action it has."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], set[str]] = {}

    def cards(self, desk: Desk, caller_id: int, game: str, most: int) -> list[set[str]]:
        """Return the open cards after a caller's last rounds at a game, newest first.

        At a shared table, those of its last rounds.
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
    """Return the cards that are face up: a bank's are turned up before a toss decides its next."""
    lies = GAMES[game].kind.lies(round_, settled=False)
    return {rank + suit for rank, suit in LETTERS.findall(lies)}
