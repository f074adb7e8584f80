"""The protocol by which a door process hands its caller over to the server of the board.

The door sends the host's drop files, one by one, then its options and environment, then the
descriptors of the caller's line. During the call it passes on the host's signals, writes into the
host's files at the server's request, and waits for the end. Each message is one packet: a word and
texts, separated by NUL, which paths and environments cannot contain. The message of a file ends
with the contents of the file.

A server also leaves a note of its data folder, next to sysop.toml or in the home of its user. As
long as sysop.toml is unchanged, a door uses the note and need not read the settings. The sysop's
commands use the note if sysop.toml cannot be read.

A door loads this module and little else. `socket` alone would take as long to load as Python takes
to start, because of its enumerations.
"""

from __future__ import annotations

import _socket
import os
import stat
import sys
import time

TYPE_CHECKING = False  # without `typing`, which is slow to load
if TYPE_CHECKING:
    from collections.abc import Iterator

    # Name, time of the last change (in nanoseconds), number of the error that prevented reading,
    # and contents. With the error UNEXPECTED, the contents are the sentence about the fault.
    HostFile = tuple[str, int, int, bytes]
    # Path, whether the host named a file, number of the error that prevented reading, and files.
    HostFolder = tuple[str, bool, int, list[HostFile]]

NAME = "door.sock"  # in the data folder
VERSION = "5"  # of this protocol, and of the requests of `dropfiles.give_back`
PACKAGE, INFO = "blackjack_for_time-", ".dist-info"  # around the number of an installed release
LARGEST_FILE = 64 * 1024  # bytes of a drop file; no writer comes near 4 KiB
LARGEST = 2 * LARGEST_FILE  # bytes of a message; the kernel takes some 200 KiB
LONGEST_PATH = 100  # bytes; the kernel takes 107
NOTE = ".doors"  # the ending of a note's name
STATE = ".local/state/blackjack-for-time"  # in the home of a user
LONGEST_NAME = 200  # bytes of a path in a note's name
INT = 4  # bytes
LATEST = 2**63 - 1  # nanoseconds since 1970, of a file's last change
MAX_ERRNO = 4095  # the highest error number of a system
ANSWER_SECONDS = 3.0  # a server that takes longer hangs
PAUSE = 0.2  # seconds between two attempts to reach a server

# What a caller reads when no server takes them, in ASCII: the line may not be known yet.
CLOSED = "The board is closed just now. Please call again later."
OUT_OF_ORDER = "Sorry, the games can't open right now. Please tell the sysop."

# Messages of the door: a file of the host; after the last file, the facts of the call; the
# descriptors of the line; and, during the call, the host's signals.
FILE, CALL, LINE = "file", "call", "line"
HUNG_UP, ENDED, RESIZED = "hung up", "ended", "resized"

# Messages of the server. REFUSED: it does not take the caller; with its version, the exit status,
# the words for the caller, and the reason. WANTED: the kind of line it wants, see below. TAKEN: it
# has the caller. DONE: the call has ended, with a status. AGAIN: the server ends, and the caller
# goes on at the next one.
REFUSED, WANTED, TAKEN, DONE, AGAIN = "refused", "wanted", "taken", "done", "again"

# The server's request to give minutes back to the host, and the door's answers: written into the
# named file, not written, or in doubt.
GIVE, GIVEN, NOT_GIVEN, IN_DOUBT = "give", "given", "not given", "in doubt"

# Kinds of line: standard input and output; the descriptor of a number; a connection of the door to
# a host and port.
STDIO, SOCKET, CONNECT = "stdio", "socket", "connect"

# Variables for the server: the path of the drop file, the node, and the terminal.
VARIABLES = (
    *("BBSDEV_DRP", "DOOR_DROPFILE", "SBBSNODE", "SBBSNNUM", "DOOR_NODE"),
    *("TERM", "LC_ALL", "LC_CTYPE", "LANG"),
)
PATHS = ("BBSDEV_DRP", "DOOR_DROPFILE", "SBBSNODE")  # the variables that are paths

# The names, in lower case, of the files that `door.dropfiles` reads. DORINFO has a number in its
# name, between `NODES` and `END`.
FILES = frozenset(
    ("door32.sys", "door.sys", "chain.txt", "bbsdev.drp", "exitinfo.bbs", "terminal.ini")
)
NODES, END, LONGEST_NODES = "dorinfo", ".def", 14
MOST_FILES = 40  # of one folder, in messages
# The encoding of messages. It does not depend on the locale, so both processes see the same names.
_LETTERS = "utf-8", "surrogateescape"
NO_FILE = 6  # the error of a pipe or a device instead of a file (ENXIO)
UNEXPECTED = 1  # the error of a file that `timebank.files.opened` refuses (EPERM)


