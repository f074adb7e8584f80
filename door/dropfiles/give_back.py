"""Gives time back to a host, in files that the host reads when the door has ended.

Every write is whole or not at all, even in a crash: a new file is on the disk before it takes the
old one's name. Most files get the final number, not a sum to add, so a second write gives nothing
twice. MODUSER.DAT is a sum to add, and is never overwritten. `give` first checks that the drop file
is still the same caller's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from door.dropfiles.door_sys import CREDIT, layout
from door.dropfiles.dropfile import HostIdentity, HostSettings
from door.dropfiles.exitinfo_bbs import RA_SIZE, TIME_LIMIT
from door.dropfiles.formats import read
from door.dropfiles.interpretation import MODUSER, GiveBack, Way
from door.dropfiles.lines import DOS_END, Lines, opened, raw, raw_of
from door.errors import DropFileRefused, NotGivenBack
from door.lines import hand_over
from timebank import files
from timebank.words import MINUTE, span

MODUSER_LINE = 9
MODUSER_MODE = 0o644  # the board may run as another user; minutes are no secret
# Old hosts keep minutes in signed 16 bits.
MOST_MINUTES = 32767
_NUMBER = re.compile(rb"[+-]?[0-9]+")


def give(way: GiveBack, minutes: int) -> Path:
    """Give `minutes` back the way that `understand` has chosen; return the file written.

    `minutes` is 1 or more; a TimeLimit also takes negative ones, which are taken off. Call this
    while the door runs: hosts look when it has ended, and Synchronet deletes the file before the
    next door. Raises `NotGivenBack` if the drop file is gone, is another caller's, has changed
    since it was read, or has no room for the sum.
    """
    if minutes < 1 and (way.way is not Way.EXITINFO or not minutes):
        raise ValueError("only whole minutes can be given back, one at least")
    after = (way.minutes or 0) + minutes
    _check(way, after)
    if way.way is Way.MODUSER:
        return moduser_dat(way.path.parent, minutes)
    if not 0 <= after <= MOST_MINUTES:
        raise NotGivenBack(f"{way.path} has no room for {after} minutes.", False)
    if way.way is Way.DOOR_SYS:
        return door_sys_credit(way.path, after)
    return exitinfo_time(way.path, after)


def asked(way: GiveBack, minutes: int) -> list[str]:
    """Return the texts that ask another process for `give_back`."""
    current = "" if way.minutes is None else str(way.minutes)
    files = way.path.name, way.source.name
    return [str(minutes), way.way.value, current, *files, way.caller.board, way.caller.caller]


def give_back(folder: str, texts: Sequence[str]) -> tuple[str, str]:
    """Do what a server has asked for, and return the answer (`hand_over.GIVEN` and others).

    `folder` is the drop files' folder; nothing is written outside it.
    """
    minutes, way, current, name, source, board, caller = texts
    if {"/", ".."} & {*name, *source, name, source}:
        return hand_over.NOT_GIVEN, f"{name} is in another folder."
    path, place = Path(folder, name), Path(folder, source)
    number = int(current) if current else None
    try:
        approach = GiveBack(Way(way), path, number, place, HostIdentity(board, caller))
        return hand_over.GIVEN, str(give(approach, int(minutes)))
    except NotGivenBack as refused:
        return hand_over.IN_DOUBT if refused.is_in_doubt else hand_over.NOT_GIVEN, str(refused)


def _check(way: GiveBack, after: int) -> None:
    """Raise `NotGivenBack` unless the drop file is the same caller's and has the same number."""
    try:
        file = read(way.source, HostSettings(datetime.now(UTC), "auto", "auto"))
    except DropFileRefused as refused:
        raise NotGivenBack(str(refused), False) from None
    if file.identity != way.caller:
        raise NotGivenBack(f"{way.source} is another caller's by now.", False)
    now = {Way.DOOR_SYS: file.credit_minutes, Way.EXITINFO: file.time_limit}.get(way.way)
    if now != way.minutes:
        says = "no minutes" if now is None else span(now * MINUTE)
        sentence = f"{way.path} says {says} by now, and said {way.minutes} before."
        raise NotGivenBack(sentence, now == after)


