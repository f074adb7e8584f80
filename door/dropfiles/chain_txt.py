"""CHAIN.TXT of WWIV: thirty lines or more; the time left is on line 16, in seconds."""

from __future__ import annotations

import re

from door.dropfiles import dropfile
from door.dropfiles.lines import Lines

BOARD = 22
# Lines that show whether the board's and the sysop's names are in their places.
_BEHIND = (
    (21, re.compile(r"(COM ?)?-?[0-9]*:?", re.IGNORECASE), "the port"),
    (23, re.compile(r"|.*[^0-9].*"), "the sysop's name"),
    (24, re.compile(r"[^A-Z]*", re.IGNORECASE), "the time of the log-on"),
)
_EMULATIONS: dropfile.Emulations = {0: "ascii", 1: "ansi"}


def parse(lines: Lines, _reading: dropfile.HostSettings) -> dropfile.DropFile:
    """Read the file; raise `DropFileRefused` if it is no CHAIN.TXT or ends before line 23."""
    if lines.field(1) and lines.number(1) is None:
        raise lines.refusal(1, "there is no user number, so this is not a CHAIN.TXT")
    lines.need(BOARD, "CHAIN.TXT")
    if lines.time(17, 1, fractions=True).limit in (dropfile.Limit.LEFT, dropfile.Limit.UNLIMITED):
        raise lines.refusal(17, "a number stands where a folder belongs")
    for line, form, what in _BEHIND:
        if form.fullmatch(lines.field(line)) is None:
            raise lines.refusal(line, f"something else stands where {what} belongs")
    return dropfile.DropFile(
        kind=dropfile.Format.CHAIN,
        path=lines.path,
        board=lines.text(BOARD),
        sysop=lines.text(23),
        alias=lines.text(2),
        real_name=lines.text(3),
        name_key=dropfile.fold_name(lines.field(2) or lines.field(3)),
        number=lines.user(1),  # icy_board counts its users from 0 in this format only
        level=lines.number(11),
        role=_role(lines),
        time=lines.noted(lines.time(16, 1, fractions=True)),  # WWIV also writes hundredths
        event=dropfile.no_event(dropfile.Format.CHAIN),
        connection=dropfile.STDIO if lines.number(15) == 0 else dropfile.UNKNOWN_CONNECTION,
        emulation=_EMULATIONS.get(lines.number(14)),
        rows=lines.cells(10),
        columns=lines.cells(9),
        doubts=tuple(lines.doubts),
    )


def _role(lines: Lines) -> dropfile.Role | None:
    if lines.number(13) == 1:
        return "sysop"
    return "cosysop" if lines.number(12) == 1 else None
