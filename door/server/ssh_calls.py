"""Callers by SSH: the key of the board, and whose the keys of callers are."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from door.lines.ssh.host_key import host_key
from door.lines.ssh.ssh import USUAL_LIMITS, SshListener
from timebank.callers import ssh_keys
from timebank.errors import BooksFailed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from door.call.board import Board
    from door.lines.line import Line
    from door.lines.port.connection import Entrance
    from door.lines.ssh.ssh_identity import Shown

log = logging.getLogger("door.ssh")


def listener(
    board: Board, answer: Callable[[Line, Shown], Awaitable[None]], entrance: Entrance
) -> SshListener:
    """Return what listens, with the key in the data folder, made there if there is none.

    Raises `HostKeyRefused`.
    """
    key = host_key(board.config.board.data)
    log.info("callers by SSH are shown the key %s", key.get_fingerprint())
    limits = replace(USUAL_LIMITS, admission=float(board.config.calls.logon_seconds))
    return SshListener(answer, partial(_knows, board), key, limits, entrance)


async def _knows(board: Board, name: str, key: bytes) -> bool:
    try:
        return await board.books.run(lambda desk: ssh_keys.owner(desk, name, key)) is not None
    except BooksFailed:
        return False  # a password is asked for, and then the caller is told
