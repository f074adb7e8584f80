"""What is understood of a call from all its drop files, and in which file each thing was read.

Time left and next event come from the most trusted file that has them; who is calling and how their
bytes arrive, from the file that was named or is chosen. What was not understood is said, and
nothing is made up for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from door.dropfiles import events_ra, terminal_ini
from door.dropfiles.dropfile import (
    SYSOP_LEVEL,
    TRUST,
    UNSAID,
    Connection,
    ConnectionKind,
    DropFile,
    Emulation,
    EventSaid,
    Format,
    HostIdentity,
    HostSettings,
    Limit,
    NextEvent,
    TimeLeft,
    fold_name,
    folded,
    lasting,
)
from door.dropfiles.formats import read
from door.dropfiles.search import Found, Left
from door.errors import DropFileRefused

STALE_SECONDS = 600  # an older file is likely to be that of another call
APART_SECONDS = 120  # by which files of one call may differ: minutes are rounded, some less one
MODUSER = "MODUSER.DAT"
SYSOP = "sysop"  # no board lets another caller take that name
_SYNCHRONET = "synchronet"
_BBS = re.compile(r"\S bbs$")  # how many boards end their names, and no caller
# The drop-file types after which Synchronet reads MODUSER.DAT.
_MODUSER_KINDS = (Format.DOOR32, Format.CHAIN, Format.BBSDEV)


class Way(StrEnum):
    MODUSER = "moduser"  # Synchronet's MODUSER.DAT, in the folder of the drop file
    DOOR_SYS = "door.sys"  # line 42 of DOOR.SYS
    EXITINFO = "exitinfo"  # TimeLimit of RemoteAccess's EXITINFO.BBS


@dataclass(frozen=True, slots=True)
class GiveBack:
    """A way that the files leave open; whether the board goes it is for the sysop to say."""

    way: Way
    path: Path  # the file to write
    minutes: int | None  # what it says now, where a way has such a number
    source: Path  # the drop file that opens the way
    caller: HostIdentity  # so that time is not given to the next caller of the node


@dataclass(frozen=True, slots=True)
class HostScreen:
    """What the host says of the caller's screen: hints, None where it says nothing."""

    emulation: Emulation | None
    charset: str | None
    rows: int | None
    columns: int | None
    language: str | None
    is_page_length: bool  # whether the rows are what a user likes to read at once
    drops_low_bytes: bool  # whether CP437's pictures below 20h are controls there (ENiGMA)


@dataclass(frozen=True, slots=True)
class Understood:
    """A call, as its drop files tell it. `files` begins with the chosen one.

    `who` and `name` are the caller's account and what to call them; `board` is the host's name as
    written, and `names` are all that the files call it: names of boards first, then of software.
    `doubts` are sentences on what was not understood.
    """

    files: tuple[DropFile, ...]
    found: Found
    who: HostIdentity
    name: str
    real_name: str
    board: str
    names: tuple[str, ...]
    sysop: str
    level: int | None
    role: str | None
    time: TimeLeft
    event: NextEvent
    node: int | None
    connection: Connection
    screen: HostScreen
    gives: tuple[GiveBack, ...]
    doubts: tuple[str, ...]
    left: tuple[Left, ...]

    @property
    def chosen(self) -> DropFile:
        return self.files[0]

    def known_time(self) -> TimeLeft:
        """Raises `DropFileRefused` unless a file says a length, no limit or a constant."""
        if self.time.limit is Limit.UNKNOWN:
            raise DropFileRefused(
                self.chosen.path,
                None,
                f"no file of this call says how long the caller may stay ({self.time.place})",
                "Have the board write DOOR32.SYS, with the minutes left on line 9.",
            )
        if self.time.limit is Limit.UNREADABLE:
            remedy = "See what the board writes there: no time is made up for it."
            what = f"the time left ({self.time.place}) {self.time.why}"
            raise DropFileRefused(self.chosen.path, None, what, remedy)
        return self.time


