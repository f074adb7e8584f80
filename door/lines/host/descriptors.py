"""Reads and writes descriptors of another process without waiting, and leaves them unchanged.

A host that starts a door keeps the caller's terminal, pipe or socket open and goes on with it
afterwards. asyncio's own transports set O_NONBLOCK, which belongs to the open file and not to the
descriptor. The host's reads would then fail, and stay failing if the door were killed. So:

- a socket is asked with each call not to wait (MSG_DONTWAIT), and no flag changes;
- a terminal or a pipe is opened once more (/proc/self/fd, or the terminal's name), which gives an
  open file of our own with its own flags;
- if it cannot be opened, because it is another user's or /proc is missing, the flag is set and
  restored at the end.
"""

import asyncio
import contextlib
import os
import socket
import stat

from door.lines.flow import StreamProtocol


class SocketEnd:
    """Raises `BlockingIOError` instead of waiting, `OSError` at a break; 0 bytes are the end."""

    def __init__(self, descriptor: int) -> None:
        self._wire = socket.socket(fileno=os.dup(descriptor))

    def fileno(self) -> int:
        return self._wire.fileno()

    def read_into(self, room: memoryview) -> int:
        return self._wire.recv_into(room, flags=socket.MSG_DONTWAIT)

    def write(self, data: memoryview) -> int:
        return self._wire.send(data, socket.MSG_DONTWAIT)

    def close(self) -> None:
        self._wire.close()


class FileEnd:
    """A terminal or a pipe, with the methods of `SocketEnd`."""

    def __init__(self, descriptor: int, way: int) -> None:
        opened = _opened_again(descriptor, way)
        self._own = os.dup(descriptor) if opened is None else opened
        self._borrowed = opened is None and os.get_blocking(self._own)
        if self._borrowed:
            os.set_blocking(self._own, False)

    def fileno(self) -> int:
        return self._own

    def read_into(self, room: memoryview) -> int:
        return os.readv(self._own, [room])

    def write(self, data: memoryview) -> int:
        return os.write(self._own, data)

    def close(self) -> None:
        if self._borrowed:
            os.set_blocking(self._own, True)
        os.close(self._own)


End = SocketEnd | FileEnd


def taken(descriptor: int, way: int) -> End:
    """Return one direction of an open descriptor; `way` is os.O_RDONLY or os.O_WRONLY."""
    if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
        return SocketEnd(descriptor)
    return FileEnd(descriptor, way)


def _opened_again(descriptor: int, way: int) -> int | None:
    """Open a descriptor once more, with flags of our own; return None if that is impossible."""
    names = [f"/proc/self/fd/{descriptor}"]
    if os.isatty(descriptor):
        with contextlib.suppress(OSError):
            names.append(os.ttyname(descriptor))
    for name in names:
        with contextlib.suppress(OSError):
            opened = os.open(name, way | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
            # On systems other than Linux such a name may be another file.
            if os.path.sameopenfile(opened, descriptor):
                return opened
            os.close(opened)
    return None


class DescriptorTransport(asyncio.Transport):
    """An asyncio transport over two ends that another process keeps using.

    To close it shuts nothing down. The maker of the ends closes them, after the protocol's
    `connection_lost` or `abort`. `get_extra_info` returns nothing, so that no option is set on the
    host's socket.
    """

    def __init__(self, source: End, sink: End, protocol: StreamProtocol) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._source = source
        self._sink = sink
        self._protocol = protocol
        self._unsent = bytearray()
        self._reading = False
        self._closing = False
        self._lost = False
        protocol.connection_made(self)
        self.resume_reading()

    # Reading

    def pause_reading(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._source.fileno())

    def resume_reading(self) -> None:
        if self._reading or self._closing:
            return
        self._reading = True
        self._loop.add_reader(self._source.fileno(), self._read)

    def _read(self) -> None:
        try:
            count = self._source.read_into(self._protocol.get_buffer(-1))
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            # A terminal whose other end is gone reports EIO, or the end of the file.
            self._lose(error)
            return
        if count:
            self._protocol.buffer_updated(count)
        else:
            self._protocol.eof_received()
            self.close()

    # Writing

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing: the protocol is paused while any byte waits."""

    def get_write_buffer_size(self) -> int:
        return len(self._unsent)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._lost or self._closing or not data:
            return
        waited = bool(self._unsent)
        self._unsent += data
        if not waited:
            self._send()
            if self._unsent and not self._lost:
                self._loop.add_writer(self._sink.fileno(), self._send_rest)
                self._protocol.pause_writing()

    def _send(self) -> None:
        try:
            with memoryview(self._unsent) as waiting:
                sent = self._sink.write(waiting)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(error)
            return
        del self._unsent[:sent]

    def _send_rest(self) -> None:
        self._send()
        if not self._unsent and not self._lost:
            self._loop.remove_writer(self._sink.fileno())
            self._protocol.resume_writing()
            if self._closing:
                self._lose(None)

    # The end

    def is_closing(self) -> bool:
        return self._closing

    def can_write_eof(self) -> bool:
        return False  # the connection is the host's, and goes on

    def close(self) -> None:
        if not self._closing:
            self.pause_reading()
            self._closing = True
            if not self._unsent:
                self._lose(None)

    def abort(self) -> None:
        self._lose(None)

    def _lose(self, error: OSError | None) -> None:
        if self._lost:
            return
        self._lost = self._closing = True
        self.pause_reading()
        self._loop.remove_writer(self._sink.fileno())
        self._unsent.clear()
        self._loop.call_soon(self._protocol.connection_lost, error)
