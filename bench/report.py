"""The printed report: a line for each figure, with its baseline and its goal."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Reads = Literal["ratio", "value"]


@dataclass(frozen=True)
class Goal:
    """A bound on the ratio to the baseline, or on the value itself."""

    reads: Reads
    sense: Literal["<=", ">="]
    bound: float

    def reached(self, value: float, ratio: float) -> bool:
        figure = ratio if self.reads == "ratio" else value
        return figure <= self.bound if self.sense == "<=" else figure >= self.bound

    def __str__(self) -> str:
        return f"{self.sense} {number(self.bound)}{' x' if self.reads == 'ratio' else ''}"


@dataclass(frozen=True)
class Row:
    """One figure; `baseline` is the same thing done by the simplest program that could."""

    what: str
    unit: str
    value: float
    baseline: float | None = None
    goal: Goal | None = None

    @property
    def ratio(self) -> float:
        return self.value / self.baseline if self.baseline else math.nan

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return ""
        return "reached" if self.goal.reached(self.value, self.ratio) else "MISSED"


@dataclass(frozen=True)
class Scale:
    """The amount of work: the same measurements, longer or shorter."""

    callers: int  # connected at once
    pressing: int  # of them, those who wager in the measurement of committing keys
    rounds: int  # each measured thing and its baseline take turns this often
    seconds: float  # a turn at the keyboard
    playing_seconds: float  # a turn of those who play at leisure
    connects: int  # one after the other
    silent: int  # without output, all at once
    burst: int
    bettors: int
    hands: int  # recorded for the baseline of the ledger
    ledger_seconds: float
    stall_seconds: float
    starts: int
    book_transfers: int  # in the books of years
    servers: tuple[int, ...]  # of one board, one after the other
    leisure_seconds: float  # for callers to play at their own pace, on a server
    crowd_seconds: float  # for all callers of the page to play
    command_transfers: tuple[int, ...] = ()  # in the books that commands read
    loop: str = "asyncio"  # the board's loop, or "uvloop"


FULL = Scale(
    callers=1000,
    pressing=64,
    rounds=3,
    seconds=1.7,
    playing_seconds=12.0,
    connects=100,
    silent=20,
    burst=2000,
    bettors=64,
    hands=2000,
    ledger_seconds=1.5,
    stall_seconds=3.0,
    starts=15,
    book_transfers=5_000_000,
    command_transfers=(100_000, 1_000_000, 5_000_000),
    servers=(1, 2, 4),
    leisure_seconds=20.0,
    crowd_seconds=300.0,
)
QUICK = Scale(
    callers=100,
    pressing=32,
    rounds=1,
    seconds=0.5,
    playing_seconds=1.5,
    connects=20,
    silent=5,
    burst=200,
    bettors=64,
    hands=200,
    ledger_seconds=0.3,
    stall_seconds=0.8,
    starts=3,
    book_transfers=20_000,
    command_transfers=(5_000, 20_000),
    servers=(1, 2),
    leisure_seconds=5.0,
    crowd_seconds=3.0,
)


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], hundredths: float) -> float:
    """The smallest value that so many hundredths of all do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * hundredths / 100))]


def number(value: float) -> str:
    """Format a number with three significant digits."""
    if math.isnan(value):
        return "-"
    if value and abs(value) < 0.995:
        return f"{Decimal(f'{value:.2g}'):f}"
    if abs(value) < 9.95:
        return f"{value:.2f}"
    return f"{value:.1f}" if abs(value) < 99.5 else f"{value:,.0f}"


HEADING = f"  {'':<54}{'here':>10}{'baseline':>10}{'ratio':>10}  {'to reach':<10}"


def line(row: Row) -> str:
    baseline = "" if row.baseline is None else number(row.baseline)
    ratio = "" if row.baseline is None else f"{number(row.ratio)} x"
    goal = "" if row.goal is None else str(row.goal)
    what = f"{row.what}, {row.unit}"
    return f"  {what:<54}{number(row.value):>10}{baseline:>10}{ratio:>10}  {goal:<10}{row.verdict}"
