"""Callers' messages about hands and the bank's window, compared with the transfers.

Sentences are read as by a person: as they come in plain lines, from the picture on a painted
screen. Every amount must be in the books, in plain lines in the same order. The figures of a
painted table must be the sums of its hands. The reverse does not hold: after a hang-up a caller
does not read how the hand was stood.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from weakref import WeakKeyDictionary

from door.games.registry import GAMES
from door.session import duels, shared_hands, tournament
from verify.robots import phrases, reading
from verify.robots.reading import Done
from verify.simulate.wire import Wire
from verify.simulate.wrong import must

# Where a caller may be.
AT_DEALS = frozenset((shared_hands.TITLE, tournament.TITLE, duels.DUEL))
VEGAS = GAMES["vegas"].title
BEHIND = 6  # entries that a picture may be behind the books
MESSAGES = slice(19, 22)  # the rows of a painted screen with messages

# What tells of an amount, and whether it is won.
_TOLD = ((phrases.WON, True), (phrases.LOST, False), (phrases.INSURANCE_LOST, False))
# A caller who was elsewhere at a round's end reads its total.
_PLAYED_TO_ITS_END = (
    (phrases.PLAYED_OUT_WON, 1),
    (phrases.PLAYED_OUT_LOST, -1),
    (phrases.PLAYED_OUT_PUSH, 0),
)
_TELETYPE = re.compile(r"You (?:(win|lose) \$(\d+)|break even)")


@dataclass
class Settled:
    """A hand's settlement in one entry of the books."""

    round_id: int
    game: str
    unit: str
    coin: int
    won: int
    lost: int


@dataclass(frozen=True)
class Sum:
    """An amount announced as won or lost, with its words."""

    words: str
    is_won: bool

    def of(self, coin: int) -> tuple[str, int]:
        """Return the part of an entry that it is, and how much."""
        if re.search("[$F]", self.words):
            amount = reading.money(self.words)
        else:
            amount = reading.coins(self.words, coin)
        return "won" if self.is_won else "lost", amount


@dataclass
class Account:
    """One caller's bookings, in order."""

    settled: list[Settled] = field(default_factory=list)
    moved: list[Done] = field(default_factory=list)


@dataclass
class Progress:
    """The position read on a line, and the bookings announced up to there."""

    settled: int
    moved: int
    characters: int = 0
    waiting: list[Sum] = field(default_factory=list)  # of a round at Vegas still in play
    since: int = 0  # entries before the announcement
    booked: int = 0  # entries there were when they last listened
    has_missed: bool = False  # whether news of a round at Vegas was missed before the return
    plays: bool = False  # a hand at the teletype
    before: str = ""  # the last line
    place: str = ""  # where the caller was at the last look


