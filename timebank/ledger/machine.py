"""The clocks of the machine, and their readings.

The wall clock tells the day, but anybody may set it. The uptime counts the seconds since the
machine started, sleep included. Nobody can set it, and all processes of the machine read the same
uptime. It begins at zero with each boot.
"""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# Linux counts sleep only in CLOCK_BOOTTIME; other systems count it in CLOCK_MONOTONIC.
UPTIME = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

# From <sys/timex.h>.
STA_UNSYNC = 0x0040
TIME_ERROR = 5


class ClockReading(NamedTuple):
    now: datetime  # the instant that the board believes, aware, in UTC
    boot: str  # the name of this start of the machine
    uptime: float  # seconds since then


class Instruments(Protocol):
    """The clocks of one machine."""

    def now(self) -> datetime:
        """Return the time of the wall clock, aware, in UTC."""

    def uptime(self) -> float:
        """Return the seconds since the machine started, sleep included."""

    def boot(self) -> str:
        """Return a name that only this start of the machine has."""

    def is_synchronised(self) -> bool:
        """Return whether the system says that time servers keep the wall clock right."""


class Machine:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def uptime(self) -> float:
        return time.clock_gettime(UPTIME)

    def boot(self) -> str:
        """Return the kernel's name for this boot, or a name for this process if there is none."""
        return _boot()

    def is_synchronised(self) -> bool:
        """Ask the kernel (`adjtimex`); a kernel that cannot answer counts as not synchronised."""
        import ctypes  # noqa: PLC0415 # a door must start fast

        class Timex(ctypes.Structure):
            _fields_ = (
                *(("modes", ctypes.c_uint), ("offset", ctypes.c_long), ("freq", ctypes.c_long)),
                *(("maxerror", ctypes.c_long), ("esterror", ctypes.c_long)),
                *(("status", ctypes.c_int), ("rest", ctypes.c_byte * 512)),
            )

        timex = Timex()  # all zero changes nothing
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
