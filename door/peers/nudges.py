"""Hears that another server has written what this one should look at soon.

A transaction that writes such a row sends a notification without content (`Desk.nudge`). A forged
one only has servers look at the books, at most every `LOOK_SECONDS`. A notification that is lost
costs some seconds: servers look by themselves.
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

LOOK_SECONDS = 0.2  # between two looks at the most
BEAT_SECONDS = 5.0  # of silence, after which the server is asked whether it is there
ANSWER_SECONDS = 5.0  # that the server may take to answer
CONNECT_SECONDS = 10.0
AGAIN_SECONDS = 2.0  # until it is tried again to reach the server

log = logging.getLogger("door.peers")


async def listen(server: ServerPlace, look: Callable[[], None]) -> None:
    """Call `look` after each notification and each new connection, until cancelled."""
    is_told = False
    while True:
        try:
            async with _connected(server) as connection:
                if is_told:
                    log.warning("what other servers write is heard of at once again")
                is_told = False
                await _serve(connection, look)
        except Exception as error:  # of whatever library: there is no reason to hear no more
            log.info("no notifications arrive through %s: %s", server, error)
            if not is_told:
                is_told = True
                log.warning(
                    "no notifications arrive through %s (%s): what other servers write is seen"
                    " some seconds later",
                    *(server, failures.sentence(error) or "it does not answer"),
                )
        await asyncio.sleep(AGAIN_SECONDS)


@asynccontextmanager
async def _connected(server: ServerPlace) -> AsyncIterator[AsyncConnection[Any]]:
    # They take long to load, and a board with its books in a file does without.
    from psycopg import AsyncConnection  # noqa: PLC0415

    from timebank.ledger.postgres.database import reached_by  # noqa: PLC0415
    from timebank.ledger.postgres.dialect import CHANNEL  # noqa: PLC0415

    async with asyncio.timeout(CONNECT_SECONDS):
        connection = await AsyncConnection.connect(**reached_by(server), autocommit=True)
    try:
        connection.prepare_threshold = None
        async with asyncio.timeout(ANSWER_SECONDS):
            await connection.execute(f"LISTEN {CHANNEL}")
        yield connection
    finally:
        await connection.close()


async def _serve(connection: AsyncConnection[Any], look: Callable[[], None]) -> None:
    heard = asyncio.Event()
    connection.add_notify_handler(lambda notification: heard.set())  # beside an answer
    look()  # at what was written while nobody listened
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if not heard.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(BEAT_SECONDS):
                    await _until_notified(connection, heard)
        if heard.is_set():
            heard.clear()
            look()
            continue
        async with asyncio.timeout(ANSWER_SECONDS):
            await connection.execute("SELECT 1")


async def _until_notified(connection: AsyncConnection[Any], heard: asyncio.Event) -> None:
    """Wait for a notification, and take all that have come."""
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connection.fileno(), arrived.set)
    try:
        while not heard.is_set():
            connection.pgconn.consume_input()
            while connection.pgconn.notifies() is not None:
                heard.set()
            if not heard.is_set():
                await arrived.wait()
                arrived.clear()
    finally:
        loop.remove_reader(connection.fileno())