class Told:
    """Compares callers' messages with the bookings since their arrival."""

    def __init__(self, counted: Counter[str]) -> None:
        """Begin without bookings; `counted` gets the number of comparisons."""
        self.counted = counted
        self._last = 0  # transfer that is known
        self._accounts: defaultdict[int, Account] = defaultdict(Account)
        self._before: dict[int, tuple[int, int]] = {}  # the number of bookings at the last reading
        self._heard = WeakKeyDictionary[Wire, Progress]()

    def learn(self, file: sqlite3.Connection) -> None:
        """Read the new bookings."""
        self._before = {
            number: (len(account.settled), len(account.moved))
            for number, account in self._accounts.items()
        }
        (last,) = file.execute("SELECT coalesce(max(id), 0) FROM transfers").fetchone()
        for caller_id, *settled in file.execute(SETTLED, (self._last,)):
            self._accounts[caller_id].settled.append(Settled(*settled))
        for caller_id, *moved in file.execute(MOVED, (self._last,)):
            self._accounts[caller_id].moved.append(Done(*moved))
        self._last = last

    def listen(self, caller_id: int, name: str, wire: Wire, *, paints: bool, place: str) -> None:
        """Check the new text on a caller's screen.

        `paints` tells how it arrives, and `place` where the caller is: a deal books nothing, and
        Vegas announces a bust before the round is settled for all.
        """
        account = self._accounts[caller_id]
        progress = self._heard.get(wire)
        if progress is None:
            progress = self._heard[wire] = Progress(*self._before.get(caller_id, (0, 0)))
        screen = wire.screen
        new = screen.memory[max(0, len(screen.memory) - screen.characters + progress.characters) :]
        progress.characters = screen.characters
        places, progress.place = {progress.place, place}, place
        if places & AT_DEALS:
            return
        self._hear_teletype(progress, account, name, new.split("\n"))
        at_vegas = VEGAS in places
        if paints:
            self._look(account, name, wire, at_vegas=at_vegas)
            return
        sums = list(_sums(new.split("\n")))
        self.counted["settlements told"] += len(sums)
        here, there = ([], sums) if at_vegas else (sums, [])
        if here:
            end = _end_of_run(here, account.settled, progress.settled)
            must(end, "{} is told of {}, and booked are {}", name, here, account.settled[-BEHIND:])
            progress.settled = end
        missed = phrases.LAY_THERE.is_in(new)
        for phrase, sign in _PLAYED_TO_ITS_END:
            for whole in phrase.finditer(new):
                net = sign * reading.span(whole["time"]) if sign else 0
                self._hear_of_a_whole_round(account, name, net)
                missed = True
        self._hear_vegas(progress, account, name, there, has_missed=missed)
        for movement in reading.done_at_the_window(new):
            self.counted["movements told"] += 1
            must(
                _is_among(movement, account.moved[progress.moved :]),
                *("{} is told of {}, and booked are {}", name, movement, account.moved[-BEHIND:]),
            )
            while not _is_among(movement, account.moved[progress.moved : progress.moved + 1]):
                progress.moved += 1
            progress.moved += 1

    def _hear_vegas(
        self,
        progress: Progress,
        account: Account,
        name: str,
        sums: Sequence[Sum],
        *,
        has_missed: bool,
    ) -> None:
        """Check that the announced result of a round is theirs, once it is settled for all."""
        if sums and not progress.waiting:
            progress.since = progress.booked
        progress.waiting += sums
        progress.has_missed |= has_missed
        progress.booked = len(account.settled)
        news = account.settled[progress.since :]
        if not progress.waiting or not any(settled.game == "vegas" for settled in news):
            return
        if progress.has_missed:
            progress.waiting, progress.has_missed = [], False
            progress.settled = progress.booked
            return
        for count in range(len(progress.waiting), 0, -1):  # the next round may have begun already
            end = _end_of_run(progress.waiting[:count], account.settled, progress.settled)
            if end:
                del progress.waiting[:count]
                progress.settled, progress.since = end, progress.booked
                return
        must(False, "{} was told of {}, and booked are {}", name, progress.waiting, news)

    def _hear_of_a_whole_round(self, account: Account, name: str, net: int) -> None:
        """Check the announced total of a round at Vegas."""
        last = list(_nets(account.settled, "vegas").values())[-BEHIND:]
        must(net in last, "{} is told that a hand came to {}, and booked are {}", name, net, last)
        self.counted["whole rounds told"] += 1

    def _hear_teletype(
        self, progress: Progress, account: Account, name: str, lines: Sequence[str]
    ) -> None:
        """Check that the results are those of hands in the books, in order.

        The last one may be repeated, on the sheet for a caller without time.
        """
        for line in map(str.strip, lines):
            match = _TELETYPE.fullmatch(line)
            if line == "new game":
                progress.plays = True
            elif match and progress.plays and not progress.before.startswith("Action $"):
                progress.plays = False
                dollars = int(match[2] or 0) * (-1 if match[1] == "lose" else 1)
                nets = _nets(account.settled, "unix-bj")
                since = account.settled[max(0, progress.settled - 1) :]
                rounds = {each.round_id: each.coin for each in since if each.game == "unix-bj"}
                fits = [each for each in rounds if nets[each] == dollars * rounds[each]]
                must(fits, "{} is told {}, and booked are {}", name, line, since[-BEHIND:])
                numbers = [settled.round_id for settled in account.settled]
                progress.settled = len(numbers) - numbers[::-1].index(fits[0])
                self.counted["hands told at the teletype"] += 1
            progress.before = line

    def _look(self, account: Account, name: str, wire: Wire, *, at_vegas: bool) -> None:
        """Check that a painted screen's amounts are among the last bookings."""
        rows = wire.screen.rows[MESSAGES]
        known = account.settled[-BEHIND:]
        # At Vegas the caller's seat shows how the round ended.
        for each in () if at_vegas else _sums(rows):
            self.counted["settlements seen"] += 1
            fits = any(_is_part(each, settled) for settled in known)
            must(fits, "{} sees {}, and booked are {}", name, each, known)
        for movement in reading.done_at_the_window(" ".join(rows)):
            self.counted["movements seen"] += 1
            moved = account.moved[-BEHIND:]
            must(_is_among(movement, moved), "{} sees {}, not {}", name, movement, moved)
        with suppress(ValueError):  # half a screen, when the line is lost on the way
            self._add_up(account, name, wire)

    def _add_up(self, account: Account, name: str, wire: Wire) -> None:
        """Check that a sitting's figures are the sum of its hands, and a seat's those of its
        round.
        """
        coins = {settled.coin for settled in account.settled[-BEHIND:]} or {60}
        tables = [reading.table(wire.screen, name, coin) for coin in coins]
        table = tables[0]
        if table is None or not any(table.panel.ended):
            return
        self.counted["tables added up"] += 1
        if table.game == "vegas":
            last = list(_nets(account.settled, "vegas").values())[-BEHIND:]
            told = {each.panel.net for each in tables if each is not None}
            must(told & set(last), "{} has come to {}, and booked are {}", name, told, last)
            return
        net, unit = table.panel.net, table.panel.unit
        nets = [
            settled.won - settled.lost
            for settled in account.settled
            if (settled.game, settled.unit) == (table.game, unit)
        ]
        sums = list(accumulate(nets, initial=0))
        fits = any(end - net in sums for end in sums[-BEHIND:])
        must(fits, "the sitting of {} is at {}, and booked are {}", name, net, nets[-20:])


