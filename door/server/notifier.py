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
PIPE_BYTES = 64 * 1024
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


async def _run(command: Sequence[str], lines: Sequence[str]) -> str | None:
    """Run a command with some lines as its input; return what went wrong.

    Processes that it leaves may keep its output open, so the output is read after its end. A flood
    of it fills the pipe, and the command does not end.
    """
    problem = f"[notify] command, {command[0]}, did not take the sysop's warnings"
    process, last, (said, output) = None, b"", os.pipe()
    os.set_blocking(said, False)
    try:
        with TemporaryFile() as given:
            given.write("".join(f"{line}\n" for line in lines).encode())
            given.seek(0)
            process = await asyncio.create_subprocess_exec(
                *command, stdin=given, stdout=output, stderr=STDOUT, start_new_session=True
            )
        async with asyncio.timeout(COMMAND_SECONDS):
            if status := await process.wait():
                with suppress(BlockingIOError):  # it has said nothing
                    last = os.read(said, PIPE_BYTES)[-LONGEST_COMPLAINT:]
                words = last.decode("utf-8", "replace").strip() or "no output"
                return f"{problem}: it ended with status {status}: {words}."
    except TimeoutError:
        return f"{problem}: it was not done after {COMMAND_SECONDS:g} seconds."
    except OSError as error:
        return f"{problem}: {error.strerror}."
    finally:
        os.close(said)
        os.close(output)
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    return None
