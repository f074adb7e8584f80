"""The cost of years of play in the books.

It measures a start of the board, callers' standings, a bet at a day's end, and commands. The
baseline is the same with empty books, and for commands with smaller ones (commands.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

from bench import commands, large
from bench.bettors import Bettor, StoppedClock, bettors_at, settings_of
from bench.board import NOON
from bench.report import Goal, Row, Scale, median
from bench.startup import seconds_to_listen
from door.call.board_clock import BoardClock
from door.call.books import Books
from door.lobby import bulletins, pulse
from timebank.callers import awards, fame, standings
from timebank.callers.award_names import BANK
from timebank.callers.standings import DaySpan
from timebank.ledger.database import Desk
from timebank.ledger.sqlite.database import SqliteDatabase

START_GOAL = Goal("ratio", "<=", 1.3)
MIDNIGHT_GOAL = Goal("value", "<=", 50)
STANDING_GOAL = Goal("value", "<=", 50)
A_SECOND = 300  # transactions
MILLI = 1e3
# The days of the standings that callers read: the first, and those before NOON, the last with
# hands.
LAST_DAY = (NOON - timedelta(days=1)).date()
DAY = DaySpan(LAST_DAY, LAST_DAY)
WEEK = DaySpan((NOON - timedelta(days=7)).date(), NOON.date())
LOOKS: Mapping[str, Callable[[Desk], object]] = {
    "a caller's own page": lambda desk: fame.record(desk, 1, 28),
    "hall of fame, today": lambda desk: fame.hall(desk, DAY, 10),
    "hall of fame, this week": lambda desk: fame.hall(desk, WEEK, 10),
    "hall of fame, ever": lambda desk: fame.hall(desk, None, 10),
    "the brass plate": lambda desk: awards.holders(desk, BANK, 12),
    "the news": bulletins.of_yesterday,
    "what the menu asks": lambda desk: (pulse.look(desk), standings.place(desk, 1)),
}


def run(scale: Scale, disk: Path) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="bench-", dir=disk) as folder:
        old, new = Path(folder) / "old", Path(folder) / "new"
        for board in (old, new):
            (board / "data").mkdir(parents=True)
        count = large.write(_file(old), scale.book_transfers)
        starts: dict[Path, list[float]] = {old: [], new: []}
        for _ in range(scale.starts):
            for board, seconds in starts.items():
                seconds.append(seconds_to_listen(board))
        yield Row(
            f"door serve, {count:,} transfers",
            "ms",
            median(starts[old]) * MILLI,
            median(starts[new]) * MILLI,
            START_GOAL,
        )
        yield from _standings_rows(old, new, scale)
        waits = {board: asyncio.run(_over_midnight(board, scale)) for board in (old, new)}
        yield Row(
            "the longest wait of a bet over midnight",
            "ms",
            waits[old] * MILLI,
            waits[new] * MILLI,
            MIDNIGHT_GOAL,
        )
    yield from commands.run(scale, disk)


def _standings_rows(old: Path, new: Path, scale: Scale) -> Iterator[Row]:
    """Measure a caller's wait for the standings, as the excess over new books."""
    for what, look in LOOKS.items():
        times = {board: _seconds_to_read(board, look, scale.rounds) for board in (old, new)}
        more = (times[old] - times[new]) * MILLI
        yield Row(f"{what}, more than in new books", "ms", more, None, STANDING_GOAL)


def _seconds_to_read(board: Path, look: Callable[[Desk], object], rounds: int) -> float:
    settings = settings_of(_file(board))
    times = []
    with contextlib.closing(SqliteDatabase(settings.database)) as database:
        database.open()
        for _ in range(rounds):
            with database.reading(settings, NOON) as desk:
                began = time.perf_counter()
                look(desk)
                times.append(time.perf_counter() - began)
    return median(times)


def _file(board: Path) -> Path:
    return board / "data" / "board.sqlite3"


async def _over_midnight(board: Path, scale: Scale) -> float:
    """Let bettors bet while the bulletin is made; return the longest wait, in seconds."""
    settings = settings_of(_file(board))
    with contextlib.closing(SqliteDatabase(settings.database)) as database:
        database.open()
        bettors = bettors_at(database, settings, scale.bettors, elapsed=1)
        books = Books(database, lambda: settings, BoardClock(StoppedClock()))
        playing = asyncio.create_task(_play(books, bettors, scale.stall_seconds))
        await asyncio.sleep(scale.stall_seconds / 2)
        await books.read(bulletins.of_yesterday)
        longest = await playing
        await books.close()
    return longest


async def _play(books: Books, bettors: list[Bettor], seconds: float) -> float:
    """Let all bettors together make this many transactions a second; return the longest wait."""
    loop = asyncio.get_running_loop()
    began, gap = loop.time(), len(bettors) / A_SECOND

    async def play(number: int, bettor: Bettor) -> float:
        longest, due = 0.0, began + gap * number / len(bettors)
        while due < began + seconds:
            await asyncio.sleep(due - loop.time())
            asked = loop.time()
            await books.run(bettor.next_operation())
            longest = max(longest, loop.time() - asked)
            due += gap
        return longest

    return max(await asyncio.gather(*(play(*each) for each in enumerate(bettors))))
