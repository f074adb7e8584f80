"""A call as a board makes it, to see whether what was set up works: by the very command that the
board will run, on a terminal, with a drop file in the board's manner.

It plays on books of its own that are thrown away, so nobody is entered and no minute moves.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from door.config.log_file import FILE
from door.server import server_note
from door.setup import host_boards
from door.setup.host_boards import DROP_FILE, HostSetup

if TYPE_CHECKING:
    from door.config.config import Config

SECONDS = 60.0  # that a call may take to its first question, on a busy machine
ENDS = 10.0  # and to its end, when its host hangs up
COLUMNS, ROWS = 80, 24  # of its terminal
_QUESTION = b"tour"  # what a caller is asked who has not been here before
_CODES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_LAST_LINES = 3


@dataclass(frozen=True)
class TrialCall:
    """How it went: `seconds` to the first question, and "" or what went wrong."""

    seconds: float
    trouble: str


def call(config: Config, text: str, setup: HostSetup) -> TrialCall:
    """Make a call under the settings of `text`. Raises `OSError`."""
    with tempfile.TemporaryDirectory(prefix="bjft-call-") as folder:
        here = Path(folder)
        settings = here / "sysop.toml"
        settings.write_text(_for_trial(text, here), encoding="utf-8")
        dropped = here / DROP_FILE
        dropped.write_bytes(host_boards.drop_file(setup))
        line = host_boards.command(config, setup).replace(setup.kind.macro, str(dropped))
        line = line.replace(str(config.path.absolute()), str(settings))
        words = [*line.split(), *_way(setup)]
        try:
            return _made(words, here)
        finally:
            _end_server(here / "data")


def _way(setup: HostSetup) -> list[str]:
    """Have the call made on a terminal, whatever socket a board would hand down."""
    return ["--stdio"] if setup.kind.is_wrapped or not setup.stdio else []


def _for_trial(text: str, folder: Path) -> str:
    """Return the settings with books of their own, open at any hour, and in English."""
    import tomlkit  # noqa: PLC0415 - only who writes settings needs it

    document = tomlkit.parse(text)
    for key in ("timebank", "server", "listeners", "pages"):
        document.pop(key, None)
    document.pop("events", None)
    board = document.pop("board", tomlkit.table())
    board["data"], board["language"], board["animation"] = str(folder / "data"), "en", "off"
    trial = tomlkit.document()
    trial["events"] = []
    trial["board"] = board
    for key, value in document.items():
        trial[key] = value
    return tomlkit.dumps(trial)


def _made(words: list[str], folder: Path) -> TrialCall:
    began = time.monotonic()
    near, far = os.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "ansi"}
    environment.pop("BJFT_CONFIG", None)
    with closing(os.fdopen(near, "rb", buffering=0)), tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                words,
                stdin=far,
                stdout=far,
                stderr=errors,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            return TrialCall(0.0, f"{words[0]} cannot be started ({error.strerror}).")
        finally:
            os.close(far)
        try:
            is_asked = _reads(near, began + SECONDS)
            seconds = time.monotonic() - began
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGHUP)
            status = _ends(process, near)
        finally:
            process.kill()
            process.wait()
        if is_asked and status == 0:
            return TrialCall(seconds, "")
        errors.seek(0)
        said = _last(errors.read().decode(errors="replace")) or _log(folder)
        how = f"it ended with status {status}" if status is not None else "it did not end"
        return TrialCall(seconds, f"The call failed: {how}. {said}".strip())


def _reads(terminal: int, until: float) -> bool:
    """Read what the caller is shown, as far as the first question."""
    shown = b""
    while (left := until - time.monotonic()) > 0:
        readable, _, _ = select.select([terminal], [], [], left)
        if not readable:
            break
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        shown += piece
        if not piece or _QUESTION in _CODES.sub(b"", shown):
            break
    return _QUESTION in _CODES.sub(b"", shown)


def _ends(process: subprocess.Popen[bytes], terminal: int) -> int | None:
    """Wait for the end, and read on meanwhile: a terminal that nobody reads fills up."""
    until = time.monotonic() + ENDS
    while process.poll() is None and time.monotonic() < until:
        readable, _, _ = select.select([terminal], [], [], 0.05)
        with suppress(OSError):
            if readable and not os.read(terminal, 65536):
                time.sleep(0.05)
    return process.poll()


def _end_server(data: Path) -> None:
    """End the server that the call has started, before its books are thrown away."""
    found = server_note.server_in(data)
    if found is None or not found.runs:
        return
    with suppress(ProcessLookupError):
        process = os.pidfd_open(found.process)
        try:
            signal.pidfd_send_signal(process, signal.SIGTERM)
            select.select([process], [], [], ENDS)
        finally:
            os.close(process)


def _log(folder: Path) -> str:
    try:
        return _last((folder / "data" / FILE).read_text(encoding="utf-8"))
    except OSError:
        return ""


def _last(text: str) -> str:
    return " / ".join(line.strip() for line in text.strip().splitlines()[-_LAST_LINES:])
