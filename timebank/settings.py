"""The time bank's part of sysop.toml: time zone, events, minutes a day, the bank's mode.

The board's settings (door/config.py) are built on `read_bank`; the `timebank` command, which must
not know the board, uses `load` and leaves the rest of the file alone. What each key means is said
in docs/sysop-guide.md, and beside the key in sysop.toml.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from functools import cached_property
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

from timebank.schedule import DAY_MINUTES, WEEK_MINUTES, Event, Schedule
from timebank.toml_file import Problem, Problems, SettingsError, Table, guess, open_table, shown

__all__ = [
    "BankSettings",
    "Event",
    "Mode",
    "Problem",
    "Problems",
    "SettingsError",
    "Table",
    "load",
    "open_table",
    "read_bank",
]

Mode = Literal["built-in", "external", "none"]
MODES: tuple[Mode, ...] = ("built-in", "external", "none")

DATABASE = "board.sqlite3"
EVERY_DAY = frozenset(range(7))
DAYS: Mapping[str, frozenset[int]] = {
    "daily": EVERY_DAY,
    "weekdays": frozenset(range(5)),
    "weekends": frozenset({5, 6}),
    **{
        name: frozenset({number})
        for number, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))
    },
}
DEFAULT_EVENTS = (Event("Mail hour", time(3), EVERY_DAY, 60),)
LONGEST_EVENT_NAME = 40


@dataclass(frozen=True)
class BankSettings:
    """What the time bank needs to know of the board.

    `minutes_per_day` are granted to each caller, 1 to 1440. `thebank_ext` is set whenever `mode`
    is "external". `database` is the file of the books.
    """

    zone: ZoneInfo
    events: tuple[Event, ...]
    minutes_per_day: int
    mode: Mode
    thebank_ext: Path | None
    database: Path

    @cached_property
    def schedule(self) -> Schedule:
        """The events and days of the board; it remembers its answers, so it is made once."""
        return Schedule(self.events, self.zone)


def load(path: Path) -> BankSettings:
    """Read the time bank's part of a sysop.toml, and refuse what is wrong with that part.

    Raises `SettingsError` with every problem found. Keys of the board that this part does not read
    are not judged.
    """
    root = open_table(path)
    settings = read_bank(root)
    root.table("timebank").refuse_unknown()
    for event in root.tables("events") or ():
        event.refuse_unknown()
    root.problems.raise_any()
    return settings


def read_bank(root: Table) -> BankSettings:
    """Read the time bank's part of a file that is being read; its problems are noted in `root`."""
    board = root.table("board")
    zone = _zone(board)
    data = board.path("data", "data")
    if os.path.exists(data) and not os.path.isdir(data):
        board.refuse("data", f"must be a folder; {data} is a file")
    mode, thebank_ext = _mode(root.table("timebank"))
    return BankSettings(
        zone=zone,
        events=_events(root),
        minutes_per_day=root.table("calls").whole("minutes_per_day", 60, 1, DAY_MINUTES),
        mode=mode,
        thebank_ext=thebank_ext,
        database=data / DATABASE,
    )


def _zone(board: Table) -> ZoneInfo:
    name = board.text("time_zone", "UTC")
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # not found, not a name, a folder of the database
        known = available_timezones()
    if "UTC" not in known:
        reason = "cannot be looked up, this system has no time zones: install the package tzdata"
        board.refuse("time_zone", reason)
        board.problems.raise_any()
    hint = guess(name, known) or '; it must be a name such as "Europe/Berlin"'
    board.refuse("time_zone", f"{shown(name)} is no known time zone{hint}")
    return ZoneInfo("UTC")


def _mode(table: Table) -> tuple[Mode, Path | None]:
    mode = table.choice("mode", MODES[0], MODES)
    path = table.optional_path("thebank_ext")
    if path is not None and os.path.isdir(path):
        table.refuse("thebank_ext", f"must be a file; {path} is a folder")
    if mode == "external" and path is None and table.sound("thebank_ext"):
        table.refuse("thebank_ext", 'must name the file to write when mode is "external"')
    return mode, path


def _events(root: Table) -> tuple[Event, ...]:
    before = len(root.problems)
    tables = root.tables("events")
    if tables is None:
        return DEFAULT_EVENTS
    events = tuple(_event(table) for table in tables)
    # Where an event could not be read, what the rest of them leave open says nothing.
    if len(root.problems) == before and Schedule(events, ZoneInfo("UTC")).always_closed():
        root.refuse("events", "leave no opening in the week: nobody could ever call")
    return events


def _event(table: Table) -> Event:
    table.require("name", "time", "minutes")
    words = table.words("days", ("daily",), DAYS)
    return Event(
        name=table.text("name", "event", LONGEST_EVENT_NAME),
        start=_time_of_day(table),
        days=frozenset().union(*(DAYS[word] for word in words)),
        minutes=table.whole("minutes", 1, 1, WEEK_MINUTES),
    )


def _time_of_day(table: Table) -> time:
    text = table.text("time", "00:00")
    match = re.fullmatch(r"([01][0-9]|2[0-3]):([0-5][0-9])", text)
    if match is None:
        table.refuse("time", f'must be "00:00" to "23:59", is {shown(text)}')
        return time()
    return time(int(match[1]), int(match[2]))
