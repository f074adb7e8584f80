"""A door with nothing behind it but reports: what arrived, how it ended, and what was done then.

    python -m tests.door.lines.doorway REPORTS stdio TERMINAL
    python -m tests.door.lines.doorway REPORTS socket DESCRIPTOR

REPORTS is a socket. The door waits there for a line before it "posts", and for one more before it
ends. Typed: q leaves, ! fails, w writes more than anybody may leave unread.
"""

import asyncio
import logging
import os
import socket
import sys
from contextlib import AbstractAsyncContextManager

from door.lines.host import socket as socket_line
from door.lines.host import stdio
from door.lines.host.host import USUAL_LIMITS, Introduction
from door.lines.line import Hints, Line


class Visitor:
    """A receiver that reports everything."""

    def __init__(self, line: Line, reports: asyncio.StreamWriter) -> None:
        self._line = line
        self._reports = reports
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def say(self, *words: object) -> None:
        self._reports.write((" ".join(map(str, words)) + "\n").encode())

    def received(self, data: bytes) -> None:
        self.say("typed", data.hex())
        if data == b"!":
            self.over.set_exception(RuntimeError("the door failed"))
        elif data == b"w":
            self._line.write(b"x" * 2_000_000)
        elif data == b"q":
            self._done()

    def hung_up(self, reason: str) -> None:
        self.say("ended", reason)
        self._done()

    def resized(self, columns: int, rows: int) -> None:
        self.say("sized", columns, rows)

    def _done(self) -> None:
        if not self.over.done():
            self.over.set_result(None)


def line_of(kind: str, descriptor: int) -> AbstractAsyncContextManager[Line]:
    nobody = Introduction("", Hints(), 0, 0)
    if kind == "socket":
        return socket_line.inherited(descriptor, nobody, USUAL_LIMITS, telnet=True)
    os.login_tty(descriptor)  # what hosts do between fork and exec
    return stdio.opened(0, 1, nobody, USUAL_LIMITS)


async def main(reports: int, kind: str, descriptor: int) -> None:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=reports))
    try:
        async with line_of(kind, descriptor) as line:
            visitor = Visitor(line, writer)
            visitor.say("serves", line.columns, line.rows)
            line.attach(visitor)
            line.write(b"Welcome.\r\n")
            await visitor.over
            await reader.readline()
            visitor.say("posted")
    except RuntimeError as error:
        visitor.say("failed", error)
    visitor.say("left")
    await reader.readline()
    writer.close()
    await writer.wait_closed()


if __name__ == "__main__":
    # As in a door: what went to standard error would go to the caller, and wait for them.
    logging.getLogger().addHandler(logging.NullHandler())
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
