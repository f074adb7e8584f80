"""How the other servers of the board know this one and reach it, from its start to its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

from door.call.flag import Flag
from door.call.process import process_is_gone
from door.clock import sleep
from door.errors import CannotListen, LibraryMissing
from door.lines import link
from door.lines.link import LinkListener
from door.servers import bus
from timebank.errors import BooksFailed
from timebank.servers import registry
from timebank.servers.registry import LIVING_SECONDS, Newcomer, ServerRecord

if TYPE_CHECKING:
    from door.call.board import Board
    from door.lines.link import OnCall
    from door.lines.port.listener import Listener
    from timebank.ledger.database import Desk

PROGRAM = "blackjack-for-time"
# Two renewals may fail before anybody thinks that this server is dead.
RENEW_SECONDS = LIVING_SECONDS / 3

log = logging.getLogger("door.servers")


class Presence:
    def __init__(self, board: Board, on_call: OnCall) -> None:
        """`on_call` serves whoever comes through a link."""
        self._board = board
        self._on_call = on_call
        self._link = ""  # where others reach us
        self._certificate = ""
        self._look = Flag()
        self._jobs: list[asyncio.Task[None]] = []
        self.listeners: list[Listener] = []

    async def begin(self) -> None:
        """Open what others reach this server by, and enter it; raises `CannotListen`."""
        board = self._board
        await self._open_own_socket()
        await self._open_link()
        await board.books.run(self._enter)
        await board.peers.look()
        board.bus.subscribe(bus.SERVERS, lambda facts: self._look.set())
        board.bus.on_gap(self._look.set)
        await board.bus.start()
        board.bus.publish(bus.SERVERS)
        self._jobs = [asyncio.create_task(self._keep()), asyncio.create_task(self._look_around())]

    async def end(self) -> None:
        """Take this server out: nobody is to wait for it. Its listeners are closed elsewhere."""
        for job in self._jobs:
            job.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)
        if self._board.server_id:
            with contextlib.suppress(BooksFailed):
                await self._board.books.run(
                    partial(registry.leave, server_id=self._board.server_id)
                )
            self._board.bus.publish(bus.SERVERS)
        await self._board.bus.stop()

    async def tell(self) -> None:
        """Let the others know that something of the row has changed: we drain, say."""
        with contextlib.suppress(BooksFailed):
            await self._renew()
            self._board.bus.publish(bus.SERVERS)

    async def _open_own_socket(self) -> None:
        """Be reached from this machine; where that cannot be, the socket for anybody has to do."""
        folder = self._board.config.board.data
        link.clear_away(folder)
        own = LinkListener(self._on_call)
        try:
            await own.open_in(folder, link.own_name(self._board.process))
        except OSError as error:
            log.warning("other servers of this machine do not reach this one: %s", error)
        else:
            self.listeners.append(own)

    async def _open_link(self) -> None:
        """Be reached from other machines, if the settings say where."""
        board, where = self._board, self._board.config.server.link
        if where is None:
            return
        # TLS between servers is for boards of several machines.
        from door.lines.tls.pinned import Identity  # noqa: PLC0415
        from door.servers.link_port import LinkPort  # noqa: PLC0415

        try:
            identity = Identity(board.config.board.data)
            port = LinkPort(
                *(self._on_call, identity, board.peers.is_known, board.reception),
                now=board.clock.monotonic,
                version=version(PROGRAM),
            )
            await port.open(where.host, where.port)
        except (OSError, LibraryMissing) as error:
            raise CannotListen(
                f"The link at {where} cannot be opened: {error}. [server] in {board.config.path}"
                " says where it is."
            ) from error
        self.listeners.append(port)
        self._link = str(replace(where, port=port.port))
        self._certificate = identity.certificate
        board.peers.identify(identity)

    def _enter(self, desk: Desk) -> None:
        board = self._board
        row = registry.enter(
            desk,
            Newcomer(
                name=board.config.server.name or socket.gethostname(),
                process=board.process,
                settings="{}",
                version=version(PROGRAM),
                link=self._link,
                certificate=self._certificate,
            ),
            is_gone=process_is_gone,
        )
        board.peers.own_id = row.id

    async def _keep(self) -> None:
        """Renew the row as long as this server lives."""
        while True:
            await sleep(self._board.clock, RENEW_SECONDS)
            try:
                await self._renew()
            except BooksFailed as error:
                log.error("%s", error)

    async def _renew(self) -> None:
        board = self._board

        def renew(desk: Desk) -> list[ServerRecord]:
            if not registry.renew(desk, board.server_id, draining=board.draining):
                self._enter(desk)
            return registry.living(desk)

        before = board.server_id
        board.peers.adopt(await board.books.run(renew))
        if board.server_id != before:
            log.warning("the others thought this server dead; it is back")
            board.bus.publish(bus.SERVERS)

    async def _look_around(self) -> None:
        """Look who lives whenever somebody says that this has changed."""
        while True:
            await self._look.wait()
            self._look.clear()
            try:
                await self._board.peers.look()
            except BooksFailed as error:
                log.error("%s", error)
