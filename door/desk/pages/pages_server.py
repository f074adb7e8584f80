"""`door pages`: the process that shows the books, by uvicorn."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import uvicorn

from door.clock import SystemClock
from door.config.pages import open_to_all
from door.defence.front_ends import known_networks
from door.desk.pages.app import Pages
from door.desk.pages.connections import PagesPort
from door.desk.pages.queries import Reading
from door.errors import CannotListen, CertificateRefused
from door.lines.rlogin.trust import networks
from door.lines.tls.tls import Certificate
from timebank.ledger.engines import books_of

if TYPE_CHECKING:
    import socket

    from door.config.config import Config

IDLE_SECONDS = 5
LOOPBACK = networks(["127.0.0.0/8", "::1"])  # where a front end on this machine is
LONGEST_HEAD = 16_384  # bytes
NICE = 5  # steps by which it is less urgent than the board, as who thinks for the tutor


def check_place(host: str, certificate: Path | None, key: Path | None) -> None:
    """Raise `CannotListen` where passwords would go over a network for all to read."""
    if problem := open_to_all(host, certificate, key):
        where, why = problem
        raise CannotListen(f"--{where} {why}.")


def serve(
    config: Config,
    host: str,
    port: int,
    certificate: Path | None,
    key: Path | None,
    announce: Callable[[str], None],
    pipe: int | None = None,
) -> None:
    """Show the books until SIGTERM or SIGINT, or until nobody has the other end of `pipe`.

    Raises `CannotListen`, and as opening the books.
    """
    check_place(host, certificate, key)

    def tell(where: str) -> None:
        announce(f"The books are shown at {where}")
        if pipe is None:
            announce("Log on with your name and password on the board. Stop with Ctrl-C.")

    _go_behind_callers()
    with contextlib.closing(books_of(config.bank)) as database:
        database.open_existing()
        clock = SystemClock()
        pages = Pages(Reading(config, database, clock), clock, is_safe=certificate is not None)
        server = _HttpServer(
            uvicorn.Config(
                pages.app(),
                ws="none",
                lifespan="off",
                proxy_headers=False,
                server_header=False,
                date_header=True,
                access_log=False,
                log_config=None,
                timeout_keep_alive=IDLE_SECONDS,
                h11_max_incomplete_event_size=LONGEST_HEAD,
            )
        )
        if pipe is not None:
            Thread(target=_end_with, args=(pipe, server), daemon=True).start()
        try:
            contexts = _contexts(certificate, key)
            asyncio.run(_serve(config, pages, server, (host, port), contexts, tell))
        finally:
            pages.close()


class _HttpServer(uvicorn.Server):
    """Answers connections that a port of the board takes in; it has no sockets of its own."""

    entrance: PagesPort

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.entrance.close()
        await super().shutdown(sockets)


async def _serve(
    config: Config,
    pages: Pages,
    server: _HttpServer,
    place: tuple[str, int],
    certificate: Certificate | None,
    tell: Callable[[str], None],
) -> None:
    host, port = place
    tries = pages.access.tries
    await tries.learn()
    front_ends = (*LOOPBACK, *known_networks(config))
    who = (front_ends, tries.reception.is_blocked, tries.reception.callers_live_at)
    entrance = PagesPort(server, SystemClock(), certificate, *who)
    try:
        await entrance.open(host, port)
    except OSError as error:
        words = f"Port {port} on {host} cannot be opened ({error.strerror or error})."
        raise CannotListen(words) from error
    scheme = "http" if certificate is None else "https"
    tell(f"{scheme}://{_written(host)}:{entrance.port}/")
    server.entrance = entrance
    await server.serve(sockets=[])
    await entrance.finish(0)


def _contexts(certificate: Path | None, key: Path | None) -> Certificate | None:
    if certificate is None or key is None:
        return None
    try:
        return Certificate(certificate, key)
    except CertificateRefused as refused:
        raise CannotListen(str(refused)) from refused


def _go_behind_callers() -> None:
    """Take what the board leaves of the processor: a report may take minutes, a key may not."""
    with contextlib.suppress(OSError):
        os.nice(NICE)
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))  # whatever the board has


def _end_with(pipe: int, server: uvicorn.Server) -> None:
    """Wait until nobody has the other end of a pipe, and end the pages then."""
    while os.read(pipe, 64):
        continue
    server.should_exit = True


def _written(host: str) -> str:
    return f"[{host}]" if ":" in host else host
