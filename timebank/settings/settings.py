"""The time bank's part of sysop.toml: time zone, events, minutes a day, and the bank's own rules.

The board's settings (door/config/config.py) use `read_bank`. The `timebank` command must not know
the board, so it uses `load`, which ignores the rest of the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cached_property
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

from timebank import serving
from timebank.errors import HoursRefused, NameRefused, NoPlace
from timebank.names import names
from timebank.settings.forms import (
    OPTIONAL_PATH,
    Form,
    Number,
    Numbers,
    OneOf,
    SomeOf,
    Text,
    Texts,
    TrueOrFalse,
    setting,
)
from timebank.settings.hours import ALWAYS, GROUPS, WEEKDAYS, OpeningHours
from timebank.settings.place import ServerPlace, read_place
from timebank.settings.quoting import guess, shown
from timebank.settings.schedule import DAY_MINUTES, WEEK_MINUTES, Event, Schedule, first_instant
from timebank.settings.toml import TomlTable, open_table

Mode = Literal["built-in", "external", "none"]
MODES: tuple[Mode, ...] = ("built-in", "external", "none")

DATABASE = serving.BOOKS
DAYS: Mapping[str, frozenset[int]] = {
    **{name: frozenset(days) for name, days in GROUPS.items()},
    **{name: frozenset({number}) for number, name in enumerate(WEEKDAYS)},
}
USUAL_EVENTS = ({"name": "Mail hour", "time": "03:00", "days": "daily", "minutes": 60},)
LONGEST_EVENT_NAME = 40
LONGEST_URL = 500
MINUTE = 60
LARGEST_BALANCE = 525_600  # minutes: a year
MOST_DAYS = 36_500
MOST_GRACE = 60  # minutes
# Uncharged seconds a day in addition to `grace_minutes`: to read news, end a hand or withdraw.
LAST_SECONDS = 120
WEEK_HOURS = 168
MOST_PLACES = 10
MOST_MINUTES = 10_080  # of a prize, and of the house's prizes in a week


@dataclass(frozen=True)
class BankLimits:
    """What the bank's window allows. Amounts are seconds, all of them whole minutes."""

    # For each caller and day.
    deposit: int = setting(Number(0, DAY_MINUTES, MINUTE), 60, "largest_deposit")
    withdrawal: int = setting(Number(0, DAY_MINUTES, MINUTE), 60, "largest_withdrawal")
    transfer: int = setting(Number(0, LARGEST_BALANCE, MINUTE), 60, "largest_transfer")
    loan: int = setting(Number(0, DAY_MINUTES, MINUTE), 30, "largest_loan")
    # The limit of an account for deposits, transfers and imports. Clamps may exceed it.
    balance: int = setting(Number(0, LARGEST_BALANCE, MINUTE), 1440, "largest_balance")
    # The time that must stay on the clock after a deposit.
    keep: int = setting(Number(0, DAY_MINUTES, MINUTE), 5, "keep_minutes")
    # Days since registration after which a caller may transfer or borrow.
    known_days: int = setting(Number(0, MOST_DAYS), 7)
    # Percent of winnings and of a day's grant that repay a loan.
    loan_share: int = setting(Number(0, 100), 50)


@dataclass(frozen=True)
class Retention:
    """How long `timebank maintain` keeps things, in days."""

    notices: int = setting(Number(1, MOST_DAYS), 90, "notice_days")
    log: int = setting(Number(1, MOST_DAYS), 365, "log_days")
    # After this time without a call, an empty account is closed.
    gone: int = setting(Number(1, MOST_DAYS), 365, "gone_days")


@dataclass(frozen=True)
class Weekday(Form[int]):
    """A day of the week by its short name, as a number: 0 is Monday."""

    def read(self, value: object) -> int:
        return WEEKDAYS.index(OneOf(WEEKDAYS).read(value))

    @property
    def takes(self) -> str:
        return OneOf(WEEKDAYS).takes


