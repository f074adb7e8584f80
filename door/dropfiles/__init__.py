"""Drop files: how a host board hands a caller to this door, and takes his time back.

`find` the files of a call, `understand` them, `sentences` for the sysop, `give` back. A file per
format reads it; none of them opens a database or a socket, for a door must start at once.
"""

from door.dropfiles.dropfile import (
    Connection,
    ConnectionKind,
    DropFile,
    EventSaid,
    Format,
    HostIdentity,
    Limit,
    NextEvent,
    TimeLeft,
)
from door.dropfiles.finding import Found, Left, find
from door.dropfiles.formats import read
from door.dropfiles.giving import door_sys_credit, exitinfo_time, give, moduser_dat
from door.dropfiles.reading import Events, HostSettings, Unit
from door.dropfiles.telling import sentences
from door.dropfiles.understanding import GiveBack, Screen, Understood, Way, understand
from door.errors import DropFileRefused, NotGiven

__all__ = [
    "Connection",
    "ConnectionKind",
    "DropFile",
    "DropFileRefused",
    "EventSaid",
    "Events",
    "Format",
    "Found",
    "GiveBack",
    "HostIdentity",
    "HostSettings",
    "Left",
    "Limit",
    "NextEvent",
    "NotGiven",
    "Screen",
    "TimeLeft",
    "Understood",
    "Unit",
    "Way",
    "door_sys_credit",
    "exitinfo_time",
    "find",
    "give",
    "moduser_dat",
    "read",
    "sentences",
    "understand",
]
