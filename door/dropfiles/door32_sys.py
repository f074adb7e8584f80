"""DOOR32.SYS: eleven lines, the file that most boards of today can write.

Line 4 names the board or its software. Line 9 counts minutes, but WWIV writes seconds there.
"""

from __future__ import annotations

import re

from door.dropfiles.dropfile import (
    DAY_MINUTES,
    SERIAL,
    STDIO,
    UNSAID,
    Connection,
    ConnectionKind,
    DropFile,
    Emulation,
    Kind,
    TimeLeft,
    fold_name,
)
from door.dropfiles.lines import Lines
from door.dropfiles.reading import Reading, no_event

_EMULATIONS: dict[int | None, Emulation] = {0: "ascii", 1: "ansi", 2: "avatar", 3: "rip", 4: "max"}
_WWIV = re.compile(r"\bwwiv\b", re.IGNORECASE)


def parse(lines: Lines, reading: Reading) -> DropFile:
    """Read the file; raises `DropFileRefused` when it is none or breaks off before line 10."""
    if lines.number(1) not in range(10):
        raise lines.refusal(1, "there is no comm type (0, 1 or 2), so this is no DOOR32.SYS")
    lines.need(9, "DOOR32.SYS")
    doubts: list[str] = []
    number = lines.number(5) or 0
    if number < 1:
        doubts.append(f"{lines.place(5)} has no user number.")
    return DropFile(
        kind=Kind.DOOR32,
        path=lines.path,
        software=lines.text(4),
        board="",
        sysop="",
        alias=lines.text(7),
        real_name=lines.text(6),
        name_key=fold_name(lines.field(7) or lines.field(6)),
        number=number if number > 0 else None,
        key=None,
        level=lines.number(8),
        role=None,
        time=_time(lines, reading, doubts),
        event=no_event(Kind.DOOR32),
        node=lines.node(11),
        connection=_connection(lines, doubts),
        emulation=_EMULATIONS.get(lines.number(10)),
        charset=None,
        rows=None,
        columns=None,
        language=None,
        credit_minutes=None,
        time_limit=None,
        doubts=tuple(doubts),
    )


def counts_seconds(software: str, reading: Reading) -> bool:
    """Tell whether line 9 counts seconds: the sysop says so, or WWIV wrote the file."""
    if reading.door32_unit == "auto":
        return _WWIV.search(software) is not None
    return reading.door32_unit == "seconds"


def _time(lines: Lines, reading: Reading, doubts: list[str]) -> TimeLeft:
    amount = lines.number(9)
    if amount is None or amount < 0:
        doubts.append(f"{lines.place(9)} has no time left that can be read.")
        return TimeLeft.unknown(lines.place(9))
    if counts_seconds(lines.field(4), reading):
        return TimeLeft.left(amount, f"{lines.place(9)}, in seconds")
    if amount > DAY_MINUTES and reading.door32_unit == "auto":
        doubts.append(
            f"{lines.place(9)} says {amount} minutes, which is more than a day. "
            "If this board counts seconds there, say so in its table of sysop.toml."
        )
    return TimeLeft.left(amount * 60, f"{lines.place(9)}, in minutes")


def _connection(lines: Lines, doubts: list[str]) -> Connection:
    """Read lines 1 and 2; old ENiGMA and Mystic say socket -1 and 0 and mean stdio."""
    handle = lines.number(2)
    match lines.number(1):
        case 0:
            return STDIO
        case 1:
            return SERIAL
        case 2 if handle is not None and handle > 0:
            return Connection(ConnectionKind.SOCKET, handle)
        case 2:
            return STDIO
    doubts.append(f"{lines.place(1)} has a comm type that is not 0, 1 or 2.")
    return UNSAID
