"""Telnet over TLS: the same line, for programs with real TLS."""

import asyncio
import gc
import os
import socket
import ssl
import struct
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from door.errors import CertificateRefused
from door.lines.flow import UNREAD
from door.lines.port.connection import Entrance
from door.lines.port.gate import OpenGate
from door.lines.telnet.telnet import USUAL_LIMITS, NegotiatingTelnet, TelnetListener
from door.lines.tls import tls
from door.lines.tls.tls import Certificate
from tests.certificates import put_into, trusting
from tests.door.lines.board import GREETING, MEMORY, PATIENCE, Board, Call
from tests.terminal import MODERN, REFUSING, SYNCTERM, Terminal


@asynccontextmanager
async def board_with_tls(folder: Path) -> AsyncIterator[Board]:
    board = Board()
    entrance = Entrance(OpenGate(), certificate=Certificate(*put_into(folder)))
    board.listener = await TelnetListener(board.serve, USUAL_LIMITS, entrance).open("127.0.0.1", 0)
    try:
        yield board
    finally:
        async with asyncio.timeout(PATIENCE):
            await board.listener.finish()


async def through(board: Board, terminal: Terminal) -> Call:
    await terminal.connect(board.port, tls=trusting())
    return await board.answered()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_caller_types_and_reads_over_tls(tmp_path: Path, version: ssl.TLSVersion) -> None:
    context = trusting()
    context.minimum_version = context.maximum_version = version
    async with board_with_tls(tmp_path) as board, Terminal(MODERN) as terminal:
        await terminal.connect(board.port, tls=context)
        call = await board.answered()
        assert (call.line.kind, call.line.address) == ("telnet", "127.0.0.1")
        assert call.line.hints.terminal_types == ("xterm-256color",)
        terminal.send("hit\xe9")
        await call.until_typed("hit\xe9".encode())
        call.line.write(b"card")
        await terminal.until_heard("card")


async def test_pages_of_any_length_arrive_whole_in_both_directions(tmp_path: Path) -> None:
    async with board_with_tls(tmp_path) as board, Terminal(REFUSING) as terminal:
        call = await through(board, terminal)
        paste = b"0123456789abcdef" * 20_000
        terminal.send(paste)
        await call.until_typed(paste)
        assert max(call.pieces) <= UNREAD
        for _ in range(10):
            call.line.write(b"x" * 100_000)
            await call.line.drain(PATIENCE)
        await terminal.wait_for(lambda t: t.received.count(b"x") == 1_000_000, "all of it")


async def test_the_last_words_arrive_and_tls_ends_as_it_should(tmp_path: Path) -> None:
    async with board_with_tls(tmp_path) as board:
        context = trusting()
        # Otherwise a program that distinguishes a cut-off would raise at an end without goodbye.
        context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", board.port, ssl=context, server_hostname="localhost"
        )
        call = await board.answered()
        writer.write(b"typed on" * 100)
        call.line.write(b"Goodbye.")
        call.over.set()
        async with asyncio.timeout(PATIENCE):
            output = await reader.read()
        assert output.endswith(b"Goodbye.")
        writer.close()
        assert await call.until_ended() == "the board hung up"


async def test_a_caller_who_never_reads_is_cut_off(tmp_path: Path, warnings: list[str]) -> None:
    async with board_with_tls(tmp_path) as board, Terminal(REFUSING) as terminal:
        await terminal.connect(board.port, tls=trusting(), receive_buffer=4096)
        call = await board.answered()
        terminal.stop_reading()
        written = 0
        while not call.ends and written < 10_000_000:
            call.line.write(b"x" * 1500)
            written += 1500
            await asyncio.sleep(0)
        assert (await call.until_ended()).endswith("bytes left unread")
        assert written < MEMORY
        assert len(warnings) == 1


# Handshakes


