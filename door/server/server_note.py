"""Which server serves a board, by the note in the lock of its books (`timebank.serving`).

The lock is in the data folder. If sysop.toml cannot be read, the note that the server leaves for
doors names the data folder (`hand_over.notes_on`). Another user could write such a note too. A note
is believed only if its owner is this user, root, or the owner of sysop.toml or of its folder, since
these owners choose by sysop.toml which server is asked.
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
    """The server that holds a lock or held it last; paths are absolute, `since` is local time."""

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
    """Return the release of this process, even if another is installed meanwhile; takes 1 ms."""
    return metadata.version("blackjack-for-time")


def release_warning(data: Path) -> str:
    """Return a warning if the server in a data folder runs another release, else ""."""
    server = server_in(data)
    if server is None or not server.runs or server.version == version():
        return ""
    return (
        f"The server that runs, process {server.process}, is of release {server.version}, and"
        f" {version()} is installed: your callers get that once you restart the server."
    )


def leave(lock: serving.Lock, config: Path, data: Path) -> None:
    """Note in the lock of the books that this process serves from them."""
    lock.note(serving.SERVING, _whole(data), config=_whole(config), version=version())


def servers_of(config: Path) -> list[Serving]:
    """Return the servers that have read this sysop.toml, by the notes that are believed.

    Some of them may have been killed.
    """
    whole, believed = _whole(config), trusted(config)
    notes = hand_over.notes_on(str(config))
    servers = [server_in(Path(folder)) for user, _, folder in notes if user in believed]
    return [each for each in servers if each is not None and each.config == whole]


def server_in(data: Path) -> Serving | None:
    """Return the server of a data folder if it runs or was killed; None after a clean end."""
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
    """Return the ids of the users whose notes and servers are believed for this sysop.toml."""
    users = {os.geteuid(), 0}
    whole = Path(_whole(config))
    for each in (whole, whole.parent):
        with contextlib.suppress(OSError):
            users.add(each.stat().st_uid)
    return users


def _whole(path: Path) -> str:
    return os.path.realpath(path)
