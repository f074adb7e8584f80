"""Combines all drop files of a call, and notes in which file each fact was read.

Time left and next event come from the most trusted file that has them. Caller and connection come
from the file that was named or chosen. Sentences name what was not understood, and no value is
invented for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from door.dropfiles import terminal_ini
from door.dropfiles.dropfile import (
    SYSOP_LEVEL,
    TRUST,
    UNKNOWN_CONNECTION,
    Connection,
    ConnectionKind,
    DropFile,
    Emulation,
    EventKind,
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
from door.dropfiles.search import CallFiles, Left
from door.errors import DropFileRefused

STALE_SECONDS = 600  # an older file probably belongs to another call
APART_SECONDS = 120  # allowed difference between files of one call, whose minutes are rounded
MODUSER = "MODUSER.DAT"
SYSOP = "sysop"  # no board lets another caller take that name
_SYNCHRONET = "synchronet"
_BBS = re.compile(r"\S bbs$")  # many boards' names end so, and no caller's
# Synchronet reads MODUSER.DAT after these types of drop file.
_MODUSER_KINDS = (Format.DOOR32, Format.CHAIN, Format.BBSDEV)


class Way(StrEnum):
    MODUSER = "moduser"  # Synchronet's MODUSER.DAT, in the folder of the drop file
    DOOR_SYS = "door.sys"  # line 42 of DOOR.SYS
    EXITINFO = "exitinfo"  # TimeLimit of RemoteAccess's EXITINFO.BBS


@dataclass(frozen=True, slots=True)
class GiveBack:
    """A way to give time back that the files allow; the sysop must say that the board uses it."""

    way: Way
    path: Path  # the file to write
    minutes: int | None  # the current number in the file, if the way has one
    source: Path  # the drop file that shows the way
    caller: HostIdentity  # guards against giving time to the node's next caller


@dataclass(frozen=True, slots=True)
class HostScreen:
    """The host's description of the caller's screen: hints, None where it gives none."""

    emulation: Emulation | None
    charset: str | None
    rows: int | None
    columns: int | None
    language: str | None
    is_page_length: bool  # whether the rows are the caller's choice for reading
    drops_low_bytes: bool  # whether CP437 symbols below 20h act as controls there (ENiGMA)


@dataclass(frozen=True, slots=True)
class Understood:
    """A call, by its drop files. `files` begins with the chosen one.

    `who` is the caller's account, and `name` what to call them. `board` is the host's name as
    written. `names` are all names in the files: of boards first, then of software. `doubts` are
    sentences about what was not understood.
    """

    files: tuple[DropFile, ...]
    call_files: CallFiles
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
        """Return the time if it is a length, no limit or a constant; raise `DropFileRefused`."""
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


def understand(call_files: CallFiles, reading: HostSettings) -> Understood:
    """Return the call that the files describe. A broken file other than the chosen one is a doubt.

    Raises `DropFileRefused` if the chosen file is broken, names no caller, or is another node's.
    """
    chosen = read(call_files.chosen, reading, call_files.at)
    if None not in (call_files.node, chosen.node) and call_files.node != chosen.node:
        what = f"it is for node {chosen.node}, and this is node {call_files.node}"
        remedy = "It was left by another call, or the nodes share a folder: give each its own."
        raise DropFileRefused(call_files.chosen, None, what, remedy)
    doubts: list[str] = []
    left = list(call_files.left)
    files = [chosen, *_of_others(chosen, call_files, reading, left, doubts)]
    if reading.door32_unit == "auto":
        files = [_in_seconds(file, files) for file in files]
    for file in files:
        doubts.extend(file.doubts)
    _look_at_age(call_files, reading, doubts)
    aliased = _aliased(files, reading.names)
    trusted = sorted(files, key=lambda file: TRUST[file.kind])
    return Understood(
        files=tuple(files),
        call_files=call_files,
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
        event=_event(trusted, reading),
        node=next((file.node for file in files if file.node is not None), call_files.node),
        connection=_connection(files),
        screen=_screen(files, call_files),
        gives=_gives(files, call_files),
        doubts=tuple(doubts),
        left=tuple(left),
    )


def _of_others(
    chosen: DropFile,
    call_files: CallFiles,
    reading: HostSettings,
    left: list[Left],
    doubts: list[str],
) -> list[DropFile]:
    files = []
    for path in call_files.others:
        try:
            file = read(path, reading, call_files.at)
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
    """Return whether two files name the same caller; one may cut or double the name."""
    names = {name.casefold() for name in (one.alias, one.real_name) if name}
    others = {name.casefold() for name in (other.alias, other.real_name) if name}
    if None not in (one.number, other.number) and one.number != other.number:
        return not names.isdisjoint(others)
    if not names or not others:
        return one.number is not None and one.number == other.number
    return any(a.startswith(b) or b.startswith(a) for a in names for b in others)


def _in_seconds(file: DropFile, files: list[DropFile]) -> DropFile:
    """Read line 9 of DOOR32.SYS as seconds if another file of the call proves that.

    That is WWIV under another name, which writes every format, with seconds in CHAIN.TXT.
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


