"""EVENTS.RA: the system events of a RemoteAccess board, 19 bytes each.

It is not certain which bit of an event's days is which day, so only daily events are read. The file
is the board's own and stays for years.
"""

from __future__ import annotations

from pathlib import Path

from door.dropfiles.disk import HostFiles
from door.dropfiles.dropfile import EventKind, HostSettings, NextEvent
from door.dropfiles.lines import WRITTEN_AGAIN, raw
from door.errors import DropFileRefused

NAME = "EVENTS.RA"
_SIZE = 19
_ENABLED = 1
_START = 1
_START_LENGTH = 5
_DAYS = 8
_EVERY_DAY = 0x7F


def read(path: Path, reading: HostSettings, at: HostFiles | None = None) -> tuple[NextEvent, str]:
    """Return the next daily event, and a sentence on those left out; raise `DropFileRefused`."""
    content = raw(path, at).content
    if len(content) % _SIZE:
        what = f"its size is not a multiple of {_SIZE} bytes"
        raise DropFileRefused(path, None, what, WRITTEN_AGAIN)
    daily: list[NextEvent] = []
    others = 0
    for record in range(0, len(content), _SIZE):
        if content[record] != _ENABLED:
            continue
        event = _event(content[record : record + _SIZE], path, reading)
        if event.kind is EventKind.TIME and content[record + _DAYS] & _EVERY_DAY == _EVERY_DAY:
            daily.append(event)
        else:
            others += 1
    left_out = f"Events of {path.name} left out (not daily, or not readable): {others}."
    if daily:
        event = min(daily, key=lambda event: event.seconds_from(reading.now) or 0)
    else:
        event = NextEvent(EventKind.UNKNOWN if others else EventKind.NONE, None, path.name)
    return event, left_out if others else ""


def _event(record: bytes, path: Path, reading: HostSettings) -> NextEvent:
    if record[_START] != _START_LENGTH:
        return NextEvent(EventKind.UNKNOWN, None, path.name)
    start = record[_START + 1 : _START + 1 + _START_LENGTH]
    return reading.event(start.decode("cp437"), path.name)
