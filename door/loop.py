"""The event loop that a board runs on: uvloop's where that is installed, asyncio's own elsewhere.

A door process, which serves one caller, does without: to load another loop would only keep him
waiting.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop


def quickest() -> Callable[[], AbstractEventLoop] | None:
    """Return what makes the quickest loop there is; `None` for asyncio's own."""
    try:
        import uvloop  # noqa: PLC0415 - an extra, which few have
    except ImportError:
        return None
    make: Callable[[], AbstractEventLoop] = uvloop.new_event_loop
    return make
