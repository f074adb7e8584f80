"""The health answer for front ends, and refusals for others."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from unittest import mock

import pytest

from door.errors import CallRefused
from door.lines.blame import Blame
from door.server import health
from door.server.health import (
    ASK_SECONDS,
    AT_ONCE,
    LATE_SECONDS,
    LONGEST_QUESTION,
    SERVES,
    SILENT_SECONDS,
    HealthPort,
    Pulse,
)
from tests.clock import FakeClock
from tests.door.lines.board import PATIENCE, QUESTION, request
from tests.door.visiting import visitor
from tests.world import BOARD, NOON, World, world
from timebank.errors import BooksUnavailable

TOML = f'{BOARD}\n[server]\nhealth = "127.0.0.1:0"\n'


class Log:
    """The log of refusals."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str, bool]] = []

    def note(self, address: str, why: str, *, own_fault: bool = True) -> None:
        self.said.append((address, why, own_fault))

    def cut_off(self, address: str, blame: Blame) -> None:
        self.said.append((address, blame.why, blame.own_fault))


async def numbers() -> str:
    return "bjft_up 1\n"


def made_for(
    log: Log, *friends: str, status: int = SERVES, clock: FakeClock | None = None
) -> HealthPort:
    may_ask = tuple(map(ipaddress.ip_network, friends))
    return HealthPort(lambda: status, numbers, may_ask, log, clock)


@asynccontextmanager
async def port(
    log: Log, *, status: int = SERVES, clock: FakeClock | None = None
) -> AsyncIterator[HealthPort]:
    made = made_for(log, status=status, clock=clock)
    await made.open("0.0.0.0", 0)
    try:
        yield made
    finally:
        await made.finish(0)


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (200, b"HTTP/1.0 200 OK"),
        (404, b"HTTP/1.0 404 Not Found"),
        (503, b"HTTP/1.0 503 Service Unavailable"),
    ],
)
async def test_a_front_end_reads_the_health_in_one_answer(status: int, line: bytes) -> None:
    log = Log()
    async with port(log, status=status) as here:
        head, _, body = (await request(here.port)).partition(b"\r\n\r\n")
        assert head.split(b"\r\n")[0] == line
        assert f"Content-Length: {len(body)}".encode() in head
        assert body.endswith(b".\r\n")
        for question in (
            b"OPTIONS / HTTP/1.1\r\nhost: board1\r\n\r\n",
            b"GET /health?a=b HTTP/1.1\nhost: x\n\n",
        ):
            assert (await request(here.port, question)).startswith(line)
        assert (await request(here.port, b"HEAD / HTTP/1.0\r\n\r\n")) == head + b"\r\n\r\n"
    assert log.said == []


async def test_an_invalid_request_is_refused() -> None:
    async with port(Log()) as here:
        for wrong in (b"POST / HTTP/1.0\r\n\r\n", b"GET /\r\n\r\n", b"\xff\xfd\x18\r\n\r\n"):
            assert (await request(here.port, wrong)).startswith(b"HTTP/1.0 400 ")


async def test_a_request_in_pieces_is_answered_and_a_second_is_not() -> None:
    async with port(Log()) as here, asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
        for byte in QUESTION:
            writer.write(bytes([byte]))
            await writer.drain()
        writer.write(QUESTION)
        assert (await reader.read()).count(b"HTTP/1.0 ") == 1
        writer.transport.abort()


async def test_a_question_has_an_end_in_bytes_and_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log()
    async with port(log) as here:
        assert await request(here.port, b"GET /" + b"x" * LONGEST_QUESTION) == b""
        assert log.said == [("127.0.0.1", "health: its question is too long", False)]
        monkeypatch.setattr(health, "QUESTION_SECONDS", 0.05)
        assert await request(here.port, b"GET / HTTP/1.0\r\n") == b""
        assert log.said[1:] == [("127.0.0.1", "health: no question in 0.05 seconds", False)]


async def test_only_front_ends_and_this_machine_are_answered() -> None:
    log = Log()
    gate = made_for(log, "192.0.2.7")
    for address in ("192.0.2.7", "127.0.0.9", "::1"):
        gate.admit(address)
    for stranger in ("192.0.2.8", "unknown"):
        with pytest.raises(CallRefused):
            gate.admit(stranger)
    assert log.said == [
        ("192.0.2.8", "health: not a front end", True),
        ("unknown", "health: not a front end", True),
    ]


