"""A caller of another board and the agreement with it, whether they come by door or by rlogin."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from door.config.boards import HostBoard
from door.dropfiles.give_back import give
from door.dropfiles.interpretation import GiveBack, Way

if TYPE_CHECKING:
    from door.call.screen import Look

THEBANK_EXT = "thebank.ext"


async def give_here(way: GiveBack, minutes: int) -> Path:
    """Write minutes into a file of the host in this process; see `give_back.give`."""
    return await asyncio.get_running_loop().run_in_executor(None, give, way, minutes)


@dataclass(frozen=True)
class Guest:
    """A caller of another board.

    `key` identifies them on their board ("number 42", "key ...", "name:..."), and `node` is their
    node there. `seconds` of their time are left by the host's clock at the monotonic instant
    `arrived`, None if the host does not count it. `until` (aware) is when the host's next event
    begins or it must have them back. `way` is how whole minutes can go back to the host, and `look`
    the look of their terminal; each is None if unknown. `formerly` is the board that earlier
    releases entered callers of this one under, else None. `by_door` is set if a door's process has
    handed them over: they stay on their node there. If `is_continued`, the call began at a server
    that has ended. `give` writes minutes into a file of the host, or raises `NotGivenBack`.
    """

    board: HostBoard
    key: str
    name: str
    node: int | None
    arrived: float
    seconds: int | None
    until: datetime | None
    way: GiveBack | None
    look: Look | None
    formerly: str | None = None
    by_door: bool = False
    is_continued: bool = False
    give: Callable[[GiveBack, int], Awaitable[Path]] = give_here

    @property
    def takes_gains(self) -> str | None:
        """How gains are given back, in the words of sysop.toml; None if they are not."""
        if self.board.give_back == THEBANK_EXT:
            return THEBANK_EXT
        return None if self.way is None else self.way.way.value

    @property
    def shows_losses(self) -> bool:
        """Whether a loss can be taken off the host's clock, as a gain is added to it."""
        return self.way is not None and self.way.way is Way.EXITINFO
