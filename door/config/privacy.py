"""The modes of the board's folder and files: who on this machine may read what the board stores.

The books hold password hashes and the seeds of open shoes. The logs say who called from where. So
only its owner may enter the data folder (0700), unless `data_mode` says otherwise. Only the owner
writes the log of refusals, and its group may read it (0640). The board restricts modes that are too
open when it starts, and `door check` reports them before. It never opens a mode further.

Files for other programs keep their modes: MODUSER.DAT, THEBANK.EXT, bulletins, screens.
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

# The most open modes: of files that hold secrets, and of the log of refusals, for its group if the
# folder lets the group in.
_SECRET, _READ_BY_GROUP = 0o600, 0o640
_OTHERS_READ = 0o004
_GROUP_WRITES, _GROUP_READS_AND_WRITES = 0o020, 0o060
_BOOKS = "board.sqlite3*"  # with their write-ahead log, and copies of them in the same folder
_SECRETS = ("server.log", "door.sock", "ssh_host_key", "ssh_host_rsa_key")
_REFUSALS = ("refused.log", "refused.log.1")


@dataclass(frozen=True)
class TooOpen:
    """A folder or file whose mode is too open."""

    path: Path
    mode: int
    wanted: int  # the mode it should have

    def __str__(self) -> str:
        return f"{self.path} is {self.mode:04o}: run chmod {self.wanted:04o} {self.path}"


def make_folder(config: Config) -> None:
    """Make the data folder with its mode unless it exists. Raises OSError."""
    folder, mode = config.board.data, config.board.data_mode
    if not folder.is_dir():
        files.make_folder(folder, 0o700)
        folder.chmod(mode)


def restrict_modes(config: Config) -> list[str]:
    """Restrict the folder and logs that are too open; return sentences for the log."""
    sentences = []
    for open_path in _folder_and_logs(config):
        try:
            if not _is_ours(open_path.path, config):
                sentences.append(str(open_path))
                continue
            if (shared := _used_by_others(config)) is not None and open_path.path.is_dir():
                sentences.append(f"{open_path}, once {shared} is elsewhere: other programs use it")
                continue
            open_path.path.chmod(open_path.wanted)
        except OSError as error:
            sentences.append(f"{open_path} ({error.strerror or error})")
        else:
            sentences.append(
                f"{open_path.path} was {open_path.mode:04o} and is {open_path.wanted:04o} now;"
                " data_mode in [board] can say otherwise"
            )
    return sentences


def _is_ours(path: Path, config: Config) -> bool:
    """Return whether a path is this board's alone: its user's, with the books in it; never /tmp."""
    status = path.stat()
    return (
        status.st_uid == os.geteuid()
        and not status.st_mode & stat.S_ISVTX
        and config.database.is_file()
    )


def _used_by_others(config: Config) -> Path | None:
    files = (config.bank.thebank_ext, *config.bank.imports)
    return next(
        (each for each in files if each is not None and each.is_relative_to(config.board.data)),
        None,
    )


def doubts(config: Config) -> list[str]:
    """Return what is too open and how to close it: folder, logs, books, socket, keys."""
    too_open = [*_folder_and_logs(config), *_secrets(config), *_keys(config)]
    return [f"{each}." for each in too_open]


def _folder_and_logs(config: Config) -> Iterator[TooOpen]:
    folder, mode = config.board.data, config.board.data_mode
    yield from _look(folder, mode)
    for name in _REFUSALS:
        yield from _look(folder / name, _READ_BY_GROUP | (mode & _OTHERS_READ))


def _secrets(config: Config) -> Iterator[TooOpen]:
    folder, mode = config.board.data, config.board.data_mode
    # A group that may write into the folder shares the books.
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
            # Groups such as Debian's ssl-cert may read keys.
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
