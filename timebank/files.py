"""Durable writes, locks between processes, and files in folders that other programs write.

In a folder that another user may write, a name can be a link to a file of ours, a pipe or a folder.
So files are opened from their opened folder and never through a link. An opened file is checked
before a byte is read or written, and a new file never takes a name that exists. The folders above
a file belong to the sysop, so they may be links.

Every refusal is an `OSError` with the whole path and a text that fits behind a colon. It is
`NotPlain` if the file is not what it should be.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pwd
import secrets
import stat
import time
from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path
from typing import BinaryIO

from timebank.errors import NotPlain

LOCK_SECONDS = 5.0  # the wait for a lock of another process
LOCK_POLL_SECONDS = 0.02
MOST_LINKS = 40  # the limit of the kernel
COPIED_AT_ONCE = 1024 * 1024  # bytes
# The errors of a file system without hard links.
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})

IS_LINK = "it is a symbolic link, and must be a file of its own"
IS_NO_FILE = "it is not a file"
IS_ANOTHER = "another file took its name just now"

OWNER_ALONE = 0o600
# The mode of a new file that gets the group and the reading rights of its folder.
AS_FOLDER = -1

_PLAIN = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # so that a pipe does not block
# Opens a folder that we may enter, even if we may not list it.
_PASSING = getattr(os, "O_PATH", os.O_RDONLY)
_NO_FILES = frozenset({errno.EISDIR, errno.ENXIO, errno.ENODEV})


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file against our other processes. The lock ends with its holder.

    It is an exclusive flock on a file of the same name with `.lock` added. Raises `OSError` if
    another process holds it for longer than LOCK_SECONDS.
    """
    lock_path = path.with_name(f"{path.name}.lock")
    with opened(lock_path, os.O_RDWR | os.O_CREAT, AS_FOLDER, lasts=False) as lock:
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    reason = "another process has it locked"
                    raise OSError(errno.EAGAIN, reason, str(path)) from None
                time.sleep(LOCK_POLL_SECONDS)  # flock has no time-out
        yield


@contextlib.contextmanager
def opened(path: Path, flags: int, mode: int = OWNER_ALONE, *, lasts: bool = True) -> Iterator[int]:
    """Open a regular file that has one name and an expected owner; raises `OSError`.

    In a folder that every user may write, the owner must be our user, root or the folder's owner.
    Elsewhere any owner is accepted, because the rights of the folder decide who may write there.
    With O_CREAT a missing file is made with `mode`, less the umask, or AS_FOLDER. If it `lasts`,
    its name is on the disk before the file is used.
    """
    file = _opened(path, flags, mode, lasts=lasts)
    try:
        yield file
    finally:
        os.close(file)


def fault(path: Path) -> str | None:
    """Return why `opened` would refuse to read a file; None if it would not, or without a file."""
    try:
        with opened(path, os.O_RDONLY):
            return None
    except FileNotFoundError:
        return None
    except OSError as error:
        return error.strerror or str(error)


def forbidden(path: Path, *, writes: bool = False) -> str | None:
    """Return sentences about the folder or file that keeps our user from a path; None without one.

    They name its owner and a command that helps. With `writes`, our user must be able to write the
    file and its folder, because a database has other files next to it.
    """
    whole = Path(os.path.abspath(path))
    wanted = [(folder, os.X_OK, "enter") for folder in reversed(whole.parents)]
    wanted.append((whole, os.R_OK, "read"))
    if writes:
        wanted += [(whole.parent, os.W_OK, "write into"), (whole, os.W_OK, "write")]
    for place, mode, does in wanted:
        try:
            about = place.stat()
        except (OSError, ValueError):  # it is missing, so rights are not the problem
            continue
        if does == "enter" and not stat.S_ISDIR(about.st_mode):
            return None
        if not os.access(place, mode):
            return _forbidding(place, about, does)
    return None


def _forbidding(place: Path, about: os.stat_result, does: str) -> str:
    right, user = "x" if does == "enter" else does[0], os.geteuid()
    if user == about.st_uid and right in stat.filemode(about.st_mode)[1:4]:
        return f"{place} lets nobody {does} it: its disk is read-only, or `lsattr` shows an i."
    if user == about.st_uid:
        return (
            f"{place} is yours, and its mode ({stat.filemode(about.st_mode)}) does not let you"
            f" {does} it: `chmod u+{right} {place}` does."
        )
    owner = _user(about.st_uid)
    named = owner if owner.isidentifier() or "-" in owner else f"#{about.st_uid}"
    return (
        f"{place} belongs to {owner}, and {_user(os.geteuid())} may not {does} it. Run the command"
        f" as its owner: `sudo -u {named} ...`"
    )


