"""`door serve`, with one thread more: it writes down what the process's memory is made of.

    python -c "from verify.robots.inside import main; main('FILE')" serve --config sysop.toml

What the system counts for a process only ever grows: a page of which one byte is in use counts
whole. What is in use is known to those who give it out.
"""

from __future__ import annotations

import _sqlite3
import contextlib
import ctypes
import json
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

SECONDS = 5.0  # from one look to the next


class Inside(NamedTuple):
    """What is in use: Python's blocks, and kilobytes of the C library's and of SQLite's."""

    blocks: int
    malloc: float
    sqlite: float


class _Malloc(ctypes.Structure):
    """The C library's `struct mallinfo2` (mallinfo(3))."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def look() -> Inside:
    """Ask all three; who cannot be asked here has 0."""
    malloc = sqlite = 0
    with contextlib.suppress(AttributeError, OSError):
        mallinfo = ctypes.CDLL(None).mallinfo2
        mallinfo.restype = _Malloc
        found = mallinfo()
        malloc = found.uordblks + found.hblkhd
    with contextlib.suppress(AttributeError, OSError):
        used = ctypes.CDLL(_sqlite3.__file__).sqlite3_memory_used
        used.restype = ctypes.c_int64
        sqlite = used()
    return Inside(sys.getallocatedblocks(), malloc / 1024, sqlite / 1024)


def latest(file: Path) -> Inside:
    """Read what was written down last."""
    return Inside(*json.loads(file.read_text(encoding="utf-8")))


def main(file: str) -> None:
    """Run the `door` command; what is in use is in `file` from then on."""
    written = Path(file)
    beside = written.with_suffix(".new")

    def write() -> None:
        while True:
            beside.write_text(json.dumps(look()), encoding="utf-8")
            beside.replace(written)
            time.sleep(SECONDS)

    threading.Thread(target=write, name="inside", daemon=True).start()
    from door.cli.main import main as door

    door()
