"""Calls over WebSockets, by a real client: from our page, and with telnet inside."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from door.lines.addresses import networks
from door.lines.flow import UNREAD
from door.lines.line import OpenKeys
from door.lines.port.connection import Entrance
from door.lines.tls.tls import Certificate
from door.lines.web import pages
from door.lines.web.web import USUAL_LIMITS
from tests.certificates import put_into, trusting
from tests.door.lines.board import GREETING, PATIENCE
from tests.door.lines.test_proxy import Counting
from tests.door.lines.web.site import (
    HELLO,
    browser,
    ended,
    on_the_page,
    open_site,
    receive,
    says_hello,
)
from timebank.callers import ssh_keys

HOME = networks(["127.0.0.1"])


async def test_a_caller_types_and_reads_on_the_page() -> None:
    async with on_the_page() as (socket, call):
        assert (call.line.kind, call.line.address) == ("web", "127.0.0.1")
        assert (call.line.columns, call.line.rows, call.line.size_is_known) == (132, 40, True)
        assert call.line.hints.terminal_types == ("xterm.js",)
        assert call.line.hints.language == "fr_FR.UTF-8"
        assert await receive(socket) == GREETING
        await socket.send("carte é".encode())
        await call.until_typed("carte é".encode())
        call.line.write("♥ dix".encode())
        assert await receive(socket) == "♥ dix".encode()


async def test_the_page_reads_the_screen_to_a_screen_reader() -> None:
    async with open_site() as board, browser(board) as socket:
        call = await says_hello(socket, board, reader=True, language=7, columns="x", rows=0)
        assert call.line.hints.terminal_types == ("xterm.js", "MTTS 64")
        assert (call.line.hints.language, call.line.columns, call.line.rows) == ("", 80, 24)


async def test_the_window_is_resized_within_bounds() -> None:
    async with on_the_page() as (socket, call):
        await socket.send('{"t":"size","columns":40,"rows":31}')
        await socket.send('{"t":"size","columns":9999,"rows":1}')
        await call.until(lambda call: len(call.sizes) == 2)
        assert call.sizes == [(40, 31), (160, 16)]


async def test_the_page_gets_the_open_keys_and_signs_of_life() -> None:
    async with on_the_page() as (socket, call):
        assert await receive(socket) == GREETING
        call.line.show_keys(OpenKeys("keys", (("H", "Hit"), ("S", "Tirer é")), "H"), "fr")
        message = await receive(socket)
        assert isinstance(message, str)
        assert json.loads(message) == {
            "t": "open",
            "offer": 1,
            "ask": "keys",
            "keys": [["H", "Hit"], ["S", "Tirer é"]],
            "default": "H",
            "language": "fr",
            "fills": "",
        }
        await socket.send('{"t":"beat"}')
        assert await receive(socket) == '{"t":"beat"}'


async def test_a_key_of_the_page_counts_once_and_for_its_own_offer() -> None:
    async with on_the_page() as (socket, call):

        async def taps(*offers: object) -> None:
            """Tap an "é" of each offer, and type a full stop behind it."""
            for offer in offers:
                await socket.send(json.dumps({"t": "press", "offer": offer, "keys": "é"}))
            await socket.send(b".")

        await taps(1, None, "0", 0, 0)  # no keys were offered yet, so any key is allowed
        await call.until_typed("é.".encode())
        for number, wrong in ((1, (0, 2)), (2, (1, 3, -1))):
            call.typed.clear()
            call.line.show_keys(OpenKeys("keys", (("H", "Hit"),)), "en")
            await taps(*wrong, number, number)
            await call.until_typed("é.".encode())
            await taps(number)
            await call.until_typed("é..".encode())
            assert call.typed == "é..".encode()


async def test_an_offer_is_repeated_only_after_one_of_its_keys() -> None:
    async with on_the_page() as (socket, call):
        assert await receive(socket) == GREETING
        hit, same_keys = (OpenKeys("keys", (("H", "Hit"),)) for _ in range(2))
        numbers = []
        for offered, presses in ((hit, b""), (hit, b"H"), (hit, b"H"), (same_keys, b"")):
            call.line.show_keys(offered, "en")
            call.line.write(b".")
            if isinstance(message := await receive(socket), str):
                numbers.append(json.loads(message)["offer"])
                assert await receive(socket) == b"."
            if presses:
                call.typed.clear()
                press = {"t": "press", "offer": numbers[-1], "keys": presses.decode()}
                await socket.send(json.dumps(press))
                await call.until_typed(presses)
        assert numbers == [1, 2, 3]


async def test_the_longest_text_of_the_page_is_pressed_at_once() -> None:
    page = pages.load("A board")["/"].plain
    longest = int(re.findall(rb'id="text".* maxlength="([0-9]+)"', page)[0])
    assert longest >= ssh_keys.LONGEST
    async with on_the_page() as (socket, call):
        text = "€" * longest  # no letter of UTF-16 has more bytes
        press = {"t": "press", "offer": 0, "keys": f"{text}\r"}
        await socket.send(json.dumps(press, ensure_ascii=False))
        await call.until_typed(f"{text}\r".encode())
        assert len(call.pieces) == 1


@pytest.mark.parametrize("keys", [{"keys": 7, "offer": 0}, {"offer": 0}], ids=["a number", "none"])
async def test_keys_that_mean_nothing_end_the_call(keys: dict[str, object]) -> None:
    async with on_the_page() as (socket, call):
        await socket.send(json.dumps({"t": "press", **keys}))
        assert await call.until_ended() == "cut off: keys that mean nothing"


async def test_pages_of_any_length_arrive_whole_in_both_directions() -> None:
    async with open_site() as board, browser(board, max_size=None) as socket:
        call = await says_hello(socket, board)
        paste = b"0123456789abcdef" * 1000
        for _ in range(20):
            await socket.send(paste)
        await call.until_typed(paste * 20)
        assert max(call.pieces) <= UNREAD
        assert await receive(socket) == GREETING
        for _ in range(10):
            call.line.write(b"x" * 100_000)
            assert await receive(socket) == b"x" * 100_000


async def test_fragments_are_read_as_one() -> None:
    async with on_the_page() as (socket, call):
        await socket.send([b"one ", b"two ", b"three"])
        await call.until_typed(b"one two three")
        await socket.send(['{"t":"size","columns":50,', '"rows":25}'])
        await call.until(lambda call: call.sizes == [(50, 25)])


async def test_the_last_words_arrive_and_the_socket_closes_as_it_should() -> None:
    async with on_the_page() as (socket, call):
        assert await receive(socket) == GREETING
        call.line.write(b"Goodbye.")
        call.over.set()
        assert await receive(socket) == b"Goodbye."
        assert await ended(socket) == 1000
        assert await call.until_ended() == "the board hung up"


@pytest.mark.parametrize("code", [1000, 1001])
async def test_a_caller_who_leaves_is_noticed(code: int) -> None:
    async with on_the_page() as (socket, call):
        await socket.close(code)
        assert await call.until_ended() == "the caller hung up"


async def test_a_lost_network_is_noticed() -> None:
    async with on_the_page() as (socket, call):
        socket.transport.abort()
        assert "the connection broke" in await call.until_ended() or call.ends == [
            "the caller hung up"
        ]


async def test_a_browser_that_answers_no_ping_is_cut_off() -> None:
    quick = replace(USUAL_LIMITS, connection=replace(USUAL_LIMITS.connection, ping=0.05))
    async with open_site(quick) as board, browser(board) as socket:
        call = await says_hello(socket, board)
        socket.transport.pause_reading()
        assert await call.until_ended() == "cut off: it answers no ping"
        socket.transport.resume_reading()


async def test_telnet_travels_inside_as_ftelnet_calls() -> None:
    async with (
        open_site() as board,
        browser(board, "binary", "base64", "plain", path="/") as socket,
    ):
        async with asyncio.timeout(PATIENCE):
            opening = await socket.recv()
            await socket.send(b"\xff\xfb\x1f\xff\xfa\x1f\0\x28\0\x1e\xff\xf0")
            call = await board.answered()
            assert isinstance(opening, bytes)
            assert opening.startswith(b"\xff\xfb\x01")
            assert call.line.kind == "telnet"
            assert (call.line.columns, call.line.rows) == (40, 30)
            await socket.send(b"a\xff\xff")
            await call.until_typed(b"a\xff")
            call.line.write(b"\xff!")
            output = b""
            while not output.endswith(b"\xff\xff!"):
                output += await socket.recv(decode=False)
            call.over.set()
    assert await call.until_ended() == "the board hung up"


async def test_a_program_that_names_nothing_gets_telnet_and_needs_no_origin() -> None:
    async with open_site() as board:
        reader, writer = await asyncio.open_connection("127.0.0.1", board.port)
        writer.write(
            b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        async with asyncio.timeout(PATIENCE):
            head = await reader.readuntil(b"\r\n\r\n")
            assert b"101 Switching Protocols" in head
            assert b"Sec-WebSocket-Protocol" not in head
            assert (await reader.readexactly(5))[2:] == b"\xff\xfb\x01"
        writer.close()


async def test_nothing_is_compressed() -> None:
    async with open_site() as board:
        headers = {"Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits"}
        async with browser(board, headers=headers) as socket:
            assert socket.response is not None
            assert "Sec-WebSocket-Extensions" not in socket.response.headers


# Admission


@pytest.mark.parametrize(
    ("origins", "origin", "may"),
    [
        ((), "", True),
        ((), "http://127.0.0.1:1", False),
        ((), "https://evil.example", False),
        ((), "null", False),
        (("https://board.example",), "https://board.example", True),
        (("https://board.example",), "https://board.example:8443", False),
        (("https://board.example",), "", False),
    ],
)
async def test_only_pages_of_ours_may_call(
    origins: tuple[str, ...], origin: str, may: bool
) -> None:
    async with open_site(origins=origins) as board:
        if may:
            async with browser(board, origin=origin or None) as socket:
                await says_hello(socket, board)
        else:
            with pytest.raises(InvalidStatus) as refused:
                async with browser(board, origin=origin or None):
                    pass
            assert refused.value.response.status_code == 403


async def test_only_an_open_socket_counts_as_a_call() -> None:
    gate = Counting()
    async with open_site(entrance=Entrance(gate)) as board:
        _, looking = await asyncio.open_connection("127.0.0.1", board.port)
        async with browser(board) as socket:
            call = await says_hello(socket, board)
            assert gate.here == ["127.0.0.1"]
        await call.until_ended()
        looking.close()
    assert (gate.came, gate.here) == (["127.0.0.1"], [])


async def test_only_a_trusted_front_end_may_name_the_caller() -> None:
    gate = Counting()
    named = {"X-Forwarded-For": "10.9.9.9, 192.0.2.7"}
    for believed, address in ((HOME, "192.0.2.7"), ((), "127.0.0.1")):
        async with (
            open_site(entrance=Entrance(gate), forwarded=believed) as board,
            browser(board, headers=named) as socket,
        ):
            call = await says_hello(socket, board)
            assert call.line.address == address
    assert gate.came == ["192.0.2.7", "127.0.0.1"]


@pytest.mark.parametrize("named", ["", "unknown", "127.0.0.1", "192.0.2.7, evil"])
async def test_a_front_end_that_names_no_caller_is_reported_to_the_sysop(named: str) -> None:
    gate = Counting()
    async with open_site(entrance=Entrance(gate), forwarded=HOME) as board:
        with pytest.raises(InvalidStatus):
            async with browser(board, headers={"X-Forwarded-For": named}):
                pass
    assert gate.said == [("127.0.0.1", "its X-Forwarded-For names nobody")]
    assert gate.came == []


async def test_a_refused_caller_reads_the_reason() -> None:
    gate = Counting(shut_to="192.0.2.66")
    named = {"X-Forwarded-For": "192.0.2.66"}
    async with (
        open_site(entrance=Entrance(gate), forwarded=HOME) as board,
        browser(board, headers=named) as socket,
    ):
        assert await ended(socket) == 1013
        assert socket.close_reason == "Not you."


@pytest.mark.parametrize(("language", "begins"), [("fr-CA, en", "Trop de"), ("de", "Too many")])
async def test_a_refused_caller_reads_the_reason_in_the_language_of_the_browser(
    language: str, begins: str
) -> None:
    words = "Too many callers are logging on. Please call again in a minute."
    gate = Counting(shut_to="127.0.0.1", words=words)
    async with (
        open_site(entrance=Entrance(gate)) as board,
        browser(board, headers={"Accept-Language": language}) as socket,
    ):
        assert await ended(socket) == 1013
        assert (socket.close_reason or "").startswith(begins)


async def test_a_front_end_may_name_the_caller_by_the_proxy_protocol_too() -> None:
    gate = Counting()
    async with open_site(entrance=Entrance(gate, proxies=HOME)) as board:
        reader, writer = await asyncio.open_connection("127.0.0.1", board.port)
        writer.write(
            b"PROXY TCP4 192.0.2.7 198.51.100.1 40000 80\r\n"
            b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        async with asyncio.timeout(PATIENCE):
            await reader.readuntil(b"\r\n\r\n")
        assert gate.here == ["192.0.2.7"]
        writer.close()


async def test_calls_come_over_tls_with_the_certificate_of_the_board(tmp_path: Path) -> None:
    gate = Counting()
    entrance = Entrance(gate, certificate=Certificate(*put_into(tmp_path)))
    async with open_site(entrance=entrance) as board:
        from websockets.asyncio.client import connect

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
            await socket.send(b"k")
            await call.until_typed(b"k")
            call.over.set()
            assert await ended(socket) == 1000
