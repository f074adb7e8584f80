"""Bettors at the ledger without a screen: the bank's own functions, through the one writer.

A hand is the table's work: seal a shoe, place a bet, stand; three transactions.
"""

from __future__ import annotations

import asyncio
import itertools
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from datetime import time as time_of_day
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from bench.board import NOON, slow_down
from bench.report import percentile
from door.call.board_clock import BoardClock
from door.call.books import Books
from door.clock import SystemClock
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, rules_to_mapping
from door.games.engine import shuffle
from timebank.callers import callers
from timebank.calls.calls import open_call
from timebank.ledger.database import Database, Desk
from timebank.ledger.purse import Receipt
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.settings.schedule import Event
from timebank.settings.settings import BankSettings
from timebank.wagers import journal, wagers
from timebank.wagers.rounds import FIRST_SEAT, Move, Settlement, Wager

GAME = "black-jack-for-time"
COIN = 60
RULES = rules_to_mapping(BLACK_JACK_FOR_TIME)
CARDS_DEALT, CARDS_USED = 4, 5
SLOW_COMMIT = 0.004  # seconds; a disk that really writes
RESULT = {
    "outcomes": ["win"],
    "player": [["KS", "9D"]],
    "dealer": ["7C", "TH"],
    "net": COIN,
    "cards_used": CARDS_USED,
}

Operation = Callable[[Desk], object]


class StoppedClock(SystemClock):
    """A clock with its wall time fixed at noon: the same bets make the same rows every time."""

    def now(self) -> datetime:
        return NOON

    def uptime(self) -> float:
        return 0.0  # with which the wall clock must go


class Rate(NamedTuple):
    """Transactions a second, seconds of CPU for each, and the 99th percentile of waits."""

    a_second: float
    cpu: float
    p99: float


class Bettor:
    """One caller on a call who plays hand after hand, one lost for each one won.

    `elapsed` seconds of their time pass between two transactions.
    """

    def __init__(self, caller_id: int, call_id: int, elapsed: int) -> None:
        self._caller_id = caller_id
        self._roots = itertools.count(caller_id << 32)  # no two chains have the same
        self.call_id = call_id
        self._elapsed = elapsed
        self._ticked = 0
        self._shoe_id = 0
        self._round_id = 0
        self._wins = itertools.cycle((True, False))
        self._steps = itertools.cycle((self._seal, self._bet, self._stand))

    def next_operation(self) -> Operation:
        self._ticked += self._elapsed
        return next(self._steps)

    def _seal(self, desk: Desk) -> None:
        root = next(self._roots).to_bytes(shuffle.SEED_BYTES, "big")
        self._shoe_id = journal.open_shoe(desk, self._caller_id, GAME, 1, root).id

    def _bet(self, desk: Desk) -> Receipt:
        wager = Wager(
            game=GAME,
            amounts={FIRST_SEAT: COIN},
            coin=COIN,
            turns_limit=None,
            shoe_id=self._shoe_id,
            cut="",
            rules=RULES,
            action={"action": "bet", "stake": COIN},
            cards_used=CARDS_DEALT,
        )
        placed = wagers.place(desk, wager, self._sitters(), {})
        self._round_id = placed.lead
        return placed.receipt

    def _stand(self, desk: Desk) -> Receipt:
        move = Move(
            round_id=self._round_id, sequence=1, action={"action": "stay"}, cards_used=CARDS_USED
        )
        won = next(self._wins)
        settlement = Settlement(
            lost=0 if won else COIN,
            returned=COIN if won else 0,
            won=COIN if won else 0,
            outcome="win" if won else "lose",
            result=RESULT,
            final=True,
        )
        played = wagers.act(desk, move, self._sitters(), {FIRST_SEAT: settlement})
        journal.close_shoe(desk, self._shoe_id)
        return played.receipt

    def _sitters(self) -> Mapping[int, wagers.Sitter]:
        return {FIRST_SEAT: wagers.Sitter(self._caller_id, self.call_id, self._ticked)}


class Room(NamedTuple):
    """Open books, and bettors who are on a call."""

    database: Database
    settings: BankSettings
    bettors: list[Bettor]


def settings_of(path: Path) -> BankSettings:
    """Return the bank settings of the benches, with the books in `path`."""
    return BankSettings(
        zone=ZoneInfo("UTC"),
        events=(Event("Mail hour", time_of_day(3), frozenset(range(7)), 60),),
        minutes_per_day=600,
        mode="built-in",
        thebank_ext=None,
        database=path,
    )


@contextmanager
def room(disk: Path, count: int, *, elapsed: int) -> Iterator[Room]:
    """Open new books under `disk` for a while; the same rows are in them every time."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir=disk) as folder:
        settings = settings_of(Path(folder) / "board.sqlite3")
        database = SqliteDatabase(settings.database)
        database.open()
        try:
            bettors = bettors_at(database, settings, count, elapsed)
            yield Room(database, settings, bettors)
        finally:
            database.close()


def bettors_at(
    database: Database,
    settings: BankSettings,
    count: int,
    elapsed: int,
    first: int = 0,
) -> list[Bettor]:
    """Register so many new callers in open books, and open a call for each; `first` is a number."""
    bettors = []
    with database.transaction(settings, NOON) as desk:
        for number in range(first, first + count):
            record = callers.register(desk, f"Bettor {number}", "")
            opened = open_call(desk, record.id, number, "bench", "127.0.0.1", False)
            bettors.append(Bettor(record.id, opened.call_id, elapsed))
    return bettors


def at_the_books(
    disk: Path, count: int, seconds: float, *, elapsed: int, commit: float = 0
) -> Rate:
    """Let bettors play for a while like the tables: each waits for their own transaction."""
    with room(disk, count, elapsed=elapsed) as here:
        if commit:
            slow_down(here.database, commit)
        return asyncio.run(_alone(here, seconds))


async def _alone(here: Room, seconds: float) -> Rate:
    books = books_of_room(here)
    rate = await play(books, here.bettors, seconds)
    await books.close()
    return rate


def books_of_room(here: Room) -> Books:
    return Books(here.database, lambda: here.settings, BoardClock(StoppedClock()))


async def play(books: Books, bettors: Sequence[Bettor], seconds: float, pause: float = 0) -> Rate:
    """Let bettors play for this long, and for one key at least.

    `pause` is the seconds from one key of a bettor to the next.
    """
    began, used = time.perf_counter(), time.process_time()
    until = began + seconds
    waits: list[float] = []

    async def bet(number: int, bettor: Bettor) -> None:
        await asyncio.sleep(pause * number / len(bettors))
        while (asked := time.perf_counter()) < until or not waits:
            await books.run(bettor.next_operation())
            waits.append(time.perf_counter() - asked)
            if pause:
                await asyncio.sleep(max(0, asked + pause - time.perf_counter()))

    await asyncio.gather(*(bet(*each) for each in enumerate(bettors)))
    done = len(waits)
    a_second = done / (time.perf_counter() - began)
    return Rate(a_second, (time.process_time() - used) / done, percentile(waits, 99))
