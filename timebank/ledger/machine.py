"""The clocks of the machine, and what they show at one moment.

Never mixed: the wall clock says which day it is, and anybody may set it. The uptime counts the
seconds since the machine was started, asleep ones too. It cannot be set, and every process of the
machine reads the same. A new start of the machine, a boot, begins a new count.
"""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# Linux counts the seconds of sleep in this clock only; elsewhere the other one has them.
UPTIME = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

# From <sys/timex.h>.
STA_UNSYNC = 0x0040
TIME_ERROR = 5


class ClockReading(NamedTuple):
    # The instant as the board believes it, aware UTC.
    now: datetime
    # Which start of the machine it is, and the seconds since then.
    boot: str
    uptime: float


class Instruments(Protocol):
    def now(self) -> datetime:
        """Return the wall clock's instant, aware, in UTC."""

    def uptime(self) -> float:
        """Return the seconds since the machine was started."""

    def boot(self) -> str:
        """Return a name for this start of the machine, which no other start has."""

    def is_synchronised(self) -> bool:
        """Tell whether time servers keep the wall clock right, as far as the system knows."""


class Machine:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def uptime(self) -> float:
        return time.clock_gettime(UPTIME)

    def boot(self) -> str:
        """Return the kernel's name for this boot; of a process alone where it has none."""
        return _boot()

    def is_synchronised(self) -> bool:
        """Ask the kernel; where that cannot be, nobody has agreed to anything."""
        import ctypes  # noqa: PLC0415 # a door must start fast

        class Timex(ctypes.Structure):
            _fields_ = (
                *(("modes", ctypes.c_uint), ("offset", ctypes.c_long), ("freq", ctypes.c_long)),
                *(("maxerror", ctypes.c_long), ("esterror", ctypes.c_long)),
                *(("status", ctypes.c_int), ("rest", ctypes.c_byte * 512)),
            )

        timex = Timex()  # all zero: nothing is to be changed
        try:
            state = ctypes.CDLL(None).adjtimex(ctypes.byref(timex))
        except (OSError, AttributeError):
            return False
        return 0 <= state < TIME_ERROR and not timex.status & STA_UNSYNC


@cache
def _boot() -> str:
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return f"process {uuid.uuid4()}"
