"""The lock of the books: a single process at a time may serve from them.

The lock is a `flock` on a file next to the books, which stays in place. A server holds the lock all
its life. A process that starts a server hands its lock down. The system frees the lock when the
last holder ends. Commands that replace the books hold the lock while they work. Other readers and
writers of the books need no lock.

The file contains a note of the holder for other processes. A killed holder leaves its note in the
file. Doors load this module, so it imports little.
"""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import time

TYPE_CHECKING = False  # without `typing`, which is slow to load
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BOOKS = "board.sqlite3"  # the file of the books in the data folder
ENDING = ".serving"  # the lock is named as that file, with this ending
STARTING, SERVING = "starting", "serving"  # states of a server
MIGRATING, RESTORING, MOVING = "migrating", "restoring", "moving"  # states of a command
# `is_held` and `doubt` hold the lock for a moment, which `take` waits out.
PATIENCE_SECONDS, POLL_SECONDS = 0.25, 0.01
# The errors of a network disk without locks.
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EIO)
LONGEST_NOTE = 16 * 1024  # bytes; two paths are 8 kB at most

_DOES = {
    STARTING: "starts to serve from these books",
    SERVING: "serves from these books",
    MIGRATING: "moves these books to a newer version",
    RESTORING: "puts a backup in the place of these books",
    MOVING: "moves these books to another place",
}


def place_of(database: str, *, on_server: bool = False) -> str:
    """Return the path of the lock: next to the books, with symbolic links resolved.

    Books on a server have a lock on each machine, in the folder of `database`.
    """
    if on_server:
        return os.path.join(os.path.dirname(database), "serving")
    return f"{os.path.realpath(database)}{ENDING}"


def this_process() -> str:
    """Return the name of this process in the books, unique among running processes."""
    try:
        namespace = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        namespace = 0
    return f"{os.uname().nodename}/{namespace}:{os.getpid()}"


class ServingNote:
    """The note of a lock's holder.

    `state` is one of the states above, `process` the holder's name in the books, and `since` a
    local time with its zone. A server notes its data folder in `data`, sysop.toml in `config`, and
    its release in `version`. `left` is the process that served last, until another serves.
    """

    def __init__(self, state: str, fields: Mapping[str, str]) -> None:
        self.state = state
        self.process = fields.get("process", "")
        self.user = fields.get("user", "")
        self.data = fields.get("data", "")
        self.config = fields.get("config", "")
        self.version = fields.get("version", "")
        self.since = fields.get("since", "")
        self.left = self.process if state == SERVING else fields.get("left", "")

    def __str__(self) -> str:
        if not self.process:
            return "Another process has these books to itself"
        number = self.process.rpartition(":")[2]
        folder = f", with the data folder {self.data}" if self.data else ""
        does = _DOES.get(self.state, "has these books to itself")
        return f"Process {number} of {self.user} {does}{folder}, since {self.since}"


class Lock:
    """A lock that this process holds; `file` is the descriptor of the open file.

    `before` is the note in the file when this process took the lock: the note of a killed server,
    of a failed start, or of the process that handed the lock down. `left` is the name of the last
    server in the books, if that server was killed.
    """

    def __init__(self, file: int) -> None:
        self.file = file
        self.before = _read(file)
        self.left = "" if self.before is None else self.before.left

    def note(self, state: str, data: str = "", **more: str) -> None:
        """Write a note of this process into the file. A full disk is ignored.

        A single write replaces the note, so a reader finds the old note or the new one, even after
        a kill.
        """
        fields = {
            "process": this_process(),
            "user": _user(),
            "data": data,
            "since": time.strftime("%Y-%m-%d %H:%M %Z"),
            "left": self.left,
            **more,
        }
        lines = [state, *(f"{name}={value}" for name, value in fields.items())]
        try:
            size = os.fstat(self.file).st_size
            os.pwrite(self.file, os.fsencode("\n".join(lines) + "\n").ljust(size, b"\n"), 0)
        except OSError:
            return

    def keep(self, place: str) -> bool:
        """Take the lock again if its file was removed; return whether this process holds it.

        Raises `OSError` if the file cannot be read.
        """
        if os.path.exists(place) and os.path.samestat(os.stat(place), os.fstat(self.file)):
            return True
        again = take_now(place)
        if again is None:
            return False
        os.dup2(again.file, self.file, inheritable=False)
        os.close(again.file)
        return True

    def refuse_another(self, place: str) -> None:
        """Raise `DatabaseRefused` unless this lock is the file at `place`."""
        from timebank.errors import DatabaseRefused  # noqa: PLC0415 - not for doors

        if not os.path.samestat(os.fstat(self.file), os.stat(place)):
            raise DatabaseRefused(f"{place} is not the lock that was handed down.")

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        """Release the lock, and erase the note unless the work failed."""
        try:
            if kind is None:
                os.ftruncate(self.file, 0)
        except OSError:
            return
        finally:
            os.close(self.file)