async def read_all(read: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(PATIENCE):
        try:
            return await read.read()
        except ConnectionResetError:
            return b""


async def test_old_tls_is_refused(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with pytest.warns(DeprecationWarning, match="TLSv1_1 is deprecated"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    async with board_with_tls(tmp_path) as board, Terminal(REFUSING) as terminal:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await terminal.connect(board.port, tls=context)


@pytest.mark.parametrize(
    "sent",
    [
        b"\r\nIs this a board?\r\n" * 10,
        b"GET / HTTP/1.1\r\n\r\n",
        bytes(5000),
        b"\x16\x03\x01\x40\x00" + b"\x01\x00\xff\xf0" + bytes(30_000),
    ],
    ids=["keys", "http", "nothing", "a hello without end"],
)
async def test_a_client_that_speaks_no_tls_never_becomes_a_call(
    tmp_path: Path, sent: bytes
) -> None:
    async with board_with_tls(tmp_path) as board:
        reader, writer = await asyncio.open_connection("127.0.0.1", board.port)
        writer.write(sent)
        assert GREETING not in await read_all(reader)
        assert board.calls.empty()
        writer.close()


async def test_a_silent_client_is_dropped_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "HANDSHAKE_SECONDS", 0.05)
    async with board_with_tls(tmp_path) as board:
        reader, writer = await asyncio.open_connection("127.0.0.1", board.port)
        assert await read_all(reader) == b""
        writer.close()


async def test_a_port_that_is_finished_leaves_no_handshake_behind(tmp_path: Path) -> None:
    async with board_with_tls(tmp_path) as board:
        reader, writer = await asyncio.open_connection("127.0.0.1", board.port)
        async with Terminal(REFUSING) as terminal:
            await through(board, terminal)  # by now the first one has been taken in too
        await board.listener.finish()
        assert await read_all(reader) == b""
        writer.close()


async def test_handshakes_take_turns() -> None:
    order: list[str] = []
    turns = tls.Turns()
    loop = asyncio.get_running_loop()
    for number in range(3):
        turns.take(lambda number=number: order.append(f"handshake {number}"))
    loop.call_soon(order.append, "somebody's key")
    done = asyncio.Event()
    turns.take(done.set)
    await done.wait()
    assert order == ["handshake 0", "somebody's key", "handshake 1", "handshake 2"]


async def test_a_reset_at_any_byte_of_a_handshake_leaves_nothing(tmp_path: Path) -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting().wrap_bio(incoming, outgoing, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    hello = outgoing.read()
    layers: list[weakref.ref[tls.TlsLayer]] = []

    class Watched(tls.TlsLayer):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            layers.append(weakref.ref(self))
            super().connection_made(transport)

    gone: asyncio.Queue[None] = asyncio.Queue()
    certificate, turns = Certificate(*put_into(tmp_path)), tls.Turns()
    server = await asyncio.get_running_loop().create_server(
        lambda: Watched(
            certificate.context(), turns, "192.0.2.1", Terminal, lambda: gone.put_nowait(None)
        ),
        "127.0.0.1",
        0,
    )
    for cut in (*range(0, len(hello), 7), len(hello)):
        with socket.create_connection(server.sockets[0].getsockname()) as wire:
            wire.send(hello[:cut])
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        async with asyncio.timeout(PATIENCE):
            await gone.get()
    server.close()
    await asyncio.sleep(0)
    gc.collect()
    assert [layer() for layer in layers if layer() is not None] == []


async def test_a_call_over_tls_that_is_over_is_forgotten(tmp_path: Path) -> None:
    async with board_with_tls(tmp_path) as board:
        terminal = Terminal(SYNCTERM)
        call = await through(board, terminal)
        line = weakref.ref(call.line)
        await terminal.close()
        await call.until_ended()
        call.over.set()
        del call
    gc.collect()
    assert line() is None
    assert not [each for each in gc.get_objects() if isinstance(each, NegotiatingTelnet)]


# Certificates


async def test_a_renewed_certificate_serves_the_next_caller(tmp_path: Path) -> None:
    async with board_with_tls(tmp_path) as board, Terminal(REFUSING) as before:
        await through(board, before)
        put_into(tmp_path, 2)
        async with Terminal(REFUSING) as after:
            await after.connect(board.port, tls=trusting(2))
            await board.answered()


async def test_a_certificate_without_its_key_is_logged_and_the_old_one_stays(
    tmp_path: Path, warnings: list[str]
) -> None:
    async with board_with_tls(tmp_path) as board:
        _, key = put_into(tmp_path, 2)
        put_into(tmp_path / "..", 1)
        key.write_bytes((tmp_path / ".." / "key.pem").read_bytes())
        for _ in range(2):
            async with Terminal(REFUSING) as terminal:
                await through(board, terminal)
        assert len(warnings) == 1
        assert "The key of a TLS port must belong to the certificate" in warnings[0]
        put_into(tmp_path, 2)
        async with Terminal(REFUSING) as terminal:
            await terminal.connect(board.port, tls=trusting(2))
            await board.answered()


def test_a_certificate_that_cannot_be_used_is_refused_with_a_sentence(tmp_path: Path) -> None:
    certificate, key = put_into(tmp_path)
    os.unlink(key)
    with pytest.raises(CertificateRefused, match=r"cannot be read: .*no such file or directory"):
        Certificate(certificate, key)
    key.write_text("no key")
    with pytest.raises(CertificateRefused, match=r"^The key of a TLS port must be a private key"):
        Certificate(certificate, key)
