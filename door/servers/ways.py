"""By which ways a process hears from the others: by what its books are in, and what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door.servers import datagrams
from door.servers.datagrams import Datagrams

if TYPE_CHECKING:
    from door.config.config import Config
    from door.servers.bus import MessageWay


def ways_of(config: Config, process: str, *, is_server: bool) -> list[MessageWay]:
    """Give the ways of a process that calls itself so in the books.

    A door process, which serves one caller, never asks the database for messages: servers of its
    machine pass them on.
    """
    folder, database = config.board.data, config.bank.server
    if not is_server:
        return [Datagrams(folder, process, datagrams.DOORS, datagrams.ALL)]
    if database is None:
        return [Datagrams(folder, process, datagrams.SERVERS, datagrams.ALL)]
    from door.servers.notifications import Notifications  # noqa: PLC0415 - for books on a server

    return [
        Notifications(database, process),
        Datagrams(folder, process, datagrams.SERVERS, datagrams.DOORS),
    ]