def _look_at_age(call_files: CallFiles, reading: HostSettings, doubts: list[str]) -> None:
    try:
        age = int(reading.now.timestamp() - call_files.at.written(call_files.chosen))
    except OSError:  # the file has been removed since
        return
    if age > STALE_SECONDS:
        doubts.append(
            f"{call_files.chosen.name} was written {age // 60} minutes ago. "
            "If that was for another call, neither its caller nor its time is this one's."
        )


def _who(files: list[DropFile]) -> HostIdentity:
    board = _first(file.identity.board for file in files)
    for file in files:
        if file.number is not None or file.key is not None:
            return HostIdentity(board, file.identity.caller)
    return HostIdentity(board, files[0].identity.caller)


def _aliased(files: list[DropFile], names: Iterable[str]) -> list[DropFile]:
    """Return the files, without aliases that are not the caller's.

    Some programs write the sysop or the board as the alias of every caller. `names` are the board's
    names in the settings. An account that goes by name does not go by such an alias.
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
    """Return an alias, or else a name that may be the caller's real one."""
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
    """Return the time of the most trusted file that has one, and note files that contradict it.

    A length counts before all else: nonsense from a board does not mean that its callers' time is
    unlimited.
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


def _event(trusted: list[DropFile], reading: HostSettings) -> NextEvent:
    """Return the event of the most trusted file that has a time, else what the files do say."""
    if reading.events == "ignored":
        place = "sysop.toml, which leaves out the host's events"
        return NextEvent(EventKind.NONE, None, place)
    events = [file.event for file in trusted]
    for kind in (EventKind.TIME, EventKind.NONE, EventKind.PLACEHOLDER):
        for event in events:
            if event.kind is kind:
                return event
    return events[0]


def _connection(files: list[DropFile]) -> Connection:
    connections = (file.connection for file in files)
    return next(
        (line for line in connections if line.kind is not ConnectionKind.UNKNOWN),
        UNKNOWN_CONNECTION,
    )


def _screen(files: list[DropFile], call_files: CallFiles) -> HostScreen:
    measured = [
        (file.columns, file.rows)
        for file in files
        if not file.is_page_length and file.rows and file.columns
    ]
    if _is_synchronets(files, call_files) and not measured:
        size = terminal_ini.read(call_files.chosen.parent, call_files.at)
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


def _is_synchronets(files: list[DropFile], call_files: CallFiles) -> bool:
    return call_files.synchronet or any(
        file.software.casefold().startswith(_SYNCHRONET) for file in files
    )


def _gives(files: list[DropFile], call_files: CallFiles) -> tuple[GiveBack, ...]:
    chosen = files[0]
    gives = []
    if _is_synchronets(files, call_files) and chosen.kind in _MODUSER_KINDS:
        path = chosen.path.parent / MODUSER
        gives.append(GiveBack(Way.MODUSER, path, None, chosen.path, chosen.identity))
    for file in files:
        limit = file.time_limit if file.time.limit is Limit.LEFT else None
        for way, minutes in ((Way.DOOR_SYS, file.credit_minutes), (Way.EXITINFO, limit)):
            if minutes is not None:
                gives.append(GiveBack(way, file.path, minutes, file.path, file.identity))
    return tuple(gives)
