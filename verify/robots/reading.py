"""What the words and figures on a screen mean: rooms, panels, status lines, amounts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from door.games.registry import GAMES
from verify.robots.screen import Screen

SEAL = re.compile(r"(?:Seal|Sceau) ([0-9a-f]{64})")
SEED = re.compile(r"(?:Seed|Graine) ([0-9a-f]{64})")
CARD = re.compile(r"(?<![0-9A-Z])(10|[2-9AJQK])([♥♦♣♠])")
SUITS = {"♥": "H", "♦": "D", "♣": "C", "♠": "S"}

_CLOCK = r"-?(?:\d+:)?\d+:\d\d"
_STATUS = re.compile(rf"Node \d+ .*Time left ({_CLOCK}) .*Bank ({_CLOCK})")
_TURNS = re.compile(r"(?:[Tt]urns today|tours du jour) ?: (\d+)")
_SITTING = re.compile(rf"Sitting +([+-]?{_CLOCK})")
_SCORE = re.compile(r"W-L-push +(\d+)-(\d+)-(\d+)")
_RESULT = re.compile(r"(?:(wins|loses) (.+?)|(push))(?:  ready)?")
_MARK = re.compile(r"[0-9·]")
_SPAN = re.compile(r"(?:(\d+) minutes?)?(?: ?(\d+) seconds?)?")


class Panel(NamedTuple):
    """What a table says of the last hand, and of how the caller stands."""

    net: int  # of this sitting
    ended: tuple[object, ...]  # changes when a hand is over
    number: int | None
    balance: int | None
    unit: str


@dataclass
class Table:
    """A table as it looks at a moment."""

    game: str
    panel: Panel
    seal: str
    seed: str
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
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"no length of time: {text}")
    return int(found[1] or 0) * 60 + int(found[2] or 0)


def coins(text: str, coin: int) -> int:
    """Read a number of coins, or the length of time that stands in its place, as seconds.

    Raises `ValueError`, as `span` does, for what has come in part alone.

    >>> coins("1.5 coins", 60), coins("0.5 coins", 60), coins("45 seconds", 60)
    (90, 30, 45)
    """
    if not text.endswith(("coin", "coins")):
        return span(text)
    whole, _, half = text.split(maxsplit=1)[0].partition(".")
    return int(whole) * coin + (coin // 2 if half else 0)


def status(screen: Screen) -> tuple[int, int] | None:
    """Read time left and savings off the last row; None where there is no status line."""
    found = _STATUS.search(screen.rows[-1])
    return None if found is None else (clock(found[1]), clock(found[2]))


def table(screen: Screen, name: str, coin: int) -> Table | None:
    """Read a painted table, from the place of the caller of this name; None elsewhere.

    Raises `ValueError` where it can be seen that only a part of the screen has come.
    """
    title = screen.rows[0].strip()
    turns = _TURNS.search(title)
    number = int(turns[1]) if turns else None
    panel, game, shown = None, "", set[str]()
    if title.startswith("Baccara") and len(title.split()) > 1:
        game, panel = "baccarat", _baccarat(screen, number)
    elif title.startswith("Vegas") and number is not None:
        game, panel = "vegas", _vegas(screen, number, name, coin)
    elif number is not None:
        game = next((each.name for each in GAMES.values() if title.startswith(each.title)), "")
        panel = _alone(screen, number) if game else None
        shown = _cards(screen.rows[2:16])
    if panel is None:
        return None
    below = "\n".join(screen.rows[14:21])
    seal, seed = SEAL.search(below), SEED.search(below)
    if seal is None and any(panel.ended) and game != "vegas":
        raise ValueError("the seal below the table has not come yet")
    return Table(game, panel, seal[1] if seal else "", seed[1] if seed else "", shown)


def _alone(screen: Screen, number: int) -> Panel:
    """Read the panel that every table for one caller and time has."""
    text = "\n".join(row[54:] for row in screen.rows[2:12])
    net, score = _SITTING.search(text), _SCORE.search(text)
    ended = tuple(map(int, score.groups())) if score else (0, 0, 0)
    return Panel(clock(net[1]) if net else 0, ended, number, None, "second")


def _cards(rows: list[str]) -> set[str]:
    found = CARD.findall("\n".join(row[:54] for row in rows))
    return {("T" if rank == "10" else rank) + SUITS[suit] for rank, suit in found}


def _baccarat(screen: Screen, number: int | None) -> Panel:
    figures: dict[str, str] = {}
    for row in screen.rows[5:15]:
        name, _, value = row[56:78].strip(" │║").partition("  ")
        figures[name] = value.strip()
    marks = tuple("".join(_MARK.findall(row[11:54])) for row in screen.rows[13:16])
    ended = () if all(set(line) <= {"·"} for line in marks) else marks
    net = figures.get("Net") or figures.get("Bilan") or "0"
    if number is not None:
        return Panel(clock(net) if net != "0" else 0, ended, number, None, "second")
    held = figures.get("Bankroll") or figures.get("Capital") or ""
    if not held:
        raise ValueError("only a part of the panel has come")
    unit = "frf-cent" if "F" in held else "usd-cent"
    return Panel(money(net), ended, None, money(held), unit)


def _vegas(screen: Screen, number: int, name: str, coin: int) -> Panel:
    """Read the seat of this caller: how the round that lies there ended for them."""
    for row, column in ((1, 1), (5, 1), (9, 1), (9, 27), (9, 53), (5, 53), (1, 53)):
        if screen.rows[row][column : column + 16].strip() != name[:16]:
            continue
        found = _RESULT.fullmatch(screen.rows[row + 3][column : column + 25].strip())
        if found is not None:
            amount = 0 if found[3] else coins(found[2], coin)
            net = -amount if found[1] == "loses" else amount
            return Panel(net, (number,), number, None, "second")
    return Panel(0, (), number, None, "second")