@dataclass(frozen=True)
class TournamentTerms:
    """The terms of tournaments. Amounts are seconds, all of them whole minutes."""

    on: bool = setting(TrueOrFalse(), True)
    # The weekday and hour at which it opens, in local time, and the hours that it stays open.
    weekday: int = setting(Weekday(), "fri", "day")
    hour: int = setting(Number(0, 23), 18)
    hours: int = setting(Number(1, WEEK_HOURS), 48)
    # Paid by callers who can win something.
    entry: int = setting(Number(0, DAY_MINUTES, MINUTE), 0, "entry_minutes")
    # By place, the first one first.
    prizes: tuple[int, ...] = setting(
        Numbers(Number(0, MOST_MINUTES, MINUTE), MOST_PLACES),
        [15, 10, 5],
        "prize_minutes",
    )
    # The limit of the house's prizes in seven days.
    from_house: int = setting(Number(0, MOST_MINUTES, MINUTE), 30, "house_minutes")

    def latest(self, schedule: Schedule, now: datetime) -> tuple[datetime, datetime]:
        """Return when the last one opened, at `now` at the latest, and when it ends."""
        day = schedule.local(now).date()
        day -= timedelta(days=(day.weekday() - self.weekday) % 7)
        starts = self._start(schedule, day)
        if starts > now:
            starts = self._start(schedule, day - timedelta(days=7))
        return starts, starts + timedelta(hours=self.hours)

    def next_start(self, schedule: Schedule, now: datetime) -> datetime:
        """Return when the next one opens after `now`."""
        last = schedule.local(self.latest(schedule, now)[0]).date()
        return self._start(schedule, last + timedelta(days=7))

    def _start(self, schedule: Schedule, day: date) -> datetime:
        return first_instant(datetime.combine(day, time(self.hour)), schedule.zone)


def _name(text: str) -> str:
    try:
        return names.check(text)
    except NameRefused as refused:
        reason = f"{shown(text)} can't be a caller's name: {str(refused).rstrip('.')}"
        raise ValueError(reason) from None


def _hours(text: str) -> str:
    try:
        OpeningHours.read([text])
    except HoursRefused as refused:
        raise ValueError(f"{shown(text)} {refused}") from None
    return text


NAMES = Texts(_name)
HOURS = Texts(_hours)
READERS = "[pages] readers"


