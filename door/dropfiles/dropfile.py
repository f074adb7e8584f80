"""The contents of a drop file of any format: the common result of all readers in this folder.

A drop file is how a host board hands a caller to a door: the caller's name, time left and
connection. A value that is missing in the file is None, "" or a word for it, never zero: a caller
whose time is unknown must not count as one whose time is up.

DOOR.SYS contains the caller's password in clear text. No field here holds it, and no sentence in
this folder quotes a line that was not understood, because that line could be the password.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Literal

from timebank.words import clean

SECOND = timedelta(seconds=1)
DAY_MINUTES = 24 * 60
# Boards write a higher number, such as the largest of 16 bits, for callers without a limit.
LONGEST_SECONDS = DAY_MINUTES * 60
# Boards give this security level, or a higher one, to their sysops.
SYSOP_LEVEL = 90


class Format(StrEnum):
    """The formats, the most trusted for time left and next event first."""

    DOOR32 = "DOOR32.SYS"
    DOOR = "DOOR.SYS"
    DORINFO = "DORINFOn.DEF"
    CHAIN = "CHAIN.TXT"
    BBSDEV = "BBSDEV.DRP"
    EXITINFO = "EXITINFO.BBS"


TRUST = {kind: place for place, kind in enumerate(Format)}


class Limit(StrEnum):
    LEFT = "left"  # a number of seconds
    UNLIMITED = "unlimited"  # the host does not end the call
    CONSTANT = "constant"  # the host writes this number for every caller
    UNKNOWN = "unknown"  # the file does not say
    UNREADABLE = "unreadable"  # the file says something that is no time


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """How long the caller can stay, and where the file says so.

    `seconds`, zero or more, is set if there is a limit; `deadline` (aware) if the host names an
    instant. `written` has the seconds in the file if they are no limit: a constant, or more than a
    day. `why` completes the sentence "The time left ..." if it is unreadable.
    """

    limit: Limit
    place: str
    seconds: int | None = None
    deadline: datetime | None = None
    written: int | None = None
    why: str = ""

    @classmethod
    def left(cls, seconds: int, place: str) -> TimeLeft:
        """Return a limit of `seconds`, zero or more; no limit if they are more than a day."""
        if seconds > LONGEST_SECONDS:
            return cls(Limit.UNLIMITED, place, written=seconds)
        return cls(Limit.LEFT, place, seconds)

    @classmethod
    def until(cls, deadline: datetime, now: datetime, place: str) -> TimeLeft:
        """Return a limit at an instant: whole seconds from now, zero if it has passed."""
        time = cls.left(max(0, (deadline - now) // SECOND), place)
        return replace(time, deadline=deadline) if time.limit is Limit.LEFT else time

    @property
    def doubt(self) -> str:
        """A sentence if the time is unreadable, else ""."""
        if self.limit not in (Limit.UNKNOWN, Limit.UNREADABLE):
            return ""
        why = f": it {self.why}" if self.why else ""
        return f"{self.place} has no time left that can be read{why}."


class EventKind(StrEnum):
    TIME = "time"  # a minute of the day
    PLACEHOLDER = "placeholder"  # a time that programs write if they know of no event
    NONE = "none"  # the host says that no event is ahead
    UNKNOWN = "unknown"  # the format has no line for it, or the line cannot be read


@dataclass(frozen=True, slots=True)
class NextEvent:
    """The host's next system event; a placeholder counts as none."""

    kind: EventKind
    minute: int | None  # of the day, 0 to 1439, by the host's clock
    place: str

    @property
    def clock(self) -> str:
        return "" if self.minute is None else f"{self.minute // 60:02}:{self.minute % 60:02}"

    def seconds_from(self, local: datetime) -> int | None:
        """Return the seconds from `local` to the event; None without one.

        `local` is the host's local time; its date does not matter. Within a minute after its start
        the event counts as now, 0 seconds, because the host is late.
        """
        if self.kind is not EventKind.TIME or self.minute is None:
            return None
        now = local.hour * 3600 + local.minute * 60 + local.second
        ahead = (self.minute * 60 - now) % (DAY_MINUTES * 60)
        return 0 if ahead > DAY_MINUTES * 60 - 60 else ahead


Unit = Literal["auto", "minutes", "seconds"]
Events = Literal["auto", "believed", "ignored"]

# Written by icy_board and GameSrv, by WWIV, and by old ENiGMA, if they know of no event.
PLACEHOLDERS = (0, 1, 5)


@dataclass(frozen=True, slots=True)
class HostSettings:
    """The instant of reading, and the sysop's settings for a board.

    `now` is aware, in the zone of the host's clock. `door32_unit` is the unit of line 9 of
    DOOR32.SYS: "auto" is minutes, but seconds from WWIV. `events` "believed" takes 00:00, 00:01 and
    00:05 for true times; "ignored" drops the host's events. `names` are the board's names in the
    settings, none of which is an alias.
    """

    now: datetime
    door32_unit: Unit
    events: Events
    names: tuple[str, ...] = ()

    def event(self, text: str, place: str) -> NextEvent:
        """Read HH:MM from a file; a text that cannot be read is unknown."""
        hours, colon, minutes = text.strip().partition(":")
        digits = hours.isascii() and hours.isdigit() and minutes.isascii() and minutes.isdigit()
        if not colon or not digits or not (len(hours) <= 2 and len(minutes) == 2):
            return NextEvent(EventKind.UNKNOWN, None, place)
        minute = int(hours) * 60 + int(minutes)
        if int(minutes) > 59 or minute >= DAY_MINUTES:
            return NextEvent(EventKind.UNKNOWN, None, place)
        if self.events != "believed" and minute in PLACEHOLDERS:
            return NextEvent(EventKind.PLACEHOLDER, minute, place)
        return NextEvent(EventKind.TIME, minute, place)


