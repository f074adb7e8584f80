"""Turns for costly steps, such as handshakes, so that other callers' keys never wait for two."""

import asyncio
from collections import deque
from collections.abc import Callable


class Turns:
    """Takes one of the waiting steps in each turn of the event loop."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()

    def take(self, step: Callable[[], None]) -> None:
        self._waiting.append(step)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        try:
            self._waiting[0]()
        finally:
            self._waiting.popleft()
            if self._waiting:
                asyncio.get_running_loop().call_soon(self._next)
