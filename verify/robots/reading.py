"""The meaning of words and figures on a screen: rooms, panels, status lines, amounts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from door.games.registry import GAMES
from verify.robots import phrases
from verify.robots.screen import Screen

CARD = re.compile(r"(?<![0-9A-Z])(10|[2-9AJQK])([♥♦♣♠])")
SUITS = {"♥": "H", "♦": "D", "♣": "C", "♠": "S"}

_LETTER = re.compile(r"<(\S)>")
_MARK = re.compile(r"[0-9·]")
_SPAN = re.compile(r"(?:(\d+)\sminutes?)?(?:\s?(\d+)\ssecond\w*)?")
_COINS = re.compile(r"(\d+)(?:[.,](5))?\s(?:coins?|jetons?)")
_NET_AT_VEGAS = re.compile(r"([+-])(?:(\d+:\d\d)|(\d+)(?:[.,](5))?)$")
_TITLES = {title: game.name for game in GAMES.values() for title in phrases.versions(game.title)}


class Panel(NamedTuple):
    """A table's panel: the last hand, and the caller's figures."""

    net: int  # of this sitting
    ended: tuple[object, ...]  # changes when a hand is over
    number: int | None
    balance: int | None
    unit: str


class Short(NamedTuple):
    """The first digits of the seal or of the seed of the shoe that was dealt from."""

    seal: str = ""
    seed: str = ""


@dataclass
class Table:
    """A table as it looks at a moment."""

    game: str
    panel: Panel
    short: Short
    cards: set[str] = field(default_factory=set)


def clock(text: str) -> int:
    """Read m:ss or h:mm:ss, with a sign or without.

    >>> clock("1:01"), clock("+1:00:00"), clock("-0:05")
    (61, 3600, -5)
    """
    sign = -1 if text.startswith("-") else 1
    seconds = 0
    for part in text.strip("+-").split(":"):
        seconds = seconds * 60 + int(part)
    return sign * seconds


def money(text: str) -> int:
    """Read dollars or francs, as cents.

    >>> money("$100,000"), money("-FR 1,000"), money("100 000 F"), money("+5 000 $")
    (10000000, -100000, 10000000, 500000)
    """
    digits = re.sub(r"[^0-9.]", "", text)
    whole, _, cents = digits.partition(".")
    amount = int(whole) * 100 + int(cents or 0)
    return -amount if text.startswith("-") else amount


def span(text: str) -> int:
    """Read a length of time in words, as seconds.

    >>> span("1 minute"), span("2 minutes 30 seconds"), span("45 seconds")
    (60, 150, 45)
    """
    match = _SPAN.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"no length of time: {text}")
    return int(match[1] or 0) * 60 + int(match[2] or 0)


def coins(text: str, coin: int) -> int:
    """Read a number of coins, or a length of time, as seconds.

    Raises `ValueError`, like `span`, for an incomplete text.

    >>> coins("1.5 coins", 60), coins("0.5 coins", 60), coins("45 seconds", 60)
    (90, 30, 45)
    """
    match = _COINS.fullmatch(text.strip())
    if match is None:
        return span(text)
    return _worth(match[1], match[2], coin)


def _worth(whole: str, half: str | None, coin: int) -> int:
    return int(whole) * coin + (coin // 2 if half else 0)


def letters(prompt: str) -> list[str]:
    """Return the keys that a question offers, with those that plain lines named at an earlier one.

    >>> letters("<B>et (Enter)  T<u>tor"), letters("<B>et (Enter)  All keys (?)")
    (['B', 'U'], ['B', 'R', 'F', 'T', 'Q'])
    """
    heard = "RFTQ" if phrases.ALL_KEYS.is_in(prompt) else ""
    return [*(letter.upper() for letter in _LETTER.findall(prompt)), *heard]


def is_between_hands(prompt: str) -> bool:
    """Return whether this is the menu of a table without a hand on it."""
    return {"R", "F", "Q"} <= set(letters(prompt))


def status(screen: Screen) -> tuple[int, int] | None:
    """Read time left and savings off the last row; None without a status line."""
    left = phrases.TIME_LEFT.search(screen.rows[-1])
    bank = phrases.IN_BANK.search(screen.rows[-1])
    return (clock(left["clock"]), clock(bank["clock"])) if left and bank else None


def table(screen: Screen, name: str, coin: int) -> Table | None:
    """Read a painted table, from the place of the caller of this name; None elsewhere.

    Raises `ValueError` where it can be seen that only a part of the screen has come.
    """
    title = screen.rows[0].strip()
    turns = phrases.TURNS.search(title)
    number = int(turns["turns"]) if turns else None
    known = max((each for each in _TITLES if title.startswith(each)), key=len, default="")
    game = _TITLES.get(known, "")
    panel, shown = None, set[str]()
    if game == "baccarat":
        panel = _baccarat(screen, number) if title != known else None
    elif game == "vegas" and number is not None:
        panel = _vegas(screen, number, name, coin)
    elif game and number is not None:
        panel = _alone(screen, number)
        shown = _cards(screen.rows[1:18])
    return None if panel is None else Table(game, panel, _short(screen), shown)


def _short(screen: Screen) -> Short:
    text = "\n".join(screen.rows[2:19])
    seal, seed = phrases.SHORT_SEAL.search(text), phrases.SHORT_SEED.search(text)
    return Short(seal["digits"] if seal else "", seed["digits"] if seed else "")


def _alone(screen: Screen, number: int) -> Panel:
    """Read the panel that every table for one caller and time has."""
    text = "\n".join(row[54:] for row in screen.rows[1:18])
    net, score = phrases.SITTING.search(text), phrases.SCORE.search(text)
    ended = (int(score["won"]), int(score["lost"]), int(score["push"])) if score else (0, 0, 0)
    return Panel(clock(net["clock"]) if net else 0, ended, number, None, "second")


def _cards(rows: list[str]) -> set[str]:
    cards_shown = CARD.findall("\n".join(row[:54] for row in rows))
    return {("T" if rank == "10" else rank) + SUITS[suit] for rank, suit in cards_shown}


def _baccarat(screen: Screen, number: int | None) -> Panel:
    rows = [row[56:78].strip(" │║") for row in screen.rows[5:15]]
    marks = tuple("".join(_MARK.findall(row[11:54])) for row in screen.rows[13:16])
    ended = () if all(set(line) <= {"·"} for line in marks) else marks
    net = _figure(rows, phrases.NET) or "0"
    if number is not None:
        return Panel(clock(net) if net != "0" else 0, ended, number, None, "second")
    held = _figure(rows, phrases.BANKROLL)
    if not held:
        raise ValueError("only a part of the panel has come")
    unit = "frf-cent" if "F" in held else "usd-cent"
    return Panel(money(net), ended, None, money(held), unit)


def _figure(rows: list[str], names: list[str]) -> str:
    """Return the text beside a name, "" without it."""
    values = (row[len(name) :] for row in rows for name in names if row.startswith(f"{name} "))
    return next(values, "").strip()


def _vegas(screen: Screen, number: int, name: str, coin: int) -> Panel:
    """Read this caller's seat, below the dealer's: how the last round ended for them."""
    seat = [row[28:52].strip() for row in screen.rows[9:16]]
    if seat[0][:16].split("  ")[0].strip() == name[:16]:
        end = seat[-1]
        if net := _NET_AT_VEGAS.search(end):
            sign, time, whole, half = net.groups()
            won = clock(time) if time else _worth(whole, half, coin)
            won = -won if sign == "-" else won
            return Panel(won, (number,), number, None, "second")
        if phrases.PUSH.is_in(end):
            return Panel(0, (number,), number, None, "second")
    return Panel(0, (), number, None, "second")


# Pages and sentences.


_PART = re.compile(r" \(\d+ \w+ \d+\)")  # "(1 of 2)", in any language


@dataclass
class Fairness:
    """The page behind <F>airness: seals, and seeds by the seals that they open."""

    shoe: str = ""  # the seal of the current or last shoe; "" if unknown
    seals: set[str] = field(default_factory=set)
    seeds: dict[str, str] = field(default_factory=dict)
    wrong: str = ""


def without_part(heading: str) -> str:
    """Return the title of a page without its part number.

    >>> without_part("Fairness (1 of 2)"), without_part("Fairness")
    ('Fairness', 'Fairness')
    """
    return _PART.sub("", heading.strip())


def fairness(text: str) -> Fairness:
    """Read the page like a caller who takes the SHA-256 of the seed; its heading comes first.

    A part of the page may not tell the shoe of the last hand.
    """
    heading, _newline, _rest = text.partition("\n")
    is_whole = _PART.search(heading) is None
    this, last = phrases.THIS_SEAL.search(text), phrases.LAST_SEAL.search(text)
    page = Fairness()
    for seal in (this, last, phrases.NEXT_SEAL.search(text)):
        if seal is not None:
            page.seals.add(seal["digits"])
    for seal, phrase in ((this, phrases.THIS_SEED), (last, phrases.LAST_SEED)):
        seed = phrase.search(text)
        if seed is None:
            continue
        opens = sha256(bytes.fromhex(seed["digits"])).hexdigest()
        page.seeds[opens] = seed["digits"]
        if seal is not None and opens != seal["digits"]:
            page.wrong = f"the seed {seed['digits']} does not open the seal {seal['digits']}"
    shoe = last or this
    page.shoe = shoe["digits"] if shoe and is_whole else ""
    return page


class Done(NamedTuple):
    """An act confirmed by the bank's window; `to` is "" without a receiver."""

    kind: str
    amount: int
    to: str


def done_at_the_window(text: str) -> Iterator[Done]:
    for kind, phrase in phrases.DONE.items():
        for done in phrase.finditer(text):
            yield Done(kind, span(done["amount"]), done.groupdict().get("name", ""))
