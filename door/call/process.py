"""Which processes of a board have ended, so that their calls can be closed at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from timebank import serving
from timebank.serving import this_process

if TYPE_CHECKING:
    from timebank.serving import Lock
    from timebank.settings.settings import BankSettings

# Before the name of a door that serves its caller itself, which holds no lock.
BY_ITSELF = "door "


def lock_of(bank: BankSettings) -> str:
    """Return where the lock of a board's books is (`timebank.serving`)."""
    return serving.place_of(str(bank.database), on_server=bank.server is not None)


def left_to(lock: Lock | None, bank: BankSettings) -> Callable[[str], bool]:
    """Return what a server knows that starts under the lock of its books: who has ended.

    Of books in a file that is every server. Of books on a server it is the one that held this lock
    before. Without a lock nothing is known.
    """
    in_file, left = bank.server is None, "" if lock is None else lock.left

    def has_ended(process: str) -> bool:
        if process.startswith(BY_ITSELF):
            return _is_gone(process)
        return lock is not None and (in_file or process == left)

    return has_ended


def left_beside(bank: BankSettings, *, is_server: bool) -> Callable[[str], bool]:
    """Return what is known of others while callers are served: who has ended.

    A server that runs knows that no other one has left calls. A door that serves its caller itself
    looks at the lock.
    """
    place, in_file = lock_of(bank), bank.server is None

    def has_ended(process: str) -> bool:
        if process.startswith(BY_ITSELF):
            return _is_gone(process)
        if is_server or serving.is_held(place):
            return False
        note = serving.read(place)
        return in_file or (note is not None and note.left == process)

    return has_ended


def _is_gone(door: str) -> bool:
    """Return whether a door that serves its caller itself has ended on this machine.

    Nothing is known of other machines, and a number may be in use again: then its lease decides.
    """
    machine, _, number = door.removeprefix(BY_ITSELF).rpartition(":")
    if machine != this_process().rpartition(":")[0] or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return _is_defunct(number)


def _is_defunct(number: str) -> bool:
    """Return whether a process was killed and only its parent has not taken note of it yet."""
    try:
        status = Path(f"/proc/{number}/stat").read_text(errors="replace")
    except OSError:  # no such place here, or it is gone this moment
        return False
    return status.rpartition(")")[2].split()[0] in "ZX"
