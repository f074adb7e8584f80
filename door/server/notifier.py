"""Sends the sysop's warnings to a command of theirs, such as mail.

A warning is sent when it is new. One about an age changes by the day, so it comes again each day.
After a restart, all that hold are sent again.
"""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Sequence

COMMAND_SECONDS = 60.0
LONGEST_COMPLAINT = 200  # characters of what a failed command said


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
    """Run a command with some lines as its input; return what went wrong."""
    text = "".join(f"{line}\n" for line in lines).encode()
    problem = f"[notify] command, {command[0]}, did not take the sysop's warnings"
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=STDOUT
        )
    except OSError as error:
        return f"{problem}: {error.strerror}."
    try:
        async with asyncio.timeout(COMMAND_SECONDS):
            said, _ = await process.communicate(text)
    except TimeoutError:
        return f"{problem}: it was not done after {COMMAND_SECONDS:g} seconds."
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if process.returncode:
        last = said.decode("utf-8", "replace").strip()[-LONGEST_COMPLAINT:]
        return f"{problem}: it ended with status {process.returncode}: {last or 'no output'}."
    return None
