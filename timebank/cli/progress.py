"""What somebody at a terminal sees of a command that takes long: what it does, and for how long.

It is one line on stderr, which appears after two seconds, counts them, and is wiped away at the
end. Where nobody looks, in pipes and logs, there is nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

PATIENCE = 2.0  # seconds
TICK = 1.0
_WIPE = "\r\x1b[K"


@contextmanager
def working(what: str, out: TextIO | None = None) -> Iterator[None]:
    """Show what is being done, such as "Checking the books", for as long as the block lasts."""
    shown = sys.stderr if out is None else out
    if not shown.isatty():
        yield
        return
    done = threading.Event()
    line = threading.Thread(target=_show, args=(what, shown, done), daemon=True)
    line.start()
    try:
        yield
    finally:
        done.set()
        line.join()


def _show(what: str, out: TextIO, done: threading.Event) -> None:
    began = time.monotonic()
    if done.wait(PATIENCE):
        return
    try:
        while True:
            seconds = int(time.monotonic() - began)
            out.write(f"{_WIPE}{what}: {seconds // 60}:{seconds % 60:02} ...")
            out.flush()
            if done.wait(TICK):
                break
        out.write(_WIPE)
        out.flush()
    except (OSError, ValueError):  # the terminal is gone
        return
