"""A real `door serve` that has no descriptor left for one caller more."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.door.processes import MENU, NEWS, Served, open_a_hand, served, sit_down, stand
from tests.terminal import SYNCTERM, Terminal
from tests.world import log_on

pytestmark = pytest.mark.long

ROOM = 6  # descriptors that are left when the limit is set
FULL, AGAIN = "no caller can be taken in", "callers are taken in again"


@contextmanager
def few_descriptors(board: Served) -> Iterator[None]:
    """The server may open a few descriptors more than it has open, as under `ulimit -n`."""
    pid = board.process.pid
    soft, most = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir(f"/proc/{pid}/fd")))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (highest + 1 + ROOM, most))
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):  # a server may end during this
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, most))


async def fill(board: Served) -> list[Terminal]:
    """Call until the board is full; the kernel holds the remaining calls."""
    crowd = [await board.call(SYNCTERM) for _ in range(2 * ROOM)]
    await board.logs(FULL)
    return crowd


async def test_the_first_log_on_of_all_needs_no_descriptor_but_its_line(tmp_path: Path) -> None:
    async with served(tmp_path) as board:
        board.enter("Bob")
        with few_descriptors(board):
            bob = await board.call(SYNCTERM)
            await bob.until("Name:")
            await fill(board)
            await log_on(bob, "Bob")
            await bob.wait_for(lambda it: it.shows(NEWS) or it.shows(MENU), "a menu")


async def test_without_free_descriptors_calls_go_on_and_new_callers_wait(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as board:
        board.enter("Ada")
        board.enter("Bob")
        ada = await sit_down(board, "Ada")
        await open_a_hand(ada)
        with few_descriptors(board):
            bob = await board.call(SYNCTERM)
            await bob.until("Name:")
            crowd = await fill(board)
            await stand(ada)  # the hand that lay there, and another one
            await open_a_hand(ada)
            await stand(ada)
            await log_on(bob, "Bob")  # Bob has a line and needs nothing else
            await bob.wait_for(lambda it: it.shows(NEWS) or it.shows(MENU), "a menu")
            *early, last = crowd
            assert not last.wire  # it waits, and its line is open
            assert not last.closed
            for terminal in early:
                await terminal.close()
            await last.until("Name:")
            await board.logs(AGAIN)
            lines = [line for line in board.said if FULL in line]
            assert len(lines) == 1, lines  # however often it was tried
