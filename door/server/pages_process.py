"""`door pages` next to a server, as a process of its own, so that no page delays a caller.

The server starts the process again when it dies. The process ends with its server: it is
terminated, or, if the server is killed, it sees the end of its standard input.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import sys
from pathlib import Path
from subprocess import PIPE
from typing import TYPE_CHECKING

from door.errors import CannotListen
from timebank.extras import install_command

if TYPE_CHECKING:
    from asyncio.subprocess import Process

PROGRAM = "from door.cli.entry import main; main()"
LIBRARIES = ("jinja2", "starlette", "uvicorn")
NOT_INSTALLED = f"The pages need libraries that are not installed: run {install_command('pages')}."
# The pause before a restart doubles each time the pages end within `SOON_SECONDS`.
SOON_SECONDS, FIRST_PAUSE, LONGEST_PAUSE = 10.0, 1.0, 60.0
ENDING_SECONDS = 3.0  # from SIGTERM to SIGKILL

log = logging.getLogger("door.server")


def check_libraries() -> None:
    """Raise `CannotListen` if the libraries of the pages are not installed."""
    if any(importlib.util.find_spec(name) is None for name in LIBRARIES):
        raise CannotListen(f"{NOT_INSTALLED} Or set serve = false in [pages].")


async def keep_pages(path: Path) -> None:
    """Serve the pages of the board with this sysop.toml until cancelled."""
    loop = asyncio.get_running_loop()
    pause = FIRST_PAUSE
    while True:
        began = loop.time()
        status = await _show(path)
        if loop.time() - began > SOON_SECONDS:
            pause = FIRST_PAUSE
        words = "the pages have ended with status %s and are started again in %g seconds"
        log.warning(words, status, pause)
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


async def _show(path: Path) -> int | str:
    """Start the pages and wait for their end; return their status, or why they cannot start."""
    words = ("pages", "--with-server", "--config", str(path))
    try:
        process = await asyncio.create_subprocess_exec(
            # A session of its own: Ctrl-C reaches only the server, which then ends the pages.
            *(sys.executable, "-P", "-c", PROGRAM, *words),
            stdin=PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return error.strerror or str(error)
    try:
        return await process.wait()
    finally:
        await _end(process)


async def _end(process: Process) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(ENDING_SECONDS):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
