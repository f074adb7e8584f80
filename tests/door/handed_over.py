"""Guests handed over by a door: callers of another board, on lines without a wire."""

from __future__ import annotations

from typing import Any

from ansi.charset import Charset
from door.call.console import Console
from door.call.guest import Guest
from door.call.guest_caller import HostCaller
from door.call.screen import Look, Paint
from door.config.boards import unlisted
from tests.door.wall import ObservedWall
from tests.world import World
from timebank.calls.arrival import host_caller

LINES = Look(Charset.ASCII, Paint.LINES)


def a_guest(here: World, **facts: Any) -> Guest:
    return Guest(
        **{
            "board": unlisted("Xibalba"),
            "key": "number 42",
            "name": "Moth",
            "node": 1,
            "arrived": here.clock.monotonic(),
            "seconds": 600,
            "until": None,
            "way": None,
            "look": LINES,
            **facts,
        }
    )


async def comes_in(here: World, **facts: Any) -> HostCaller:
    board = here.server.board
    guest = a_guest(here, **facts)
    record = await board.books.run(
        lambda desk: host_caller(desk, guest.board.name, guest.key, guest.name)
    )
    console = Console(ObservedWall(), LINES, here.clock)
    return await board.open_guest_call(console, record, guest, take_over=False)
