"""What a door process and the server of the same board say to each other about a caller.

The process that a host has started hands its caller over: it sends what its host has written, file
by file, and says what its host says; then it passes on the descriptors that the caller is on. From
there on it only tells of signals, writes into the host's files what the server asks for, and waits
for the end. Each message is a packet of its own: a word and texts, with NUL between them, which no
path and no environment can hold. Only behind the facts of a file stands what is in it.

A server also leaves a note of its data folder, next to sysop.toml or in the home of its user. As
long as sysop.toml is the file that the server has read, a door goes by the note and need not read
the settings. The sysop's commands go by it where sysop.toml cannot be read.

Light: such a process loads this and next to nothing else. `socket` alone would take it as long as
Python itself does to start, for its enumerations.
"""

from __future__ import annotations

import _socket
import os
import stat
import sys
import time

TYPE_CHECKING = False  # as `typing` has it, which is not loaded for that
if TYPE_CHECKING:
    from collections.abc import Iterator

    # Its name, when it was written (in nanoseconds), the number of the error that kept it from
    # being read, and what is in it: with the error UNEXPECTED, what is wrong with it.
    HostFile = tuple[str, int, int, bytes]
    # Its path, whether one of its files was named, the number of the error that kept it from being
    # read, and its files.
    HostFolder = tuple[str, bool, int, list[HostFile]]

NAME = "door.sock"  # in the data folder
VERSION = "5"  # of all that stands here, and of what `dropfiles.giving` asks for
PACKAGE, INFO = "blackjack_for_time-", ".dist-info"  # how the name of an installed release is made
LARGEST_FILE = 64 * 1024  # bytes of a drop file; no writer comes near 4 KiB
LARGEST = 2 * LARGEST_FILE  # bytes of a message; the kernel takes some 200 KiB
LONGEST_PATH = 100  # bytes; the kernel takes 107
NOTE = ".doors"  # how the name ends of a note of where a server listens
STATE = ".local/state/blackjack-for-time"  # in a home
LONGEST_NAME = 200  # bytes of the name of a file that a path gives
INT = 4  # bytes
LATEST = 2**63 - 1  # nanoseconds since 1970 that a system writes beside a file
MOST_ERRORS = 4095  # that a system has numbers for
ANSWER_SECONDS = 3.0  # a server that takes longer has stopped, and takes nobody
BEAT_SECONDS = 30.0  # a server that has left no sign of life for so long stands still
PAUSE = 0.2  # seconds until a server is dialled again

# What the door says: a file of its host's; behind the last of those, who is calling; where they
# are, with the descriptors; and, while they are on, what it has heard from its host.
FILE, CALL, LINE = "file", "call", "line"
HUNG_UP, ENDED, RESIZED = "hung up", "ended", "resized"

# What the server says: that it does not take the caller, with its version, the status to exit by,
# words for the caller, and why; which line it wants, which is one of the ways below; that it has
# the caller from now on; how the call ended, with a status; or that it ends itself, and the caller
# goes on at the next one.
REFUSED, WANTED, TAKEN, DONE, AGAIN = "refused", "wanted", "taken", "done", "again"

# That minutes go back to the host, and what came of that: they are in the file of that name, or
# why they are not, or may be.
GIVE, GIVEN, NOT_GIVEN, IN_DOUBT = "give", "given", "not given", "in doubt"

# How a caller is reached: standard input and output; the descriptor of that number; a connection
# that the door makes to host and port.
STDIO, SOCKET, CONNECT = "stdio", "socket", "connect"

# What of the environment counts: where the drop file is, which node it is, what the terminal is.
VARIABLES = (
    *("BBSDEV_DRP", "DOOR_DROPFILE", "SBBSNODE", "SBBSNNUM", "DOOR_NODE"),
    *("TERM", "LC_ALL", "LC_CTYPE", "LANG"),
)
PATHS = ("BBSDEV_DRP", "DOOR_DROPFILE", "SBBSNODE")  # those of them that are paths

