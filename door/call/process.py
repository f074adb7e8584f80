"""Which process of a board is which: several may serve callers from the same books."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def this_process() -> str:
    """Return what this process calls itself in the books: no other running one does."""
    return f"{_machine()}:{os.getpid()}"


def _machine() -> str:
    """Return a name for where process numbers mean what they mean here: host and namespace."""
    try:
        namespace = Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        namespace = 0
    return f"{socket.gethostname()}/{namespace}"


def process_is_gone(process: str) -> bool:
    """Tell whether a process that called itself so (`this_process`) has ended on this machine.

    Nothing is known of other machines, and a number may be in use again: then its lease decides.
    """
    machine, _, number = process.rpartition(":")
    if machine != _machine() or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return _is_defunct(number)


def _is_defunct(number: str) -> bool:
    """Tell whether a process was killed and only its parent has not taken note of it yet."""
    try:
        status = Path(f"/proc/{number}/stat").read_text(errors="replace")
    except OSError:  # no such place here, or it is gone this moment
        return False
    return status.rpartition(")")[2].split()[0] in "ZX"
