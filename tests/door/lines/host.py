"""A host board around a door: a terminal, signals, and their state afterwards."""

import asyncio
import fcntl
import os
import pty
import struct
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from door.lines.host.host import Introduction
from door.lines.line import Hints, Line
from tests.door.lines.board import PATIENCE, Call

STRANGER = Introduction(address="", hints=Hints(), columns=0, rows=0)
EVERY_BYTE = bytes(range(256))


class HostSigns:
    """What a host reports of a call; nothing unless a test sets it."""

    def __init__(self) -> None:
        self.look: Callable[[], None] = lambda: None

    def watch(self, lose_carrier: Callable[[str], None]) -> None:
        self.lose_carrier = lose_carrier

    def follow(self, look: Callable[[], None]) -> Callable[[], None]:
        self.look = look
        return lambda: None


def listened_to(line: Line) -> Call:
    """Attach a receiver that records everything."""
    call = Call(line)
    line.attach(call)
    return call


class FarEnd:
    """The host's end of a terminal, a pipe or a socket, read as soon as anything comes."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.shown = bytearray()
        self.ended = False
        self._news = asyncio.Event()
        self.go_on_reading()

    def types(self, keys: bytes) -> None:
        assert os.write(self.descriptor, keys) == len(keys)

    def stop_reading(self) -> None:
        asyncio.get_running_loop().remove_reader(self.descriptor)

    def go_on_reading(self) -> None:
        asyncio.get_running_loop().add_reader(self.descriptor, self._read)

    def close(self) -> None:
        if self.descriptor >= 0:
            self.stop_reading()
            os.close(self.descriptor)
            self.descriptor = -1

    async def until_shown(self, text: bytes) -> None:
        await self._until(lambda: text in self.shown)

    async def until_ended(self) -> None:
        await self._until(lambda: self.ended)

    async def _until(self, reached: Any) -> None:
        async with asyncio.timeout(PATIENCE):
            while not reached():
                self._news.clear()
                await self._news.wait()

    def _read(self) -> None:
        try:
            data = os.read(self.descriptor, 65536)
        except OSError:  # how Linux reports that the other end of a terminal is closed
            data = b""
        self.shown += data
        if not data:
            self.ended = True
            self.stop_reading()
        self._news.set()


class Pty:
    """A terminal as hosts make it, cooked and echoing, with unusual settings."""

    def __init__(self) -> None:
        master, self.slave = pty.openpty()
        settings = termios.tcgetattr(self.slave)
        settings[0] |= termios.IXANY | termios.ICRNL
        settings[6][termios.VERASE] = b"\x08"
        settings[6][termios.VMIN], settings[6][termios.VTIME] = 7, 3
        termios.tcsetattr(self.slave, termios.TCSANOW, settings)
        self.before = self.settings()
        self.far = FarEnd(master)

    def settings(self) -> list[Any]:
        return [termios.tcgetattr(self.slave), fcntl.fcntl(self.slave, fcntl.F_GETFL)]

    def resize(self, columns: int, rows: int) -> None:
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self.far.descriptor, termios.TIOCSWINSZ, size)

    def hang_up(self) -> None:
        self.far.close()

    def close(self) -> None:
        self.far.close()
        os.close(self.slave)


@contextmanager
def terminal() -> Iterator[Pty]:
    made = Pty()
    try:
        yield made
    finally:
        made.close()
