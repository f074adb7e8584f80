"""A flag to wait for: `asyncio.Event` where there are thousands of them.

The library's keeps a queue of 760 bytes for tasks that wait, whether any does or not; each caller
needs three such flags.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Flag:
    """Down at first; whoever waits goes on when it is up."""

    _is_up: bool = False
    _waiting: tuple[asyncio.Future[None], ...] = ()

    def is_set(self) -> bool:
        return self._is_up

    def set(self) -> None:
        self._is_up = True
        waiting, self._waiting = self._waiting, ()
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    def clear(self) -> None:
        """Put it down; who was let go on goes on."""
        self._is_up = False

    async def wait(self) -> None:
        if self._is_up:
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiting = (*(other for other in self._waiting if not other.done()), waiter)
        await waiter