def understand(found: Found, reading: HostSettings) -> Understood:
    """Raises `DropFileRefused` when the chosen file is broken, names no caller, or is another
    node's. A broken file beside it is a doubt."""
    chosen = read(found.chosen, reading, found.at)
    if None not in (found.node, chosen.node) and found.node != chosen.node:
        what = f"it is for node {chosen.node}, and this is node {found.node}"
        remedy = "It was left by another call, or the nodes share a folder: give each its own."
        raise DropFileRefused(found.chosen, None, what, remedy)
    doubts: list[str] = []
    left = list(found.left)
    files = [chosen, *_beside(chosen, found, reading, left, doubts)]
    if reading.door32_unit == "auto":
        files = [_in_seconds(file, files) for file in files]
    for file in files:
        doubts.extend(file.doubts)
    _look_at_age(found, reading, doubts)
    aliased = _aliased(files, reading.names)
    trusted = sorted(files, key=lambda file: TRUST[file.kind])
    return Understood(
        files=tuple(files),
        found=found,
        who=_who(aliased),
        name=_name(files, aliased, doubts),
        real_name=_first(file.real_name for file in files),
        board=_first(file.board or file.software for file in files),
        names=tuple(
            dict.fromkeys(
                name for name in (*(f.board for f in files), *(f.software for f in files)) if name
            )
        ),
        sysop=_first(file.sysop for file in files),
        level=next((file.level for file in files if file.level is not None), None),
        role=next((file.role for file in files if file.role), None),
        time=_time(trusted, doubts),
        event=_event(trusted, found, reading, doubts),
        node=next((file.node for file in files if file.node is not None), found.node),
        connection=_connection(files),
        screen=_screen(files, found),
        gives=_gives(files, found),
        doubts=tuple(doubts),
        left=tuple(left),
    )


def _beside(
    chosen: DropFile, found: Found, reading: HostSettings, left: list[Left], doubts: list[str]
) -> list[DropFile]:
    files = []
    for path in found.beside:
        try:
            file = read(path, reading, found.at)
        except DropFileRefused as refused:
            doubts.append(str(refused))
            continue
        if None not in (file.node, chosen.node) and file.node != chosen.node:
            left.append(Left(path, f"it is for node {file.node}"))
        elif _same_caller(file, chosen):
            files.append(file)
        else:
            left.append(Left(path, "it is for another caller"))
    return files


def _same_caller(one: DropFile, other: DropFile) -> bool:
    """Whether two files name the same caller; one may cut or double the name."""
    names = {name.casefold() for name in (one.alias, one.real_name) if name}
    others = {name.casefold() for name in (other.alias, other.real_name) if name}
    if None not in (one.number, other.number) and one.number != other.number:
        return not names.isdisjoint(others)
    if not names or not others:
        return one.number is not None and one.number == other.number
    return any(a.startswith(b) or b.startswith(a) for a in names for b in others)


def _in_seconds(file: DropFile, files: list[DropFile]) -> DropFile:
    """Take line 9 of DOOR32.SYS for seconds where another file of the call proves it.

    That is WWIV under another name: it writes every format, and CHAIN.TXT always in seconds.
    """
    seconds = file.time.written if file.time.seconds is None else file.time.seconds
    if file.kind is not Format.DOOR32 or file.time.limit is Limit.CONSTANT:
        return file
    if seconds is None or not file.time.place.endswith("minutes"):
        return file
    amount = seconds // 60
    for other in files:
        known = other.time.seconds
        if other.kind is Format.DOOR32 or known is None or abs(amount - known) > APART_SECONDS:
            continue
        if seconds - known > APART_SECONDS:
            place = f"{file.time.place.removesuffix('minutes')}seconds, as {other.time.place} shows"
            return replace(file, time=TimeLeft.left(amount, place))
    return file


def _look_at_age(found: Found, reading: HostSettings, doubts: list[str]) -> None:
    try:
        age = int(reading.now.timestamp() - found.at.written(found.chosen))
    except OSError:  # taken away since it was read
        return
    if age > STALE_SECONDS:
        doubts.append(
            f"{found.chosen.name} was written {age // 60} minutes ago. "
            "If that was for another call, neither its caller nor its time is this one's."
        )


def _who(files: list[DropFile]) -> HostIdentity:
    board = _first(file.identity.board for file in files)
    for file in files:
        if file.number is not None or file.key is not None:
            return HostIdentity(board, file.identity.caller)
    return HostIdentity(board, files[0].identity.caller)


def _aliased(files: list[DropFile], names: Iterable[str]) -> list[DropFile]:
    """Return the files without the aliases that are none.

    Some writers put the sysop or the board where the alias belongs, for every caller. `names` are
    what the settings call the board. Where the account goes by a name, it is not by such an alias.
    """
    sysops = {SYSOP, *(folded(file.sysop) for file in files if file.sysop)}
    boards = {*names, *(file.board for file in files), *(file.software for file in files)}
    known = {lasting(name) for name in boards if name}
    aliased = []
    for file in files:
        if not file.alias or _is_alias(file, sysops, known):
            aliased.append(file)
            continue
        is_key = file.name_key == fold_name(file.alias) and file.real_name
        key = fold_name(file.real_name) if is_key else file.name_key
        aliased.append(replace(file, alias="", name_key=key))
    return aliased


