"""Objects that all callers of one process share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self


class Shared:
    """An object of a game or of the menu, made when the board opens."""

    @classmethod
    def among(cls, shared: Mapping[str, Shared]) -> Self:
        """Return the object of this class among those that the callers of a board share."""
        return next(each for each in shared.values() if isinstance(each, cls))

    async def resume(self) -> None:
        """Take up what an earlier server left unfinished, before the first caller."""

    async def look_after(self, *, leads: bool) -> None:
        """Do periodic work, every few seconds; `leads` is True at one of several servers."""

    async def stop(self) -> None:
        """Begin nothing more, as the board closes. Callers are interrupted after this."""

    async def close(self) -> None:
        """Release all resources, after the last caller has left."""
