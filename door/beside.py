"""A process beside a board, for work that would hold the event loop.

It is asked on its standard input and answers in lines on its standard output, both a socket of
ours. It ends with its input, so it never outlives the board; whoever asks ends it, and starts
another one when it has died.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import door

NICE = 5  # steps by which it is less urgent than the board, up to the last one
LEAST_URGENT = 19

_HOME = str(Path(door.__file__).parents[1])
# Nothing of the folder that the board runs in is imported, whatever lies there.
_BEGIN = (
    "import sys; sys.path.insert(0, sys.argv[1]); import importlib;"
    " importlib.import_module(sys.argv[2]).main()"
)


def command(module: str) -> tuple[str, ...]:
    """Return what starts `main` of one of our modules."""
    return (sys.executable, "-P", "-c", _BEGIN, _HOME, module)


class Beside:
    """One run of the program, and the socket that leads to it."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it, which takes the loop a millisecond; OSError when that cannot be.

        Not by the loop's own means: uvloop's would leave open in it what a host has handed down.
        """
        self._ours, theirs = socket.socketpair()
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        try:
            self._popen = subprocess.Popen(
                command,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,  # in a door, ours may be the caller's line
                start_new_session=True,  # Ctrl-C and a terminal that hangs up are for the board
            )
        except BaseException:
            self._ours.close()
            raise
        finally:
            theirs.close()
        self.number = self._popen.pid
        _let_others_go_first(self.number)

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open the way to it, if it is not open yet; to be done before several ask."""
        if self._streams is None:
            self._streams = await asyncio.open_unix_connection(sock=self._ours)
        return self._streams

    async def say(self, question: bytes) -> None:
        _, writer = await self.open()
        writer.write(question)

    async def hear(self) -> bytes:
        """Return its next line; EOFError when it has ended."""
        reader, _ = await self.open()
        line = await reader.readline()
        if not line.endswith(b"\n"):
            raise EOFError("it has ended")
        return line

    async def end(self) -> None:
        self._popen.kill()
        await asyncio.get_running_loop().run_in_executor(None, self._popen.wait)
        if self._streams is None:
            self._ours.close()
            return
        writer = self._streams[1]
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def _let_others_go_first(process: int) -> None:
    """Make a process less urgent than a board, one that `chrt` puts before all others included."""
    with contextlib.suppress(OSError, AttributeError):  # a system may forbid that, or not know it
        ours = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, process, min(ours + NICE, LEAST_URGENT))
        os.sched_setscheduler(process, os.SCHED_OTHER, os.sched_param(0))