def _name(files: list[DropFile], aliased: list[DropFile], doubts: list[str]) -> str:
    """Choose an alias before a name that may be real."""
    alias = _first(file.alias for file in aliased)
    if alias:
        return alias
    other = _first(file.real_name for file in files)
    for file in files:
        if file.alias and other and folded(other) != folded(file.alias):
            doubts.append(
                f"The alias in {file.path.name} is the name of the board or its sysop, and not the "
                "caller's. The caller goes by the other name in the file."
            )
            break
    return other or _first(file.alias for file in files)


def _is_alias(file: DropFile, sysops: set[str], boards: set[str]) -> bool:
    alias = folded(file.alias)
    is_sysops = file.role == "sysop" or (file.number == 1 and (file.level or 0) >= SYSOP_LEVEL)
    if alias in sysops and not is_sysops:
        return False
    return lasting(alias) not in boards and _BBS.search(alias) is None


def _first(texts: Iterable[str]) -> str:
    return next((text for text in texts if text), "")


def _time(trusted: list[DropFile], doubts: list[str]) -> TimeLeft:
    """Take the time from the most trusted file that has it, and note which ones contradict it.

    A length counts before all else. A board that writes nonsense somewhere has not said that its
    callers' time is unlimited.
    """
    times = [file.time for file in trusted]
    for limit in (Limit.UNREADABLE, Limit.CONSTANT):
        if not any(time.limit is Limit.LEFT for time in times):
            spoilt = next((time for time in times if time.limit is limit), None)
            if spoilt is not None:
                return spoilt
    known = [time for time in times if time.limit in (Limit.LEFT, Limit.UNLIMITED)]
    if not known:
        return trusted[0].time
    time = next((time for time in known if time.limit is Limit.LEFT), known[0])
    known.remove(time)
    for other in known:
        if other.limit is not time.limit or _apart(other, time):
            doubts.append(f"{time.place} and {other.place} do not agree: the first counts.")
    return time


def _apart(one: TimeLeft, other: TimeLeft) -> bool:
    if one.seconds is None or other.seconds is None:
        return False
    return abs(one.seconds - other.seconds) > APART_SECONDS


def _event(
    trusted: list[DropFile], found: Found, reading: HostSettings, doubts: list[str]
) -> NextEvent:
    """Take the event from the most trusted file that has a time, else what the files do say."""
    if reading.events == "ignored":
        place = "sysop.toml, which leaves out the host's events"
        return NextEvent(EventSaid.NONE, None, place)
    events = [file.event for file in trusted]
    if found.events is not None:
        try:
            event, left_out = events_ra.read(found.events, reading, found.at)
        except DropFileRefused as refused:
            doubts.append(str(refused))
        else:
            events.append(event)
            doubts.extend([left_out] if left_out else [])
    for said in (EventSaid.TIME, EventSaid.NONE, EventSaid.PLACEHOLDER):
        for event in events:
            if event.said is said:
                return event
    return events[0]


def _connection(files: list[DropFile]) -> Connection:
    said = (file.connection for file in files)
    return next((line for line in said if line.kind is not ConnectionKind.UNSAID), UNSAID)


def _screen(files: list[DropFile], found: Found) -> HostScreen:
    measured = [
        (file.columns, file.rows)
        for file in files
        if not file.is_page_length and file.rows and file.columns
    ]
    if _is_synchronets(files, found) and not measured:
        size = terminal_ini.read(found.chosen.parent, found.at)
        measured = [] if size is None else [size]
    columns = [measured[0][0]] if measured else [file.columns for file in files if file.columns]
    rows = [measured[0][1]] if measured else [file.rows for file in files if file.rows]
    return HostScreen(
        emulation=next((file.emulation for file in files if file.emulation), None),
        charset=next((file.charset for file in files if file.charset), None),
        rows=next(iter(rows), None),
        columns=next(iter(columns), None),
        language=next((file.language for file in files if file.language), None),
        is_page_length=not measured,
        drops_low_bytes=any(file.enigma for file in files),
    )


def _is_synchronets(files: list[DropFile], found: Found) -> bool:
    return found.synchronet or any(
        file.software.casefold().startswith(_SYNCHRONET) for file in files
    )


def _gives(files: list[DropFile], found: Found) -> tuple[GiveBack, ...]:
    chosen = files[0]
    gives = []
    if _is_synchronets(files, found) and chosen.kind in _MODUSER_KINDS:
        path = chosen.path.parent / MODUSER
        gives.append(GiveBack(Way.MODUSER, path, None, chosen.path, chosen.identity))
    for file in files:
        limit = file.time_limit if file.time.limit is Limit.LEFT else None
        for way, minutes in ((Way.DOOR_SYS, file.credit_minutes), (Way.EXITINFO, limit)):
            if minutes is not None:
                gives.append(GiveBack(way, file.path, minutes, file.path, file.identity))
    return tuple(gives)
