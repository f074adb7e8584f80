"""What somebody at a terminal sees of a command that may take long: what it does.

It is one line on stderr, which is wiped away at the end. In pipes and logs there is nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_WIPE = "\r\x1b[K"


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show what is being done, such as "Checking the books", for as long as the block lasts."""
    _show(f"{what} ...")
    try:
        yield
    finally:
        _show(_WIPE)


def _show(text: str) -> None:
    if sys.stderr.isatty():
        with suppress(OSError, ValueError):  # the terminal is gone
            print(text, end="", file=sys.stderr, flush=True)
