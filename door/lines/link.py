"""How commands reach a server: by a Unix socket in the data folder, which its owner alone may open.

It carries frames. A command goes first and says in a header what is wanted; lines that the sysop
types may follow. The server answers, and goes last.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import select
import socket
import struct
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from door.errors import LinkBroken
from door.lines.flow import LineLimits, StreamLine, StreamProtocol
from door.lines.port.connection import OPEN
from door.lines.port.listener import Listener

NAME = "vegas.sock"  # of the socket
LARGEST = 16 * 1024  # bytes of a frame
USUAL_LIMITS = LineLimits(unsent=256 * 1024, farewell=2.0)
MOST_ANSWERED = 4 * 1024 * 1024  # bytes of the answer to a command
LONGEST_PATH = 100  # bytes; the kernel takes 107

# The kinds of frames, by their first byte: of the command, and of the server.
HEADER, TYPED = b"H", b"K"
SHOWN, ENDED = b"S", b"E"


_HEAD = struct.Struct(">cI")

Said = Mapping[str, Any]  # what a header or an end says, as JSON has it

log = logging.getLogger("door.lines")


class Frames:
    """Takes what arrives apart into frames, however it was cut.

    >>> frames = Frames()
    >>> frames.feed(frame(TYPED, b"ab")[:6]), frames.feed(b"b" + frame(HEADER, b"{}"))
    ([], [(b'K', b'ab'), (b'H', b'{}')])
    """

    def __init__(self) -> None:
        self._waiting = bytearray()

    def feed(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """The frames that became whole with `data`; `LinkBroken` for one too large."""
        self._waiting += data
        found: list[tuple[bytes, bytes]] = []
        while len(self._waiting) >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._waiting)
            if length > LARGEST:
                raise LinkBroken(f"a frame of {length} bytes")
            end = _HEAD.size + length
            if len(self._waiting) < end:
                break
            found.append((kind, bytes(self._waiting[_HEAD.size : end])))
            del self._waiting[:end]
        return found


def frame(kind: bytes, content: bytes) -> bytes:
    """Make a frame of at most LARGEST bytes."""
    return _HEAD.pack(kind, len(content)) + content


def told(what: Said) -> bytes:
    return json.dumps(what).encode()


def read_told(content: bytes) -> Said:
    """Read the content of a header or an end; `LinkBroken` when it is none."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise LinkBroken("what should be JSON is not") from error
    if not isinstance(said, dict):
        raise LinkBroken("an object was expected")
    return said


class LinkLine(StreamLine):
    end_words = "the command hung up"

    def write(self, data: bytes) -> None:
        for start in range(0, len(data), LARGEST):
            super().write(frame(SHOWN, data[start : start + LARGEST]))

    def end(self, said: Said) -> None:
        super().write(frame(ENDED, told(said)))


OnCall = Callable[["LinkConnection", Said], Awaitable[None]]


class LinkConnection(StreamProtocol):
    """One command; `ready` is called with its header."""

    line: LinkLine
    kind = "command"  # for the log

    def __init__(
        self, ready: Callable[[LinkConnection, Said], None], gone: Callable[[], None]
    ) -> None:
        super().__init__(lambda transport: LinkLine(self.kind, transport, USUAL_LIMITS), gone)
        self._ready: Callable[[LinkConnection, Said], None] | None = ready
        self._frames = Frames()
        self._wire: socket.socket | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._wire = transport.get_extra_info("socket")
        # The mode of the socket says the same, unless the folder was copied with other rights.
        if user_of(transport) not in (os.geteuid(), 0):
            self.line.cut_off("it is another user's")

    def has_been_left(self) -> bool:
        """Tell whether the other end has hung up, by the kernel's word.

        Where this process was stopped for a while, it may not have read that far yet.
        """
        wire = self._wire
        if self.line.ended or wire is None or wire.fileno() < 0:
            return True
        left = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR
        poll = select.poll()
        poll.register(wire.fileno(), left)
        return bool(poll.poll(0))

    def take(self, data: bytes) -> None:
        if self.line.ended:
            return
        try:
            for kind, content in self._frames.feed(data):
                self._obey(kind, content)
        except (LinkBroken, struct.error) as broken:
            self.line.cut_off(str(broken))

    def _obey(self, kind: bytes, content: bytes) -> None:
        if self._ready is not None:
            if kind != HEADER:
                raise LinkBroken("it does not begin with a header")
            ready, self._ready = self._ready, None
            ready(self, read_told(content))
        elif kind == TYPED:
            self.line.deliver(content)


class LinkListener(Listener):
    """The socket in the data folder, and all who came in through it."""

    def __init__(self, on_call: OnCall) -> None:
        super().__init__(OPEN)
        self._on_call = on_call
        self._path: Path | None = None
        self._inode = 0

    def answer(self, address: str, gone: Callable[[], None]) -> LinkConnection:
        return LinkConnection(self._serve, gone)

    async def open_in(self, folder: Path) -> None:
        """Begin to listen; `OSError` where it cannot, or another server does."""
        path = folder / NAME
        with short(path) as place:
            _remove_stale(place)
            wire = socket.socket(socket.AF_UNIX)
            try:
                wire.bind(place)
                os.chmod(place, 0o600)  # nobody can connect before it listens
                wire.listen()
            except OSError:
                wire.close()
                raise
        self._path, self._inode = path, path.stat().st_ino
        self._listen_on(wire)

    def close(self) -> None:
        super().close()
        if self._path is not None:
            with contextlib.suppress(OSError):
                if self._path.stat().st_ino == self._inode:
                    self._path.unlink()
            self._path = None

    def _serve(self, connection: LinkConnection, said: Said) -> None:
        self.begin_call(connection.line, partial(self._on_call, connection, said))


async def read_frame(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Read one frame; raises `LinkBroken` for one too large, and `EOFError` at the end."""
    kind, length = _HEAD.unpack(await reader.readexactly(_HEAD.size))
    if length > LARGEST:
        raise LinkBroken(f"a frame of {length} bytes")
    return kind, await reader.readexactly(length)


async def asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, said: Said) -> Said:
    """Give a server a command and return its answer.

    Raises `LinkBroken`, OSError, EOFError, and ValueError for an answer that is none.
    """
    writer.write(frame(HEADER, told(said)))
    text = bytearray()
    while len(text) <= MOST_ANSWERED:
        kind, content = await read_frame(reader)
        if kind == SHOWN:
            text += content
        elif kind == ENDED:
            return read_told(bytes(text))
    raise LinkBroken(f"an answer of more than {MOST_ANSWERED} bytes")


async def dial(folder: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Reach the server of a board by its data folder; `OSError` when none listens there."""
    with short(folder / NAME) as path:
        return await asyncio.open_unix_connection(path)


def user_of(transport: asyncio.BaseTransport) -> int:
    """Whose process is at the other end, by the kernel's word."""
    wire = transport.get_extra_info("socket")
    credentials = wire.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[1])


def _remove_stale(name: str) -> None:
    with socket.socket(socket.AF_UNIX) as wire:
        wire.setblocking(False)  # one that has stopped may have a queue that is full
        try:
            wire.connect(name)
        except BlockingIOError:
            pass
        except FileNotFoundError:
            return
        except ConnectionRefusedError:
            os.unlink(name)
            return
    raise OSError("another server listens there")


@contextmanager
def short(path: Path) -> Iterator[str]:
    """Give a name for a socket that is short enough for the kernel."""
    if len(os.fsencode(path)) <= LONGEST_PATH:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
