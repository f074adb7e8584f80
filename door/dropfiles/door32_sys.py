"""DOOR32.SYS: eleven lines, the file that most boards of today can write.

Line 4 names the board or its software. Line 9 counts minutes, but WWIV writes seconds there.
"""

from __future__ import annotations

import re

from door.dropfiles import dropfile
from door.dropfiles.lines import Lines

# What ENiGMA writes for every caller; by newer versions it means "unlimited".
ENIGMA_MINUTES = 546
_EMULATIONS: dropfile.Emulations = {0: "ascii", 1: "ansi", 2: "avatar", 3: "rip", 4: "max"}
_WWIV = re.compile(r"\bwwiv\b", re.IGNORECASE)


def parse(lines: Lines, reading: dropfile.HostSettings) -> dropfile.DropFile:
    """Read the file; raises `DropFileRefused` when it is none or breaks off before line 10."""
    if lines.number(1) not in range(10):
        raise lines.refusal(1, "there is no comm type (0, 1 or 2), so this is not a DOOR32.SYS")
    lines.need(9, "DOOR32.SYS")
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


def _is_enigma(lines: Lines) -> bool:
    """Whether ENiGMA wrote the file, which names only the board.

    No other says telnet, and -1 for its socket. Versions that say stdio on socket 0 are known only
    by their constant.
    """
    said = (lines.number(1), lines.number(2))
    return said == (2, -1) or (said == (0, 0) and lines.number(9) == ENIGMA_MINUTES)


def enigma_time(place: str) -> dropfile.TimeLeft:
    return dropfile.TimeLeft(dropfile.Limit.CONSTANT, place, written=ENIGMA_MINUTES * 60)


def counts_seconds(software: str, reading: dropfile.HostSettings) -> bool:
    """Whether line 9 counts seconds: the sysop says so, or WWIV wrote the file."""
    if reading.door32_unit == "auto":
        return _WWIV.search(software) is not None
    return reading.door32_unit == "seconds"


def _time(lines: Lines, reading: dropfile.HostSettings, *, enigma: bool) -> dropfile.TimeLeft:
    """Read line 9; what is no time left is a doubt, and so are minutes beyond a day."""
    text, amount = lines.plain(9), lines.number(9)
    if enigma and amount == ENIGMA_MINUTES:
        return enigma_time(f"{lines.place(9)}, in minutes")
    if amount is None or text.startswith("-"):
        time = lines.time(9, 60)
    elif counts_seconds(lines.field(4), reading):
        time = dropfile.TimeLeft.left(amount, f"{lines.place(9)}, in seconds")
    else:
        time = dropfile.TimeLeft.left(amount * 60, f"{lines.place(9)}, in minutes")
        if time.doubt and reading.door32_unit == "auto":
            lines.doubts.append(
                f"{lines.place(9)} says {amount} minutes, which is more than a day. "
                "If this board counts seconds there, say so in its table of sysop.toml."
            )
            return time
    return lines.noted(time)


def _connection(lines: Lines) -> dropfile.Connection:
    """Read lines 1 and 2; old ENiGMA and Mystic say socket -1 and 0 and mean stdio."""
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
    return dropfile.UNSAID
