"""Finds the drop files of a call: the newest in a folder, or the one that is named.

Boards leave old files of other formats (Synchronet), some write all formats at once (WWIV), and
names come in any case. Files written within seconds of the chosen one are read too. The others are
named and not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from door.dropfiles.disk import HostFiles
from door.dropfiles.dropfile import TRUST, Format
from door.dropfiles.formats import KNOWN, dorinfo_nodes, kind_of
from door.errors import DropFileRefused

SAME_CALL_SECONDS = 5
MOST_NAMED = 8  # files of a folder that a refusal names

# Variables that hold the path of the file: of BBSDEV.DRP's specification, and of BinktermPHP.
FILE_VARIABLES = ("BBSDEV_DRP", "DOOR_DROPFILE")
SYNCHRONET_FOLDER, SYNCHRONET_NODE = "SBBSNODE", "SBBSNNUM"
NODE_VARIABLES = (SYNCHRONET_NODE, "DOOR_NODE")

_HOW = "Name the drop file or its folder, as in: door run --dropfile PATH."


@dataclass(frozen=True, slots=True)
class Left:
    """A drop file that was not read, and why, as the end of a sentence."""

    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class CallFiles:
    """The files of a call: the chosen one, the others to read, and those not to read."""

    chosen: Path
    others: tuple[Path, ...]
    left: tuple[Left, ...]
    by: str  # how the chosen one was found
    node: int | None  # from the command line or the environment
    synchronet: bool  # whether the environment is Synchronet's
    at: HostFiles  # their contents


@dataclass(frozen=True, slots=True)
class _Entry:
    path: Path
    kind: Format
    written: float  # seconds since the epoch

    @property
    def order(self) -> int:
        return TRUST[self.kind]


def find(
    where: Path | None,
    environment: Mapping[str, str],
    node: int | None,
    here: Path | None = None,
    at: HostFiles | None = None,
) -> CallFiles:
    """Find the drop files of this call; raise `DropFileRefused` if there are none.

    `where` is a file or a folder. Without it the environment counts (BBSDEV_DRP, DOOR_DROPFILE, the
    folder SBBSNODE), and then the folder in which the door was started. `node` chooses among the
    DORINFOn.DEF of a folder; without it the environment counts here too. `here` is the folder in
    which the door was started, if it is not ours. `at` has the files read there already. Looks only
    at names and times.
    """
    if node is None:
        node = _node(environment)
    place, by = _where(where, environment, here or Path.cwd())
    at = at or HostFiles.at(place)
    if where is not None and not at.is_named:
        by = "the folder named"
    named = _named(at.folder / place.name, at) if at.is_named else None
    entries = _entries(at)
    left: list[Left] = []
    if named is None:
        entries = _of_node(entries, node, left)
        if not entries:
            what = "there is no drop file in this folder"
            raise DropFileRefused(place, None, what, f"Have the board write one of {KNOWN}.")
        by = f"the newest in {by}"
    chosen = named or max(entries, key=lambda entry: (entry.written, -entry.order))
    call = [chosen]
    for entry in sorted(entries, key=lambda entry: (entry.order, -entry.written)):
        if entry.path == chosen.path:
            continue
        why = _why_not(entry, chosen, call)
        if why:
            left.append(Left(entry.path, why))
        else:
            call.append(entry)
    if named is None:
        call.sort(key=lambda entry: entry.order)
    paths = [entry.path for entry in call]
    others = tuple(paths[1:])
    synchronet = SYNCHRONET_FOLDER in environment
    return CallFiles(paths[0], others, tuple(left), by, node, synchronet, at)


def _node(environment: Mapping[str, str]) -> int | None:
    for variable in NODE_VARIABLES:
        text = environment.get(variable, "")
        if text.isascii() and text.isdigit() and len(text) <= 4:
            return int(text)
    return None


def _where(where: Path | None, environment: Mapping[str, str], here: Path) -> tuple[Path, str]:
    if where is not None:
        return where, "named"
    for variable in FILE_VARIABLES:
        if environment.get(variable):
            return Path(environment[variable]), f"named by {variable}"
    if environment.get(SYNCHRONET_FOLDER):
        return Path(environment[SYNCHRONET_FOLDER]), f"the folder of {SYNCHRONET_FOLDER}"
    return here, "the folder the door was started in"


def _named(path: Path, at: HostFiles) -> _Entry:
    """Return a file that was named; hosts may name it in another case than they wrote."""
    try:
        same = (each for each in at.paths() if each.name.casefold() == path.name.casefold())
        match = path if path in at else next(same, None)
    except FileNotFoundError:
        match = None
    except OSError as error:
        what = f"it cannot be read: {error.strerror}"
        raise DropFileRefused(path, None, what, _HOW) from None
    if match is None:
        raise DropFileRefused(path, None, "there is no such file", _names_there(at))
    kind = kind_of(match.name)
    if kind is None:
        what = "its name is not that of a drop file we read"
        raise DropFileRefused(path, None, what, f"Name one of these: {KNOWN}.")
    return _Entry(match, kind, at.written(match))


def _names_there(at: HostFiles) -> str:
    try:
        entries = _entries(at)
    except DropFileRefused:
        return "There is no such folder either. " + _HOW
    names = ", ".join(sorted(entry.path.name for entry in entries)[:MOST_NAMED])
    return f"In its folder there is {names}. {_HOW}" if names else _HOW


def _entries(at: HostFiles) -> list[_Entry]:
    """Return the drop files of a folder."""
    try:
        kinds = [(path, kind_of(path.name)) for path in at.paths()]
    except OSError as error:
        what = f"the folder cannot be read: {error.strerror}"
        raise DropFileRefused(at.folder, None, what, _HOW) from None
    return [_Entry(path, kind, at.written(path)) for path, kind in kinds if kind is not None]


def _of_node(entries: list[_Entry], node: int | None, left: list[Left]) -> list[_Entry]:
    """Drop the DORINFOn.DEF of other nodes, if there is one for ours."""
    ours = {e.path for e in entries if node is not None and node in dorinfo_nodes(e.path.name)}
    if not ours:
        return entries
    chosen = []
    for entry in entries:
        if entry.kind is Format.DORINFO and entry.path not in ours:
            left.append(Left(entry.path, f"it is not of node {node}"))
        else:
            chosen.append(entry)
    return chosen


def _why_not(entry: _Entry, chosen: _Entry, call: list[_Entry]) -> str:
    apart = entry.written - chosen.written
    if abs(apart) > SAME_CALL_SECONDS:
        order = "after" if apart > 0 else "before"
        return f"it was written {_span(abs(apart))} {order} {chosen.path.name}"
    if any(other.kind is entry.kind for other in call):
        return f"there is another {entry.kind} that counts"
    return ""


def _span(seconds: float) -> str:
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return f"{int(seconds)} seconds"