@dataclass(frozen=True)
class BankSettings:
    """The board's settings that the time bank needs.

    Each caller gets `minutes_per_day` (1 to 1440). After these, `grace_minutes` (0 to 60) are free,
    to read and to play the daily deal. `thebank_ext` is set if `mode` is "external". In mode
    "built-in" the files `imports` are imported every `import_seconds`.
    """

    zone: ZoneInfo
    events: tuple[Event, ...]
    # The file of the books. If there is a `server`, the books are there, and only the files next to
    # this path are used.
    database: Path
    minutes_per_day: int = setting(Number(1, DAY_MINUTES), 60, table="calls")
    grace_minutes: int = setting(Number(0, MOST_GRACE), 5, table="calls")
    mode: Mode = setting(OneOf(MODES), "built-in", table="timebank")
    thebank_ext: Path | None = setting(OPTIONAL_PATH, "", table="timebank")
    server: ServerPlace | None = None
    sysop: str = setting(Text(str), "Sysop", table="board")
    limits: BankLimits = BankLimits()
    hours: OpeningHours = ALWAYS
    # Callers who may not use the bank.
    barred: tuple[str, ...] = setting(NAMES, [], table="timebank")
    # Reserved names. They give no powers.
    co_sysops: tuple[str, ...] = setting(NAMES, [], table="timebank")
    # Callers who may see the books in a browser. New callers cannot take these names.
    readers: tuple[str, ...] = setting(NAMES, [], table="pages")
    imports: tuple[Path, ...] = setting(Texts(Path), [], "import", "timebank")
    import_seconds: int = setting(Number(1, 86_400), 30, table="timebank")
    # New callers of this board may not bet before the sysop has approved them.
    approval: bool = setting(TrueOrFalse(), False, table="callers")
    # Days for which a deleted caller can be brought back.
    keep_days: int = setting(Number(0, MOST_DAYS), 30, table="callers")
    retention: Retention = Retention()
    tournament: TournamentTerms = TournamentTerms()
    # The largest stake of a duel, in seconds; 0 for no duels.
    most_duel: int = setting(Number(0, DAY_MINUTES, MINUTE), 30, "most_minutes", "duels")

    @cached_property
    def schedule(self) -> Schedule:
        """The schedule of these events, without early ones. It caches its answers."""
        return Schedule(self.events, self.zone)

    def is_open(self, at: datetime) -> bool:
        return self.hours.is_open(self.schedule.local(at))

    def known_on(self, registered: datetime) -> date:
        """Return the first day on which a caller who registered then may transfer or borrow."""
        return self.schedule.day_of(registered) + timedelta(days=self.limits.known_days)

    def is_barred(self, name: str) -> bool:
        return names.fold(name) in map(names.fold, self.barred)

    @property
    def lock(self) -> str:
        """The path of the lock of the books."""
        return serving.place_of(str(self.database), on_server=self.server is not None)

    @property
    def named_people(self) -> tuple[tuple[str, str], ...]:
        """Every (key, name) in sysop.toml that names a person."""
        people = {
            "[board] sysop": (self.sysop,),
            "[timebank] co_sysops": self.co_sysops,
            "[timebank] barred": self.barred,
            READERS: self.readers,
        }
        return tuple((key, name) for key, listed in people.items() for name in listed)

    def reserves(self, name: str) -> bool:
        """Return whether a name is, or looks like, one that sysop.toml names."""
        folds, skeletons = self._reserved_keys
        return names.fold(name) in folds or names.skeleton(name) in skeletons

    @cached_property
    def _reserved_keys(self) -> tuple[frozenset[str], frozenset[str]]:
        people = [name for _, name in self.named_people]
        return frozenset(map(names.fold, people)), frozenset(map(names.skeleton, people))


def load(path: Path) -> BankSettings:
    """Read the time bank's part of a sysop.toml. Raises `SettingsError` with all its problems."""
    root = open_table(path)
    settings = read_bank(root)
    root.table("timebank").refuse_unknown()
    for event in root.tables("events"):
        event.refuse_unknown()
    root.problems.raise_any()
    return settings


def read_bank(root: TomlTable) -> BankSettings:
    """Read the time bank's part of a file, and note its problems in `root`."""
    board, window = root.table("board"), root.table("timebank")
    data = board.read("data", Text(Path), "data")
    if os.path.exists(data) and not os.path.isdir(data):
        board.refuse("data", f"must be a folder; {data} is a file")
    hours = window.read("hours", HOURS, [])
    bank = root.fill(
        BankSettings,
        zone=_zone(board),
        events=_events(root),
        database=data / DATABASE,
        server=_server(window),
        limits=window.fill(BankLimits),
        hours=OpeningHours.read(hours),
        retention=window.fill(Retention),
        tournament=_tournament(root.table("tournament")),
    )
    if bank.mode != "built-in":  # no stake could leave a bank account, or come home to one
        bank = replace(bank, most_duel=0)
    _check_thebank_ext(window, bank)
    _check_imports(window, bank)
    return bank


def _server(table: TomlTable) -> ServerPlace | None:
    file = table.read("database_password_file", OPTIONAL_PATH, "")
    url = table.read("database", Text(str, LONGEST_URL, may_be_empty=True), "")
    if not url:
        if file is not None and table.is_sound("database"):
            table.refuse("database_password_file", "is only for a database on a server")
        return None
    try:
        return read_place(url, file)
    except NoPlace as refused:
        table.refuse("database", str(refused))
        return None