# The files that `door.dropfiles` reads, by their names in lower case; those of nodes begin and end
# as the last two say.
FILES = frozenset(
    (
        *("door32.sys", "door.sys", "chain.txt", "bbsdev.drp", "exitinfo.bbs"),
        *("events.ra", "terminal.ini"),
    )
)
NODES, END, LONGEST_NODES = "dorinfo", ".def", 14
MOST_FILES = 40  # that are sent of one folder
# Of a message, whatever the locale of either process is: a name must be the same in both.
_LETTERS = "utf-8", "surrogateescape"
NO_FILE = 6  # the error of a pipe or a device where a file is wanted (ENXIO)
UNEXPECTED = 1  # of a file that `timebank.files.opened` would leave alone (EPERM)


def packed(word: str, *texts: str) -> bytes:
    """Make a message.

    >>> unpacked(packed("wanted", "socket", "7"))
    ['wanted', 'socket', '7']
    """
    return "\0".join((word, *texts)).encode(*_LETTERS)


def unpacked(data: bytes) -> list[str]:
    return data.decode(*_LETTERS).split("\0")


def files_at(place: str) -> HostFolder:
    """Read the files of a host in a folder, or in that of a file that is named: the one that is
    named first, then the newest. Hosts may name it in another case than they wrote.

    Nothing is opened that was no plain file before, and no pipe is waited for. A disk that hangs
    keeps this process waiting.
    """
    folder, name = place, ""
    if not os.path.isdir(place):
        folder, name = os.path.split(place.rstrip("/"))
        folder = folder or "."
    held = -1
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        found = _found(held, name)
        return folder, bool(name), 0, [_read(held, folder, *each) for each in found]
    except OSError as error:
        return folder, bool(name), error.errno or NO_FILE, []
    finally:
        if held >= 0:
            os.close(held)


