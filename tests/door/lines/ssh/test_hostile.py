"""Attacks on an SSH port cost the board next to nothing.

Processor time is the thread's own, which a busy machine does not change. The callers' programs run
in the same thread, so the board's part is smaller than the measured one.
"""

import asyncio
import logging
import time
import tracemalloc
from asyncio.events import Handle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

import asyncssh
import pytest
from asyncssh.constants import (
    MSG_CHANNEL_DATA,
    MSG_CHANNEL_OPEN,
    MSG_CHANNEL_REQUEST,
    MSG_CHANNEL_WINDOW_ADJUST,
    MSG_DEBUG,
    MSG_GLOBAL_REQUEST,
    MSG_IGNORE,
)
from asyncssh.packet import Boolean, String, UInt32

from door.lines.blame import Blame
from door.lines.port.connection import Entrance
from door.lines.ssh.ssh import USUAL_LIMITS
from tests.door.lines.board import GREETING, MEMORY, PATIENCE
from tests.door.lines.ssh.board import OWN_KEY, SshBoard, connected, open_board, terminal
from tests.door.lines.ssh.test_compatibility import MODERN, OLD_LIBSSH2, Program
from tests.door.lines.test_proxy import Counting

STALL = 0.05  # seconds by which a caller may delay the others
IN_A_HURRY = replace(USUAL_LIMITS, handshake=0.3, admission=0.3, idle=0.3)


@contextmanager
def steps() -> Iterator[list[float]]:
    """Measure the thread's own time of each step of the event loop, in seconds."""
    taken: list[float] = []
    run = Handle._run

    def measured(handle: Handle) -> None:
        began = time.thread_time()
        run(handle)
        taken.append(time.thread_time() - began)

    with mock.patch.object(Handle, "_run", measured):
        yield taken


