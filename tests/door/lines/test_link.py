"""The socket for commands: frames, however cut, and what breaks them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from door.errors import LinkBroken
from door.lines.link import (
    ENDED,
    HEADER,
    LARGEST,
    NAME,
    SHOWN,
    TYPED,
    Frames,
    LinkConnection,
    LinkListener,
    Said,
    dial,
    frame,
    read_told,
    told,
)
from tests.door.lines.board import PATIENCE, Call

HELLO = frame(HEADER, told({"wants": "visit"}))


class Doors:
    """A listener whose doors wait in `calls`."""

    def __init__(self) -> None:
        self.calls: asyncio.Queue[tuple[Call, LinkConnection, Said]] = asyncio.Queue()
        self.listener = LinkListener(self._serve)

    async def _serve(self, connection: LinkConnection, said: Said) -> None:
        call = Call(connection.line)
        connection.line.attach(call)
        self.calls.put_nowait((call, connection, said))
        await call.over.wait()

    async def answered(self) -> tuple[Call, LinkConnection, Said]:
        async with asyncio.timeout(PATIENCE):
            return await self.calls.get()


@asynccontextmanager
async def doors_in(folder: Path) -> AsyncIterator[Doors]:
    doors = Doors()
    await doors.listener.open_in(folder)
    try:
        yield doors
    finally:
        await doors.listener.finish(0)


async def until_end(reader: asyncio.StreamReader) -> list[tuple[bytes, bytes]]:
    async with asyncio.timeout(PATIENCE):
        return Frames().feed(await reader.read())


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
def test_frames_are_found_however_they_are_cut(step: int) -> None:
    sent = [(TYPED, b"a"), (HEADER, b"{}"), (TYPED, b""), (SHOWN, b"x" * 300)]
    stream = b"".join(frame(kind, content) for kind, content in sent)
    frames = Frames()
    pieces = (stream[start : start + step] for start in range(0, len(stream), step))
    assert [found for piece in pieces for found in frames.feed(piece)] == sent


def test_a_frame_that_is_too_large_is_refused_before_it_has_come() -> None:
    with pytest.raises(LinkBroken, match=f"{LARGEST + 1} bytes"):
        Frames().feed(frame(TYPED, b"x" * (LARGEST + 1))[:5])


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff"])
def test_what_is_no_object_is_no_header(content: bytes) -> None:
    with pytest.raises(LinkBroken):
        read_told(content)


async def test_a_header_and_keys_arrive_byte_by_byte(tmp_path: Path) -> None:
    async with doors_in(tmp_path) as doors:
        _, writer = await dial(tmp_path)
        for byte in HELLO:
            writer.write(bytes((byte,)))
            await asyncio.sleep(0)
        call, _, said = await doors.answered()
        assert said == {"wants": "visit"}
        for byte in frame(TYPED, b"ab") + frame(TYPED, b"c"):
            writer.write(bytes((byte,)))
            await asyncio.sleep(0)
        await call.until_typed(b"abc")
        call.over.set()
        writer.close()


async def test_what_is_shown_and_how_it_ended_go_back_in_order(tmp_path: Path) -> None:
    async with doors_in(tmp_path) as doors:
        reader, writer = await dial(tmp_path)
        writer.write(HELLO)
        call, connection, _ = await doors.answered()
        call.line.write(b"x" * (LARGEST + 1))
        connection.line.end({"how": "left"})
        call.over.set()
        shown, rest, end = await until_end(reader)
        assert (shown, rest) == ((SHOWN, b"x" * LARGEST), (SHOWN, b"x"))
        assert (end[0], read_told(end[1])) == (ENDED, {"how": "left"})
        writer.close()


async def test_a_door_that_hangs_up_ends_the_line(tmp_path: Path) -> None:
    async with doors_in(tmp_path) as doors:
        _, writer = await dial(tmp_path)
        writer.write(HELLO)
        call, _, _ = await doors.answered()
        writer.close()
        assert await call.until_ended() == "the command hung up"
        call.over.set()


@pytest.mark.parametrize(
    "sent",
    [frame(TYPED, b"a"), frame(HEADER, b"[]"), b"G\xff\xff\xff\xff"],
)
async def test_what_is_none_of_ours_is_cut_off(tmp_path: Path, sent: bytes) -> None:
    async with doors_in(tmp_path):
        reader, writer = await dial(tmp_path)
        writer.write(sent)
        async with asyncio.timeout(PATIENCE):
            assert await reader.read() == b""
        writer.close()


async def test_the_socket_is_its_owners_alone_and_goes_with_the_listener(tmp_path: Path) -> None:
    async with doors_in(tmp_path):
        assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / NAME).exists()
    with pytest.raises(OSError, match="No such file"):
        await dial(tmp_path)


async def test_one_that_a_dead_server_left_is_replaced(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / NAME))
    async with doors_in(tmp_path) as doors:
        _, writer = await dial(tmp_path)
        writer.write(HELLO)
        call, _, _ = await doors.answered()
        call.over.set()
        writer.close()


async def test_a_second_server_leaves_the_first_one_alone(tmp_path: Path) -> None:
    async with doors_in(tmp_path) as first:
        second = Doors()
        with pytest.raises(OSError, match="another server listens there"):
            await second.listener.open_in(tmp_path)
        await second.listener.finish(0)
        _, writer = await dial(tmp_path)
        writer.write(HELLO)
        call, _, _ = await first.answered()
        call.over.set()
        writer.close()


async def test_a_path_of_any_length_will_do(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    assert len(os.fsencode(folder)) > 108
    async with doors_in(folder) as doors:
        _, writer = await dial(folder)
        writer.write(HELLO)
        call, _, _ = await doors.answered()
        call.over.set()
        writer.close()


@pytest.mark.parametrize("turns", range(1, 6))
async def test_a_door_that_comes_as_the_listener_closes_is_cut_off(
    tmp_path: Path, turns: int
) -> None:
    """However far it has come: it is a connection, or already at its header."""
    doors = Doors()
    await doors.listener.open_in(tmp_path)
    reader, writer = await dial(tmp_path)
    writer.write(HELLO)
    for _ in range(turns):
        await asyncio.sleep(0)
    await doors.listener.finish(0)
    async with asyncio.timeout(PATIENCE):
        with contextlib.suppress(ConnectionResetError):  # what it had sent was not read
            assert await until_end(reader) == []
    writer.close()