def _sums(lines: Sequence[str]) -> Iterator[Sum]:
    """Read the sums won and lost; sentences may be broken into lines."""
    text = " ".join(" ".join(lines).split())
    for phrase, is_won in _TOLD:
        for matched in phrase.finditer(text):
            yield Sum(phrases.amount(matched), is_won)


def _is_among(done: Done, booked: Sequence[Done]) -> bool:
    if done.kind != "repay":
        return done in booked
    # Of the last minute at most the debt is paid.
    return any(
        each.kind == "repay" and done.amount - 60 < each.amount <= done.amount for each in booked
    )


def _is_part(announced: Sum, settled: Settled) -> bool:
    """Return whether a sum is an entry's win or loss."""
    which, amount = announced.of(settled.coin)
    return bool(getattr(settled, which) == amount)


def _end_of_run(announced: Sequence[Sum], booked: Sequence[Settled], first: int) -> int:
    """Return the end of consecutive entries that add up to the announced sum; 0 without any."""
    for start in range(first, len(booked)):
        wanted = {"won": 0, "lost": 0}
        for each in announced:
            which, amount = each.of(booked[start].coin)
            wanted[which] += amount
        won = lost = 0
        for end in range(start, len(booked)):
            won, lost = won + booked[end].won, lost + booked[end].lost
            if {"won": won, "lost": lost} == wanted:
                return end + 1
    return 0


def _nets(booked: Sequence[Settled], game: str) -> dict[int, int]:
    """Return the result of each round of a game, in order."""
    nets: defaultdict[int, int] = defaultdict(int)
    for settled in booked:
        if settled.game == game:
            nets[settled.round_id] += settled.won - settled.lost
    return dict(nets)


SETTLED = """
SELECT r.caller_id, r.id, r.game, r.unit, r.coin,
    sum(iif(t.kind = 'won', t.amount, 0)), sum(iif(t.kind = 'lost', t.amount, 0))
FROM transfers t JOIN rounds r ON r.id = t.round_id
WHERE t.id > ? AND t.kind IN ('won', 'lost', 'returned') GROUP BY t.entry, r.id ORDER BY t.id
"""
MOVED = f"""
SELECT coalesce(s.caller_id, g.caller_id), t.kind, t.amount,
    iif(t.kind = 'transfer', (SELECT name FROM callers WHERE id = g.caller_id), '')
FROM transfers t JOIN accounts s ON s.id = t.source JOIN accounts g ON g.id = t.target
WHERE t.id > ? AND t.kind IN {tuple(phrases.DONE)} ORDER BY t.id
"""
