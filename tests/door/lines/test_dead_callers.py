"""Callers who do not read, and callers who are gone, hold nothing of the board's."""

import asyncio
import gc
import socket
import struct
import weakref
from collections.abc import Iterator
from dataclasses import replace

import pytest

from door.errors import Hangup
from door.lines.telnet.telnet import USUAL_LIMITS, NegotiatingTelnet
from tests.door.lines.board import (
    MEMORY,
    NO_BUDGET,
    PATIENCE,
    Board,
    connected,
    connected_unread,
    open_board,
    plugged,
    subnegotiation,
)
from tests.terminal import DO, IAC, MODERN, NAWS, REFUSING, SYNCTERM, TTYPE, WILL, Terminal

# Callers who do not read


async def test_a_caller_who_never_reads_is_cut_off(board: Board, warnings: list[str]) -> None:
    async with Terminal(REFUSING) as terminal:
        call = await connected_unread(terminal, board)
        written = 0
        while not call.ends and written < 10_000_000:
            call.line.write(b"x" * 1500)
            written += 1500
            await asyncio.sleep(0)
        assert (await call.until_ended()).endswith("bytes left unread")
        assert written < MEMORY
        assert len(warnings) == 1
        with pytest.raises(Hangup):
            await call.line.drain(PATIENCE)


async def test_one_write_may_not_exceed_the_unread_limit(board: Board) -> None:
    async with Terminal(REFUSING) as terminal:
        call = await connected_unread(terminal, board)
        call.line.write(b"x" * 1_000_000)
        assert (await call.until_ended()).endswith("bytes left unread")


@pytest.mark.long
async def test_a_slow_reader_is_not_cut_off_while_drain_is_in_time(board: Board) -> None:
    async with Terminal(REFUSING) as terminal:
        call = await connected(terminal, board)
        for _ in range(10):
            call.line.write(b"x" * 100_000)
            await call.line.drain(PATIENCE)
        await terminal.wait_for(lambda terminal: len(terminal.received) > 1_000_000, "it all")


async def test_a_drain_that_takes_too_long_cuts_the_caller_off(board: Board) -> None:
    async with Terminal(REFUSING) as terminal:
        call = await connected_unread(terminal, board)
        call.line.write(b"x" * 200_000)
        with pytest.raises(Hangup, match=r"nothing read for 0\.05 seconds"):
            await call.line.drain(0.05)
        await call.until_ended()


async def test_unread_answers_are_bounded_too() -> None:
    async with plugged(NO_BUDGET) as wire:
        asked = 0
        while not wire.call.ends and asked < 10_000_000:
            wire.telnet.take(bytes((IAC, DO, 99)) * 1365)
            asked += 4095
            await asyncio.sleep(0)
        assert (await wire.call.until_ended()).endswith("bytes left unread")
        assert asked < MEMORY


async def test_last_words_wait_no_longer_than_they_may() -> None:
    limits = replace(USUAL_LIMITS, farewell=0.1)
    async with open_board(limits) as board, Terminal(REFUSING) as terminal:
        call = await connected_unread(terminal, board)
        call.line.write(b"x" * 200_000)
        call.line.hang_up()
        async with asyncio.timeout(PATIENCE):
            await board.listener.finish()


async def test_a_caller_who_half_closes_and_never_reads_is_dropped() -> None:
    limits = replace(USUAL_LIMITS, farewell=0.1)
    async with open_board(limits) as board, Terminal(REFUSING) as terminal:
        call = await connected_unread(terminal, board)
        call.line.write(b"x" * 200_000)
        terminal.hang_up_half()
        await call.until_ended()
        async with asyncio.timeout(PATIENCE):
            await board.listener.finish()


# Callers who are gone


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Switch off the collector: an object is freed at once or leaks."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
async def test_a_reset_in_the_middle_of_anything_leaves_nothing(warnings: list[str]) -> None:
    opening = (
        bytes((IAC, WILL, TTYPE, IAC, DO, 1))
        + subnegotiation(TTYPE, b"\0xterm")
        + subnegotiation(NAWS, b"\0\x50\0\x18")
        + b"key"
    )
    gone: list[weakref.ref[NegotiatingTelnet]] = []

    class Watched(NegotiatingTelnet):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            gone.append(weakref.ref(self))
            super().connection_made(transport)

    served: list[object] = []
    ended: asyncio.Queue[None] = asyncio.Queue()
    server = await asyncio.get_running_loop().create_server(
        lambda: Watched(USUAL_LIMITS, served.append, lambda: ended.put_nowait(None), "192.0.2.1"),
        "127.0.0.1",
        0,
    )
    address = server.sockets[0].getsockname()
    for cut in range(len(opening) + 1):
        with socket.create_connection(address) as wire:
            wire.send(opening[:cut])
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        async with asyncio.timeout(PATIENCE):
            await ended.get()
    server.close()
    await asyncio.sleep(0)
    assert len(gone) == len(opening) + 1
    assert [reference for reference in gone if reference() is not None] == []
    assert (served, warnings) == ([], [])


async def test_writing_to_a_broken_connection_logs_no_warning(
    warnings: list[str],
) -> None:
    """asyncio finds out at the first write, says so at the next step, and warns of all between."""
    async with plugged(USUAL_LIMITS) as wire:
        wire.far_end.close()
        for _ in range(20):
            wire.call.line.write(b"x")
        await wire.call.until_ended()
    async with plugged(USUAL_LIMITS) as wire:
        wire.far_end.close()
        wire.telnet.take(bytes((IAC, DO, 99)) * 20)
        await wire.call.until_ended()
    assert warnings == []


async def test_an_unnoticed_reset_does_not_disturb_a_hang_up(
    board: Board, warnings: list[str]
) -> None:
    wire = socket.create_connection(("127.0.0.1", board.port))
    call = await board.answered()
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()
    call.line.hang_up()
    assert await call.until_ended() == "the board hung up"
    assert warnings == []


async def test_a_call_that_is_over_is_forgotten(board: Board) -> None:
    references = []
    for profile in (SYNCTERM, MODERN, REFUSING):
        terminal = Terminal(profile)
        call = await connected(terminal, board)
        references.append(weakref.ref(call.line))
        await terminal.close()
        await call.until_ended()
        call.over.set()
        del call
    await board.listener.finish()
    gc.collect()
    assert [reference() for reference in references] == [None, None, None]
    assert not [each for each in gc.get_objects() if isinstance(each, NegotiatingTelnet)]
