"""What all callers of one process have together at a board."""

from __future__ import annotations


class Shared:
    """Something of a game or of the menu, made when the board opens."""

    async def resume(self) -> None:
        """Take up what an earlier server left, before the first caller of this one."""

    async def look_after(self, *, leads: bool) -> None:
        """Do what is due every few seconds; `leads` is true at one of several servers."""

    async def stop(self) -> None:
        """Begin nothing more: the board closes, and callers are told next."""

    async def close(self) -> None:
        """Let go of everything: no caller is left."""