def left_to(lock: Lock | None, *, in_file: bool) -> Callable[[str], bool]:
    """Return a function that returns whether a process, by its name in the books, has ended.

    A server asks it when it starts with the lock of its books. For books in a file every other
    process has ended, doors of release 1.0 included. For books on a server only the last holder of
    this lock has. Without a lock the answer is always False.
    """
    left = "" if lock is None else lock.left
    return lambda process: lock is not None and (in_file or process == left)


def take(place: str, state: str, data: str = "") -> Lock:
    """Take a lock and note `state`; raise `BooksTaken` while another process holds the lock.

    Raises `DatabaseRefused` if the file cannot be opened, or its disk has no locks.
    """
    from timebank.errors import BooksTaken, DatabaseRefused  # noqa: PLC0415 - not for doors

    until = time.monotonic() + PATIENCE_SECONDS
    try:
        while (lock := take_now(place)) is None:
            if time.monotonic() > until:
                note = read(place) or ServingNote("", {})
                raise BooksTaken(f"{note}.", note.state, note.data)
            time.sleep(POLL_SECONDS)
    except OSError as error:
        raise DatabaseRefused(refusal(place, error)) from error
    lock.note(state, data)
    return lock


def refusal(place: str, error: OSError) -> str:
    """Return the sentence that explains why a lock cannot be taken."""
    from pathlib import Path  # noqa: PLC0415 - not for doors

    from timebank.files import forbidden  # noqa: PLC0415

    if error.errno in _NO_LOCKS:
        return (
            f"{place} cannot be locked ({error.strerror}): the books must be on a disk of this"
            " machine, and not on one that several share."
        )
    books = place.removesuffix(ENDING)  # named first: a sysop knows the books, not the lock
    reason = forbidden(Path(books), writes=True) or forbidden(Path(place), writes=True)
    return reason or f"{place} cannot be opened: {error.strerror}."


def take_now(place: str) -> Lock | None:
    """Take a lock without writing a note; None if another process holds it. Raises `OSError`."""
    file = _opened(place)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    except OSError:
        os.close(file)
        raise
    return Lock(file)


def doubt(place: str) -> str:
    """Return why a server could not take a lock; "" if it could, or if only a start can tell."""
    for path in (place, os.path.dirname(place)):
        try:
            file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return ""
        except OSError as error:
            return refusal(place, error)
        finally:
            os.close(file)
        return ""
    return ""


def is_held(place: str) -> bool:
    """Return whether a process holds a lock; False if the file cannot be read."""
    return _state_of(place) is True


def is_free(place: str) -> bool:
    """Return whether a lock exists and no process holds it; False if it cannot be read."""
    return _state_of(place) is False


def _state_of(place: str) -> bool | None:
    """Return whether a process holds a lock; None if the file is missing or unreadable."""
    try:
        file = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(file)
    return False


def is_starting(place: str) -> bool:
    """Return whether the holder of a lock is a server that does not serve yet."""
    note = read(place)
    return note is not None and note.state == STARTING and is_held(place)


def read(place: str) -> ServingNote | None:
    """Read the note of the process that holds a lock, or held it last; None without a note."""
    try:
        file = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return _read(file)
    finally:
        os.close(file)


def _read(file: int) -> ServingNote | None:
    try:
        state, *lines = os.fsdecode(os.pread(file, LONGEST_NOTE, 0)).splitlines() or [""]
    except OSError:
        return None
    fields = (line.partition("=") for line in lines)
    return ServingNote(state, {name: value for name, _, value in fields}) if state else None


def _opened(place: str) -> int:
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(place, flags)
    except FileNotFoundError:
        pass
    try:
        file = os.open(place, flags | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return os.open(place, flags)
    _share(file, os.path.dirname(place))
    return file


def _share(file: int, folder: str) -> None:
    """Give a new lock to the folder's owner, if root has made the file, and to the folder's group,
    if the group may write in the folder."""
    status = os.stat(folder or ".")
    try:
        os.fchown(file, status.st_uid if os.geteuid() == 0 else -1, status.st_gid)
    except OSError:  # this user is not in the group
        return
    if status.st_mode & 0o020:
        os.fchmod(file, 0o660)


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"user {os.geteuid()}"
