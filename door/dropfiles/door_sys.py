"""DOOR.SYS of GAP: 52 lines when it is whole, 31 in older writers.

Line 14 is the caller's password, in clear text. Nothing here reads it, and no sentence quotes a
line: where lines are missing it could be any of them. icy_board leaves out line 5, RemoteAccess the
password, so the graphics mode (GR, NG or 7E, line 20) is found first and the others are counted
from there.
"""

from __future__ import annotations

from dataclasses import dataclass

from door.dropfiles import dropfile
from door.dropfiles.lines import Lines

GRAPHICS = 20
USER_NUMBER = 26
ALIAS = 36
EVENT = 37
ANSI_UNUSED = 39
CREDIT = 42

# Where the graphics mode may stand: as it should, one line missing, one line too many.
_SHIFTS = (0, -1, 1)
_MODES: dict[str, dropfile.Emulation] = {"GR": "ansi", "NG": "ascii", "7E": "ascii"}
_YES_NO = ("Y", "N")
_TOGGLES = 4
# Seconds and minutes that ENiGMA writes for every caller.
ENIGMA = (15360, 256)
# Synchronet and others that count in 16 bits write this for all longer times.
MOST_SECONDS = 32767


@dataclass(frozen=True, slots=True)
class DoorSysLayout:
    shift: int  # of lines, from the graphics mode on
    name: int  # the line of the name


def layout(lines: Lines) -> DoorSysLayout:
    for shift in _SHIFTS:
        if lines.field(GRAPHICS + shift).upper() in _MODES:
            return DoorSysLayout(shift, _name_line(lines, shift))
    if not lines.whole(GRAPHICS + 1):
        lines.need(USER_NUMBER, "DOOR.SYS")
    what = "no graphics mode (GR, NG or 7E) is near this line, so this is not a DOOR.SYS"
    raise lines.refusal(GRAPHICS, what)


def _name_line(lines: Lines, shift: int) -> int:
    """Find the name, behind four lines of Y or N, the first of which is line 5 or 6."""
    for first in (5, 6):
        if all(lines.field(first + n).upper() in _YES_NO for n in range(_TOGGLES)):
            return first + _TOGGLES
    return GRAPHICS - 10 + shift


def parse(lines: Lines, reading: dropfile.HostSettings) -> dropfile.DropFile:
    """Read the file; raises `DropFileRefused` when it is none or breaks off before line 27."""
    at = layout(lines)
    shift = at.shift
    lines.need(USER_NUMBER + shift, "DOOR.SYS")
    mode = lines.field(GRAPHICS + shift).upper()
    emulation = _MODES[mode]
    if mode == "NG" and lines.field(ANSI_UNUSED + shift).upper() == "Y":
        emulation = "ansi"
    number, event_line = lines.user(USER_NUMBER + shift), EVENT + shift
    port = lines.field(1).upper().rstrip(":")
    time = _time(lines, shift)
    return dropfile.DropFile(
        kind=dropfile.Format.DOOR,
        path=lines.path,
        sysop=lines.text(35 + shift),
        alias=lines.text(ALIAS + shift),
        real_name=lines.text(at.name),
        # Not the alias: files of 31 lines have none, and a key must not depend on that.
        name_key=dropfile.fold_name(lines.field(at.name)),
        number=number,
        level=lines.number(GRAPHICS - 5 + shift),
        time=time,
        event=reading.event(lines.field(event_line), lines.place(event_line)),
        node=lines.node(4),
        connection=dropfile.STDIO if port == "COM0" else dropfile.UNSAID,
        emulation=emulation,
        charset="us-ascii" if mode == "7E" else None,
        rows=lines.cells(GRAPHICS + 1 + shift),
        credit_minutes=lines.number(CREDIT + shift),
        doubts=tuple(lines.doubts),
        enigma=time.limit is dropfile.Limit.CONSTANT,
    )


def _time(lines: Lines, shift: int) -> dropfile.TimeLeft:
    """Read seconds and minutes; where they contradict each other, the smaller counts.

    One of them may be missing. Writers with 16-bit numbers cap the seconds or have them go below
    zero; then the minutes know more. If one of the two is no number, neither is believed.
    """
    seconds_line = GRAPHICS - 2 + shift
    minutes_line = GRAPHICS - 1 + shift
    seconds, minutes = lines.number(seconds_line), lines.number(minutes_line)
    by_seconds, by_minutes = lines.time(seconds_line, 1), lines.time(minutes_line, 60)
    if (seconds, minutes) == ENIGMA:
        return dropfile.TimeLeft(dropfile.Limit.CONSTANT, by_seconds.place, written=seconds)
    if seconds is not None and minutes is not None and _is_cut(seconds, minutes):
        return by_minutes
    known = [time for time in (by_seconds, by_minutes) if time.limit is not dropfile.Limit.UNKNOWN]
    unreadable = [time for time in known if time.limit is dropfile.Limit.UNREADABLE]
    if not known or unreadable:
        lines.doubts += [time.doubt for time in unreadable]
        if not known:
            lines.doubts.append(
                f"Lines {seconds_line} and {minutes_line} have no time left to be read."
            )
        what = f"lines {seconds_line} and {minutes_line} of {lines.path.name}"
        return unreadable[0] if unreadable else dropfile.TimeLeft(dropfile.Limit.UNKNOWN, what)
    least = min(known, key=lambda time: time.seconds or 0)
    if len(known) == 2 and abs((by_seconds.seconds or 0) - (by_minutes.seconds or 0)) >= 60:
        lines.doubts.append(
            f"Lines {seconds_line} (seconds) and {minutes_line} (minutes) contradict each other: "
            "the smaller counts."
        )
        return least
    return known[0]


def _is_cut(seconds: int, minutes: int) -> bool:
    """Whether the seconds are what is left of the minutes in a number of 16 bits."""
    if not MOST_SECONDS // 60 < minutes <= dropfile.LONGEST_SECONDS // 60:
        return False
    around = MOST_SECONDS * 2 + 2
    apart = (minutes * 60 - seconds) % around
    return seconds == MOST_SECONDS or (seconds < 0 and min(apart, around - apart) < 180)
