"""`door pages`: the process that shows the books, by uvicorn."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import uvicorn

from door.clock import SystemClock
from door.config.pages import open_to_all
from door.errors import CannotListen
from door.pages.app import Pages
from door.pages.reading import Reading
from timebank.ledger.engines import books_of

if TYPE_CHECKING:
    from door.config.config import Config

MOST_AT_ONCE = 64  # browsers' connections; more are told to come again
IDLE_SECONDS = 5
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
    _go_behind_callers()
    with (
        contextlib.closing(books_of(config.bank)) as database,
        contextlib.closing(_listening(host, port)) as wire,
    ):
        database.open_existing()
        clock = SystemClock()
        pages = Pages(
            Reading(config, database, clock),
            clock,
            is_safe=certificate is not None,
        )
        server = uvicorn.Server(
            uvicorn.Config(
                pages.app(),
                ssl_certfile=certificate,
                ssl_keyfile=key,
                http="h11",
                ws="none",
                lifespan="off",
                proxy_headers=False,
                server_header=False,
                date_header=True,
                access_log=False,
                log_config=None,
                limit_concurrency=MOST_AT_ONCE,
                timeout_keep_alive=IDLE_SECONDS,
                h11_max_incomplete_event_size=LONGEST_HEAD,
            )
        )
        announce(f"The books are shown at http{'s' * pages.is_safe}://{_written(host)}:{port}/")
        if pipe is None:
            announce("Log on with your name and password on the board. Stop with Ctrl-C.")
        else:
            Thread(target=_end_with, args=(pipe, server), daemon=True).start()
        try:
            server.run(sockets=[wire])
        finally:
            pages.close()


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


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        words = f"Port {port} on {host} cannot be opened ({error.strerror or error})."
        raise CannotListen(words) from error


def _written(host: str) -> str:
    return f"[{host}]" if ":" in host else host
