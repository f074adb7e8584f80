"""DOOR.SYS of GAP: 52 lines, or 31 from older writers.

Line 14 is the caller's password in clear text. Nothing here reads it. No sentence quotes a line
before the graphics mode, because where lines are missing it could be the password. icy_board leaves
out line 5, and RemoteAccess the password. So the graphics mode (GR, NG, 7E or RIP, line 20) is
located first, and the other lines are counted from it. Their contents show whether they are in
their places.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from door.dropfiles import dropfile
from door.dropfiles.lines import Lines
from door.errors import DropFileRefused

NAME = 10
CALLS = 16
GRAPHICS = 20
USER_NUMBER = 26
SYSOP = 35
ALIAS = 36
EVENT = 37
ANSI_UNUSED = 39
CREDIT = 42

# Offsets of the graphics mode from line 20: none, one line missing, one line too many.
_SHIFTS = (0, -1, 1)
_MODES: dict[str, dropfile.Emulation] = {
    "GR": "ansi",
    "NG": "ascii",
    "7E": "ascii",
    "RIP": "rip",
}
_YES_NO = ("Y", "N")
_TOGGLES = 4
# Seconds and minutes that ENiGMA writes for every caller; the second pair since September 2026.
ENIGMA = ((15360, 256), (32760, 546))
# Synchronet and others with 16-bit numbers write this for all longer times.
MOST_SECONDS = 32767
SLOWEST = 300  # bits a second; more than the number of nodes of any board

_SLASHES = r"[0-9]{1,4}(?P<slash>[-/.])[0-9]{1,2}(?P=slash)[0-9]{1,4}"
_CLOCK = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?"
_NUMBER = re.compile(r"(?:[+-]?[0-9]{1,10}(?:\.[0-9]*)?)?")
# Some writers count days or seconds, or leave out the slashes.
_DATE = re.compile(rf"(?:{_SLASHES}|[0-9]{{5,10}})?")
_TIME = re.compile(
    rf"(?:{_CLOCK}(?: ?[AP]M)?|[0-9]{{1,2}}\.[0-9]{{2}}|[0-9]{{4}}|[0-9]{{10}}|none)?",
    re.IGNORECASE,
)
_EVENT = re.compile(rf"{_CLOCK}(?: ?[AP]M)?|none", re.IGNORECASE)
_WORD = re.compile(r"[^0-9]*")
_SWITCH = re.compile(r"[01]|[^0-9]*")
_YES = re.compile(r"[YNTF01]?", re.IGNORECASE)
_TEXT = re.compile(rf"(?!(?:{_SLASHES}|{_CLOCK})$).*")
_ALIAS = re.compile(rf"(?!(?:{_SLASHES}|{_CLOCK}|[YN])$).*")
_FOLDER = r"[A-Z]:[\\/].*|/.*|.*\\"
_SYSOP = re.compile(rf"(?!(?:{_SLASHES}|{_CLOCK}|{_FOLDER})$).*", re.IGNORECASE)
# Two of these in wrong places show that lines have moved: a number, date, time or single letter.
_SHORT = re.compile(r"[0-9/.:+-]{1,10}|[A-Z]?", re.IGNORECASE)
# One of these in a wrong place, up to the alias, shows it: boards write them for nothing else.
_CERTAIN = re.compile(
    rf"[0-9]{{2,4}}([-/.])[0-9]{{2}}\1[0-9]{{2,4}}|[0-9]{{2}}:[0-9]{{2}}|{_FOLDER}", re.IGNORECASE
)
_BLANK = re.compile(r"[-/.:_ ]*")  # a date or a time without digits is an empty one
_PHONE = re.compile(r"[(+]?[0-9][0-9 ()./+-]{5,}")
# The form of each line after the graphics mode. An empty line fits any of them.
_BELONGS: dict[int, tuple[re.Pattern[str], str]] = {
    21: (_NUMBER, "the page length belongs"),
    22: (_SWITCH, "Y or N for an expert belongs"),
    **dict.fromkeys((23, 24), (_TEXT, "the conferences belong")),
    25: (_DATE, "the date of expiry belongs"),
    USER_NUMBER: (_NUMBER, "the user number belongs"),
    27: (_WORD, "the letter of the protocol belongs"),
    **dict.fromkeys((28, 29), (_NUMBER, "the number of files belongs")),
    **dict.fromkeys((30, 31), (_NUMBER, "the size of downloads belongs")),
    32: (_DATE, "the date of birth belongs"),
    **dict.fromkeys((33, 34), (_TEXT, "a folder belongs")),
    SYSOP: (_SYSOP, "the sysop's name belongs"),
    ALIAS: (_ALIAS, "the alias belongs"),
    EVENT: (_TIME, "the time of the next event belongs"),
    **dict.fromkeys((38, 39, 40), (_YES, "Y or N belongs")),
    41: (_NUMBER, "the number of a colour belongs"),
    CREDIT: (_NUMBER, "the time credit belongs"),
    43: (_DATE, "the date of the last scan belongs"),
    **dict.fromkeys((44, 45), (_TIME, "the time of a call belongs")),
    **dict.fromkeys((46, 47), (_NUMBER, "the number of files belongs")),
    **dict.fromkeys((48, 49), (_NUMBER, "the size of all files belongs")),
    **dict.fromkeys((51, 52), (_NUMBER, "a number belongs")),
}
_DOOR32_INSTEAD = "Lines are missing or have moved. Have the board write DOOR32.SYS instead."


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
    what = "no graphics mode (GR, NG, 7E or RIP) is near this line, so this is not a DOOR.SYS"
    raise lines.refusal(GRAPHICS, what)


def _name_line(lines: Lines, shift: int) -> int:
    """Return the line of the name: four lines of Y or N precede it, the first near line 6."""
    for first in (6, 5, 7):
        if all(lines.field(first + n).upper() in _YES_NO for n in range(_TOGGLES)):
            return first + _TOGGLES
    return NAME + shift


def parse(lines: Lines, reading: dropfile.HostSettings) -> dropfile.DropFile:
    """Read the file; raise `DropFileRefused` if it is no DOOR.SYS or ends before line 27."""
    at = layout(lines)
    shift = at.shift
    lines.need(USER_NUMBER + shift, "DOOR.SYS")
    _check_front(lines, at)
    number = lines.user(USER_NUMBER + shift)
    sound = _sound_until(lines, shift, number)
    alias = lines.text(ALIAS + shift) if sound >= ALIAS else ""
    mode = lines.field(GRAPHICS + shift).upper()
    emulation = _MODES[mode]
    if mode == "NG" and lines.field(ANSI_UNUSED + shift).upper() == "Y":
        emulation = "ansi"
    sysop, event_line = lines.text(SYSOP + shift), EVENT + shift
    level = lines.number(GRAPHICS - 5 + shift)
    if (
        number is not None
        and number == lines.node(4)
        and (level or 0) < dropfile.SYSOP_LEVEL
        and _fills_in(alias, sysop, lines.field(at.name))
    ):
        lines.doubts.append(
            f"{lines.place(USER_NUMBER + shift)} has the number of the node, and the alias is the "
            "sysop's: the board writes no user number, so the caller goes by the name."
        )
        number = None
    port = lines.field(1).upper().rstrip(":")
    time = _time(lines, shift)
    return dropfile.DropFile(
        kind=dropfile.Format.DOOR,
        path=lines.path,
        sysop=sysop,
        alias=alias,
        real_name=lines.text(at.name),
        # Not the alias: files of 31 lines have none, and the key must not depend on that.
        name_key=dropfile.fold_name(lines.field(at.name)),
        number=number,
        level=level,
        time=time,
        event=reading.event(lines.field(event_line) if sound else "", lines.place(event_line)),
        node=lines.node(4),
        connection=dropfile.STDIO if port == "COM0" else dropfile.UNKNOWN_CONNECTION,
        emulation=emulation,
        charset="us-ascii" if mode == "7E" else None,
        rows=lines.cells(GRAPHICS + 1 + shift),
        credit_minutes=lines.number(CREDIT + shift) if sound > EVENT else None,
        doubts=tuple(lines.doubts),
        enigma=time.limit is dropfile.Limit.CONSTANT,
    )


def _check_front(lines: Lines, at: DoorSysLayout) -> None:
    """Raise `DropFileRefused` if the missing or extra line may be a name, a time or the node.

    Line 5 and the password may be missing. No sentence quotes these lines.
    """
    before = at.name - NAME
    behind = at.shift - before
    wrong: list[tuple[int, str]] = []
    if before:
        numbers = ((3, "the data bits belong"), (4, "the node belongs"))
        wrong += [(line, what) for line, what in numbers if (lines.number(line) or 0) >= SLOWEST]
    if before > 0 and lines.field(3) == lines.field(4):
        wrong.append((4, "the node belongs"))
    if lines.field(at.name).upper() in _YES_NO:
        wrong.append((at.name, "the name belongs"))
    if behind < 0 and _PHONE.fullmatch(lines.field(at.name + 1)):
        wrong.append((at.name + 1, "the city belongs"))
    if behind and _NUMBER.fullmatch(lines.field(CALLS + at.shift)) is None:
        wrong.append((CALLS + at.shift, "the number of calls belongs"))
    date = lines.field(CALLS + 1 + at.shift)
    if behind and not (date == "0" or _DATE.fullmatch(date) or _BLANK.fullmatch(date)):
        wrong.append((CALLS + 1 + at.shift, "the date of the last call belongs"))
    if wrong:
        line, belongs = wrong[0]
        what = f"something else stands where {belongs}"
        raise DropFileRefused(lines.path, line, what, _DOOR32_INSTEAD)


def _sound_until(lines: Lines, shift: int, number: int | None) -> int:
    """Return the last line after the graphics mode that can be believed, 0 for none.

    A text in the wrong place is a doubt, and so is one short text that fits another place. Two such
    lines, or one that is certain, show that lines are missing or have moved. Then a whole file, and
    any file whose user number would be believed, raises `DropFileRefused`. In a short file without
    a number nothing after the graphics mode counts, because its name and time come before it. In a
    whole file a zero proves nothing: some programs write it for anything unknown. A time in the
    event's place shows that the lines before it are in their places.
    """
    fields = {at: lines.field(at + shift) for at in _BELONGS}
    wrong = [
        at
        for at, (form, _) in _BELONGS.items()
        if not form.fullmatch(fields[at]) and not _BLANK.fullmatch(fields[at])
    ]
    if not wrong:
        return CREDIT
    line = wrong[0] + shift
    text = lines.field(line)
    shown = f'"{text}"' if _SHORT.fullmatch(text) else "a text"
    what = f"{shown} stands where {_BELONGS[wrong[0]][1]}"
    is_whole = lines.whole(CREDIT + shift)
    short = [
        at for at in wrong if _SHORT.fullmatch(fields[at]) and (fields[at] != "0" or not is_whole)
    ]
    last = CREDIT
    if _EVENT.fullmatch(fields[EVENT]):
        last = CREDIT if len(short) < 2 else EVENT
        short = [at for at in short if at < EVENT]
    has_moved = len(short) > 1 or any(_CERTAIN.fullmatch(fields[at]) for at in wrong if at <= ALIAS)
    if has_moved and (number is not None or is_whole):
        raise DropFileRefused(lines.path, line, what, _DOOR32_INSTEAD)
    lines.doubts.append(f"{lines.place(line)} is not as it should be: {what}.")
    if has_moved:
        lines.doubts.append(
            f"Lines of {lines.path.name} are missing or have moved. Alias and event behind the"
            " graphics mode do not count, so the caller goes by the name before it."
        )
    return 0 if has_moved or ALIAS in wrong else last


def _fills_in(alias: str, sysop: str, name: str) -> bool:
    """Return whether the alias is the sysop's name although the caller has another."""
    same = dropfile.folded(alias) == dropfile.folded(sysop)
    return bool(alias) and same and dropfile.folded(name) != dropfile.folded(alias)