def place_of(path: Path) -> Path:
    """Resolve links among the folders above a file, but not a link of the file's own name."""
    return Path(os.path.realpath(path.parent), path.name)


def own_links_followed(path: Path) -> Path:
    """Resolve links of a file's own name while only we and root may write their folders."""
    for _ in range(MOST_LINKS):
        if not (path.is_symlink() and _is_private(path.parent)):
            break
        path = place_of(path.parent / path.readlink())
    return path


def plain(path: str | Path, flags: int, mode: int = OWNER_ALONE) -> int:
    """Open or make a file that is no link, and never block at a pipe; an `opener` for `open`."""
    return os.open(path, flags | _PLAIN, mode)


def _is_private(folder: Path) -> bool:
    about = folder.stat()
    return about.st_uid in (os.geteuid(), 0) and not about.st_mode & 0o022


def keeps_our_names(folder: Path) -> bool:
    """Return whether no other user may rename or remove a file of ours in a folder."""
    about = folder.stat()
    others_write = about.st_mode & 0o022 and not about.st_mode & stat.S_ISVTX
    return about.st_uid in (os.geteuid(), 0) and not others_write


def rename(file: int, old: Path, new: Path) -> None:
    """Rename an open file within its folder; `OSError` if `old` is no longer its name."""
    with _folder_of(old) as folder:
        _refuse_another(file, old, folder)
        os.rename(old.name, new.name, src_dir_fd=folder, dst_dir_fd=folder)


def put_new(path: Path, source: BinaryIO, *, is_owners: bool = False) -> None:
    """Copy to a new file, which only its owner may read, and name it `path` after it is on disk.

    With `is_owners` it belongs to the owner of its folder if root writes it. Raises
    `FileExistsError` if that name is taken, and `OSError`.
    """
    with _begun(path) as (file, begun, folder):
        while piece := source.read(COPIED_AT_ONCE):
            write_all(file, piece)
        if is_owners:
            give_to_owner(file, folder)
        os.fsync(file)
        _refuse_another(file, path.with_name(begun), folder)
        _name_new(begun, path.name, folder)


def free_name(path: Path) -> Path:
    """Return a path, with a number behind its name if that is taken."""
    names = chain((path.name,), (f"{path.name}-{number}" for number in count(2)))
    return next(each for each in map(path.with_name, names) if not os.path.lexists(each))


def name_new(begun: Path, path: Path) -> None:
    """Rename a finished file in its folder; raises `FileExistsError` if the name is taken."""
    with _folder_of(path) as folder:
        _name_new(begun.name, path.name, folder)


