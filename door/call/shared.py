"""What all callers of one process have together at a board."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self


class Shared:
    """Something of a game or of the menu, made when the board opens."""

    @classmethod
    def among(cls, shared: Mapping[str, Shared]) -> Self:
        """Return the one of this class among what the callers of a board share."""
        return next(each for each in shared.values() if isinstance(each, cls))

    async def resume(self) -> None:
        """Take up what an earlier server left, before the first caller of this one."""

    async def look_after(self, *, leads: bool) -> None:
        """Do what is due every few seconds; `leads` is true at one of several servers."""

    async def stop(self) -> None:
        """Begin nothing more: the board closes, and callers are told next."""

    async def close(self) -> None:
        """Let go of everything: no caller is left."""