def _time(lines: Lines, shift: int) -> dropfile.TimeLeft:
    """Read seconds and minutes; if they contradict each other, the smaller counts.

    One of them may be missing. Writers with 16-bit numbers cap the seconds or let them become
    negative; then the minutes are right. If either is no number, neither is believed.
    """
    seconds_line = GRAPHICS - 2 + shift
    minutes_line = GRAPHICS - 1 + shift
    seconds, minutes = lines.number(seconds_line), lines.number(minutes_line)
    by_seconds, by_minutes = lines.time(seconds_line, 1), lines.time(minutes_line, 60)
    if (seconds, minutes) in ENIGMA:
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
    least = min(known, key=_amount)
    if len(known) == 2 and abs(_amount(by_seconds) - _amount(by_minutes)) >= 60:
        lines.doubts.append(
            f"Lines {seconds_line} (seconds) and {minutes_line} (minutes) contradict each other: "
            "the smaller counts."
        )
        return least
    return known[0]


def _amount(time: dropfile.TimeLeft) -> int:
    return time.seconds or time.written or 0


def _is_cut(seconds: int, minutes: int) -> bool:
    """Return whether the seconds are the minutes cut to 16 bits."""
    if minutes <= MOST_SECONDS // 60:
        return False
    around = MOST_SECONDS * 2 + 2
    if seconds == around - 1:
        return minutes * 60 > seconds
    apart = (minutes * 60 - seconds) % around
    return seconds == MOST_SECONDS or (seconds < 0 and min(apart, around - apart) < 180)
