"""Telnet over TLS and the web on one port."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from websockets.asyncio.client import connect

from door.errors import CallRefused
from door.lines.port.connection import Entrance
from door.lines.port.gate import Blame, Gate, OpenGate
from door.lines.tls.tls import Certificate
from door.lines.web import web
from tests.certificates import put_into, trusting
from tests.door.lines.board import PATIENCE, Board
from tests.door.lines.web.site import HELLO, asked, get, open_site
from tests.terminal import MODERN, SILENT, Profile, Terminal


@pytest_asyncio.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    async with open_site(entrance=entrance(tmp_path), takes_telnet=True) as one:
        yield one


def entrance(folder: Path, gate: Gate | None = None) -> Entrance:
    return Entrance(gate or OpenGate(), certificate=Certificate(*put_into(folder)))


async def asked_by_tls(port: int, request: bytes, *alpn: str) -> bytes:
    context = trusting()
    if alpn:
        context.set_alpn_protocols(list(alpn))
    return await asked(port, request, context)


@pytest.mark.parametrize("profile", [MODERN, SILENT], ids=["modern", "silent"])
async def test_who_speaks_telnet_or_says_nothing_is_a_caller(
    board: Board, profile: Profile
) -> None:
    async with Terminal(profile) as terminal:
        await terminal.connect(board.port, tls=trusting())
        call = await board.answered()
        assert call.line.kind == "telnet"
        terminal.send("key")
        await call.until_typed(b"key")
        call.over.set()
        assert await call.until_ended() == "the board hung up"


@pytest.mark.parametrize("alpn", [(), ("h2", "http/1.1")])
async def test_a_browser_gets_the_page(board: Board, alpn: tuple[str, ...]) -> None:
    answer = await asked_by_tls(board.port, get("/icon.svg", "Connection: close"), *alpn)
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert board.calls.empty()


async def test_a_browser_may_be_silent_longer_than_a_caller(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "SILENCE", 0.01)
    context = trusting()
    context.set_alpn_protocols(["http/1.1"])
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", board.port, ssl=context, server_hostname="localhost"
    )
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await reader.read(1)
    writer.write(get("/icon.svg", "Connection: close"))
    async with asyncio.timeout(PATIENCE):
        assert (await reader.read()).startswith(b"HTTP/1.1 200 OK")
    writer.close()
    assert board.calls.empty()


async def test_a_request_that_comes_letter_by_letter_is_one(board: Board) -> None:
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", board.port, ssl=trusting(), server_hostname="localhost"
    )
    request = get("/icon.svg", "Connection: close")
    for at in range(8):
        writer.write(request[at : at + 1])
        await writer.drain()
    writer.write(request[8:])
    async with asyncio.timeout(PATIENCE):
        assert (await reader.read()).startswith(b"HTTP/1.1 200 OK")
    writer.close()


async def test_the_page_calls_there_too(board: Board) -> None:
    async with connect(
        f"wss://localhost:{board.port}/call",
        host="127.0.0.1",
        ssl=trusting(),
        subprotocols=["bjft.1"],
        origin=f"https://localhost:{board.port}",
        proxy=None,
    ) as socket:
        await socket.send(json.dumps(HELLO))
        call = await board.answered()
        assert call.line.kind == "web"
        await socket.send(b"k")
        await call.until_typed(b"k")


class Shut(OpenGate):
    def enter(self, address: str, cut: object) -> object:
        raise CallRefused("Too many calls from your address.")


async def test_a_caller_by_telnet_goes_through_the_gate_of_the_board(tmp_path: Path) -> None:
    async with open_site(entrance=entrance(tmp_path, Shut()), takes_telnet=True) as board:
        answer = await asked_by_tls(board.port, b"\xff\xfb\x18")
        assert answer == b"Too many calls from your address.\r\n"
        answer = await asked_by_tls(board.port, get("/icon.svg", "Connection: close"))
        assert answer.startswith(b"HTTP/1.1 200 OK")


class Told(OpenGate):
    def __init__(self) -> None:
        self.cut: list[str] = []

    def cut_off(self, address: str, blame: Blame) -> None:
        self.cut.append(blame.why)


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"\xff\xf1" * 3000, "more than 500 telnet commands in a burst"),
        (get("/", method="POST"), "a request other than GET"),
    ],
)
async def test_who_is_cut_off_is_told_to_the_gate(tmp_path: Path, sent: bytes, why: str) -> None:
    gate = Told()
    async with open_site(entrance=entrance(tmp_path, gate), takes_telnet=True) as board:
        await asked_by_tls(board.port, sent)
    assert gate.cut == [why]
