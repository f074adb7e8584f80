"""How a host's files are to be read, where the files themselves do not tell."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from door.dropfiles.dropfile import DAY_MINUTES, EventSaid, NextEvent

Unit = Literal["auto", "minutes", "seconds"]
Events = Literal["auto", "believed", "ignored"]

# What icy_board and GameSrv, WWIV, and old ENiGMA write where they know of no event.
PLACEHOLDERS = (0, 1, 5)


@dataclass(frozen=True, slots=True)
class HostSettings:
    """The instant of reading, and what the sysop has said about a board.

    `now` is aware, in the zone of the host's clock. `door32_unit` is what line 9 of DOOR32.SYS
    counts: "auto" is minutes, but seconds where WWIV wrote it. `events` "believed" takes 00:00,
    00:01 and 00:05 for true times, "ignored" leaves out what the host says of its events.
    """

    now: datetime
    door32_unit: Unit
    events: Events

    def event(self, text: str, place: str) -> NextEvent:
        """Read HH:MM as it stands in a file; what cannot be read is unknown."""
        hours, colon, minutes = text.strip().partition(":")
        digits = hours.isascii() and hours.isdigit() and minutes.isascii() and minutes.isdigit()
        if not colon or not digits or not (len(hours) <= 2 and len(minutes) == 2):
            return NextEvent(EventSaid.UNKNOWN, None, place)
        minute = int(hours) * 60 + int(minutes)
        if int(minutes) > 59 or minute >= DAY_MINUTES:
            return NextEvent(EventSaid.UNKNOWN, None, place)
        if self.events != "believed" and minute in PLACEHOLDERS:
            return NextEvent(EventSaid.PLACEHOLDER, minute, place)
        return NextEvent(EventSaid.TIME, minute, place)


def no_event(kind: str) -> NextEvent:
    return NextEvent(EventSaid.UNKNOWN, None, f"{kind} has no line for it")
