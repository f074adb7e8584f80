"""Which processes of a board have ended, so that their calls can be closed at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from timebank import serving

if TYPE_CHECKING:
    from timebank.serving import Lock
    from timebank.settings.settings import BankSettings


def lock_of(bank: BankSettings) -> str:
    """Return where the lock of a board's books is (`timebank.serving`)."""
    return serving.place_of(str(bank.database), on_server=bank.server is not None)


def left_to(lock: Lock | None, bank: BankSettings) -> Callable[[str], bool]:
    """Return what a server knows that starts under the lock of its books: who has ended.

    Of books in a file that is every process, and doors of release 1.0 too. Of books on a server it
    is the one that held this lock before. Without a lock nothing is known.
    """
    in_file, left = bank.server is None, "" if lock is None else lock.left
    return lambda process: lock is not None and (in_file or process == left)
