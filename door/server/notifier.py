"""Sends the sysop's warnings to a command of theirs, such as mail.

A warning is sent when it is new. One about an age changes by the day, so it comes again each day.
After a restart, all that hold are sent again.
"""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import STDOUT
from collections.abc import Sequence
from contextlib import suppress
from tempfile import TemporaryFile

COMMAND_SECONDS = 60.0
OUTPUT_SECONDS = 1.0  # for the last output of a command that has ended
LONGEST_COMPLAINT = 200  # bytes of what a failed command said


class Notifier:
    def __init__(self) -> None:
        self._sent: frozenset[str] = frozenset()

    async def send(self, command: Sequence[str], warnings: Sequence[str]) -> str | None:
        """Send the new ones of these warnings; return what went wrong, None if nothing did.

        Warnings that could not be sent are new the next time.
        """
        new = [words for words in warnings if words not in self._sent]
        problem = await _run(command, new) if new and command else None
        if problem is None:
            self._sent = frozenset(warnings) if command else frozenset()
        return problem


class _Command(asyncio.SubprocessProtocol):
    """A running command, and the end of its output.

    A process that the command has started may keep the output open after the command has ended.
    """

    def __init__(self) -> None:
        self.said = b""
        self.ended, self.closed = asyncio.Event(), asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.said = (self.said + data)[-LONGEST_COMPLAINT:]

    def process_exited(self) -> None:
        self.ended.set()

    def connection_lost(self, error: Exception | None) -> None:
        self.closed.set()


async def _run(command: Sequence[str], lines: Sequence[str]) -> str | None:
    """Run a command with some lines as its input; return what went wrong."""
    problem = f"[notify] command, {command[0]}, did not take the sysop's warnings"
    run, process = _Command(), None
    try:
        with TemporaryFile() as given:
            given.write("".join(f"{line}\n" for line in lines).encode())
            given.seek(0)
            process, _ = await asyncio.get_running_loop().subprocess_exec(
                lambda: run, *command, stdin=given, stderr=STDOUT, start_new_session=True
            )
        async with asyncio.timeout(COMMAND_SECONDS):
            await run.ended.wait()
        if status := process.get_returncode():
            with suppress(TimeoutError):
                await asyncio.wait_for(run.closed.wait(), OUTPUT_SECONDS)
            last = run.said.decode("utf-8", "replace").strip()
            return f"{problem}: it ended with status {status}: {last or 'no output'}."
    except TimeoutError:
        return f"{problem}: it was not done after {COMMAND_SECONDS:g} seconds."
    except OSError as error:
        return f"{problem}: {error.strerror}."
    finally:
        if process is not None:
            if process.get_returncode() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.get_pid(), signal.SIGKILL)
                await run.ended.wait()
            process.close()
    return None
