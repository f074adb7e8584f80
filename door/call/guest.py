"""A caller of another board, and what was agreed with it; where they come from does not matter."""

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
    """Write minutes into a file of the host's by this process; see `giving.give`."""
    return await asyncio.get_running_loop().run_in_executor(None, give, way, minutes)


@dataclass(frozen=True)
class Guest:
    """A caller of another board.

    `key` is what their board knows them by ("number 42", "key ...", "name:..."), `node` where they
    are there. `seconds` is what is left of their time by the host's clock at the monotonic instant
    `arrived`, None where no clock of the host counts it; `until` (aware) is when its next event
    begins or it must have them back. `way` is how whole minutes can go back to it, `look` how to
    speak to their terminal: None where nobody said. `formerly` is the board under which callers of
    this one were entered before its drop files were understood, None for none. `by_door` is set
    where the process of a door has handed them over: their node is the one they are on there.
    A guest who `went_on` was in the middle of a call at a server that has ended.
    `give` writes minutes into a file of the host's, or raises `NotGiven`.
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
    went_on: bool = False
    give: Callable[[GiveBack, int], Awaitable[Path]] = give_here

    @property
    def takes_gains(self) -> str | None:
        """How gains are given back, in the words of sysop.toml; None for not at all."""
        if self.board.give_back == THEBANK_EXT:
            return THEBANK_EXT
        return None if self.way is None else self.way.way.value

    @property
    def shows_losses(self) -> bool:
        """Whether a loss can be taken off the host's clock, by the same way as a gain is added."""
        return self.way is not None and self.way.way is Way.EXITINFO
