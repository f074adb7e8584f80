"""CHAIN.TXT of WWIV: thirty lines and more; the time left is on line 16, in seconds."""

from __future__ import annotations

from door.dropfiles.door_sys import rows
from door.dropfiles.dropfile import (
    STDIO,
    UNSAID,
    DropFile,
    Emulation,
    Format,
    Role,
    TimeLeft,
    fold_name,
)
from door.dropfiles.lines import Lines
from door.dropfiles.reading import HostSettings, no_event

BOARD = 22
_EMULATIONS: dict[int | None, Emulation] = {0: "ascii", 1: "ansi"}


def parse(lines: Lines, _reading: HostSettings) -> DropFile:
    """Read the file; raises `DropFileRefused` when it is none or breaks off before line 23."""
    if lines.field(1) and lines.number(1) is None:
        raise lines.refusal(1, "there is no user number, so this is no CHAIN.TXT")
    lines.need(BOARD, "CHAIN.TXT")
    doubts: list[str] = []
    number = lines.number(1) or 0
    if number < 1:
        # icy_board counts its users from 0 here, and from 1 elsewhere.
        doubts.append(f"{lines.place(1)} has no user number.")
    return DropFile(
        kind=Format.CHAIN,
        path=lines.path,
        software="",
        board=lines.text(BOARD),
        sysop=lines.text(23),
        alias=lines.text(2),
        real_name=lines.text(3),
        name_key=fold_name(lines.field(2) or lines.field(3)),
        number=number if number > 0 else None,
        key=None,
        level=lines.number(11),
        role=_role(lines),
        time=_time(lines, doubts),
        event=no_event(Format.CHAIN),
        node=None,
        connection=STDIO if lines.number(15) == 0 else UNSAID,
        emulation=_EMULATIONS.get(lines.number(14)),
        charset=None,
        rows=rows(lines.number(10)),
        columns=rows(lines.number(9)),
        language=None,
        credit_minutes=None,
        time_limit=None,
        doubts=tuple(doubts),
    )


def _role(lines: Lines) -> Role | None:
    if lines.number(13) == 1:
        return "sysop"
    return "cosysop" if lines.number(12) == 1 else None


def _time(lines: Lines, doubts: list[str]) -> TimeLeft:
    """Read seconds, of which WWIV writes hundredths too."""
    time = TimeLeft.read(lines.plain(16), lines.decimal(16), 1, lines.place(16))
    doubts += [time.doubt] if time.doubt else []
    return time
