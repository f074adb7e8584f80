"""A crowd that calls at once is accepted in parts, so that a caller's key waits for only a few."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket

import pytest

from door.errors import CallRefused
from door.lines.port.connection import OPEN, LineConnection
from door.lines.port.listener import Listener

CROWD = 40
MOST = 2  # callers accepted before a key has its turn


class Gate(Listener):
    """A gate that records callers and admits none."""

    def __init__(self) -> None:
        super().__init__(OPEN)
        self.came = 0

    def answer(self, address: str, visit: object) -> object:
        raise NotImplementedError

    def admit(self, address: str) -> tuple[LineConnection, object]:
        self.came += 1
        raise CallRefused("Not today.")


async def takes_turns() -> list[int]:
    """Press a key after each key that is served, while a crowd waits; return how many of it have
    come in by each."""
    gate = await Gate().open("127.0.0.1", 0)
    keys, pressed = os.pipe()
    times: list[int] = []
    done = asyncio.Event()

    def serve() -> None:
        os.read(keys, 1)
        times.append(gate.came)
        if gate.came == CROWD:
            done.set()
        else:
            os.write(pressed, b"k")

    with contextlib.ExitStack() as stack:
        stack.callback(os.close, keys)
        stack.callback(os.close, pressed)
        for _ in range(CROWD):  # the kernel has the calls, and the loop has not run yet
            stack.enter_context(socket.create_connection(("127.0.0.1", gate.port)))
        loop = asyncio.get_running_loop()
        loop.add_reader(keys, serve)
        os.write(pressed, b"k")
        await asyncio.wait_for(done.wait(), 60)
        loop.remove_reader(keys)
        gate.close()
    return times


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_between_two_keys_of_a_caller_few_are_taken_in(loop: str) -> None:
    kind = pytest.importorskip(loop, reason="there are no wheels of uvloop for this machine")
    with asyncio.Runner(loop_factory=kind.new_event_loop) as runner:
        times = runner.run(takes_turns())
    came = [after - before for before, after in zip([0, *times], times, strict=False)]
    assert sum(came) == CROWD
    assert max(came) <= MOST
