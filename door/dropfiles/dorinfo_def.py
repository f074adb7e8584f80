"""DORINFOn.DEF of RBBS, QuickBBS and RemoteAccess: twelve or thirteen lines, and no user number.

Names come in upper case (Synchronet), or with the first name twice (old ENiGMA), or as whole names
twice after a blank line (icy_board). So the line of the emulation is searched for.
"""

from __future__ import annotations

import re

from door.dropfiles import dropfile
from door.dropfiles.door32_sys import ENIGMA_MINUTES, ENIGMA_NAME, enigma_doubt, enigma_time
from door.dropfiles.dropfile import STDIO, UNKNOWN_CONNECTION
from door.dropfiles.lines import LONGEST_TEXT, Lines
from timebank.words import clean

USER = 7
MOST_EMULATIONS = 9  # a higher number is a security level or a time
_PORT = re.compile(r"(COM ?)?-?[0-9]*:?", re.IGNORECASE)
_NETWORK = re.compile(r"-?[0-9]{1,3}")  # in files of RBBS; other programs write 0 or the node
_LOCAL = re.compile(r"(COM ?)?0:?", re.IGNORECASE)
_EMULATIONS: dropfile.Emulations = {0: "ascii", 1: "ansi", 2: "avatar", 3: "rip"}


def parse(lines: Lines, _reading: dropfile.HostSettings) -> dropfile.DropFile:
    """Read the file; raise `DropFileRefused` if it is no DORINFO or ends before the time left."""
    if _PORT.fullmatch(lines.field(4)) is None:
        raise lines.refusal(4, "there is no port such as COM1, so this is not a DORINFO file")
    lines.need(USER + 5, "DORINFO")
    user = _user_line(lines)
    emulation = _emulation_line(lines, user)
    minutes_line = emulation + 2
    lines.need(minutes_line, "DORINFO")
    if None not in (lines.number(minutes_line + 1), lines.number(minutes_line + 2)):
        raise lines.refusal(minutes_line + 2, "a number stands behind the last line")
    first, last = lines.field(user), lines.field(user + 1)
    name = dropfile.undoubled(first, last)
    # Other programs cap at 546; ENiGMA, which doubles names, writes it for every caller.
    is_doubled = bool(first) and first == last
    is_named = ENIGMA_NAME in lines.field(1).casefold()
    enigma = (is_doubled or is_named) and lines.number(minutes_line) == ENIGMA_MINUTES
    return dropfile.DropFile(
        kind=dropfile.Format.DORINFO,
        path=lines.path,
        board=lines.text(1),
        sysop=clean(dropfile.undoubled(lines.text(2), lines.text(3)), LONGEST_TEXT),
        real_name=clean(name, LONGEST_TEXT),
        name_key=dropfile.fold_name(name),
        level=lines.number(emulation + 1),
        time=_time(lines, minutes_line, enigma=enigma),
        event=dropfile.no_event(dropfile.Format.DORINFO),
        connection=STDIO if _LOCAL.fullmatch(lines.field(4)) else UNKNOWN_CONNECTION,
        emulation=_EMULATIONS.get(lines.number(emulation)),
        doubts=tuple(lines.doubts),
        enigma=enigma,
    )


def _user_line(lines: Lines) -> int:
    """Return the user's line, after the number on line 6; icy_board has a blank line before it."""
    if _NETWORK.fullmatch(lines.field(USER - 1)):
        return USER
    if not lines.field(USER - 1) and lines.field(USER) == "0":
        return USER + 1
    raise lines.refusal(USER - 1, "the zero that belongs here is missing")


def _emulation_line(lines: Lines, user: int) -> int:
    """Return the line of the emulation: two numbers after name and city, or two names and city.

    Only icy_board, with a blank line before the zero, writes two names, which may differ.
    """
    for line in (user + 3, user + 5) if user > USER else (user + 3,):
        fields = (lines.field(line), lines.field(line + 1))
        numbers = (lines.number(line), lines.number(line + 1))
        read = [
            not text or number is not None for text, number in zip(fields, numbers, strict=True)
        ]
        if all(read) and any(fields) and (numbers[0] or 0) <= MOST_EMULATIONS:
            return line
    raise lines.refusal(user + 3, "no emulation and security level are near this line")


def _time(lines: Lines, line: int, *, enigma: bool) -> dropfile.TimeLeft:
    if enigma:
        return enigma_time(lines.place(line))
    if lines.number(line) == ENIGMA_MINUTES:
        lines.doubts.append(enigma_doubt(lines.place(line), 1))
    return lines.noted(lines.time(line, 60))