def packed(word: str, *texts: str) -> bytes:
    """Return the message of a word and texts.

    >>> unpacked(packed("wanted", "socket", "7"))
    ['wanted', 'socket', '7']
    """
    return "\0".join((word, *texts)).encode(*_LETTERS)


def unpacked(data: bytes) -> list[str]:
    return data.decode(*_LETTERS).split("\0")


def files_at(place: str) -> HostFolder:
    """Read the drop files in a folder, newest first, or in the folder of a named file, which is
    first. The case of the name may differ.

    Opens only plain files, and never waits for a pipe. A disk that hangs blocks this process.
    """
    folder, name = place, ""
    if not os.path.isdir(place):
        folder, name = os.path.split(place.rstrip("/"))
        folder = folder or "."
    held = -1
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        entries = _entries(held, name)
        return folder, bool(name), 0, [_read(held, folder, *each) for each in entries]
    except OSError as error:
        return folder, bool(name), error.errno or NO_FILE, []
    finally:
        if held >= 0:
            os.close(held)


def _entries(folder: int, whole: str) -> list[tuple[str, os.stat_result]]:
    named = whole.casefold()
    files: list[tuple[bool, int, str, os.stat_result]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name.casefold()
            if name != named and not is_read(name):
                continue
            try:
                status = entry.stat()
            except OSError:  # removed since, or a broken link
                continue
            if name == named or stat.S_ISREG(status.st_mode):
                files.append((entry.name != whole, -status.st_mtime_ns, entry.name, status))
    files.sort()
    return [(name, status) for _, _, name, status in files[:MOST_FILES]]


def is_read(name: str) -> bool:
    """Return whether `name`, in lower case, is the name of a drop file."""
    is_of_nodes = name.startswith(NODES) and name.endswith(END) and len(name) <= LONGEST_NODES
    return is_of_nodes or name in FILES


def _read(folder: int, path: str, name: str, status: os.stat_result) -> HostFile:
    number, inside = NO_FILE, b""
    if stat.S_ISREG(status.st_mode):
        # A link or a pipe may have replaced the file since.
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            end = os.open(name, flags, dir_fd=folder)
            try:
                if stat.S_ISREG(os.fstat(end).st_mode):
                    _refuse_unexpected(os.fstat(end), os.fstat(folder), os.path.join(path, name))
                    number, inside = 0, content(end)
            finally:
                os.close(end)
        except OSError as error:
            number = error.errno or NO_FILE
            inside = (error.strerror or "").encode() if number == UNEXPECTED else b""
    return name, status.st_mtime_ns, number, inside


def _refuse_unexpected(about: os.stat_result, folder: os.stat_result, path: str) -> None:
    is_shared = folder.st_mode & stat.S_IWOTH
    if about.st_nlink > 1 or (is_shared and about.st_uid not in (os.geteuid(), folder.st_uid, 0)):
        from pathlib import Path  # noqa: PLC0415 - few boards need the sentence

        from timebank import files  # noqa: PLC0415

        files.refuse_unexpected(about, folder, Path(path), os.geteuid())


def content(end: int) -> bytes:
    """Read an open drop file; a file that is too large yields `LARGEST_FILE` bytes and one more."""
    pieces, read = [], 0
    while read <= LARGEST_FILE and (piece := os.pread(end, LARGEST_FILE + 1 - read, read)):
        pieces.append(piece)
        read += len(piece)
    return b"".join(pieces)


def file_packed(file: HostFile) -> bytes:
    """Return the message of a file, which `file_in` reads."""
    name, written, number, content = file
    return packed(FILE, name, str(written), str(number), "") + content


def file_in(data: bytes) -> HostFile | None:
    """Read the message of a file; return None for other messages. Raises `ValueError`."""
    if not data.startswith(packed(FILE, "")):
        return None
    _, name, written, number, content = data.split(b"\0", 4)
    return name.decode(*_LETTERS), _instant(written), error_in(number), content


def _instant(text: bytes) -> int:
    nanoseconds = int(text)
    if abs(nanoseconds) > LATEST:
        raise ValueError("no system writes that beside a file")
    return nanoseconds


def error_in(text: str | bytes) -> int:
    """Read the number of an error, 0 for no error. Raises `ValueError`."""
    number = int(text)
    if not 0 <= number <= MAX_ERRNO:
        raise ValueError("no system has so many errors")
    return number


def release() -> str:
    """Return the installed release, or "" if none is found.

    Reads the names in the package folders, because `importlib.metadata` takes as long to load as a
    whole door.
    """
    for folder in sys.path:
        if folder.endswith("-packages"):
            try:
                names = os.listdir(folder)
            except OSError:
                continue
            for name in names:
                if name.startswith(PACKAGE) and name.endswith(INFO):
                    return name[len(PACKAGE) : -len(INFO)]
    return ""


def leave_note(config: str, read: os.stat_result, folder: str) -> str | None:
    """Leave a note of the server's data folder; return the note's path, None if none was left.

    `read` is the status of sysop.toml when the server read it. The note is a symbolic link to
    nowhere, because a link is made in one step and read with one call.
    """
    text = f"{_version_of(read)} {os.path.realpath(folder)}"
    for place in _places(config):
        begun = f"{place}.{os.getpid()}"
        try:
            os.makedirs(os.path.dirname(place), 0o700, exist_ok=True)
            if os.path.lexists(begun):  # from an earlier process of this number
                os.unlink(begun)
            os.symlink(text, begun)
            os.replace(begun, place)
        except OSError:
            continue
        return place
    return None


def folder_noted(config: str) -> str | None:
    """Return the data folder from the note on sysop.toml; None if sysop.toml has changed since."""
    try:
        now = _version_of(os.stat(config))
    except OSError:
        return None
    for user, version, folder in notes_on(config):
        # A note of another user may be a trap.
        if user == os.geteuid():
            return folder if version == now else None
    return None


def notes_on(config: str) -> Iterator[tuple[int, str, str]]:
    """Yield the notes on sysop.toml, best first: the number of the note's owner, the version of
    sysop.toml that the server has read, and the server's data folder."""
    for place in _places(config):
        try:
            user = os.lstat(place).st_uid
            version, _, folder = os.readlink(place).partition(" ")
        except OSError:
            continue
        yield user, version, folder


def _version_of(config: os.stat_result) -> str:
    return f"{config.st_dev}:{config.st_ino}:{config.st_size}:{config.st_mtime_ns}"


def _places(config: str) -> Iterator[str]:
    """Yield the possible paths of a note on sysop.toml, best first."""
    whole = os.path.realpath(config)
    folder, name = os.path.split(whole)
    yield os.path.join(folder, f".{name}{NOTE}")
    import pwd  # noqa: PLC0415 - not needed for the first path

    try:
        # Not HOME, which may be another user's under sudo.
        home = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return
    yield os.path.join(home, STATE, whole.replace("/", "%")[-LONGEST_NAME:] + NOTE)


def dial(folder: str, seconds: float = ANSWER_SECONDS) -> _socket.socket:
    """Connect to the server of a data folder; raise `OSError` if none listens.

    `seconds` limits this step, and each later step on the connection. Raises `BlockingIOError` if
    the queue of the server stays full, as that of a server that hangs does.
    """
    wire = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    wire.settimeout(seconds)
    name, held = short(folder)
    until = time.monotonic() + seconds
    try:
        while not _connects(wire, name, until):
            time.sleep(PAUSE)
    except OSError:
        wire.close()
        raise
    finally:
        if held is not None:
            os.close(held)
    return wire


def dial_if_any(folder: str) -> _socket.socket | None:
    """Connect to the server as `dial` does; return None if none listens."""
    try:
        return dial(folder)
    except (FileNotFoundError, ConnectionRefusedError):
        return None


def _connects(wire: _socket.socket, name: str, until: float) -> bool:
    try:
        wire.connect(name)
    except BlockingIOError:
        if time.monotonic() >= until:
            raise
        return False
    return True


def short(folder: str) -> tuple[str, int | None]:
    """Return a path of the socket that is short enough for the kernel, and a descriptor or None.

    The descriptor must stay open while the path is in use.
    """
    path = os.path.join(folder, NAME)
    if len(os.fsencode(path)) <= LONGEST_PATH:
        return path, None
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    return f"/proc/self/fd/{held}/{NAME}", held


def is_of(wire: _socket.socket, user: int) -> bool:
    """Return whether the process at the other end belongs to `user` or root, by the kernel."""
    data = wire.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 3 * INT)  # process, user, group
    return int.from_bytes(data[INT : 2 * INT], sys.byteorder) in (user, 0)


def receive(wire: _socket.socket) -> bytes:
    """Return the next message, empty after the other end has closed; raise `OSError`.

    An end that closes with unread data resets the connection. The kernel reports the reset before
    it delivers the last messages of that end, so a second read gets them.
    """
    try:
        return wire.recv(LARGEST)
    except ConnectionResetError:
        return wire.recv(LARGEST)


def send_ends(wire: _socket.socket, message: bytes, ends: list[int]) -> None:
    """Send a message with descriptors."""
    numbers = b"".join(end.to_bytes(INT, sys.byteorder) for end in ends)
    wire.sendmsg([message], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)])


def is_socket(descriptor: int) -> bool:
    return stat.S_ISSOCK(os.fstat(descriptor).st_mode)


def flows(descriptor: int) -> bool:
    """Return whether a descriptor can be polled for data, unlike a plain file."""
    pipe = stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    return pipe or is_socket(descriptor) or os.isatty(descriptor)
