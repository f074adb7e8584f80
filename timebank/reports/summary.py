"""Sums by day, week, month or year: where time came from and where it went."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from typing import Literal

from timebank.ledger.database import Desk
from timebank.ledger.schema import MINT, PRIZES, instant
from timebank.ledger.sql import NO_BOUND
from timebank.reports.statements import amount
from timebank.reports.tables import Column, Listing, Row, figures
from timebank.reports.totals import QUARTER, QuarterMoved, moved_by_quarter
from timebank.words import Unit, clock, title

By = Literal["day", "week", "month", "year"]

# The names of flows between two kinds of accounts. "*" is any other kind.
FLOWS = {
    ("allotment", "*"): "granted",
    ("*", "elapsed"): "used",
    ("*", "forfeit"): "forfeited",
    ("online", "bank"): "banked",
    ("held", "bank"): "banked",
    ("online", "held"): "held",
    ("held", "online"): "back_after_an_event",
    ("bank", "online"): "withdrawn",
    ("bank", "bank"): "sent",
    ("loan", "online"): "lent",
    ("online", "loan"): "repaid",
    ("held", "loan"): "repaid",
    ("bank", "loan"): "repaid",
    ("*", "external"): "passed_on",
    ("external", "*"): "taken_in",
    ("adjustment", "*"): "added",
    ("*", "adjustment"): "taken_off",
    # Tournaments: the house's share and its return, callers' entries and prizes.
    ("house", "prizes"): "put_up",
    ("prizes", "house"): "put_back",
    ("*", "prizes"): "entries",
    ("prizes", "*"): "prizes",
    ("*", "duels"): "staked_in_duels",
    ("duels", "*"): "back_from_duels",
    # By callers of other boards; see `totals.ENDS`.
    ("brought", "*"): "brought",
    ("*", "taken home"): "taken_home",
    ("*", "given back"): "given_back",
    ("kept", "*"): "kept",
}
# The accounts that callers play against.
BANKS = ("house", "casino")
# The order on screen.
NAMES = tuple(dict.fromkeys(FLOWS.values()))


@dataclass
class GameResult:
    won: int = 0
    lost: int = 0

    @property
    def house(self) -> int:
        return self.lost - self.won


@dataclass
class Period:
    """Sums of a period: `flows` are seconds by the names in FLOWS, `games` by game and unit."""

    first: date
    label: str
    flows: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    games: defaultdict[tuple[str, Unit], GameResult] = field(
        default_factory=lambda: defaultdict(GameResult)
    )

    @property
    def tables(self) -> GameResult:
        """What callers have won and lost at all tables, in seconds."""
        results = [result for (_, unit), result in self.games.items() if unit == "second"]
        return GameResult(sum(each.won for each in results), sum(each.lost for each in results))

    @property
    def moved(self) -> dict[str, int]:
        """The sums that are not 0, in the order on screen, by their names in words."""
        moved = {name.replace("_", " "): self.flows[name] for name in NAMES} | vars(self.tables)
        return {name: seconds for name, seconds in moved.items() if seconds}

    def add(self, row: QuarterMoved) -> None:
        if PRIZES in (row.source, row.target):
            self._add_flow(row)
        elif row.source in BANKS and row.target != MINT:
            self.games[row.game or "", row.unit].won += row.amount
        elif row.target in BANKS and row.source != MINT:
            self.games[row.game or "", row.unit].lost += row.amount
        elif row.unit == "second":
            self._add_flow(row)

    def _add_flow(self, row: QuarterMoved) -> None:
        for ends in ((row.source, row.target), (row.source, "*"), ("*", row.target)):
            if ends in FLOWS:
                self.flows[FLOWS[ends]] += row.amount
                return


def summary(
    desk: Desk,
    by: By,
    since: int | None,
    until: int | None,
    *,
    first: int = 0,
) -> list[Period]:
    """Sum the transfers from `since` to before `until`, in seconds since 1970, by period.

    `first` is the number of the first transfer of that time, which saves a scan of earlier ones.
    Returns only periods with transfers, the earliest first.
    """
    schedule = desk.settings.schedule
    periods: dict[date, Period] = {}
    start = -NO_BOUND if since is None else since
    end = NO_BOUND if until is None else until

    @cache
    def period_of(quarter: int) -> Period:
        begins = first_day(schedule.day_of(instant(quarter * QUARTER)), by)
        return periods.setdefault(begins, Period(begins, label(begins, by)))

    for row in moved_by_quarter(desk, first, start, end):
        period_of(row.quarter).add(row)
    return [periods[begins] for begins in sorted(periods)]


def first_day(day: date, by: By) -> date:
    """Return the first day of the period that contains `day`. A week begins on Monday."""
    if by == "week":
        return day - timedelta(days=day.weekday())
    if by == "year":
        return day.replace(month=1, day=1)
    return day.replace(day=1) if by == "month" else day


def label(first: date, by: By) -> str:
    """Return the name of a period: 2026-03-01, 2026-W09, 2026-03 or 2026 (ISO 8601)."""
    if by == "week":
        year, week, _ = first.isocalendar()
        return f"{year}-W{week:02}"
    return {"month": f"{first:%Y-%m}", "year": f"{first:%Y}"}.get(by, first.isoformat())


SUMMARY_FIELDS = ("period", "first_day", "what", "game", "unit", "amount", "shown")
# The flows with a column; others get a line if they are not 0.
COLUMNS = ("granted", "used", "banked", "withdrawn", "lent", "repaid", "forfeited")
BAR = 24


# The columns to drop first in a narrow window, after the bar.
_GOING = {"forfeited": 2, "lent": 3, "repaid": 4, "withdrawn": 5}


def summary_table(periods: list[Period], bar: str) -> Listing:
    """Return the table of periods. `bar` is the character for bars of used time, "" for none."""
    columns = (
        Column("Period"),
        *(Column(name.capitalize(), right=True, goes=_GOING.get(name, 0)) for name in COLUMNS),
        *figures("Won", "Lost", "House"),
        Column("", goes=1),
    )
    return Listing(columns, _rows(periods, bar), "Nothing was moved.")


def _rows(periods: list[Period], bar: str) -> Iterator[Row]:
    most = max((period.flows["used"] for period in periods), default=0)
    for period in periods:
        tables = period.tables
        amounts = [period.flows[name] for name in COLUMNS]
        amounts += [tables.won, tables.lost, tables.house]
        drawn = bar * (BAR * period.flows["used"] // most) if most else ""
        yield period.label, *map(clock, amounts), drawn
        yield from _games(period)
        others = period.moved.keys() - {*COLUMNS, "won", "lost"}
        also = [f"{clock(moved)} {name}" for name, moved in period.moved.items() if name in others]
        if also:
            yield f"  Also {', '.join(also)}."


def _games(period: Period) -> Iterator[str]:
    for (game, unit), result in sorted(period.games.items()):
        results = (result.won, result.lost, result.house)
        won, lost, house = (amount(value, unit) for value in results)
        yield f"  {title(game)}: callers won {won} and lost {lost}, the house made {house}."


def summary_lines(periods: Iterable[Period]) -> Iterator[dict[str, object]]:
    """Yield every amount of every period as a record with the names of SUMMARY_FIELDS."""
    for period in periods:
        amounts: list[tuple[str, str | None, Unit, int]] = [
            (name, None, "second", period.flows[name]) for name in NAMES
        ]
        for (game, unit), result in sorted(period.games.items()):
            amounts += [
                (what, game, unit, getattr(result, what)) for what in ("won", "lost", "house")
            ]
        for what, where, unit, quantity in amounts:
            values = (period.label, period.first.isoformat(), what, where, unit, quantity)
            yield dict(zip(SUMMARY_FIELDS, (*values, amount(quantity, unit)), strict=True))


def summary_record(period: Period) -> dict[str, object]:
    return {
        "period": period.label,
        "first_day": period.first.isoformat(),
        **{name: period.flows[name] for name in NAMES},
        "house": period.tables.house,
        "games": [
            {"game": game, "unit": unit, **vars(result), "house": result.house}
            for (game, unit), result in sorted(period.games.items())
        ],
    }
