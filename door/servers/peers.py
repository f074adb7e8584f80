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
    def __init__(self, rows: Callable[[], Awaitable[Sequence[Peer]]]) -> None:
        """`rows` looks the living servers up in the books."""
        self._rows = rows
        self.own_id = 0  # of this server's row, once there is one
        self._known: dict[int, Peer] = {}

    async def look(self) -> None:
        """Look up which servers live; raises what the books raise."""
        self.adopt(await self._rows())

    def adopt(self, living: Sequence[Peer]) -> None:
        """Go by what was just looked up.

        This one lives whatever is there: alone with books in a file it does not say so.
        """
        own = self._known.get(self.own_id)
        self._known = {peer.id: peer for peer in living}
        if own is not None:
            self._known.setdefault(own.id, own)

    @property
    def living(self) -> list[Peer]:
        """All servers, this one too if it has a row, as they were when it was last looked."""
        return list(self._known.values())

    @property
    def others(self) -> list[Peer]:
        return [peer for peer in self.living if peer.id != self.own_id]

    def name_of(self, server_id: int) -> str:
        known = self._known.get(server_id)
        return str(server_id) if known is None else known.name
