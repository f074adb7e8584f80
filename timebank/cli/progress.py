"""The line that a long command shows at a terminal.

It is on stderr, and is erased at the end. Pipes and logs get nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_WIPE = "\r\x1b[K"


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a phrase such as "Checking the books" while the block runs."""
    _show(f"{what} ...")
    try:
        yield
    finally:
        _show(_WIPE)


def _show(text: str) -> None:
    if sys.stderr.isatty():
        with suppress(OSError, ValueError):  # the terminal is gone
            print(text, end="", file=sys.stderr, flush=True)
