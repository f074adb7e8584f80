"""The books in a browser: each page's time with books of years, and a report's effect on callers.

`door pages` is its own process, as on a board. A logged-on client requests the pages one after the
other. Then 300 callers bet without a screen while a client requests large reports; the baseline is
the same without requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

from argon2 import PasswordHasher

from bench import large, stall
from bench.asking import HOST, PATIENCE, ask, seconds_for
from bench.bettors import Room, StoppedClock, bettors_at, settings_of
from bench.board import NOON, PASSWORD, sysop_toml
from bench.processes import environment, kept_port
from bench.report import Goal, Row, Scale, median, percentile
from door.call.board_clock import BoardClock
from door.call.books import Books
from timebank.callers import callers
from timebank.ledger.database import Desk
from timebank.ledger.schema import instant
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.ledger.transfers import Extract
from timebank.reports import ledger_pages

PAGE_GOAL = Goal("value", "<=", 100)
STILL_GOAL = Goal("ratio", "<=", 1.5)
SYSOP = "Sysop"
SHARE = 0.3  # of the callers of a scale who bet during a report: 300 of 1,000
MILLI = 1e3
CODE = "from door.cli.main import main; main()"
# The measured pages, and their goals. Half the transfers are before {middle}, on the day {day}.
PAGES = (
    ("today", "/", None),
    ("ledger", "/ledger", PAGE_GOAL),
    ("ledger, from the middle", "/ledger?before={middle}", PAGE_GOAL),
    ("ledger of a caller", "/ledger?caller=%2310", PAGE_GOAL),
    ("ledger of a kind, from the middle", "/ledger?kind=grant&before={middle}", PAGE_GOAL),
    ("ledger of callers and kinds", "/ledger?{several}", PAGE_GOAL),
    ("ledger of a day", "/ledger?since=2026-11-10&until=2026-11-10", PAGE_GOAL),
    ("ledger by words that nobody said", "/ledger?text=nobody", None),
    ("an entry", "/entry/{middle}", PAGE_GOAL),
    ("callers", "/callers", PAGE_GOAL),
    ("callers by balance, with a search", "/callers?sort=-bank&name=1", PAGE_GOAL),
    ("a caller's last day", "/caller/10", PAGE_GOAL),
    ("a caller's day in the middle", "/caller/10?day={day}", PAGE_GOAL),
    ("a caller, all days", "/caller/10?since=2000-01-01", None),
    ("plots of 30 days, again", "/plots", PAGE_GOAL),
    ("balances of a moment", "/balances?at=2026-11-10T12:00", None),
    ("a hand", "/hand/10", None),
)
# Large reports; the first has a fifth of the books, a million transfers of five million.
REPORTS = (
    ("a fifth of the ledger as CSV", "/ledger.csv?since={recent}"),
    ("plots of a year, the first time", "/plots?since=2025-11-21"),
    ("balances of a moment", "/balances?at={recent}T12:00"),
)


def run(scale: Scale, disk: Path) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="bench-", dir=disk) as folder:
        board = Path(folder)
        (board / "data").mkdir()
        (board / "sysop.toml").write_text(sysop_toml(scale.callers), encoding="utf-8")
        file = board / "data" / "board.sqlite3"
        count = large.write(file, scale.book_transfers)
        yield from at(board, count, scale)


def at(board: Path, count: int, scale: Scale) -> Iterator[Row]:
    """Measure at books in a folder, with so many transfers."""
    settings = settings_of(board / "data" / "board.sqlite3")
    with contextlib.closing(SqliteDatabase(settings.database)) as database:
        database.open()
        with database.transaction(settings, NOON) as desk:
            hashed = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
            callers.register_kept(desk, SYSOP, hashed, powers=True)
            middle, recent = _entry_at(desk, count // 2), _entry_at(desk, count - count // 5)
        days = [settings.schedule.day_of(instant(row.at)).isoformat() for row in (middle, recent)]
        several = "caller=%2310&caller=%2311&caller=%2312&kind=won&kind=lost"
        fields = {"several": several, "middle": middle.entry, "day": days[0], "recent": days[1]}
        with kept_port() as port, contextlib.closing(PagesProcess(board, port)) as pages:
            yield Row("plots of 30 days, the first time", "s", pages.seconds("/plots"))
            yield Row("the days of these plots added up, after", "s", pages.adding_up("/plots"))
            for what, path, goal in PAGES:
                times = [pages.seconds(path.format(**fields)) for _ in range(scale.rounds)]
                yield Row(f"{what}, {count:,} transfers", "ms", median(times) * MILLI, None, goal)
            bettors = bettors_at(database, settings, round(SHARE * scale.callers), elapsed=1)
            here = Room(database, settings, bettors)
            with stall.pings() as pipe:
                reports = [(what, path.format(**fields)) for what, path in REPORTS]
                yield from asyncio.run(_while_reporting(here, pages, reports, pipe, scale))


def _entry_at(desk: Desk, number: int) -> Extract:
    """Return the first transfer of the next entry, from this transfer on."""
    return next(
        rows[0] for at in range(number, number + 9) if (rows := ledger_pages.entry(desk, at))
    )


async def _while_reporting(
    here: Room, pages: PagesProcess, reports: Sequence[tuple[str, str]], pipe: int, scale: Scale
) -> list[Row]:
    """Let all bet while each report is made, and while none is."""
    books = Books(here.database, lambda: here.settings, BoardClock(StoppedClock()))
    ages: list[float] = []
    loop = asyncio.get_running_loop()
    loop.add_reader(pipe, stall.note, pipe, ages)
    rows, busy, idle = [], [], []
    for what, path in reports:
        for turns, asks in ((idle, False), (busy, True)):
            ages.clear()
            report = pages.begin(path) if asks else None
            began, done = loop.time(), 0
            while not done or (report is not None and report.poll() is None):
                done += await stall.play(books, here.bettors, scale.stall_seconds)
            await stall.anything(ages)
            turns.append(ages[:])
            if report is not None:
                rate = done / (loop.time() - began)
                took = float(report.communicate()[0])
                rows.append(
                    Row(f"{what}, beside {len(here.bettors)} at {rate:.0f} tx/s", "s", took)
                )
    loop.remove_reader(pipe)
    await books.close()
    usual = [median(percentile(turn, 99) for turn in turns) * MILLI for turns in (busy, idle)]
    worst = [max(map(max, turns)) * MILLI for turns in (busy, idle)]
    what = f"beside {len(here.bettors)} who bet, a report or none"
    return [
        *rows,
        Row(f"stall p99 {what}", "ms", usual[0], usual[1], STILL_GOAL),
        Row(f"stall max {what}", "ms", worst[0], worst[1]),
    ]


class PagesProcess:
    """`door pages` for the books in a folder, with a logged-on sysop."""

    def __init__(self, folder: Path, port: int) -> None:
        self._port = port
        words = ("pages", "--config", str(folder / "sysop.toml"), "--port", str(port))
        self._process = subprocess.Popen(
            [sys.executable, "-c", CODE, *words],
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        assert self._process.stdout is not None
        assert "The books are shown" in self._process.stdout.readline()
        form = urllib.parse.urlencode({"name": SYSOP, "word": PASSWORD, "code": ""})
        answer = ask(self._port, "/log-on", "", form)
        self._cookie = (answer.getheader("Set-Cookie") or "").partition(";")[0]

    def seconds(self, path: str) -> float:
        """Ask for a page; return how long it takes to come whole."""
        return seconds_for(self._port, path, self._cookie)

    def adding_up(self, path: str) -> float:
        """Return how long it takes until plots show all of their days."""
        began, page = time.perf_counter(), b"added up"
        address = urllib.request.Request(
            f"http://{HOST}:{self._port}{path}", headers={"Cookie": self._cookie}
        )
        while b"added up" in page:
            with urllib.request.urlopen(address) as answer:
                page = answer.read()
        return time.perf_counter() - began

    def begin(self, path: str) -> subprocess.Popen[str]:
        """Have another process request a page and print its seconds."""
        words = (str(self._port), path, self._cookie)
        return subprocess.Popen(
            [sys.executable, "-m", "bench.asking", *words],
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate(timeout=PATIENCE)