async def raw(board: SshBoard, *pieces: bytes) -> bytes:
    """Send bytes that no program for SSH sends; return all that comes until the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", board.port)
    for piece in pieces:
        writer.write(piece)
    output = b""
    async with asyncio.timeout(PATIENCE):
        try:
            while data := await reader.read(65_536):
                output += data
        except ConnectionResetError:
            pass
    writer.close()
    return output


def request(length: int) -> bytes:
    """Return a first packet of a key exchange, unencrypted, with a list of junk."""
    lists = b"".join(String(b",".join([b"a"] * length)) for _ in range(10))
    payload = b"\x14" + bytes(16) + lists + Boolean(False) + UInt32(0)
    padding = 8 - (5 + len(payload)) % 8 + 8
    return UInt32(1 + len(payload) + padding) + bytes([padding]) + payload + bytes(padding)


@pytest.mark.parametrize(
    ("sent", "why", "own_fault"),
    [
        ((b"GET / HTTP/1.1\r\n\r\n",), "no SSH", True),
        ((b"SSH-1.5-old\r\n",), "no SSH", True),
        ((b"S" * 9000,), "broken SSH", True),
        ((b"S" * 40_000,), None, True),
        ((b"SSH-2.0-x\r\n", b"\0" * 60_000), None, True),
        ((b"SSH-2.0-x\r\n", b"\xff" * 64), "broken SSH", True),
        ((b"SSH-2.0-x\r\n", UInt32(0), bytes(100)), "broken SSH", True),
        ((b"SSH-2.0-x\r\n", request(50)), "SSH without algorithms in common", False),
        ((b"SSH-2.0-x\r\n", request(1500)), "more than 16384 bytes", True),
        ((b"SSH-2.0-x\r\n", request(600)), "SSH without algorithms in common", False),
    ],
    ids=[
        *("http", "SSH 1", "long line", "endless line", "zeros", "ones", "empty packet"),
        *("nothing in common", "too long a list", "a long list"),
    ],
)
async def test_a_client_that_speaks_no_ssh_is_cut_off_cheaply(
    sent: tuple[bytes, ...], why: str | None, own_fault: bool
) -> None:
    gate = Counting()
    async with open_board(entrance=Entrance(gate)) as board:
        with steps() as taken:
            output = await raw(board, *sent)
        assert output.startswith(b"SSH-2.0-BulletinBoard\r\n")
        assert max(taken) < STALL
    ((address, blame),) = gate.cut
    assert address == "127.0.0.1"
    assert why is None or blame.why.startswith(why)
    assert blame.own_fault == own_fault
    assert gate.here == []


@pytest.mark.parametrize("sent", [b"", b"SSH-2.0-x", b"SSH-2.0-x\r\n\0\0"])
async def test_a_silent_client_is_cut_off(sent: bytes) -> None:
    gate = Counting()
    async with open_board(IN_A_HURRY, Entrance(gate)) as board:
        await raw(board, sent)
    assert [blame.why for _, blame in gate.cut] == [
        "no keys were agreed on within 0.3 seconds"
        if b"\n" in sent
        else "no SSH within 0.3 seconds"
    ]


async def test_a_client_with_keys_that_does_not_log_on_is_cut_off() -> None:
    gate = Counting()

    class Slow(asyncssh.SSHClient):
        async def password_auth_requested(self) -> str | None:
            await asyncio.sleep(PATIENCE)
            return None

    async with open_board(IN_A_HURRY, Entrance(gate)) as board:
        with pytest.raises(asyncssh.ConnectionLost):
            async with connected(board, password=None, client_factory=Slow):
                pass
        async with connected(board) as connection:  # without a terminal
            async with asyncio.timeout(PATIENCE):
                await connection.wait_closed()
    assert gate.cut == [
        ("127.0.0.1", Blame("no log-on within 0.3 seconds", own_fault=False)),
        ("127.0.0.1", Blame("no terminal was asked for", own_fault=False)),
    ]


async def test_a_refused_address_gets_no_key_exchange() -> None:
    gate = Counting(shut_to="127.0.0.1")
    async with open_board(entrance=Entrance(gate)) as board:
        assert await raw(board, b"SSH-2.0-x\r\n") == b"Not you.\r\n"


Sends = Callable[[asyncssh.SSHClientConnection, asyncssh.SSHClientChannel[bytes]], None]


@pytest.mark.parametrize(
    "send",
    [
        lambda ssh, chan: ssh.send_packet(MSG_IGNORE, String(b"")),
        lambda ssh, chan: ssh.send_packet(MSG_IGNORE, String(bytes(30_000))),
        lambda ssh, chan: ssh.send_packet(
            MSG_DEBUG, Boolean(True), String(b"hi" * 99), String(b"")
        ),
        lambda ssh, chan: ssh.send_packet(
            MSG_GLOBAL_REQUEST, String(b"keepalive@openssh.com"), Boolean(True)
        ),
        lambda ssh, chan: ssh.send_packet(
            MSG_CHANNEL_OPEN, String(b"session"), UInt32(9), UInt32(9), UInt32(9000)
        ),
        lambda ssh, chan: chan.send_packet(MSG_CHANNEL_WINDOW_ADJUST, UInt32(1)),
        lambda ssh, chan: chan.send_packet(MSG_CHANNEL_DATA, String(b"")),
        lambda ssh, chan: chan.send_packet(
            MSG_CHANNEL_REQUEST,
            String(b"env"), Boolean(False), String(b"LANG"), String(b"x" * 9000),
        ),
        lambda ssh, chan: chan.send_packet(
            MSG_CHANNEL_REQUEST,
            String(b"window-change"), Boolean(False), *[UInt32(70)] * 4,
        ),
        lambda ssh, chan: chan.send_packet(
            MSG_CHANNEL_REQUEST, String(b"x11-req"), Boolean(True), Boolean(False),
            String(b""), String(b""), UInt32(0),
        ),
    ],
    ids=[
        *("ignored", "long ignored", "debug", "keep-alive", "channels", "window", "empty data"),
        *("environment", "sizes", "X11"),
    ],
)  # fmt: skip
async def test_a_flood_is_cut_off_with_one_line_in_the_log(
    warnings: list[str], send: Sends
) -> None:
    gate = Counting()
    async with open_board(entrance=Entrance(gate)) as board, connected(board) as connection:
        screen = await terminal(connection)
        call, _ = await board.answered_with()
        deaf = mock.patch.object(connection, "data_received", return_value=None)
        tracemalloc.start()
        with deaf, steps() as taken:
            async with asyncio.timeout(PATIENCE):
                while not call.ends:
                    if connection._transport.get_write_buffer_size() < 65_536:
                        send(connection, screen.process.channel)
                    await asyncio.sleep(0)
            reason = await call.until_ended()
        grown = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert reason == "cut off: more than 500 SSH requests in a burst"
        assert grown < MEMORY
        assert max(taken) < STALL
        call.over.set()
        await connection.wait_closed()
    assert warnings == [f"ssh 127.0.0.1: {reason}"]
    assert gate.cut == [("127.0.0.1", Blame("more than 500 SSH requests in a burst"))]


async def test_a_packet_that_no_program_must_take_ends_the_call() -> None:
    async with open_board() as board, connected(board) as connection:
        await terminal(connection)
        call, _ = await board.answered_with()
        connection.send_packet(MSG_IGNORE, String(bytes(40_000)))
        assert await call.until_ended() == "cut off: a packet of more than 35000 bytes"


@pytest.mark.parametrize("program", [MODERN, OLD_LIBSSH2], ids=["modern", "old"])
async def test_bytes_that_no_key_has_made_end_the_call_cheaply(program: Program) -> None:
    """With CBC they become a packet of any length; so there are enough for the longest."""
    async with open_board(compatibility="old") as board, connected(board, **program) as connection:
        await terminal(connection)
        call, _ = await board.answered_with()
        with steps() as taken:
            connection._transport.write(bytes(300_000))  # type: ignore[union-attr]
            await call.until_ended()
        assert call.typed == b""
        assert max(taken) < STALL


async def test_only_the_language_of_the_environment_is_stored_and_cut() -> None:
    environment = {"PATH": "/x" * 900, "LANG": "fr_FR.UTF-8", "LC_ALL": "x" * 900}
    async with open_board() as board, connected(board) as connection:
        await terminal(connection, env=environment)
        await board.answered_with()
        channel = next(iter(board.listener._visits)).answer._way_out.channel  # type: ignore[union-attr]
        assert channel.get_environment() == {"LANG": "fr_FR.UTF-8", "LC_ALL": "x" * 64}


@pytest.mark.parametrize("program", [MODERN, OLD_LIBSSH2], ids=["modern", "old"])
async def test_new_keys_again_and_again_are_a_flood(program: Program) -> None:
    gate = Counting()
    async with (
        open_board(entrance=Entrance(gate), compatibility="old") as board,
        connected(board, **program) as connection,
    ):
        await terminal(connection)
        call, _ = await board.answered_with()
        agreed = 0
        with steps() as taken:
            async with asyncio.timeout(PATIENCE):
                while not call.ends:
                    if connection._kex_complete and not connection._kex:
                        agreed += 1
                        connection._send_kexinit()
                        connection._kexinit_sent = True
                    await asyncio.sleep(0)
        assert 5 < agreed < 20
        assert max(taken) < STALL
    assert gate.cut == [("127.0.0.1", Blame("more than 500 SSH requests in a burst"))]


async def test_a_client_that_starts_rekeying_and_stops_is_cut_off() -> None:
    gate = Counting()
    limits = replace(IN_A_HURRY, admission=60.0)
    async with open_board(limits, Entrance(gate)) as board, connected(board) as connection:
        await terminal(connection)
        call, _ = await board.answered_with()
        connection.send_packet = lambda *packet, **options: None  # type: ignore[method-assign]
        call.line.write(b"x")
        board_side = next(iter(board.listener._visits)).answer
        board_side._ssh._send_kexinit()  # type: ignore[union-attr]
        reason = await call.until_ended()
        assert reason == "cut off: no keys were agreed on within 0.3 seconds"


async def test_output_during_rekeying_is_bounded() -> None:
    async with open_board() as board, connected(board) as connection:
        await terminal(connection)
        call, _ = await board.answered_with()
        connection.send_packet = lambda *packet, **options: None  # type: ignore[method-assign]
        board_side = next(iter(board.listener._visits)).answer
        board_side._ssh._send_kexinit()  # type: ignore[union-attr]
        for _ in range(300):
            call.line.write(b"x" * 1000)
        assert (await call.until_ended()).endswith("bytes left unread")


async def test_a_caller_who_does_not_read_is_cut_off() -> None:
    gate = Counting()
    async with open_board(entrance=Entrance(gate)) as board, connected(board) as connection:
        await terminal(connection, window=4096)
        call, _ = await board.answered_with()
        for _ in range(300):
            call.line.write(b"x" * 1000)
        reason = await call.until_ended()
        assert reason.endswith("bytes left unread")
    ((_, blame),) = gate.cut
    assert not blame.own_fault


async def test_a_screen_is_never_sent_in_crumbs() -> None:
    gate = Counting()
    async with open_board(entrance=Entrance(gate)) as board, connected(board) as connection:
        with pytest.raises((asyncssh.ChannelOpenError, asyncssh.ConnectionLost)):
            await terminal(connection, max_pktsize=100)
    assert gate.cut == [("127.0.0.1", Blame("packets of 100 bytes are wanted"))]


async def test_keys_may_be_offered_so_often_and_no_more() -> None:
    gate = Counting()
    keys = [asyncssh.generate_private_key("ssh-ed25519") for _ in range(40)]
    async with open_board(entrance=Entrance(gate)) as board:
        with pytest.raises((asyncssh.DisconnectError, OSError)):
            async with connected(board, password=None, client_keys=keys):
                pass
        assert 10 < len(board.asked) < 30
    assert gate.cut == [("127.0.0.1", Blame("more than 500 SSH requests in a burst"))]


@pytest.mark.parametrize("name", ["", "a\0b", "\x1b[2J", "\u202eadA", "x" * 2000, "\udcff"])
async def test_names_that_are_none_lead_nowhere_or_are_shown_as_they_are(name: str) -> None:
    class Rude(asyncssh.SSHClient):
        def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
            self.conn = conn

        def begin_auth(self, username: str) -> None:
            encoded = name.encode("utf-8", "surrogateescape")
            self.conn._username = encoded  # type: ignore[assignment]

    async with open_board() as board:
        try:
            async with connected(board, client_factory=Rude) as connection:
                await terminal(connection)
                _, identity = await board.answered_with()
                assert identity.name == name
        except (asyncssh.DisconnectError, OSError):
            assert board.calls.empty()
        async with connected(board) as connection:
            screen = await terminal(connection)
            await screen.until_shown(GREETING)


@pytest.mark.parametrize("program", [MODERN, OLD_LIBSSH2], ids=["modern", "old"])
async def test_many_clients_at_once_do_not_stall_the_board(
    program: Program, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with (
        open_board(compatibility="old") as board,
        connected(board, "First", **program) as first,
    ):
        screen = await terminal(first)
        call, _ = await board.answered_with()

        async def comes(number: int) -> None:
            async with connected(board, f"Caller {number}", **program) as connection:
                await terminal(connection)
                await asyncio.wait_for(board.calls.get(), PATIENCE)

        with steps() as taken:
            everybody = asyncio.gather(*map(comes, range(40)))
            while not everybody.done():
                screen.send(b"k")
                await asyncio.sleep(0.01)
            await everybody
        assert max(taken) < STALL
        assert call.typed
        assert not caplog.records


async def test_a_connection_leaves_nothing_behind() -> None:
    gate = Counting()
    async with open_board(entrance=Entrance(gate)) as board:
        board.known = {"Alice": {OWN_KEY.public_data}}
        for _ in range(3):
            async with connected(board, password=None, client_keys=[OWN_KEY]) as connection:
                await terminal(connection)
                call, _ = await board.answered_with()
            await call.until_ended()
            call.over.set()
        async with asyncio.timeout(PATIENCE):
            await board.listener.finish()
        assert gate.here == []
        assert not board.listener._visits
        assert not gate.cut
