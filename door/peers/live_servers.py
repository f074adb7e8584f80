"""The live servers of the board, by their rows in the books."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol


class Peer(Protocol):
    """A live server's row in the books."""

    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def draining(self) -> bool: ...


class Peers:
    def __init__(self, rows: Callable[[], Awaitable[Sequence[Peer]]], name: str) -> None:
        """`rows` reads the live servers from the books; `name` is this server's name."""
        self._rows = rows
        self.own_id = 0  # of this server's row; 0 for books in a file
        self.own_name = name  # with a number behind it if another server has the same name
        self.others: list[Peer] = []  # at the last look

    async def look(self) -> None:
        """Read the live servers from the books, and raise the errors of the books."""
        self.adopt(await self._rows())

    def adopt(self, living: Sequence[Peer]) -> None:
        """Keep the other servers among these rows."""
        self.others = [peer for peer in living if peer.id != self.own_id]
