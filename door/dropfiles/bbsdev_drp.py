"""BBSDEV.DRP 1.x of 2026: nineteen lines of UTF-8; later versions may have more.

The time left is given as an instant, the log-off deadline on line 11; an empty line means no limit.
"""

from __future__ import annotations

import re
from datetime import datetime

from door.dropfiles import dropfile
from door.dropfiles.lines import Lines

LINES = 19
_VERSION = re.compile(r"1\.[0-9]{1,4}")
_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_SERIAL = ("serial", "winserial", "uart", "fossil")
_EMULATIONS: dict[str, dropfile.Emulation] = {"Y": "ansi", "N": "ascii"}
_ROLES: dict[str, dropfile.Role] = {"sysop": "sysop", "cosysop": "cosysop"}

# IANA names of character sets, and other names in use.
_CHARSETS = {
    **dict.fromkeys(("utf-8", "utf8", "csutf8"), "utf-8"),
    **dict.fromkeys(("ibm437", "cp437", "437", "cspc8codepage437"), "cp437"),
    **dict.fromkeys(("us-ascii", "ascii", "us", "ibm367", "cp367", "csascii"), "us-ascii"),
}


def parse(lines: Lines, reading: dropfile.HostSettings) -> dropfile.DropFile:
    """Read the file; raise `DropFileRefused` if it is another format or version, or is cut off."""
    if not lines.utf8:
        raise lines.refusal(None, "it is not written in UTF-8, as BBSDEV.DRP must be")
    if _VERSION.fullmatch(lines.field(1)) is None:
        raise lines.refusal(1, "the version is not 1.x, so this is not a BBSDEV.DRP that we know")
    lines.need(LINES - 1, "BBSDEV.DRP")
    if len(lines) < LINES:
        lines.need(LINES, "BBSDEV.DRP")
    key = lines.field(5)
    if key in ("", "0"):  # boards without user keys write 0 for every caller
        lines.doubts.append(f"{lines.place(5)} has no user key.")
    if not key.isprintable():  # the sysop is shown keys; two could become one without the controls
        raise lines.refusal(5, "the user key holds characters that cannot be shown")
    return dropfile.DropFile(
        kind=dropfile.Format.BBSDEV,
        path=lines.path,
        software=lines.text(14),
        board=lines.text(15),
        sysop=lines.text(16),
        alias=lines.text(4),
        name_key=dropfile.fold_name(lines.field(4)),
        key=None if key in ("", "0") else key,
        level=lines.number(17),
        role=_ROLES.get(lines.field(17).lower()),
        time=_time(lines, reading),
        event=dropfile.no_event(dropfile.Format.BBSDEV),
        node=lines.node(18),
        connection=_connection(lines),
        emulation=_emulation(lines),
        charset=_CHARSETS.get(lines.field(12).lower(), lines.text(12).lower()) or None,
        rows=lines.cells(7),
        columns=lines.cells(6),
        language=lines.text(13) or None,
        doubts=tuple(lines.doubts),
        enigma=lines.field(14).casefold().startswith("enigma"),
        is_page_length=False,
    )


def _time(lines: Lines, reading: dropfile.HostSettings) -> dropfile.TimeLeft:
    text, place = lines.plain(11), lines.place(11)
    if lines.empty(11):
        return dropfile.TimeLeft(dropfile.Limit.UNLIMITED, place)
    try:
        if _INSTANT.fullmatch(text):
            deadline = datetime.fromisoformat(text)
            return lines.noted(dropfile.TimeLeft.until(deadline, reading.now, place))
    except ValueError:
        pass  # digits in the right places, but no such day or hour
    lines.doubts.append(f"{place} has no deadline that can be read.")
    why = "is not a time such as 2026-11-20T20:30:00Z"
    return dropfile.TimeLeft(dropfile.Limit.UNREADABLE, place, why=why)


def _connection(lines: Lines) -> dropfile.Connection:
    """Read lines 2 and 3. Socket 0 is a socket, unlike in DOOR32.SYS: this format has stdio too."""
    kind = lines.field(2).lower()
    handle = lines.number(3)
    if kind in ("stdio", "local"):
        return dropfile.STDIO
    if kind == "socket" and handle is not None and handle >= 0:
        return dropfile.Connection(dropfile.ConnectionKind.SOCKET, handle)
    if kind in _SERIAL:
        return dropfile.SERIAL
    lines.doubts.append(f"{lines.place(2)} names no way to reach the caller that we know.")
    return dropfile.UNKNOWN_CONNECTION


def _emulation(lines: Lines) -> dropfile.Emulation | None:
    if lines.field(9).upper() == "Y":
        return "rip"
    return _EMULATIONS.get(lines.field(8).upper())