def _tournament(table: TomlTable) -> TournamentTerms:
    """Read the terms of tournaments. Prizes must not grow from place to place."""
    terms = table.fill(TournamentTerms)
    if list(terms.prizes) != sorted(terms.prizes, reverse=True):
        table.refuse("prize_minutes", "must not grow from one place to the next")
    return replace(terms, prizes=tuple(filter(None, terms.prizes)))


def _zone(board: TomlTable) -> ZoneInfo:
    name = board.read("time_zone", Text(str), "UTC")
    try:
        return find_zone(name)
    except ValueError as error:
        board.refuse("time_zone", str(error))
    if "UTC" not in available_timezones():
        board.problems.raise_any()  # no zone at all can be read
    return ZoneInfo("UTC")


def find_zone(name: str) -> ZoneInfo:
    """Return the zone of a name; ValueError says what is wrong with it."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, no name, or a folder of the zone database
        known = available_timezones()
    if "UTC" not in known:
        raise ValueError(
            "cannot be looked up, this system has no time zones: install the package tzdata"
        )
    # "EST" would be a guess at "CEST", and is another time.
    zones = sorted(each for each in known if "/" in each or each == "UTC")
    city = f"/{name}".replace(" ", "_").lower()
    near = next((each for each in zones if each.lower().endswith(city)), name)
    hint = guess(near, zones) or '; it must be a name such as "Europe/Berlin"'
    raise ValueError(f"{shown(name)} is not a known time zone{hint}")


def _check_thebank_ext(table: TomlTable, bank: BankSettings) -> None:
    path = bank.thebank_ext
    if path is not None and os.path.isdir(path):
        table.refuse("thebank_ext", f"must be a file; {path} is a folder")
    if bank.mode == "external" and path is None and table.is_sound("thebank_ext"):
        table.refuse("thebank_ext", 'must name the file to write when mode is "external"')


def _check_imports(table: TomlTable, bank: BankSettings) -> None:
    """Check the files to import. Our own thebank_ext is refused, as each record would return."""
    places = [os.path.realpath(path) for path in bank.imports]
    ours = bank.thebank_ext and os.path.realpath(bank.thebank_ext)
    for path, place in zip(bank.imports, places, strict=True):
        if place == ours:
            table.refuse("import", f"names {path}, which is the thebank_ext that we write")
        elif os.path.isdir(path):
            table.refuse("import", f"must name files; {path} is a folder")
        elif places.count(place) > 1:
            table.refuse("import", f"names {path} more than once")
            break
    if bank.imports and bank.mode != "built-in" and table.is_sound("import", "mode"):
        table.refuse("import", 'is only for mode "built-in": no other has accounts to import to')


def _events(root: TomlTable) -> tuple[Event, ...]:
    before = len(root.problems)
    events = tuple(_event(table) for table in root.tables("events", USUAL_EVENTS))
    # The check needs every event, so it is left out if one could not be read.
    if len(root.problems) == before and Schedule(events, ZoneInfo("UTC")).always_closed():
        root.refuse("events", "leave no opening in the week: no one could ever call")
    return events


def _event(table: TomlTable) -> Event:
    table.require("name", "time", "minutes")
    usual = USUAL_EVENTS[0]
    words = table.read("days", SomeOf(tuple(DAYS)), usual["days"])
    return Event(
        name=table.read("name", Text(str, LONGEST_EVENT_NAME), usual["name"]),
        start=table.read("time", Text(_time_of_day), usual["time"]),
        days=frozenset().union(*(DAYS[word] for word in words)),
        minutes=table.read("minutes", Number(1, WEEK_MINUTES), usual["minutes"]),
    )


def _time_of_day(text: str) -> time:
    match = re.fullmatch(r"([01][0-9]|2[0-3]):([0-5][0-9])", text)
    if match is None:
        raise ValueError(f'must be "00:00" to "23:59", is {shown(text)}')
    return time(int(match[1]), int(match[2]))
