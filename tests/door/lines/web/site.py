"""A board with only a notebook behind the port of its page, and its callers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ssl import SSLContext
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from door.lines.port.connection import OPEN, Entrance
from door.lines.web.web import SUBPROTOCOL, USUAL_LIMITS, WebLimits, WebListener
from tests.door.lines.board import PATIENCE, Board, Call, opened

HELLO: dict[str, Any] = {"t": "hello", "columns": 132, "rows": 40, "language": "fr-FR"}


@asynccontextmanager
async def open_site(
    limits: WebLimits = USUAL_LIMITS, entrance: Entrance = OPEN, **settings: Any
) -> AsyncIterator[Board]:
    board = Board()
    listener = WebListener(board.serve, limits, entrance, board="The <Lucky> Modem", **settings)
    async with opened(board, listener):
        yield board


@asynccontextmanager
async def browser(
    board: Board,
    *names: str,
    path: str = "/call",
    origin: str | None = None,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> AsyncIterator[ClientConnection]:
    """A WebSocket as our page opens one, or as `names` say."""
    async with connect(
        f"ws://127.0.0.1:{board.port}{path}",
        subprotocols=[Subprotocol(name) for name in names or (SUBPROTOCOL,)],
        origin=Origin(origin or f"http://127.0.0.1:{board.port}"),
        additional_headers=headers,
        compression=None,
        proxy=None,
        **more,
    ) as socket:
        yield socket


async def says_hello(socket: ClientConnection, board: Board, **more: object) -> Call:
    await socket.send(json.dumps({**HELLO, **more}))
    return await board.answered()


@asynccontextmanager
async def on_the_page() -> AsyncIterator[tuple[ClientConnection, Call]]:
    """A call from our page, with its WebSocket."""
    async with open_site() as board, browser(board) as socket:
        yield socket, await says_hello(socket, board)


async def receive(socket: ClientConnection) -> bytes | str:
    async with asyncio.timeout(PATIENCE):
        return await socket.recv()


async def ended(socket: ClientConnection) -> int:
    """The close code; 1006 without a close frame."""
    async with asyncio.timeout(PATIENCE):
        await socket.wait_closed()
    assert socket.close_code is not None
    return socket.close_code


async def asked(port: int, request: bytes, tls: SSLContext | None = None) -> bytes:
    """Everything that comes back for these bytes, until the port hangs up."""
    name = None if tls is None else "localhost"
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls, server_hostname=name)
    writer.write(request)
    async with asyncio.timeout(PATIENCE):
        answer = await reader.read()
    writer.close()
    return answer


def get(path: str, *headers: str, method: str = "GET") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers, "", ""]
    return "\r\n".join(lines).encode()


def upgrade(port: int, *headers: str, path: str = "/call", name: str = SUBPROTOCOL) -> bytes:
    return get(
        path,
        f"Origin: http://127.0.0.1:{port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Protocol: {name}",
        *headers,
    ).replace(b"Host: 127.0.0.1\r\n", f"Host: 127.0.0.1:{port}\r\n".encode())