async def test_so_many_ask_at_once_and_the_next_when_one_has_gone() -> None:
    log = Log()
    async with port(log) as here, asyncio.timeout(PATIENCE):
        lines = [await asyncio.open_connection("127.0.0.1", here.port) for _ in range(AT_ONCE)]
        assert await request(here.port) == b""
        assert log.said == [("127.0.0.1", "health: too many questions at once", False)]
        lines[0][1].write(QUESTION)
        assert await lines[0][0].read()
        lines[0][1].transport.abort()
        while not await request(here.port):
            pass
        for _, writer in lines:
            writer.transport.abort()


async def test_refused_strangers_use_no_place_of_allowed_addresses() -> None:
    """They are hung up on before they take a place, in any number."""
    here = made_for(Log(), "192.0.2.7")
    for number in range(2 * AT_ONCE):
        with pytest.raises(CallRefused):
            here.admit(f"198.51.100.{number}")
    for _ in range(AT_ONCE):
        here.admit("192.0.2.7")
    with pytest.raises(CallRefused):
        here.admit("192.0.2.7")


async def test_a_question_that_drips_makes_room_in_time() -> None:
    clock = FakeClock(NOON)
    async with port(Log(), clock=clock) as here, asyncio.timeout(PATIENCE):
        lines = [await asyncio.open_connection("127.0.0.1", here.port) for _ in range(AT_ONCE)]
        assert await request(here.port) == b""
        for _ in range(4):  # one byte a second holds no place
            for _, writer in lines:
                writer.write(b"G")
                await writer.drain()
            await clock.advance(1)
        await clock.advance(1)
        for reader, writer in lines:
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            writer.transport.abort()
        while not (answer := await request(here.port)):
            pass  # until the kernel has reported the ends
        assert answer.startswith(b"HTTP/1.0 200 OK")


async def test_prometheus_reads_the_numbers_whatever_the_health() -> None:
    async with port(Log(), status=404) as here:
        for question in (b"GET /metrics HTTP/1.1\r\n\r\n", b"GET /metrics?x=y HTTP/1.0\n\n"):
            answer = await request(here.port, question)
            assert answer.startswith(b"HTTP/1.0 200 OK\r\n")
            assert answer.endswith(b"\r\nbjft_up 1\n")
        assert (await request(here.port, b"HEAD /metrics HTTP/1.1\r\n\r\n")).endswith(b"\r\n\r\n")


async def health_status(board: World) -> int:
    health = board.server._health
    assert health is not None
    return int((await request(health.port)).split()[1])


async def test_a_board_says_that_it_serves_and_that_it_drains(board: World) -> None:
    assert await health_status(board) == 200
    ada = await visitor(board, "Ada")
    board.server.drain()
    await ada.sees("close the board")
    assert await health_status(board) == 404
    # Front ends that find the port closed would cut off callers.
    ended = asyncio.Event()
    real = board.server.board.stop_games

    async def stop_games() -> None:
        assert await health_status(board) == 404
        ended.set()
        await real()

    with mock.patch.object(board.server.board, "stop_games", stop_games):
        await board.server.stop("The board is closing.")
    assert ended.is_set()
    with pytest.raises(ConnectionRefusedError):
        await health_status(board)


async def test_a_board_without_its_books_says_so_and_that_they_are_back(board: World) -> None:
    books = board.server.books

    async def unavailable(*what: object, **how: object) -> None:
        raise BooksUnavailable("not now")

    with mock.patch.object(books, "run", unavailable):
        await board.clock.advance(LATE_SECONDS - ASK_SECONDS - 1)
        assert await health_status(board) == 200
        await board.clock.advance(ASK_SECONDS + 1)
        assert await health_status(board) == 404
        await board.clock.advance(SILENT_SECONDS - LATE_SECONDS + 1)
        assert await health_status(board) == 503
        board.server.drain()
        assert await health_status(board) == 503
    await board.clock.advance(ASK_SECONDS)
    await board.settled()
    assert await health_status(board) == 404


async def test_books_that_say_nothing_at_all_are_not_reached_either() -> None:
    clock = FakeClock(NOON)

    class Books:
        async def run(self, operation: object) -> None:
            await asyncio.Event().wait()

    pulse = Pulse(Books(), clock)  # type: ignore[arg-type]
    feeling = asyncio.create_task(pulse.feel())
    await clock.advance(SILENT_SECONDS - 1)
    assert pulse.is_felt()
    await clock.advance(1)
    assert not pulse.is_felt()
    feeling.cancel()


async def test_without_settings_the_port_stays_closed(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        assert board.server._health is None
