"""The gate's reports of calls cut off: the address, the reason, and whose fault it was."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from door.lines.blame import Blame
from door.lines.port.connection import Entrance
from door.lines.rlogin import rlogin
from door.lines.tls import tls
from door.lines.tls.tls import Certificate
from tests.certificates import put_into, trusting
from tests.door.lines.board import PATIENCE, Board
from tests.door.lines.test_proxy import HOME, TEXT, Counting, behind, binary
from tests.terminal import MODERN, REFUSING, Terminal

CALLER, FRONT_END = "192.0.2.7", "127.0.0.1"
FLOOD = b"\xff\xf1" * 45_000
FLOODED = "more than 500 telnet commands in a burst"


async def test_a_flood_is_the_callers_own_and_not_the_front_ends() -> None:
    gate = Counting()
    async with behind(gate) as board, Terminal(REFUSING) as terminal:
        await terminal.connect(board.port, header=TEXT)
        await board.answered()
        terminal.send(FLOOD)
        await terminal.until_closed()
    assert gate.cut == [(CALLER, Blame(FLOODED))]


async def test_a_call_of_the_front_end_itself_is_nobodys_own_doing() -> None:
    gate = Counting()
    async with behind(gate) as board, Terminal(REFUSING) as terminal:
        await terminal.connect(board.port, header=binary(0x20, 0, b"") + FLOOD[:2000])
        await terminal.until_closed()
    assert gate.cut == [(FRONT_END, Blame(FLOODED, own_fault=False))]


async def test_a_slow_reader_is_not_blamed() -> None:
    gate = Counting()
    async with behind(gate) as board, Terminal(REFUSING) as terminal:
        await terminal.connect(board.port, header=TEXT, receive_buffer=4096)
        call = await board.answered()
        terminal.stop_reading()
        while not call.ends:
            call.line.write(b"x" * 1500)
            await asyncio.sleep(0)
    ((address, blame),) = gate.cut
    assert (address, blame.own_fault) == (CALLER, False)
    assert blame.why.endswith("bytes left unread")


async def test_other_ends_of_a_call_are_not_blamed() -> None:
    gate = Counting()
    async with behind(gate) as board:
        async with Terminal(MODERN) as lost, Terminal(MODERN) as hung_up:
            await lost.connect(board.port, header=TEXT)
            call = await board.answered()
            lost.abort()
            await call.until_ended()
            await hung_up.connect(board.port, header=TEXT)
            (await board.answered()).over.set()
            await hung_up.until_closed()
        async with Terminal(MODERN) as finished:
            await finished.connect(board.port, header=TEXT)
            await board.answered()
            await board.listener.finish()
    assert gate.cut == []


async def over_tls(gate: Counting, folder: Path, sent: bytes) -> None:
    """Send this where TLS is spoken, and wait until the board hangs up."""
    certificate = Certificate(*put_into(folder))
    async with behind(gate, certificate) as board:
        reader, writer = await asyncio.open_connection("127.0.0.1", board.port)
        writer.write(TEXT + sent)
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(reader.read(), return_exceptions=True)
        writer.close()


async def test_a_client_that_speaks_no_tls_is_blamed(tmp_path: Path) -> None:
    gate = Counting()
    await over_tls(gate, tmp_path, b"GET / HTTP/1.1\r\n\r\n")
    ((address, blame),) = gate.cut
    assert (address, blame.own_fault) == (CALLER, True)
    assert blame.why.startswith("no TLS: ")


async def test_tls_that_never_comes_is_the_callers_own_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "HANDSHAKE_SECONDS", 0.05)
    gate = Counting()
    await over_tls(gate, tmp_path, b"\x16\x03\x01")
    assert gate.cut == [(CALLER, Blame("no TLS within 0.05 seconds"))]


async def test_a_flood_behind_tls_is_blamed_once(tmp_path: Path) -> None:
    gate = Counting()
    async with (
        behind(gate, Certificate(*put_into(tmp_path)), proxies=()) as board,
        Terminal(REFUSING) as terminal,
    ):
        await terminal.connect(board.port, tls=trusting())
        await board.answered()
        terminal.send(FLOOD)
        await terminal.until_closed()
    assert gate.cut == [(FRONT_END, Blame(FLOODED))]


def too_old() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with pytest.warns(DeprecationWarning, match="TLSv1_1 is deprecated"):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    return context


async def greets(board: Board, program: ssl.SSLContext) -> None:
    """Shake hands as decent programs do, which say why when they do not go on."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    hands = program.wrap_bio(incoming, outgoing, server_hostname="localhost")
    reader, writer = await asyncio.open_connection("127.0.0.1", board.port)
    writer.write(TEXT)
    data = b"something"
    async with asyncio.timeout(PATIENCE):
        while data:
            with contextlib.suppress(ssl.SSLError):
                hands.do_handshake()
            writer.write(outgoing.read())
            data = await reader.read(4096)
            incoming.write(data)
    writer.close()


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (ssl.create_default_context, "no TLS: tlsv1 alert unknown ca"),
        (too_old, "no TLS: unsupported protocol"),
    ],
)
async def test_a_program_that_distrusts_us_or_is_too_old_has_done_nothing(
    tmp_path: Path, program: Callable[[], ssl.SSLContext], why: str
) -> None:
    gate = Counting()
    async with behind(gate, Certificate(*put_into(tmp_path))) as board:
        await greets(board, program())
    assert gate.cut == [(CALLER, Blame(why, own_fault=False))]


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (b"GET / HTTP/1.0\r\n\r\n", "it does not begin with a NUL, so it is not rlogin"),
        (b"\0secret\0", "no header in 0.1 seconds"),
    ],
)
async def test_a_wrong_or_unfinished_rlogin_header_is_blamed(header: bytes, why: str) -> None:
    gate, limits = Counting(), replace(rlogin.USUAL_LIMITS, header=0.1)
    listener = rlogin.RloginListener(Board().serve, limits, Entrance(gate, HOME))
    port = await listener.open("127.0.0.1", 0)
    async with Terminal(REFUSING) as terminal:
        await terminal.connect(port.port, header=TEXT + header)
        await terminal.until_closed()
    await port.finish()
    assert gate.cut == [(CALLER, Blame(f"rlogin: {why}"))]
