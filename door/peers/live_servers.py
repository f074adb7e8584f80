"""Which servers of the board live, by their rows in the books."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol


class Peer(Protocol):
    """A server that lives, as its row says."""

    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def draining(self) -> bool: ...


class Peers:
    def __init__(self, rows: Callable[[], Awaitable[Sequence[Peer]]], name: str) -> None:
        """`rows` looks the living servers up in the books; `name` is that of this one."""
        self._rows = rows
        self.own_id = 0  # of this server's row; with books in a file it has none
        self.own_name = name  # a number may follow it, where others have it too
        self.others: list[Peer] = []  # as they were when it was last looked

    async def look(self) -> None:
        """Look up which servers live; raises what the books raise."""
        self.adopt(await self._rows())

    def adopt(self, living: Sequence[Peer]) -> None:
        """Go by what was just looked up."""
        self.others = [peer for peer in living if peer.id != self.own_id]
