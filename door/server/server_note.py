"""Which server serves a board: what the lock of its books says (`timebank.serving`).

The lock is found by the data folder. Where sysop.toml cannot be read, the data folder is found by
the note that the server has left for doors (`hand_over.notes_on`). Another user could leave such a
note too. It is believed when its owner is this user, root, or the owner of sysop.toml or of its
folder: the owners of these files decide by sysop.toml which server is asked.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from door.lines import hand_over
from timebank import serving


@dataclass(frozen=True)
class Serving:
    """The server that holds a lock, or held it last; paths are whole, `since` is a local time."""

    config: str
    data: str
    process: int
    version: str
    since: str
    lock: str

    @property
    def runs(self) -> bool:
        """Whether the process still serves."""
        return serving.is_held(self.lock)


@cache
def version() -> str:
    """Give the release that runs, whatever is installed meanwhile; to look it up takes 1 ms."""
    return metadata.version("blackjack-for-time")


def of_another_release(data: Path) -> str:
    """Say that the server in a data folder is of another release than this command; "" if not."""
    found = server_in(data)
    if found is None or not found.runs or found.version == version():
        return ""
    return (
        f"The server that runs, process {found.process}, is of release {found.version}, and"
        f" {version()} is installed: your callers get that once you restart the server."
    )


def leave(lock: serving.Lock, config: Path, data: Path) -> None:
    """Say in the lock of the books that this process serves from them."""
    lock.note(serving.SERVING, _whole(data), config=_whole(config), version=version())


def servers_of(config: Path) -> list[Serving]:
    """Return which servers have read this sysop.toml, by the notes that are believed.

    Some of them may have been killed.
    """
    whole, believed = _whole(config), trusted(config)
    notes = hand_over.notes_on(str(config))
    found = [server_in(Path(folder)) for user, _, folder in notes if user in believed]
    return [each for each in found if each is not None and each.config == whole]


def server_in(data: Path) -> Serving | None:
    """Return the server with a data folder that runs, or was killed; None after a clean end."""
    whole = _whole(data)
    for on_server in (False, True):
        lock = serving.place_of(os.path.join(whole, serving.BOOKS), on_server=on_server)
        note = serving.read(lock)
        if note is None or (note.state, note.data) != (serving.SERVING, whole):
            continue
        number = note.process.rpartition(":")[2]
        if number.isdecimal():
            return Serving(note.config, whole, int(number), note.version, note.since, lock)
    return None


def trusted(config: Path) -> set[int]:
    """Return whose notes, and whose server, are believed for this sysop.toml: numbers of users."""
    users = {os.geteuid(), 0}
    whole = Path(_whole(config))
    for each in (whole, whole.parent):
        with contextlib.suppress(OSError):
            users.add(each.stat().st_uid)
    return users


def _whole(path: Path) -> str:
    return os.path.realpath(path)
