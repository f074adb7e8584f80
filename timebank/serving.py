"""Which process serves from some books: the one that holds a lock beside them, all its life.

The lock is a `flock` on a file that is never removed. A process hands it down to a server that it
starts, and the system lets go of it when its last holder ends, however it ends. Commands that put
other books in the place of these hold it meanwhile. Whoever reads or writes the books beside a
server needs no lock.

The file is also a note of its holder, for the others to read. After a kill the note stays, and says
who held the lock last. Light: doors load this.
"""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import time

TYPE_CHECKING = False  # as `typing` has it, which is not loaded for that
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BOOKS = "board.sqlite3"  # the file of the books in the data folder
ENDING = ".serving"  # of the lock beside that file
STARTING, SERVING = "starting", "serving"  # a server
MIGRATING, RESTORING, MOVING = "migrating", "restoring", "moving"  # the books
# Somebody who only looks holds the lock for a moment.
PATIENCE_SECONDS, POLL_SECONDS = 0.25, 0.01
# What a disk of a network says that keeps no locks.
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
    """Return the file of the lock, beside the file of the books wherever links lead.

    Books on a server have a lock for each machine: in the folder in which the file would be.
    """
    if on_server:
        return os.path.join(os.path.dirname(database), "serving")
    return f"{os.path.realpath(database)}{ENDING}"


def this_process() -> str:
    """Return the name of this process in the books, which no other running process has."""
    try:
        namespace = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        namespace = 0
    return f"{os.uname().nodename}/{namespace}:{os.getpid()}"


class ServingNote:
    """What the holder of a lock says of itself.

    `state` is what it does, `process` its name in the books, and `since` a local time with
    its zone. A server has its data folder in `data`, its settings in `config`, and its release in
    `version`. `left` is the process that served last, until another serves.
    """

    def __init__(self, state: str, said: Mapping[str, str]) -> None:
        self.state = state
        self.process = said.get("process", "")
        self.user = said.get("user", "")
        self.data = said.get("data", "")
        self.config = said.get("config", "")
        self.version = said.get("version", "")
        self.since = said.get("since", "")
        self.left = self.process if state == SERVING else said.get("left", "")

    def __str__(self) -> str:
        if not self.process:
            return "Another process has these books to itself"
        number = self.process.rpartition(":")[2]
        folder = f", with the data folder {self.data}" if self.data else ""
        does = _DOES.get(self.state, "has these books to itself")
        return f"Process {number} of {self.user} {does}{folder}, since {self.since}"


class Lock:
    """The lock of some books, which this process holds: `file` is the open file.

    `before` is the note that was in the file: of a server that was killed, of one that could not
    be started, or of the process that has handed the lock down. `left` is the process that served
    last, if it was killed, in the books.
    """

    def __init__(self, file: int) -> None:
        self.file = file
        self.before = _read(file)
        self.left = "" if self.before is None else self.before.left

    def note(self, state: str, data: str = "", **more: str) -> None:
        """Say in the file what this process does now. A full disk is no reason to end.

        One write puts it over the note before: whoever reads, or finds it after a kill, has one of
        the two.
        """
        said = {
            "process": this_process(),
            "user": _user(),
            "data": data,
            "since": time.strftime("%Y-%m-%d %H:%M %Z"),
            "left": self.left,
            **more,
        }
        lines = [state, *(f"{name}={value}" for name, value in said.items())]
        try:
            size = os.fstat(self.file).st_size
            os.pwrite(self.file, os.fsencode("\n".join(lines) + "\n").ljust(size, b"\n"), 0)
        except OSError:
            return

    def keep(self, place: str) -> bool:
        """Take the lock again if somebody has removed its file; return whether it is held.

        Raises `OSError` where nobody can say.
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
        """Raise `DatabaseRefused` unless this is the lock of that place."""
        from timebank.errors import DatabaseRefused  # noqa: PLC0415 - not for doors

        if not os.path.samestat(os.fstat(self.file), os.stat(place)):
            raise DatabaseRefused(f"{place} is not the lock that was handed down.")

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        """Let go of the lock; after work that did not fail nothing stays in the file."""
        try:
            if kind is None:
                os.ftruncate(self.file, 0)
        except OSError:
            return
        finally:
            os.close(self.file)


def left_to(lock: Lock | None, *, in_file: bool) -> Callable[[str], bool]:
    """Return what a server knows that starts under the lock of its books: which processes have
    ended.

    Of books in a file that is every process, and doors of release 1.0 too. Of books on a server it
    is the one that held this lock before. Without a lock nothing is known.
    """
    left = "" if lock is None else lock.left
    return lambda process: lock is not None and (in_file or process == left)


def take(place: str, state: str, data: str = "") -> Lock:
    """Take a lock and note what for; raises `BooksTaken` while another process holds it.

    Raises `DatabaseRefused` where the file cannot be opened, or its disk knows no locks.
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
    """Say why a lock cannot be taken, whoever asks for it."""
    from pathlib import Path  # noqa: PLC0415 - not for doors

    from timebank.files import forbidden  # noqa: PLC0415

    if error.errno in _NO_LOCKS:
        return (
            f"{place} cannot be locked ({error.strerror}): the books must be on a disk of this"
            " machine, and not on one that several share."
        )
    books = place.removesuffix(ENDING)  # named first: a sysop knows the books, not the lock
    said = forbidden(Path(books), writes=True) or forbidden(Path(place), writes=True)
    return said or f"{place} cannot be opened: {error.strerror}."


def take_now(place: str) -> Lock | None:
    """Take a lock and leave its note; None while another process holds it. Raises `OSError`."""
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
    """Say why no server could hold a lock; "" if one could, or nobody can say before it starts."""
    for each in (place, os.path.dirname(place)):
        try:
            file = os.open(each, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
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
    """Return whether some process holds a lock; False where nobody can say."""
    return _state_of(place) is True


def is_free(place: str) -> bool:
    """Return whether no process holds a lock that some have held; False where nobody can say."""
    return _state_of(place) is False


def _state_of(place: str) -> bool | None:
    """Return whether some process holds a lock; None where nobody can say."""
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
    """Return whether a server holds a lock that does not serve yet."""
    note = read(place)
    return note is not None and note.state == STARTING and is_held(place)


def read(place: str) -> ServingNote | None:
    """Read the note of the process that holds a lock, or held it last; None without any."""
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
    said = (line.partition("=") for line in lines)
    return ServingNote(state, {name: value for name, _, value in said}) if state else None


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
    """Let those use a new lock who may use the folder: its owner, if root has made the file, and a
    group that may write there."""
    about = os.stat(folder or ".")
    try:
        os.fchown(file, about.st_uid if os.geteuid() == 0 else -1, about.st_gid)
    except OSError:  # a group that we are not in
        return
    if about.st_mode & 0o020:
        os.fchmod(file, 0o660)


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"user {os.geteuid()}"
