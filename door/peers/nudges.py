"""Notifications from PostgreSQL that another server has written to the books.

The transaction that writes sends an empty notification (`Desk.nudge`). A forged notification only
makes servers look at the books, at most once in `LOOK_SECONDS`. A lost notification costs some
seconds, because servers also look at intervals.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from timebank.ledger import failures

if TYPE_CHECKING:
    from psycopg import AsyncConnection

    from timebank.settings.place import ServerPlace

LOOK_SECONDS = 0.2  # the shortest time between two looks
BEAT_SECONDS = 5.0  # of silence before a query checks the connection
ANSWER_SECONDS = 5.0  # for PostgreSQL to answer
CONNECT_SECONDS = 10.0
RETRY_SECONDS = 2.0  # before the next attempt to connect

log = logging.getLogger("door.peers")


async def listen(server: ServerPlace, look: Callable[[], None]) -> None:
    """Call `look` after each notification and each new connection, until cancelled."""
    is_logged = False
    while True:
        try:
            async with _connected(server) as connection:
                if is_logged:
                    log.warning("notifications of other servers arrive again")
                is_logged = False
                await _serve(connection, look)
        except Exception as error:  # of any library: always connect again
            log.info("no notifications arrive through %s: %s", server, error)
            if not is_logged:
                is_logged = True
                log.warning(
                    "no notifications arrive through %s (%s): changes by other servers are"
                    " read some seconds late",
                    *(server, failures.sentence(error) or "it does not answer"),
                )
        await asyncio.sleep(RETRY_SECONDS)


@asynccontextmanager
async def _connected(server: ServerPlace) -> AsyncIterator[AsyncConnection[Any]]:
    # Slow to load, and not needed for books in a file.
    from psycopg import AsyncConnection  # noqa: PLC0415

    from timebank.ledger.postgres.database import connection_arguments  # noqa: PLC0415
    from timebank.ledger.postgres.dialect import CHANNEL  # noqa: PLC0415

    async with asyncio.timeout(CONNECT_SECONDS):
        connection = await AsyncConnection.connect(**connection_arguments(server), autocommit=True)
    try:
        connection.prepare_threshold = None
        async with asyncio.timeout(ANSWER_SECONDS):
            await connection.execute(f"LISTEN {CHANNEL}")
        yield connection
    finally:
        await connection.close()


async def _serve(connection: AsyncConnection[Any], look: Callable[[], None]) -> None:
    notified = asyncio.Event()
    connection.add_notify_handler(lambda notification: notified.set())  # runs during a query
    look()  # at rows written before this connection
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if not notified.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(BEAT_SECONDS):
                    await _until_notified(connection, notified)
        if notified.is_set():
            notified.clear()
            look()
            continue
        async with asyncio.timeout(ANSWER_SECONDS):
            await connection.execute("SELECT 1")


async def _until_notified(connection: AsyncConnection[Any], notified: asyncio.Event) -> None:
    """Wait for a notification, and drain all pending ones."""
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()
    number = connection.fileno()  # which a broken connection does not tell any more
    loop.add_reader(number, arrived.set)
    try:
        while not notified.is_set():
            connection.pgconn.consume_input()
            while connection.pgconn.notifies() is not None:
                notified.set()
            if not notified.is_set():
                await arrived.wait()
                arrived.clear()
    finally:
        loop.remove_reader(number)
