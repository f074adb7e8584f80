"""DOOR32.SYS: eleven lines; most boards of today can write it.

Line 4 names the board or its software. Line 9 counts minutes, but seconds if WWIV wrote it.
"""

from __future__ import annotations

import re

from door.dropfiles import dropfile
from door.dropfiles.lines import Lines
from door.errors import DropFileRefused

LINES = 11
# ENiGMA writes this for every caller; in newer versions it means "unlimited".
ENIGMA_MINUTES = 546
ENIGMA_NAME = "enigma"
_EMULATIONS: dropfile.Emulations = {0: "ascii", 1: "ansi", 2: "avatar", 3: "rip", 4: "max"}
_DOOR_SYS_INSTEAD = "Lines are missing or have moved. Have the board write DOOR.SYS instead."
_PROGRAM = re.compile(
    r"\bv[0-9]|[0-9][.-][0-9]|\b(version|synchronet|mystic|wwiv|elebbs|renegade|magicka|gamesrv)",
    re.IGNORECASE,
)
_WWIV = re.compile(r"\bwwiv\b", re.IGNORECASE)


def parse(lines: Lines, reading: dropfile.HostSettings) -> dropfile.DropFile:
    """Read the file; raise `DropFileRefused` if it is no DOOR32.SYS or ends before line 10."""
    if lines.number(1) not in range(10):
        raise lines.refusal(1, "there is no comm type (0, 1 or 2), so this is not a DOOR32.SYS")
    lines.need(9, "DOOR32.SYS")
    if lines.field(5) and lines.number(5) is None:
        raise lines.refusal(5, "no number stands where the user number belongs")
    _check_count(lines)
    enigma = _is_enigma(lines)
    return dropfile.DropFile(
        kind=dropfile.Format.DOOR32,
        path=lines.path,
        software=lines.text(4),
        alias=lines.text(7),
        real_name=lines.text(6),
        name_key=dropfile.fold_name(lines.field(7) or lines.field(6)),
        number=lines.user(5),
        level=lines.number(8),
        time=_time(lines, reading, enigma=enigma),
        event=dropfile.no_event(dropfile.Format.DOOR32),
        node=lines.node(11),
        connection=_connection(lines),
        emulation=_EMULATIONS.get(lines.number(10)),
        doubts=tuple(lines.doubts),
        enigma=enigma,
    )


def _check_count(lines: Lines) -> None:
    """Raise `DropFileRefused` if the number of lines shows that some have moved.

    The node may be missing, and an empty line may follow the last.
    """
    wrong: list[tuple[int, str]] = []
    if lines.field(LINES + 1).isdigit():
        numbers = ((8, "security level"), (9, "time left"))
        wrong += [
            (line, f"no number stands where the {what} belongs")
            for line, what in numbers
            if lines.number(line) is None
        ]
        wrong.append((LINES + 1, "a number stands behind the last line, so one is there twice"))
    if len(lines) < LINES and lines.number(7) is not None:
        wrong.append((7, "a number stands where the alias belongs"))
    if len(lines) < LINES and lines.number(9) in _EMULATIONS:
        wrong.append((9, "with a line missing, this may be the emulation and not the time left"))
    if wrong:
        raise DropFileRefused(lines.path, *wrong[0], _DOOR_SYS_INSTEAD)


def _is_enigma(lines: Lines) -> bool:
    """Return whether ENiGMA wrote the file: line 4 names it, or names a board on socket -1.

    ENiGMA writes the board's name on line 4, which often contains "ENiGMA". Other programs write
    their own name and version.
    """
    board = lines.field(4)
    if ENIGMA_NAME in board.casefold():
        return True
    return (lines.number(1), lines.number(2)) == (2, -1) and _PROGRAM.search(board) is None


def enigma_time(place: str) -> dropfile.TimeLeft:
    return dropfile.TimeLeft(dropfile.Limit.CONSTANT, place, written=ENIGMA_MINUTES * 60)


def enigma_doubt(place: str, name: int) -> str:
    return (
        f"{place} says {ENIGMA_MINUTES} minutes, as ENiGMA does for every caller. They count, "
        f"because line {name} does not name ENiGMA: if it wrote this file, put ENiGMA into the "
        "name of the board."
    )


def counts_seconds(software: str, reading: dropfile.HostSettings) -> bool:
    """Return whether line 9 counts seconds: the sysop says so, or WWIV wrote the file."""
    if reading.door32_unit == "auto":
        return _WWIV.search(software) is not None
    return reading.door32_unit == "seconds"


def _time(lines: Lines, reading: dropfile.HostSettings, *, enigma: bool) -> dropfile.TimeLeft:
    """Read line 9; note a doubt if it is no time left, or looks like ENiGMA's constant."""
    text, amount = lines.plain(9), lines.number(9)
    if enigma and amount == ENIGMA_MINUTES:
        return enigma_time(f"{lines.place(9)}, in minutes")
    if amount is None or text.startswith("-"):
        time = lines.time(9, 60)
    elif counts_seconds(lines.field(4), reading):
        time = dropfile.TimeLeft.left(amount, f"{lines.place(9)}, in seconds")
    else:
        time = dropfile.TimeLeft.left(amount * 60, f"{lines.place(9)}, in minutes")
        if amount == ENIGMA_MINUTES:
            lines.doubts.append(enigma_doubt(lines.place(9), 4))
    return lines.noted(time)


def _connection(lines: Lines) -> dropfile.Connection:
    """Read lines 1 and 2; old ENiGMA and Mystic write sockets -1 and 0 for stdio."""
    handle = lines.number(2)
    match lines.number(1):
        case 0:
            return dropfile.STDIO
        case 1:
            return dropfile.SERIAL
        case 2 if handle is not None and handle > 0:
            return dropfile.Connection(dropfile.ConnectionKind.SOCKET, handle)
        case 2:
            return dropfile.STDIO
    lines.doubts.append(f"{lines.place(1)} has a comm type that is not 0, 1 or 2.")
    return dropfile.UNKNOWN_CONNECTION
