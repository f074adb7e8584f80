"""A door process on a terminal of its own, as hosts start one: signals, and what is left behind."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.door.lines.board import PATIENCE
from tests.door.lines.host import Door, Pty, started, terminal


@asynccontextmanager
async def door_on_terminal() -> AsyncIterator[tuple[Door, asyncio.StreamWriter, Pty]]:
    with terminal() as host:
        host.resize(100, 40)
        async with started("stdio", str(host.slave), descriptors=(host.slave,)) as (door, go_on):
            assert await door.until_reported("serves") == "100 40"
            await host.far.until_shown(b"Welcome.\r\n")
            yield door, go_on, host


async def posts(door: Door, go_on: asyncio.StreamWriter) -> None:
    go_on.write(b"\n")
    await door.until_reported("posted")


async def ends_in_order(door: Door, go_on: asyncio.StreamWriter, host: Pty) -> None:
    """The terminal must be as it was before the process is gone.

    Afterwards nobody could tell: a terminal whose session ends is set back by the kernel.
    """
    await door.until_reported("left")
    assert host.settings() == host.before
    go_on.write(b"\n")
    async with asyncio.timeout(PATIENCE):
        assert await door.process.wait() == 0


async def test_a_door_that_is_left_leaves_the_terminal_as_it_was() -> None:
    async with door_on_terminal() as (door, go_on, host):
        assert host.settings()[0] != host.before[0]
        host.far.types(b"q")
        assert await door.until_reported("typed") == b"q".hex()
        await posts(door, go_on)
        await ends_in_order(door, go_on, host)
        assert host.far.shown == b"Welcome.\r\n"


async def test_a_door_that_fails_leaves_the_terminal_as_it_was() -> None:
    async with door_on_terminal() as (door, go_on, host):
        host.far.types(b"!")
        assert await door.until_reported("failed") == "the door failed"
        await ends_in_order(door, go_on, host)


@pytest.mark.parametrize(
    ("number", "reason"),
    [(signal.SIGHUP, "the host hung up"), (signal.SIGTERM, "the host ended the door")],
)
async def test_a_signal_of_the_host_ends_the_line_and_nothing_else(
    number: int, reason: str
) -> None:
    async with door_on_terminal() as (door, go_on, host):
        door.signal(number)
        assert await door.until_reported("ended") == reason
        # The host's patience ends sooner than the door's work: its next signals change nothing.
        for again in (signal.SIGTERM, signal.SIGHUP, signal.SIGTERM):
            door.signal(again)
        await posts(door, go_on)
        await ends_in_order(door, go_on, host)
        assert [words for words in door.reports if words.startswith("ended")] == [f"ended {reason}"]


async def test_a_signal_ends_a_door_whose_output_nobody_reads() -> None:
    async with door_on_terminal() as (door, go_on, host):
        host.far.stop_reading()
        host.far.types(b"w")
        assert "left unread" in await door.until_reported("ended")
        door.signal(signal.SIGHUP)
        await posts(door, go_on)
        await ends_in_order(door, go_on, host)


async def test_a_terminal_that_is_closed_ends_the_line() -> None:
    async with door_on_terminal() as (door, go_on, host):
        host.hang_up()  # the kernel sends SIGHUP as well: whichever comes first
        await door.until_reported("ended")
        await posts(door, go_on)
        await door.until_reported("left")
        go_on.write(b"\n")
        async with asyncio.timeout(PATIENCE):
            assert await door.process.wait() == 0


async def test_a_new_size_of_the_terminal_reaches_the_door() -> None:
    async with door_on_terminal() as (door, _, host):
        host.resize(132, 50)
        assert await door.until_reported("sized") == "132 50"
        host.resize(20, 200)
        assert await door.until_reported("sized 40") == "60"


async def test_an_interrupt_is_a_key_like_any_other() -> None:
    async with door_on_terminal() as (door, go_on, host):
        for key in (b"\x03", b"\x1a", b"\x1c", b"\x11", b"\x13"):
            host.far.types(key)
            assert await door.until_reported("typed") == key.hex()
        host.far.types(b"q")
        await door.until_reported(f"typed {b'q'.hex()}")
        await posts(door, go_on)
        await ends_in_order(door, go_on, host)
