"""Who on this machine may read what the board keeps: the modes of its folder and files.

The books hold password hashes and the seeds of open shoes, the logs say who called from where. So
the data folder is its owner's alone (0700) unless `data_mode` says otherwise, and the log of
refusals is its owner's to write and its group's to read (0640). What is too open is closed when the
board starts, and `door check` tells it before. Nothing that exists is ever opened further.

Files that other programs must read are left alone: MODUSER.DAT, THEBANK.EXT, bulletins, screens.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from timebank import files

if TYPE_CHECKING:
    from door.config.config import Config

# What may be allowed of a file that holds secrets, and of the log of refusals, whose group may read
# it where the folder lets the group in.
_SECRET, _READ_BY_GROUP = 0o600, 0o640
_OTHERS_READ = 0o004
_GROUP_WRITES, _GROUP_READS_AND_WRITES = 0o020, 0o060
_BOOKS = "board.sqlite3*"  # with their log, and the copies of them that stand beside them
_SECRETS = ("server.log", "door.sock", "ssh_host_key")
_REFUSALS = ("refused.log", "refused.log.1")


@dataclass(frozen=True)
class TooOpen:
    """A folder or file that lets in more than it should."""

    path: Path
    mode: int
    wanted: int  # the mode it should have

    def __str__(self) -> str:
        return f"{self.path} is {self.mode:04o}: run chmod {self.wanted:04o} {self.path}"


def make_folder(config: Config) -> None:
    """Make the data folder with its mode, where there is none. Raises OSError."""
    folder, mode = config.board.data, config.board.data_mode
    if not folder.is_dir():
        files.make_folder(folder, 0o700)
        folder.chmod(mode)


def close_what_is_open(config: Config) -> list[str]:
    """Take away rights to folder and logs that are too open; return sentences for the log."""
    said = []
    for found in _folder_and_logs(config):
        try:
            if not _is_ours(found.path, config):
                said.append(str(found))
                continue
            if (shared := _used_by_others(config)) is not None and found.path.is_dir():
                said.append(f"{found}, once {shared} is elsewhere: other programs use it")
                continue
            found.path.chmod(found.wanted)
        except OSError as error:
            said.append(f"{found} ({error.strerror or error})")
        else:
            said.append(
                f"{found.path} was {found.mode:04o} and is {found.wanted:04o} now;"
                " data_mode in [board] can say otherwise"
            )
    return said


def _is_ours(path: Path, config: Config) -> bool:
    """Whether a folder or file is this board's alone: its user's, with the books; never /tmp."""
    found = path.stat()
    return (
        found.st_uid == os.geteuid()
        and not found.st_mode & stat.S_ISVTX
        and config.database.is_file()
    )


def _used_by_others(config: Config) -> Path | None:
    files = (config.bank.thebank_ext, *config.bank.imports)
    return next(
        (each for each in files if each is not None and each.is_relative_to(config.board.data)),
        None,
    )


def doubts(config: Config) -> list[str]:
    """Say what is too open, and how to close it: folder, logs, books, socket, keys."""
    found = [*_folder_and_logs(config), *_secrets(config), *_keys(config)]
    return [f"{each}." for each in found]


def _folder_and_logs(config: Config) -> Iterator[TooOpen]:
    folder, mode = config.board.data, config.board.data_mode
    yield from _look(folder, mode)
    for name in _REFUSALS:
        yield from _look(folder / name, _READ_BY_GROUP | (mode & _OTHERS_READ))


def _secrets(config: Config) -> Iterator[TooOpen]:
    folder, mode = config.board.data, config.board.data_mode
    # A group that may write in the folder was let in to share the books.
    shared = _GROUP_READS_AND_WRITES if mode & _GROUP_WRITES else 0
    try:
        books = sorted(folder.glob(_BOOKS))
    except OSError:
        books = []
    for path in (*books, *(folder / name for name in _SECRETS)):
        yield from _look(path, _SECRET | shared)


def _keys(config: Config) -> Iterator[TooOpen]:
    for listener in config.listeners:
        if listener.key is not None:
            # Debian's group ssl-cert, for one, may read keys.
            yield from _look(listener.key, _READ_BY_GROUP)
    if any(board.trusted.secret for board in config.boards.values()):
        yield from _look(config.path, _READ_BY_GROUP | 0o020)


def _look(path: Path, most: int) -> Iterator[TooOpen]:
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return
    wanted = mode & (most | 0o7700)
    if wanted != mode:
        yield TooOpen(path, mode, wanted)
