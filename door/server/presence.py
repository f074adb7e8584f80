"""How the other servers of the board know this one and reach it, from its start to its end.

Its row has the settings that must be equal on all servers. A server whose settings differ does not
start. A server that reads its file again goes by the new settings at once, and names those that
still differ in its log.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from door.clock import sleep
from door.errors import CannotJoin, CannotListen, LibraryMissing
from door.lines import link
from door.lines.link import LinkListener
from door.server.server_file import version
from door.servers import agreement
from timebank.errors import BooksFailed
from timebank.servers import registry
from timebank.servers.registry import LIVING_SECONDS, Newcomer, ServerRecord

if TYPE_CHECKING:
    from door.call.board import Board
    from door.lines.link import OnCall
    from door.lines.port.listener import Listener
    from door.servers.agreement import Terms
    from timebank.ledger.database import Desk

# Two renewals may fail before anybody thinks that this server is dead.
RENEW_SECONDS = LIVING_SECONDS / 3

log = logging.getLogger("door.servers")


class _Among(NamedTuple):
    """A server's row, and why it cannot serve beside those that live."""

    row: ServerRecord
    against: list[str]


class Presence:
    def __init__(self, board: Board, on_call: OnCall, has_ended: Callable[[str], bool]) -> None:
        """`on_call` serves whoever comes through a link; `has_ended` is said of a process."""
        self._board = board
        self._on_call = on_call
        self._has_ended = has_ended
        self._link = ""  # where others reach us
        self._certificate = ""
        self._job: asyncio.Task[None] | None = None
        self._port: Listener | None = None  # for other machines
        self.listeners: list[Listener] = []

    async def begin(self) -> None:
        """Open what others reach this server by, and enter it.

        Raises `CannotListen` and `CannotJoin`.
        """
        board = self._board
        await self._open_own_socket()
        await self._open_link()
        await self._join()
        await board.peers.look()
        self._job = asyncio.create_task(self._keep())

    async def end(self) -> None:
        """Take this server out: nobody is to wait for it. Its listeners are closed elsewhere."""
        if self._job is not None:
            self._job.cancel()
            await asyncio.gather(self._job, return_exceptions=True)
        if self._board.server_id:
            with contextlib.suppress(BooksFailed):
                await self._board.books.run(
                    partial(registry.leave, server_id=self._board.server_id)
                )

    async def tell(self) -> None:
        """Let the others know that something of the row has changed: we drain, say."""
        with contextlib.suppress(BooksFailed):
            await self._renew()

    def leave_link(self) -> None:
        """Let another server of this machine be reached from others at the place of this one."""
        if self._port is not None:
            self._port.close()

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
                *(self._on_call, identity, board.peers, board.reception),
                now=board.clock.monotonic,
                version=version(),
            )
            await port.open(where.host, where.port)
        except (OSError, LibraryMissing) as error:
            raise CannotListen(
                f"The link at {where} cannot be opened: {error}. [server] in {board.config.path}"
                " says where it is."
            ) from error
        self._port = port
        self.listeners.append(port)
        self._link = str(replace(where, port=port.port))
        self._certificate = identity.certificate
        board.peers.identify(identity)

    async def _join(self) -> None:
        """Enter this server, if the others are like it; raises `CannotJoin`."""
        board = self._board
        among = await board.books.run(self._enter)
        if among.against:
            await board.books.run(partial(registry.leave, server_id=among.row.id))
            raise CannotJoin(f"{' '.join(among.against)} See {board.config.path}.")
        board.peers.own_id = among.row.id

    def _enter(self, desk: Desk) -> _Among:
        board, own = self._board, self._own_terms()
        newcomer = Newcomer(
            name=board.config.server.name or socket.gethostname(),
            process=board.process,
            settings=agreement.encode(own),
            version=version(),
            link=self._link,
            certificate=self._certificate,
        )
        row = registry.enter(desk, newcomer, is_gone=self._has_ended)
        others = [each for each in registry.living(desk) if each.id != row.id]
        return _Among(row, list(agreement.objections(row.version, own, others)))

    def _own_terms(self) -> Terms:
        return agreement.terms_of(self._board.config)

    async def _keep(self) -> None:
        """Renew the row as long as this server lives."""
        while True:
            await sleep(self._board.clock, RENEW_SECONDS)
            await self._guarded(self._renew)

    async def _renew(self) -> None:
        board = self._board

        def renew(desk: Desk) -> tuple[_Among | None, list[ServerRecord]]:
            is_there = registry.renew(desk, board.server_id, draining=board.draining)
            return None if is_there else self._enter(desk), registry.living(desk)

        back, living = await board.books.run(renew)
        if back is not None:
            board.peers.own_id = back.row.id
            log.warning("the others thought this server dead; it is back")
            _warn(back.against)
        board.peers.adopt(living)

    @staticmethod
    async def _guarded(work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except BooksFailed as error:
            log.error("%s", error)

    # Settings.

    async def tell_settings(self) -> None:
        """Write the new settings into this server's row, and warn of servers that differ."""
        while True:
            try:
                _warn(await self._board.books.run(self._change_settings))
            except BooksFailed as error:
                log.error("%s", error)
                await sleep(self._board.clock, RENEW_SECONDS)
            else:
                return

    def _change_settings(self, desk: Desk) -> list[str]:
        own, number = self._own_terms(), self._board.server_id
        registry.change_settings(desk, number, agreement.encode(own))
        others = [row for row in registry.living(desk) if row.id != number]
        return list(agreement.objections(version(), own, others))


def _warn(objections: Iterable[str]) -> None:
    for words in objections:
        log.warning("%s Make the files alike, and have each server read its own.", words)