def _found(folder: int, whole: str) -> list[tuple[str, os.stat_result]]:
    named = whole.casefold()
    found: list[tuple[bool, int, str, os.stat_result]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name.casefold()
            if name != named and not is_read(name):
                continue
            try:
                status = entry.stat()
            except OSError:  # gone meanwhile, or a link to nowhere
                continue
            if name == named or stat.S_ISREG(status.st_mode):
                found.append((entry.name != whole, -status.st_mtime_ns, entry.name, status))
    found.sort()
    return [(name, status) for _, _, name, status in found[:MOST_FILES]]


def is_read(name: str) -> bool:
    """Return whether a file of this name, in lower case, may be one that drop files are read of."""
    is_of_nodes = name.startswith(NODES) and name.endswith(END) and len(name) <= LONGEST_NODES
    return is_of_nodes or name in FILES


def _read(folder: int, path: str, name: str, status: os.stat_result) -> HostFile:
    number, inside = NO_FILE, b""
    if stat.S_ISREG(status.st_mode):
        # A link or a pipe may have taken its place just now.
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
        from pathlib import Path  # noqa: PLC0415 - for a sentence that few boards need

        from timebank import files  # noqa: PLC0415

        files.refuse_unexpected(about, folder, Path(path), os.geteuid())


def content(end: int) -> bytes:
    """Read a drop file that is open, or a byte more than one may have."""
    pieces, read = [], 0
    while read <= LARGEST_FILE and (piece := os.pread(end, LARGEST_FILE + 1 - read, read)):
        pieces.append(piece)
        read += len(piece)
    return b"".join(pieces)


def file_packed(file: HostFile) -> bytes:
    """Make the message of a file, which `file_in` reads."""
    name, written, number, content = file
    return packed(FILE, name, str(written), str(number), "") + content


def file_in(data: bytes) -> HostFile | None:
    """Read the message of a file, None for another one; raises `ValueError`."""
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
    """Read the number of an error, 0 for none; raises `ValueError`."""
    number = int(text)
    if not 0 <= number <= MOST_ERRORS:
        raise ValueError("no system has so many errors")
    return number


def release() -> str:
    """Return the release that is installed now, "" if none is found.

    It is read from the names in the folders of packages, because loading `importlib.metadata`
    takes as long as a whole door.
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
    """Note where the server listens that has `read` this sysop.toml; returns what was written.

    It is a link that leads nowhere: made at once, never half written, read with one call.
    """
    text = f"{_version_of(read)} {os.path.realpath(folder)}"
    for place in _places(config):
        begun = f"{place}.{os.getpid()}"
        try:
            os.makedirs(os.path.dirname(place), 0o700, exist_ok=True)
            if os.path.lexists(begun):  # of a process that had this number before
                os.unlink(begun)
            os.symlink(text, begun)
            os.replace(begun, place)
        except OSError:
            continue
        return place
    return None


def folder_noted(config: str) -> str | None:
    """Return the data folder of the server that has read this sysop.toml as it is now."""
    try:
        now = _version_of(os.stat(config))
    except OSError:
        return None
    for user, version, folder in notes_on(config):
        # Another user's server could only be there to be asked.
        if user == os.geteuid():
            return folder if version == now else None
    return None


def notes_on(config: str) -> Iterator[tuple[int, str, str]]:
    """Yield the notes on a sysop.toml, best first: the number of the user who has left it, the
    version of the file that the server has read, and the server's data folder."""
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
    """Give where a note on a sysop.toml is left, best first."""
    whole = os.path.realpath(config)
    folder, name = os.path.split(whole)
    yield os.path.join(folder, f".{name}{NOTE}")
    import pwd  # noqa: PLC0415 - where the first place has nothing

    try:
        # Not HOME, which may be another user's under sudo.
        home = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return
    yield os.path.join(home, STATE, whole.replace("/", "%")[-LONGEST_NAME:] + NOTE)


def dial(folder: str, seconds: float = ANSWER_SECONDS) -> _socket.socket:
    """Reach the server of a board by its data folder; `OSError` when none listens there.

    `seconds` is how long each step may take, from this one on: a server that stands still may have
    a queue that is full. Raises `BlockingIOError` then.
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
    """Reach the server of a board as `dial` does; None where none listens."""
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


def stands_still(folder: str) -> bool:
    """Return whether the server of a board has left no sign of life for long.

    It beats on the file of its socket, by the monotonic clock. One that takes nobody any more has
    no such file.
    """
    try:
        beat = os.stat(os.path.join(folder, NAME)).st_mtime
    except OSError:
        return False
    return 0 <= beat <= time.monotonic() - BEAT_SECONDS


def short(folder: str) -> tuple[str, int | None]:
    """Give a name of the socket that is short enough for the kernel.

    Beside it stands a descriptor that must stay open as long as the name is used.
    """
    path = os.path.join(folder, NAME)
    if len(os.fsencode(path)) <= LONGEST_PATH:
        return path, None
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    return f"/proc/self/fd/{held}/{NAME}", held


def is_of(wire: _socket.socket, user: int) -> bool:
    """Whether the process at the other end is of a user or of root, by the kernel's word."""
    return _credentials(wire)[1] in (user, 0)


def process_of(wire: _socket.socket) -> int:
    """Return the process at the other end, 0 where it has no number here."""
    return _credentials(wire)[0]


def _credentials(wire: _socket.socket) -> list[int]:
    """Return process, user and group of the other end."""
    said = wire.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 3 * INT)
    parts = (said[at : at + INT] for at in range(0, len(said), INT))
    return [int.from_bytes(part, sys.byteorder) for part in parts]


def receive(wire: _socket.socket) -> bytes:
    """Return the next message, empty once the other end has closed; raises `OSError`.

    An end that closes with something unread resets the connection, and the kernel reports that
    before it gives out what that end has sent last.
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
    """Whether a descriptor is one that can be waited for: a file has all of it at once."""
    pipe = stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    return pipe or is_socket(descriptor) or os.isatty(descriptor)
