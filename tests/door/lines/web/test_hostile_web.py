"""Attacks on the port of the page cost the board next to nothing.

Processor time is the thread's own, and memory is measured by tracemalloc, as for telnet.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import socket
import struct
import time
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from door.errors import CallRefused
from door.lines.addresses import networks
from door.lines.budget import Rate
from door.lines.flow import UNREAD
from door.lines.port.connection import Entrance
from door.lines.port.gate import OpenGate
from door.lines.web.connection import WebConnection
from door.lines.web.visitors import USUAL_VISITORS, Visitors
from door.lines.web.web import USUAL_LIMITS, WebListener
from tests.door.lines.board import MEMORY, PATIENCE, Board, Call
from tests.door.lines.web.site import HELLO, asked, get, open_site, upgrade

STALL = 0.05  # seconds by which a caller may delay the others
TEXT, BINARY, CONT, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10
WORDS = json.dumps(HELLO).encode()


def frame(opcode: int, body: bytes = b"", *, fin: bool = True, said: int | None = None) -> bytes:
    """Return a frame with an all-zero mask and the claimed length `said`."""
    length = len(body) if said is None else said
    if length < 126:
        head = struct.pack("!BB", opcode | fin << 7, 0x80 | length)
    elif length < 65536:
        head = struct.pack("!BBH", opcode | fin << 7, 0x80 | 126, length)
    else:
        head = struct.pack("!BBQ", opcode | fin << 7, 0x80 | 127, length)
    return head + bytes(4) + body


async def open_socket(board: Board) -> tuple[Call, asyncio.StreamReader, asyncio.StreamWriter]:
    """A call from the page, from here on frame by frame."""
    reader, writer = await asyncio.open_connection("127.0.0.1", board.port)
    writer.write(upgrade(board.port) + frame(TEXT, WORDS))
    async with asyncio.timeout(PATIENCE):
        await reader.readuntil(b"\r\n\r\n")
    return await board.answered(), reader, writer


FLOODS = {
    "pings": (frame(PING) * 20_000, "more than 1000 WebSocket frames in a burst"),
    "pings with words": (frame(PING, b"x" * 125) * 5_000, "more than 1000 WebSocket frames"),
    "pongs": (frame(PONG) * 20_000, "more than 1000 WebSocket frames"),
    "empty": (frame(BINARY) * 20_000, "more than 1000 WebSocket frames"),
    "fragments": (
        frame(BINARY, b"k", fin=False) + frame(CONT, b"k", fin=False) * 20_000,
        "more than 1000 WebSocket frames",
    ),
    "empty fragments": (
        frame(TEXT, b"{", fin=False) + frame(CONT, fin=False) * 20_000,
        "more than 1000 WebSocket frames",
    ),
    "a huge frame": (
        frame(BINARY, b"k" * 100_000, said=2**62),
        "a WebSocket message longer than 16384 bytes",
    ),
    "a large frame": (frame(BINARY, b"k" * 20_000), "a WebSocket message longer than 16384"),
    "a large message": (
        frame(BINARY, b"k" * 9000, fin=False) + frame(CONT, b"k" * 9000),
        "a WebSocket message longer than 16384",
    ),
    "long words": (frame(TEXT, b"x" * 5000), "words that a WebSocket should not have"),
    "long words in parts": (
        frame(TEXT, b"x" * 2500, fin=False) + frame(CONT, b"x" * 2500, fin=False),
        "words that a WebSocket should not have",
    ),
    "deep words": (frame(TEXT, b"[" * 4000), "words that are not JSON"),
    "bad UTF-8": (frame(TEXT, b'{"t":"\xff\xfe"}'), "words that are not JSON"),
    "a number": (frame(TEXT, b"7"), "words that mean nothing"),
    "a second hello": (frame(TEXT, WORDS), "words that mean nothing"),
    "a bad goodbye": (frame(CLOSE, b"\x03\xe8\xff\xff"), "a WebSocket with bad UTF-8"),
    "a short goodbye": (frame(CLOSE, b"\x03"), "broken WebSocket frames"),
    "no mask": (b"\x82\x01k", "broken WebSocket frames"),
    "reserved bits": (b"\xf2\x81\0\0\0\0k", "broken WebSocket frames"),
    "no such frame": (frame(7, b"k"), "broken WebSocket frames"),
    "a ping in parts": (frame(PING, fin=False), "broken WebSocket frames"),
    "a continued nothing": (frame(CONT, b"k"), "broken WebSocket frames"),
}


@pytest.mark.parametrize(("flood", "what"), FLOODS.values(), ids=FLOODS)
async def test_a_flood_is_cut_off_with_one_line_in_the_log(
    warnings: list[str], flood: bytes, what: str
) -> None:
    async with open_site() as board:
        call, reader, writer = await open_socket(board)
        tracemalloc.start()
        writer.write(flood)
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        reason = await call.until_ended()
        grown = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
        assert reason.startswith(f"cut off: {what}")
        assert grown < MEMORY
        assert warnings == [f"web 127.0.0.1: {reason}"]
        async with asyncio.timeout(PATIENCE):
            try:
                answers = await reader.read()
            except ConnectionResetError:
                answers = b""
        assert len(answers) < 200_000, "answers are bounded as well"
        writer.close()


class Wire:
    """A connection with nothing between the packets given to it and the line."""

    def __init__(self, listener: WebListener, wire: WebConnection, far: socket.socket) -> None:
        self.listener = listener
        self.web = wire
        self.far = far


@asynccontextmanager
async def plugged(*before: bytes) -> AsyncIterator[Wire]:
    """A connection that has taken these packets, which no socket brought."""

    async def serve(line: object) -> None:
        await asyncio.Event().wait()

    unlimited = replace(
        USUAL_LIMITS,
        visitors=replace(USUAL_VISITORS, requests=Rate(burst=10**9, a_second=0.0)),
    )
    listener = WebListener(serve, unlimited)
    visit, first = listener.admit("192.0.2.7")
    near, far = socket.socketpair()
    near.setblocking(False)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_accepted_socket(lambda: first, near)
    assert isinstance(first, WebConnection)
    for data in before:
        first.take(data)
    try:
        yield Wire(listener, first, far)
    finally:
        far.close()
        transport.abort()
        await listener.finish(0)
        assert visit.answer is None


PACKETS = {
    "one long head": (b"GET / HTTP/1.1\r\n" + b"A" * UNREAD,),
    "headers": (b"GET / HTTP/1.1\r\n" + b"A:b\r\n" * 700 + b"\r\n",),
    "requests": (get("/nothing") * 100,),
    "pages": (get("/vendored/xterm.mjs", "Accept-Encoding: gzip") * 60,),
    "upgrade": (upgrade(0, "X-Forwarded-For: " + "1," * 1500),),
    "pings": (upgrade(0), frame(TEXT, WORDS), frame(PING) * 700),
    "empty": (upgrade(0), frame(TEXT, WORDS), frame(BINARY) * 700),
    "letters": (upgrade(0), frame(TEXT, WORDS), frame(BINARY, b"k") * 700),
    "fragments": (
        upgrade(0),
        frame(TEXT, WORDS),
        frame(BINARY, fin=False),
        frame(CONT, fin=False) * 700,
    ),
    "beats": (upgrade(0), frame(TEXT, WORDS), frame(TEXT, b'{"t":"beat"}') * 300),
    "sizes": (
        upgrade(0),
        frame(TEXT, WORDS),
        frame(TEXT, b'{"t":"size","columns":50,"rows":30}') * 120,
    ),
    "deep": (upgrade(0), frame(TEXT, WORDS), frame(TEXT, b'{"t":' + b"[" * 1900)),
}


@pytest.mark.parametrize("packets", PACKETS.values(), ids=PACKETS)
async def test_no_packet_stalls_the_others(packets: tuple[bytes, ...]) -> None:
    costs = []
    gc.disable()
    try:
        for _ in range(3):
            async with plugged(*packets[:-1]) as wire:
                began = time.thread_time()
                wire.web.take(packets[-1][:UNREAD])
                costs.append(time.thread_time() - began)
    finally:
        gc.enable()
    assert min(costs) < STALL


async def test_a_head_that_trickles_in_has_its_time_and_costs_little() -> None:
    quick = replace(USUAL_LIMITS, connection=replace(USUAL_LIMITS.connection, head=0.1))
    async with open_site(quick) as board:
        reader, writer = await asyncio.open_connection("127.0.0.1", board.port)
        writer.write(b"GET / HTTP/1.1\r\nA: ")
        async with asyncio.timeout(PATIENCE):
            assert await reader.read() == b""
        writer.close()
    async with plugged() as wire:
        head = get("/nothing", "A: " + "b" * 7000)
        began = time.thread_time()
        for at in range(len(head)):
            wire.web.take(head[at : at + 1])
        assert time.thread_time() - began < 10 * STALL  # of eight thousand packets
        assert wire.far.recv(100).startswith(b"HTTP/1.1 404")


async def test_a_browser_that_keeps_its_connection_is_nobodys_fault(warnings: list[str]) -> None:
    quick = replace(USUAL_LIMITS, connection=replace(USUAL_LIMITS.connection, head=0.05))
    async with open_site(quick) as board:
        assert (await asked(board.port, get("/icon.svg"))).endswith(b"</svg>\n")
    assert warnings == []


async def test_a_page_that_says_no_hello_is_cut_off() -> None:
    async with open_site(replace(USUAL_LIMITS, hello=0.05)) as board:
        answer = await asked(board.port, upgrade(board.port))
        assert b"101 Switching" in answer
        assert board.calls.empty()


async def test_keys_before_a_hello_are_nobodys() -> None:
    async with open_site() as board:
        answer = await asked(board.port, upgrade(board.port) + frame(BINARY, b"k"))
        assert b"101 Switching" in answer
        assert board.calls.empty()


async def test_a_client_that_reads_nothing_holds_no_memory() -> None:
    """Sixteen connections ask for the largest file each, and read nothing."""
    loop = asyncio.get_running_loop()
    async with open_site() as board:
        await asked(board.port, get("/", "Connection: close"))
        tracemalloc.start()
        wires = []
        for _ in range(16):
            wire = socket.socket()
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            wire.setblocking(False)
            await loop.sock_connect(wire, ("127.0.0.1", board.port))
            await loop.sock_sendall(wire, get("/vendored/xterm.mjs") * 10)
            wires.append(wire)
        for _ in range(50):
            await asyncio.sleep(0.002)
        grown = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        for wire in wires:
            wire.close()
    assert grown < MEMORY


class Full(OpenGate):
    """A gate that takes five calls."""

    def __init__(self) -> None:
        self.here = 0

    def enter(self, address: str, cut: object) -> object:
        if self.here == 5:
            raise CallRefused("Too many calls from your address.")
        self.here += 1

        def leave() -> None:
            self.here -= 1

        return leave


@pytest.mark.long
async def test_hundreds_of_upgrades_leave_nothing_behind() -> None:
    gate = Full()
    async with open_site(entrance=Entrance(gate), forwarded=()) as board:
        board.listener._site.visitors._limits = replace(
            USUAL_VISITORS, requests=Rate(burst=10**9, a_second=0.0)
        )
        connections = [await open_socket(board) for _ in range(5)]
        request = upgrade(board.port)
        assert b"Too many calls" in await asked(board.port, request)
        tracemalloc.start()
        began = time.thread_time()
        for _ in range(30):
            answers = await asyncio.gather(*(asked(board.port, request) for _ in range(20)))
            assert all(b"Too many calls" in answer for answer in answers)
        took = time.thread_time() - began
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert grown < MEMORY / 4
        assert gate.here == 5
        assert took < 600 * STALL / 10, "both sides of six hundred of them"
        for _, _, writer in connections:
            writer.close()


async def test_a_subscriber_may_ask_for_so_much_and_no_more() -> None:
    few = replace(USUAL_VISITORS, requests=Rate(burst=3, a_second=0.0))
    async with open_site(replace(USUAL_LIMITS, visitors=few)) as board:
        answer = await asked(board.port, get("/icon.svg") * 5)
    assert answer.count(b"HTTP/1.1 200") == 3
    assert answer.count(b"HTTP/1.1 429 Too Many Requests") == 1


async def test_behind_a_front_end_everybody_has_their_own_requests() -> None:
    few = replace(USUAL_VISITORS, requests=Rate(burst=2, a_second=0.0))
    limits = replace(USUAL_LIMITS, visitors=few)
    async with open_site(limits, forwarded=networks(["127.0.0.1"])) as board:
        for number in range(5):
            named = f"X-Forwarded-For: 192.0.2.{number}"
            answer = await asked(board.port, get("/icon.svg", named) * 3)
            assert answer.count(b"HTTP/1.1 200") == 2
        answer = await asked(board.port, get("/icon.svg") * 9 + get("/", "Connection: close"))
        assert answer.count(b"HTTP/1.1 200") == 10, "the front end asks whether we are up"


class TestVisitors:
    def test_one_subscriber_has_few_and_others_have_theirs(self) -> None:
        visitors = Visitors(OpenGate(), lambda: 0.0, limits=replace(USUAL_VISITORS, of_one=2))
        first = visitors.enter("2001:db8::1", os.getpid)
        visitors.enter("2001:db8::2", os.getpid)
        with pytest.raises(CallRefused):
            visitors.enter("2001:db8::3", os.getpid)
        visitors.enter("2001:db8:0:1::3", os.getpid)
        first()
        visitors.enter("2001:db8::3", os.getpid)
        with pytest.raises(CallRefused):
            visitors.enter("2001:db8::4", os.getpid)

    def test_a_full_site_drops_the_oldest_visitor(self) -> None:
        limits = replace(USUAL_VISITORS, connections=2)
        visitors = Visitors(OpenGate(), lambda: 0.0, limits=limits)
        went: list[int] = []
        for number in range(4):
            visitors.enter(f"192.0.2.{number}", lambda number=number: went.append(number))
        assert went == [0, 1]

    def test_a_full_site_drops_known_addresses_last(self) -> None:
        limits = replace(USUAL_VISITORS, connections=2)
        visitors = Visitors(*(OpenGate(), lambda: 0.0), limits=limits, is_known="192.0.2.0".__eq__)
        went: list[str] = []
        for address in ("192.0.2.0", "192.0.2.1", "192.0.2.2", "192.0.2.0", "192.0.2.0"):
            visitors.enter(address, lambda address=address: went.append(address))
        assert went == ["192.0.2.1", "192.0.2.2", "192.0.2.0"]

    def test_a_blocked_address_gets_no_page(self) -> None:
        visitors = Visitors(OpenGate(), lambda: 0.0, is_blocked="192.0.2.7".__eq__)
        with pytest.raises(CallRefused):
            visitors.enter("192.0.2.7", os.getpid)

    def test_requests_are_remembered_of_few(self) -> None:
        limits = replace(USUAL_VISITORS, remembered=2)
        visitors = Visitors(OpenGate(), lambda: 0.0, limits=limits)
        for number in range(5):
            visitors.ask(f"192.0.2.{number}")
        assert len(visitors._requests) == 2
