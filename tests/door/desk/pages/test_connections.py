"""Connections to the pages: silent or slow strangers do not keep others out."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from door.desk.pages.pages_server import LIMITS, MOST_AT_ONCE, REQUEST_SECONDS, PagesPort
from door.errors import CallRefused
from door.lines.addresses import networks
from door.lines.tls.tls import Certificate
from tests.certificates import put_into
from tests.clock import FakeClock
from tests.door.lines.board import PATIENCE
from tests.world import NOON

GET = b"GET / HTTP/1.1\r\nHost: books.example\r\n"
LOOPBACK = networks(["127.0.0.0/8"])


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answer with the request's method, host and body."""
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    said = f"{scope['scheme']} {scope['client'][0]} ".encode() + body
    length = [(b"content-length", b"%d" % len(said))]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    await send({"type": "http.response.body", "body": said})


@asynccontextmanager
async def shown(clock: FakeClock, certificate: Certificate | None = None) -> AsyncIterator[int]:
    config = uvicorn.Config(app, ws="none", lifespan="off", log_config=None)
    port = PagesPort(uvicorn.Server(config), clock, certificate, LOOPBACK)
    await port.open("127.0.0.1", 0)
    try:
        async with asyncio.timeout(PATIENCE):
            yield port.port
    finally:
        await port.finish(0)


Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def answer(line: Line, asked: bytes) -> bytes:
    """Ask once, and return the body of the answer."""
    reader, writer = line
    writer.write(asked)
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    return await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split()[0]))


async def ended(line: Line) -> bool:
    try:
        return not await line[0].read()
    except ConnectionError:
        return True
    finally:
        line[1].transport.abort()


async def test_silent_connections_keep_no_reader_out() -> None:
    async with shown(FakeClock(NOON)) as number:
        silent = [await asyncio.open_connection("127.0.0.1", number) for _ in range(MOST_AT_ONCE)]
        for _ in range(3):
            line = await asyncio.open_connection("127.0.0.1", number)
            assert await answer(line, GET + b"\r\n") == b"http 127.0.0.1 "
            line[1].transport.abort()
        assert await ended(silent[0]), "it has waited longest"
        for _, writer in silent:
            writer.transport.abort()


@pytest.mark.parametrize("is_used", [False, True])
@pytest.mark.parametrize("begun", [b"", GET, GET + b"Content-Length: 9\r\n\r\nabc"])
async def test_a_request_that_drips_has_an_end(begun: bytes, is_used: bool) -> None:
    """It may be the first of its connection, or come behind another."""
    clock = FakeClock(NOON)

    async def all_is_read() -> None:
        other = await asyncio.open_connection("127.0.0.1", number)
        assert await answer(other, GET + b"\r\n")
        other[1].transport.abort()

    async with shown(clock) as number:
        line = await asyncio.open_connection("127.0.0.1", number)
        if is_used:
            assert await answer(line, GET + b"\r\n")
        line[1].write(begun)
        await all_is_read()
        await clock.advance(REQUEST_SECONDS - 1)
        line[1].write(b"x")
        await all_is_read()
        await clock.advance(1)
        assert await ended(line)


async def test_a_prompt_client_can_ask_again_and_again_on_one_connection() -> None:
    clock = FakeClock(NOON)
    async with shown(clock) as number:
        line = await asyncio.open_connection("127.0.0.1", number)
        for _ in range(3):
            asked = GET + b"Content-Length: 3\r\n\r\nabc"
            assert await answer(line, asked) == b"http 127.0.0.1 abc"
            await clock.advance(REQUEST_SECONDS - 1)
        line[1].transport.abort()


async def test_behind_tls_silence_takes_no_place_either(tmp_path: Path) -> None:
    certificate = Certificate(*put_into(tmp_path))
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    async with shown(FakeClock(NOON), certificate) as number:
        silent = [await asyncio.open_connection("127.0.0.1", number) for _ in range(MOST_AT_ONCE)]
        line = await asyncio.open_connection("127.0.0.1", number, ssl=trust)
        assert await answer(line, GET + b"\r\n") == b"https 127.0.0.1 "
        line[1].transport.abort()
        assert await ended(silent[0])
        for _, writer in silent:
            writer.transport.abort()


async def test_one_subscriber_has_few_connections() -> None:
    port = PagesPort(uvicorn.Server(uvicorn.Config(app, log_config=None)), FakeClock(NOON))
    for _ in range(LIMITS.of_one):
        port.admit("192.0.2.7")
    with pytest.raises(CallRefused):
        port.admit("192.0.2.7")
    port.admit("192.0.2.8")
