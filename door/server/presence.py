"""This server's row in the books, by which the board's other servers know it.

Only books on a server have several servers. The row holds the settings that must be equal on all of
them. A server whose settings differ does not start. A server that reloads its file uses the new
settings at once, and logs those that differ from the other servers'.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from door.clock import sleep
from door.errors import CannotJoin
from door.peers import agreement
from door.server.server_note import version
from timebank.errors import BooksFailed
from timebank.servers import registry
from timebank.servers.registry import LIVING_SECONDS, Newcomer, ServerRecord

if TYPE_CHECKING:
    from door.call.board import Board
    from timebank.ledger.database import Desk

# Two renewals may fail before the other servers take this one for dead.
RENEW_SECONDS = LIVING_SECONDS / 3

log = logging.getLogger("door.peers")


class _Entered(NamedTuple):
    """A server's row, and the reasons why it cannot serve with the other servers."""

    row: ServerRecord
    against: list[str]


class Presence:
    def __init__(self, board: Board, has_ended: Callable[[str], bool]) -> None:
        """`has_ended` returns whether a process has ended."""
        self._board = board
        self._has_ended = has_ended
        self._job: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Enter this server; raise `CannotJoin` if its settings differ from the other servers'.

        Does nothing for books in a file, which have no other servers.
        """
        board = self._board
        if board.config.bank.server is None:
            return
        entered = await board.books.run(self._enter)
        if entered.against:
            await board.books.run(partial(registry.leave, server_id=entered.row.id))
            raise CannotJoin(f"{' '.join(entered.against)} See {board.config.path}.")
        board.peers.own_id, board.peers.own_name = entered.row.id, entered.row.name
        await board.peers.look()
        self._job = asyncio.create_task(self._keep())

    async def end(self) -> None:
        """Remove this server's row, so that no other server waits for it."""
        if self._job is not None:
            self._job.cancel()
            await asyncio.gather(self._job, return_exceptions=True)
        if self._board.server_id:
            with contextlib.suppress(BooksFailed):
                await self._board.books.run(
                    partial(registry.leave, server_id=self._board.server_id)
                )

    async def announce_drain(self) -> None:
        """Show the other servers that this server drains."""
        if self._board.server_id:
            with contextlib.suppress(BooksFailed):
                await self._renew()

    def _enter(self, desk: Desk) -> _Entered:
        board = self._board
        newcomer = Newcomer(
            name=board.config.server.name or socket.gethostname(),
            process=board.process,
            settings=agreement.encode(agreement.terms_of(board.config)),
            version=version(),
        )
        row = registry.enter(desk, newcomer, is_gone=self._has_ended)
        return _Entered(row, self._objections(desk, row.id))

    def _objections(self, desk: Desk, own_id: int) -> list[str]:
        others = [row for row in registry.living_servers(desk) if row.id != own_id]
        own = agreement.terms_of(self._board.config)
        return list(agreement.objections(version(), own, others))

    async def _keep(self) -> None:
        """Renew the row every `RENEW_SECONDS`, until cancelled."""
        while True:
            await sleep(self._board.clock, RENEW_SECONDS)
            try:
                await self._renew()
            except BooksFailed as error:
                log.error("%s", error)

    async def _renew(self) -> None:
        board = self._board

        def renew(desk: Desk) -> tuple[_Entered | None, list[ServerRecord]]:
            is_there = registry.renew(desk, board.server_id, draining=board.draining)
            return None if is_there else self._enter(desk), registry.living_servers(desk)

        back, living = await board.books.run(renew)
        if back is not None:
            board.peers.own_id, board.peers.own_name = back.row.id, back.row.name
            log.warning("the other servers took this server for dead; it has entered itself again")
            _warn(back.against)
        board.peers.adopt(living)

    async def update_settings(self) -> list[str]:
        """Write the new settings into this server's row; log and return which servers differ."""
        while self._board.server_id:
            try:
                return _warn(await self._board.books.run(self._change_settings))
            except BooksFailed as error:
                log.error("%s", error)
                await sleep(self._board.clock, RENEW_SECONDS)
        return []

    def _change_settings(self, desk: Desk) -> list[str]:
        number = self._board.server_id
        terms = agreement.terms_of(self._board.config)
        registry.change_settings(desk, number, agreement.encode(terms))
        return self._objections(desk, number)


def _warn(objections: Iterable[str]) -> list[str]:
    warnings = [f"{words} Make the files alike, and reload each server." for words in objections]
    for words in warnings:
        log.warning("%s", words)
    return warnings
