"""The server file: which process serves a board, where its data is, and since when.

A running server leaves it twice. In the data folder it is beside the socket by which the server
takes commands. It names the lock of the books (`timebank.serving`), which tells a server that is
there from one that was killed. The copy is found by the path of
the sysop.toml that the server was started with, so that the sysop's commands reach the server when
sysop.toml cannot be read.

The copy stands beside sysop.toml. Where that folder cannot be written, as under systemd, it stands
in the home of the user that the server runs as. XDG_RUNTIME_DIR and its like are not asked: a
service, a shell and cron have different ones, or none.

Another user of the machine could leave such a file too. It is believed when it is a regular file
that nobody but its owner can write, and its owner is whoever asks, root, or the owner of sysop.toml
or of its folder: these say by sysop.toml itself which server is asked.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import pwd
import stat
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from importlib import metadata
from pathlib import Path

from timebank import serving

NAME = "server.json"  # in the data folder
LONGEST = 16 * 1024  # bytes; two paths are 8 kB at most
STATE = Path(".local/state/blackjack-for-time")  # in a home

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH

log = logging.getLogger("door.server")


@dataclass(frozen=True)
class Serving:
    """What a server file says; paths are whole, `since` is aware."""

    config: str
    data: str
    process: int
    version: str
    since: datetime
    lock: str = ""

    @property
    def runs(self) -> bool:
        """Whether the process that left the file still serves."""
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


class ServerFile:
    """The files of one running server, from `announce` to `withdraw`."""

    def __init__(self, config: Path, data: Path, lock: str, now: datetime) -> None:
        """`lock` is the file of the lock that the server holds."""
        self._config, self._data = config, data
        said = Serving(_whole(config), _whole(data), os.getpid(), version(), now, lock)
        text = json.dumps(asdict(said), default=datetime.isoformat, indent=2)
        self._content = f"{text}\n".encode()
        self._files: list[tuple[Path, int]] = []  # with their descriptors

    def announce(self) -> None:
        """Write the files; what cannot be written is told in the log, and the board serves on."""
        try:
            self._publish(self._data / NAME)
        except OSError as error:
            log.warning("%s cannot be written: %s", self._data / NAME, error.strerror)
        for place in copies(self._config):
            with contextlib.suppress(OSError):
                place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._publish(place)
                return
        log.warning(
            "commands such as door nodes need --data %s should %s ever be unreadable:"
            " nothing that leads there can be written beside it or in this user's home",
            self._data,
            self._config,
        )

    def withdraw(self) -> None:
        """Take the files away, those of another server excepted."""
        for path, file in self._files:
            with contextlib.suppress(OSError):
                if os.path.samestat(os.fstat(file), path.lstat()):
                    path.unlink()
            os.close(file)
        self._files.clear()

    def _publish(self, path: Path) -> None:
        """Write a file that is whole as soon as it has its name."""
        begun = path.with_name(f"{path.name}.{os.getpid()}")
        begun.unlink(missing_ok=True)  # of a process that had this number before
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        file = os.open(begun, flags, 0o600)
        try:
            os.write(file, self._content)
            os.replace(begun, path)
        except OSError:
            os.close(file)
            begun.unlink(missing_ok=True)
            raise
        self._files.append((path, file))


def copies(config: Path) -> list[Path]:
    """Return where a server that was started with this sysop.toml leaves a copy, best first."""
    whole = Path(_whole(config))
    places = [whole.with_name(f".{whole.name}.{NAME}")]
    # By the system's list of users: HOME may be another user's under sudo.
    with contextlib.suppress(KeyError):
        home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
        name = hashlib.sha256(os.fsencode(whole)).hexdigest()[:32]
        places.append(home / STATE / f"{name}.json")
    return places


def servers_of(config: Path) -> list[Serving]:
    """Return which servers were started with this sysop.toml, by the files that are believed.

    Some of them may have ended without taking their files away.
    """
    whole, believed = _whole(config), trusted(config)
    found = [_read(place, believed) for place in copies(config)]
    return [each for each in found if each is not None and each.config == whole]


def server_in(data: Path) -> Serving | None:
    """Return which server left its file in a data folder, None when there is none to be read."""
    return _read(data / NAME, None)


def trusted(config: Path) -> set[int]:
    """Return whose files, and whose server, are believed for this sysop.toml: numbers of users."""
    users = {os.geteuid(), 0}
    whole = Path(_whole(config))
    for each in (whole, whole.parent):
        with contextlib.suppress(OSError):
            users.add(each.stat().st_uid)
    return users


def _read(path: Path, believed: set[int] | None) -> Serving | None:
    """Read a server file; None for what is none, or of nobody in `believed` where that is given."""
    try:
        # A pipe in its place must not keep the reader waiting.
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            about = os.fstat(file)
            if not stat.S_ISREG(about.st_mode):
                return None
            if believed is not None and (
                about.st_uid not in believed or about.st_mode & _WRITABLE_BY_OTHERS
            ):
                return None
            said = json.loads(os.read(file, LONGEST))
        finally:
            os.close(file)
        return Serving(
            config=str(said["config"]),
            data=str(said["data"]),
            process=int(said["process"]),
            version=str(said["version"]),
            since=datetime.fromisoformat(said["since"]).astimezone(),
            lock=str(said.get("lock", "")),
        )
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


def _whole(path: Path) -> str:
    return os.path.realpath(path)
