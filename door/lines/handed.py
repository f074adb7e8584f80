"""What a door process and the server of the same board say to each other about a caller.

The process that a host has started hands its caller over: it says what its host says, and passes on
the descriptors that the caller is on. Then it only tells of signals, and waits for the end. Each
message is a packet of its own: a word and texts, with NUL between them, which no path and no
environment can hold.

Light: such a process loads this and next to nothing else.
"""

from __future__ import annotations

import os
import socket
import struct

NAME = "door.sock"  # in the data folder
VERSION = "1"  # of all that stands here; who meets another one keeps the caller
LARGEST = 64 * 1024  # bytes of a message
LONGEST_PATH = 100  # bytes; the kernel takes 107

# What the door says: who is calling; where they are, with the descriptors; and, while they are on,
# what it has heard from its host.
CALL, LINE = "call", "line"
HUNG_UP, ENDED, RESIZED = "hung up", "ended", "resized"

# What the server says: that it does not take the caller, and why; which line it wants, which is one
# of the ways below; that the caller is its own from now on; how the call ended, with a status; or
# that it ends itself, and the caller goes on with the door.
REFUSED, WANTED, TAKEN, DONE, BACK = "refused", "wanted", "taken", "done", "back"

# How a caller is reached: standard input and output; the descriptor of that number; a connection
# that the door makes to host and port.
STDIO, SOCKET, CONNECT = "stdio", "socket", "connect"

# What of the environment counts: where the drop file is, which node it is, what the terminal is.
VARIABLES = (
    *("BBSDEV_DRP", "DOOR_DROPFILE", "SBBSNODE", "SBBSNNUM", "DOOR_NODE"),
    *("TERM", "LC_ALL", "LC_CTYPE", "LANG"),
)
PATHS = ("BBSDEV_DRP", "DOOR_DROPFILE", "SBBSNODE")  # those of them that are paths


def packed(word: str, *texts: str) -> bytes:
    """Make a message.

    >>> unpacked(packed("wanted", "socket", "7"))
    ['wanted', 'socket', '7']
    """
    return os.fsencode("\0".join((word, *texts)))


def unpacked(data: bytes) -> list[str]:
    return os.fsdecode(data).split("\0")


def identity(path: str) -> str:
    """Say which file or folder a path leads to, for one who may see other files there.

    Both ends ask: under systemd a server can have folders of its own where others have theirs.
    """
    try:
        found = os.stat(path)
    except OSError:
        return "nothing"
    return f"{found.st_dev}:{found.st_ino}"


def dial(folder: str) -> socket.socket:
    """Reach the server of a board by its data folder; `OSError` when none listens there."""
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    name, held = short(folder)
    try:
        wire.connect(name)
    except OSError:
        wire.close()
        raise
    finally:
        if held is not None:
            os.close(held)
    return wire


def short(folder: str) -> tuple[str, int | None]:
    """Give a name of the socket that is short enough for the kernel.

    Beside it stands a descriptor that must stay open as long as the name is used.
    """
    path = os.path.join(folder, NAME)
    if len(os.fsencode(path)) <= LONGEST_PATH:
        return path, None
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    return f"/proc/self/fd/{held}/{NAME}", held


def is_ours(wire: socket.socket) -> bool:
    """Whether the process at the other end is of our own user, by the kernel's word."""
    said = wire.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", said)[1]) == os.geteuid()
