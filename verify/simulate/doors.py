"""A door: the process that serves one caller of another board, from their drop file on.

The program's own `door run` from where it has read its options: only the line is another.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from unittest import mock

from door.call.board import Board
from door.call.guest import Guest as HandedOver
from door.cli import run
from door.config.config import Config
from door.games.registry import GAMES
from door.lines.host.host import Introduction
from door.session.arrival import Asked, arrive, welcome
from timebank.guests import claims
from timebank.guests.claims import Claim
from timebank.ledger.database import Database, Desk
from timebank.settings.settings import BankSettings
from verify.simulate.hosts import Guest, Handed
from verify.simulate.life import Life, Machine, at_work
from verify.simulate.wire import Wire


class Door(Life):
    """A door process, and the caller that it serves."""

    def __init__(
        self,
        machine: Machine,
        config: Config,
        name: str,
        new_seed: Callable[[], bytes],
        guest: Guest,
        handed: Handed,
    ) -> None:
        super().__init__(machine, config, name, new_seed)
        self.guest, self.handed = guest, handed
        self.claims: list[Claim] = []  # that it has taken on to write, the last one to be believed
        self.lost: float | None = None  # when their carrier was
        self.wire: Wire
        self.task: asyncio.Task[int]

    def open(self, node: int, now: Any) -> None:
        """Start it; nothing of it runs before the loop turns."""
        arrived = self.machine.loop.time()
        asked = Asked(self.handed.file, self.guest.board, node)
        arrival = arrive(asked, self.config.boards, {}, now, arrived)
        chance, loop = self.machine.chance, self.machine.loop
        self.wire = Wire(self.guest.telephone, "", chance, loop, self.is_dead)
        self.wire.kind = "stdio"
        code = chance.choice(list(GAMES)) if chance.random() < 0.3 else None
        options = mock.Mock(door=code)
        with self.at_work():
            self.task = self.machine.loop.create_task(
                self._serve(options, arrival.introduction, arrival.guest)
            )

    async def _serve(self, options: Any, introduction: Introduction, guest: HandedOver) -> int:
        line = _opened(self.wire, introduction)
        return await run._serve(options, self.config, line, guest, welcome(guest))

    def wires(self) -> list[Wire]:
        return [self.wire]


@contextlib.contextmanager
def doors_live() -> Iterator[None]:
    """Let `door run` find the machine of the simulation around it."""
    with contextlib.ExitStack() as stack:
        for what, instead in {
            "door.cli.run.SystemClock": lambda: at_work().clock,
            "door.run.process.books_of": _books,
            "door.run.process.Board": _board,
            "door.run.process.new_seed": lambda: at_work().new_seed(),
            "door.call.guest_caller.bank_claim": _claim,
        }.items():
            stack.enter_context(mock.patch(what, instead))
        yield


@contextlib.asynccontextmanager
async def _opened(wire: Wire, introduction: Introduction) -> AsyncIterator[Wire]:
    wire.address, wire.hints = introduction.address, introduction.hints
    try:
        yield wire
    finally:
        wire.hang_up()


def _books(settings: BankSettings) -> Database:
    return at_work().open_books(settings.database)


def _board(*parts: Any, **more: Any) -> Board:
    life = at_work()
    life.board = Board(*parts, **more)
    return life.board


def _claim(desk: Desk, call_id: int) -> Claim | None:
    claimed = claims.claim(desk, call_id)
    life = at_work()
    if claimed is not None and isinstance(life, Door):
        life.claims.append(claimed)
    return claimed