def moduser_dat(folder: Path, minutes: int) -> Path:
    """Write Synchronet's MODUSER.DAT: the host adds `minutes`, which may be negative, from line 9.

    Lines 1 to 8 stay empty: a number there would change the user's credits, level or flags.
    Synchronet removes the file before the door starts and after it ends. So a file that exists was
    written during this call, and stays: raises `NotGivenBack`.
    """
    path = folder / MODUSER
    there = _there(folder, MODUSER)
    content = b"\n" * (MODUSER_LINE - 1) + b"%d\n" % minutes
    if there is not None:
        same = _bytes(there) == content
        raise NotGivenBack(f"{there} is there already: it is left as it is.", same)
    _replace(path, content)
    return path


def door_sys_credit(path: Path, minutes: int) -> Path:
    """Write `minutes`, 0 to 32767, as the time credits of a whole DOOR.SYS, on line 42.

    Every other byte stays. Raises `NotGivenBack` if there is no such line.
    """
    return _changed(path, minutes, _with_credit)


def exitinfo_time(path: Path, minutes: int) -> Path:
    """Write `minutes`, 0 to 32767, as the TimeLimit of a RemoteAccess EXITINFO.BBS.

    Every other byte stays. Raises `NotGivenBack` for a record of another size: in QuickBBS's the
    field is the allowance for every call.
    """
    return _changed(path, minutes, _with_time_limit)


def _changed(path: Path, minutes: int, change: Callable[[Path, bytes, int], bytes]) -> Path:
    """Change a file; an error holds no reference to its contents."""
    if not 0 <= minutes <= MOST_MINUTES:
        raise ValueError(f"a host can take 0 to {MOST_MINUTES} minutes")
    try:
        with opened(path) as file:
            _replace(path, change(path, raw_of(path, file).content, minutes), file)
    except DropFileRefused as refused:
        bare = NotGivenBack(str(refused), False)
    except NotGivenBack as refused:
        refused.__context__ = None
        bare = refused.with_traceback(None)
    else:
        return path
    raise bare


def _with_credit(path: Path, content: bytes, minutes: int) -> bytes:
    try:
        lines = Lines(path, content)
        number = CREDIT + layout(lines).shift
    except DropFileRefused as refused:
        raise NotGivenBack(str(refused), False) from None
    if lines.number(number) is None:
        raise NotGivenBack(f"{path} has no time credits on line {number}.", False)
    text, *after = content.split(DOS_END, 1)
    end = b"\n" if b"\n" in text else b"\r"
    pieces = text.split(end)
    pieces[number - 1] = _NUMBER.sub(b"%d" % minutes, pieces[number - 1], count=1)
    return DOS_END.join([end.join(pieces), *after])


def _with_time_limit(path: Path, content: bytes, minutes: int) -> bytes:
    if len(content) != RA_SIZE:
        sentence = f"{path} has {len(content)} bytes and not the {RA_SIZE} of RemoteAccess."
        raise NotGivenBack(sentence, False)
    return content[:TIME_LIMIT] + minutes.to_bytes(2, "little") + content[TIME_LIMIT + 2 :]


def _bytes(path: Path) -> bytes:
    try:
        return raw(path).content
    except DropFileRefused as refused:
        raise NotGivenBack(str(refused), False) from None


def _there(folder: Path, name: str) -> Path | None:
    """Return the path of a file in any case, as Synchronet looks for it; None if it is missing."""
    try:
        with os.scandir(folder) as entries:
            same = (entry for entry in entries if entry.name.casefold() == name.casefold())
            return next((Path(entry.path) for entry in same), None)
    except OSError as error:
        raise NotGivenBack(f"{folder} cannot be read: {error.strerror}.", False) from None


def _replace(path: Path, content: bytes, like: int | None = None) -> None:
    """Replace a file as a whole, with the owner and the mode of the old one.

    Before that, no other user may read it: DOOR.SYS contains a password.
    """
    try:
        files.replace(path, content, MODUSER_MODE, like)
    except OSError as error:
        raise NotGivenBack(f"{path} cannot be written: {error.strerror}.", False) from None
