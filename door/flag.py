"""A small `asyncio.Event`, because each caller needs three.

An `asyncio.Event` holds a queue of 760 bytes for waiting tasks, even if none waits.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Flag:
    """A flag that is down at first. Raising it wakes all waiting tasks."""

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
        """Lower the flag. Tasks that it has woken still continue."""
        self._is_up = False

    async def wait(self) -> None:
        if self._is_up:
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiting = (*(other for other in self._waiting if not other.done()), waiter)
        await waiter
