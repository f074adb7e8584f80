"""Many objects made at once, none of which is garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect no garbage meanwhile: looking for it in half a million lines takes longer than to
    parse them."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