def no_event(kind: str) -> NextEvent:
    return NextEvent(EventKind.UNKNOWN, None, f"{kind} has no line for them")


class ConnectionKind(StrEnum):
    STDIO = "stdio"
    SOCKET = "socket"
    SERIAL = "serial"  # a port of the host, which a door cannot use
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Connection:
    """How the caller's bytes reach the door; `handle` is a socket's inherited descriptor."""

    kind: ConnectionKind
    handle: int | None


STDIO = Connection(ConnectionKind.STDIO, None)
SERIAL = Connection(ConnectionKind.SERIAL, None)
UNKNOWN_CONNECTION = Connection(ConnectionKind.UNKNOWN, None)

Emulation = Literal["ascii", "ansi", "avatar", "rip", "max"]
Emulations = dict[int | None, Emulation]  # by number in the file
Role = Literal["sysop", "cosysop"]


@dataclass(frozen=True, slots=True)
class HostIdentity:
    """The account of a caller, whatever name they use on their board.

    `caller` is "number 42", "key ..." (BBSDEV.DRP) or, only if the file has neither, "name ..."
    with the folded name; the three never collide. `board` is the board's name in the file, without
    the version and platform of its software. A sysop who names the board overrides it.
    """

    board: str
    caller: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DropFile:
    """One drop file, read. Texts are printable and at most 80 characters; missing ones are "".

    `number` is the caller's record number, 1 or more. `name_key` is the folded name, for hosts that
    give no number. `enigma` is true if the file shows that ENiGMA wrote it. `rows` and `columns`
    are the terminal's size, or, if `is_page_length`, the rows that the caller likes to read at
    once. `credit_minutes` is line 42 of DOOR.SYS, and `time_limit` the TimeLimit of a RemoteAccess
    EXITINFO.BBS in minutes, which may be written back. `doubts` are sentences about lines that were
    not understood.
    """

    kind: Format
    path: Path
    name_key: str
    time: TimeLeft
    event: NextEvent
    software: str = ""
    board: str = ""
    sysop: str = ""
    alias: str = ""
    real_name: str = ""
    number: int | None = None
    key: str | None = None
    level: int | None = None
    role: Role | None = None
    node: int | None = None
    connection: Connection = UNKNOWN_CONNECTION
    emulation: Emulation | None = None
    charset: str | None = None
    rows: int | None = None
    columns: int | None = None
    language: str | None = None
    credit_minutes: int | None = None
    time_limit: int | None = None
    doubts: tuple[str, ...] = ()
    enigma: bool = False
    is_page_length: bool = True

    @property
    def name(self) -> str:
        return self.alias or self.real_name

    @property
    def identity(self) -> HostIdentity:
        if self.number is not None:
            caller = f"number {self.number}"
        elif self.key is not None:
            caller = f"key {self.key}"
        else:
            caller = f"name {self.name_key}"
        return HostIdentity(lasting(self.board or self.software), caller)


_VERSION = re.compile(r"\s+v?[0-9]+\.[0-9].*$")
_PLATFORM = re.compile(
    r"\s+for\s+(?:linux|windows|win(?:32|64)?|unix|[a-z]*bsd|darwin|mac\s?os|os/2|dos)$"
)
_WORD_VERSION = re.compile(r"\s+version(?:\s+v?[0-9].*)?$")


def without_version(board: str) -> str:
    """Fold the name of a board or its software, and drop its version, which updates change.

    >>> without_version("Synchronet 3.20b"), without_version("Area 51")
    ('synchronet', 'area 51')
    """
    return _VERSION.sub("", folded(board))


def lasting(board: str) -> str:
    """Drop version and platform, which an update or another machine changes.

    >>> lasting("Synchronet BBS for Linux  Version 3.22a"), lasting("GameSrvConsole v14.09.10")
    ('synchronet bbs', 'gamesrvconsole')
    """
    return _PLATFORM.sub("", _WORD_VERSION.sub("", without_version(board)))


def folded(name: str) -> str:
    """Fold case and spaces.

    >>> folded(" Synchronet  BBS ")
    'synchronet bbs'
    """
    return " ".join(name.split()).casefold()


def fold_name(name: str) -> str:
    """Fold a name into the key of a caller without a number: no case, blanks or controls.

    >>> fold_name(" ANN  SYSOP"), fold_name("Ann Sysop")
    ('ann sysop', 'ann sysop')
    """
    return clean(name, len(name)).casefold()


def undoubled(first: str, last: str) -> str:
    """Join first and last name; some programs write one name twice (old ENiGMA: Ann, Ann).

    >>> undoubled("Ann", "Ann"), undoubled("ANN", "SYSOP"), undoubled("Ann", "")
    ('Ann', 'ANN SYSOP', 'Ann')
    """
    return first if fold_name(first) == fold_name(last) else f"{first} {last}".strip()