def _name_new(begun: str, name: str, folder: int) -> None:
    try:
        os.link(begun, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        with contextlib.suppress(FileNotFoundError):
            os.stat(name, dir_fd=folder, follow_symlinks=False)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from error
        os.rename(begun, name, src_dir_fd=folder, dst_dir_fd=folder)


def replace(path: Path, data: bytes, mode: int = OWNER_ALONE, like: int | None = None) -> None:
    """Write a whole file and give it the name `path` in one step, durable on return.

    It has `mode`, or AS_FOLDER. If root writes it, it belongs to the owner of its folder. With
    `like`, an open file, it gets that file's owner, group and mode, and replaces only that file.
    Raises `OSError`, also if `path` is no longer the name of `like`.
    """
    with _begun(path) as (file, begun, folder):
        write_all(file, data)
        if like is not None:
            _give_rights(file, os.fstat(like))
        elif mode == AS_FOLDER:
            _share(file, folder)
        else:
            os.fchmod(file, mode)
            give_to_owner(file, folder)
        os.fsync(file)
        if like is not None:
            _refuse_another(like, path, folder)
        os.replace(begun, path.name, src_dir_fd=folder, dst_dir_fd=folder)


@contextlib.contextmanager
def _begun(path: Path) -> Iterator[tuple[int, str, int]]:
    """Make a file under a random name in the folder of `path`, for its owner alone.

    Yields the open file, its name, and the open folder. Removes the name at the end.
    """
    begun = f".{path.name}.{secrets.token_hex(8)}"
    with _folder_of(path) as folder:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN
        file = os.open(begun, flags, OWNER_ALONE, dir_fd=folder)
        try:
            yield file, begun, folder
        finally:
            os.close(file)
            with contextlib.suppress(OSError):
                os.unlink(begun, dir_fd=folder)
        _sync_opened(folder)


@contextlib.contextmanager
def _folder_of(path: Path) -> Iterator[int]:
    """Open the folder of a file. Errors in the block get the whole path unless they have one."""
    folder = None
    try:
        folder = os.open(path.parent, _PASSING | os.O_DIRECTORY | os.O_CLOEXEC)
        yield folder
    except OSError as error:
        if error.filename is None or not os.path.isabs(error.filename):
            error.filename = str(path)
        raise
    finally:
        if folder is not None:
            os.close(folder)


def _opened(path: Path, flags: int, mode: int, *, lasts: bool) -> int:
    with _folder_of(path) as folder:
        file, is_new = _open(folder, path, flags, mode)
        try:
            about = os.fstat(file), os.fstat(folder)
            refuse_unexpected(*about, path, os.geteuid())
            if is_new and mode == AS_FOLDER:
                _share(file, folder)
            if is_new and lasts:
                _sync_opened(folder)
        except BaseException:
            os.close(file)
            raise
        return file


def _open(folder: int, path: Path, flags: int, mode: int) -> tuple[int, bool]:
    """Open a name in a folder, or make the file; return also whether it is new."""
    name = path.name or "."  # for the root folder
    try:
        try:
            return os.open(name, flags & ~os.O_CREAT | _PLAIN, dir_fd=folder), False
        except FileNotFoundError:
            if not flags & os.O_CREAT:
                raise
        rights = OWNER_ALONE if mode == AS_FOLDER else mode
        return os.open(name, flags | os.O_EXCL | _PLAIN, rights, dir_fd=folder), True
    except OSError as error:
        raise unopened(error.errno, path) from error


def unopened(number: int | None, path: Path) -> OSError:
    """Return a new error for a file that could not be opened, by the number of the old error.

    The old one is not used, because an error raised from itself keeps its frames in memory.
    """
    number = number or errno.EIO
    if number == errno.ELOOP:
        return NotPlain(number, IS_LINK, str(path))
    if number in _NO_FILES:
        return NotPlain(number, IS_NO_FILE, str(path))
    return OSError(number, os.strerror(number), str(path))


def refuse_unexpected(about: os.stat_result, folder: os.stat_result, path: Path, user: int) -> None:
    """Raise `NotPlain` unless `opened` accepts a file for a process of this `user`."""
    if not stat.S_ISREG(about.st_mode):
        why = IS_NO_FILE
    elif about.st_nlink > 1:
        why = f"it has {about.st_nlink} names (hard links), and must have one"
    elif folder.st_mode & stat.S_IWOTH and about.st_uid not in (user, 0, folder.st_uid):
        why = (
            f"it belongs to {_user(about.st_uid)}, and not to {_user(user)} or root, or to the"
            " owner of its folder, which all may write"
        )
    else:
        return
    raise NotPlain(errno.EPERM, why, str(path))


def _sync_opened(folder: int) -> None:
    readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fsync(readable)
    finally:
        os.close(readable)


def _refuse_another(file: int, path: Path, folder: int) -> None:
    now = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    if not os.path.samestat(os.fstat(file), now):
        raise NotPlain(errno.ESTALE, IS_ANOTHER, str(path))


def _share(file: int, folder: int) -> None:
    """Give a new file the group and the rights of its folder, except writing by others."""
    about = os.fstat(folder)
    with contextlib.suppress(OSError):  # if we are not in the group
        os.fchown(file, -1, about.st_gid)
    os.fchmod(file, OWNER_ALONE | about.st_mode & 0o064)


def give_to_owner(file: int, folder: int | Path) -> None:
    """Give a new file to the owner of its folder, if we are root.

    So the board can read and write a file that the sysop makes as root.
    """
    if os.geteuid() == 0:
        about = os.stat(folder)
        os.fchown(file, about.st_uid, about.st_gid)


def _give_rights(file: int, like: os.stat_result) -> None:
    with contextlib.suppress(OSError):  # only root may change the owner; the rights matter more
        os.fchown(file, like.st_uid, like.st_gid)
    os.fchmod(file, like.st_mode & 0o777)


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make a folder and the folders above it, durable on return, unless they exist.

    `mode` applies to the folder itself, less the umask. Raises `OSError`.
    """
    if not folder.is_dir():
        make_folder(folder.parent)
        try:
            folder.mkdir(mode, exist_ok=True)
        except FileExistsError as error:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from error
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    sync(folder)


def sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk; raises `OSError`."""
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
