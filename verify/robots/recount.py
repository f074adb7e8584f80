"""What callers' own pages and the hall of fame showed, held against a recount of the hands.

A page was so at some moment shortly before it was noted. On a caller's own page the number of hands
says which moment that was, and all that stands there must be what these hands come to. Of the hall
each figure must be what its caller had at a moment of that time, and nobody may be left out who was
better all the time.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import groupby

from verify.robots.books import Account, Hand, Steps
from verify.robots.seen import Seen
from verify.robots.standing import Hall, Record

ROUNDING = 2  # seconds: two clocks are rounded down


@dataclass
class Totals:
    """What the hands of one caller for time came to, at any moment, in seconds; `row` is the most
    hands ever won in a row at one game."""

    net: Steps
    best: Steps
    row: Steps
    first: int  # when the first was over


@dataclass
class Won:
    """A hand for time that is over."""

    at: int
    day: str
    game: str
    net: int


@dataclass
class Standings:
    """The hands of all callers."""

    hands: Mapping[str, Sequence[Won]]
    days: Sequence[tuple[int, str]]  # when the books first heard of a day, and of which
    _totals: dict[tuple[str, str], dict[str, Totals]] = field(default_factory=dict)

    def of(self, days: str, at: float) -> Mapping[str, Totals]:
        """Return the totals by name of today, this week or ever (T, W or E), as these were then."""
        begun = [day for since, day in self.days if since <= at]
        today = date.fromisoformat(begun[-1]) if begun else date.min
        first = {"T": today, "W": today - timedelta(days=today.weekday()), "E": date.min}[days]
        last = date.max if days == "E" else today
        key = first.isoformat(), last.isoformat()
        if key not in self._totals:
            within = {
                name: [hand for hand in hands if key[0] <= hand.day <= key[1]]
                for name, hands in self.hands.items()
            }
            self._totals[key] = {name: _totals(hands) for name, hands in within.items() if hands}
        return self._totals[key]


def standings(books: sqlite3.Connection) -> Standings:
    hands = defaultdict[str, list[Won]](list)
    for name, *hand in books.execute(HANDS):
        hands[name].append(Won(*hand))
    return Standings(hands, [(at, day) for day, at in books.execute(DAYS)])


def _totals(hands: Sequence[Won]) -> Totals:
    net, best, row = [], [], []
    most = longest = 0
    runs = defaultdict[str, int](int)
    for hand in hands:
        net.append((hand.at, hand.net))
        best.append((hand.at, max(0, hand.net - most)))
        most = max(most, hand.net)
        if hand.net:
            runs[hand.game] = runs[hand.game] + 1 if hand.net > 0 else 0
        row.append((hand.at, max(0, runs[hand.game] - longest)))
        longest = max(longest, runs[hand.game])
    return Totals(Steps(net), Steps(best), Steps(row), hands[0].at)


def shown(seen: Seen, account: Account, everybody: Standings, lag: float) -> Iterator[str]:
    """Say of each page what was never so; `lag` is how many seconds it may be behind the books."""
    over = [hand for hand in account.hands if hand.settled is not None and hand.outcome != "void"]
    over.sort(key=lambda hand: hand.settled or 0)
    for record, at in seen.records:
        yield from _record(record, over, at - lag, at + ROUNDING)
        if record.ahead is not None:
            totals = everybody.of("E", at)
            others = [each for name, each in totals.items() if name != seen.name]
            yield from _ahead(record, others, at - lag, at + ROUNDING)
    for hall, at in seen.halls:
        totals = everybody.of(hall.days, at)
        for words in _hall(hall, totals, at - lag, at + ROUNDING):
            yield f"the hall of fame ({hall.days}) had {words}"


# Their own page.


def _record(record: Record, over: Sequence[Hand], first: float, last: float) -> Iterator[str]:
    number = record.counts.get("hands", 0)
    ends = [hand.settled or 0 for hand in over]
    least, most = bisect_right(ends, first), bisect_right(ends, last)
    if not least <= number <= most:
        yield f"their page had {number} hands, and the books had {least} to {most} then"
        return
    found = counted(over[:number])
    if (record.counts, record.in_a_row, record.best, record.net) != (
        *(found.counts, found.in_a_row, found.best, found.net),
    ):
        yield f"their page had {record}, and {number} hands come to {found}"


def counted(hands: Sequence[Hand]) -> Record:
    """Count what hands come to, in their order, but for those who stand behind."""
    if not hands:
        return Record({})
    for_time = [hand.net for hand in hands if hand.unit == "second"]
    of_game = defaultdict[tuple[str, str], list[bool]](list)
    for hand in hands:
        if hand.net:
            of_game[hand.game, hand.unit].append(hand.net > 0)
    rows = [(won, len(list(row))) for ways in of_game.values() for won, row in groupby(ways)]
    won, even = sum(hand.net > 0 for hand in hands), sum(hand.net == 0 for hand in hands)
    return Record(
        {
            "hands": len(hands),
            "won": won,
            "even": even,
            "lost": len(hands) - won - even,
            "naturals": sum("natural" in hand.outcome.split() for hand in hands),
            "charlies": sum("charlie" in hand.outcome.split() for hand in hands),
        },
        (
            max((length for is_won, length in rows if is_won), default=0),
            max((length for is_won, length in rows if not is_won), default=0),
        ),
        max([0, *for_time]),
        sum(for_time),
    )


def _ahead(record: Record, others: Sequence[Totals], first: float, last: float) -> Iterator[str]:
    """There are as many behind them as have won less all the time, and no more than ever did."""
    assert record.ahead is not None
    behind, others_then = record.ahead
    nets = [
        (each.first <= first, each.net.between(first, last))
        for each in others
        if each.first <= last
    ]
    sure = sum(was_there and max(net) < record.net for was_there, net in nets)
    possible = sum(min(net) < record.net for _, net in nets)
    if not sure <= behind <= possible:
        yield f"their page had {behind} callers behind them, and there were {sure} to {possible}"
    least, most = sum(was_there for was_there, _ in nets), len(nets)
    if not least <= others_then <= most:
        yield f"their page had {others_then} other callers, and there were {least} to {most}"


# The hall of fame.


def _hall(hall: Hall, totals: Mapping[str, Totals], first: float, last: float) -> Iterator[str]:
    room = max(map(len, hall.lists.values()))
    for title, places in hall.lists.items():
        had = {name: _figures(each, title, first, last) for name, each in totals.items()}
        for name, figure in places:
            if figure not in had.get(name, ()):
                yield f"{figure} of {name} in {title!r}, who had {had.get(name)}"
        figures = [figure for _, figure in places]
        if figures != sorted(figures, reverse=title != "lost"):
            yield f"{places} in {title!r}, out of order"
        if title == "lost":  # of those alone who wish to be named
            continue
        least = figures[-1] if places and len(places) == room else 0
        left_out = had.keys() - {name for name, _ in places}
        better = {name: had[name] for name in sorted(left_out) if min(had[name]) > least}
        if better:
            yield f"{places} in {title!r}, without {better}"


def _figures(each: Totals, title: str, first: float, last: float) -> list[int]:
    steps = {"won": each.net, "lost": each.net, "best": each.best, "in a row": each.row}[title]
    return steps.between(first, last)


HANDS = """
SELECT c.name, r.settled, r.day, r.game, r.won - r.lost FROM rounds r
JOIN callers c ON c.id = r.caller_id AND c.deleted IS NULL
WHERE r.unit = 'second' AND r.settled IS NOT NULL AND r.outcome <> 'void'
ORDER BY r.settled, r.id
"""
DAYS = """
SELECT day, min(at) FROM (
    SELECT json_extract(facts, '$.day') AS day, at FROM transfers WHERE kind = 'grant'
    UNION ALL SELECT day, dealt FROM rounds
) GROUP BY day ORDER BY day
"""
