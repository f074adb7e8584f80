"""A caller on a socket that the host handed down, or by which the door calls back."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace

import pytest

from door.errors import NoHostLine
from door.lines.host.host import USUAL_LIMITS, Introduction
from door.lines.host.socket import called_back, endpoint, inherited
from door.lines.line import Line
from tests.door.lines.board import PATIENCE, Call, subnegotiation
from tests.door.lines.host import EVERY_BYTE, STRANGER, FarEnd, HostSigns, listened_to
from tests.terminal import DO, ECHO, IAC, NAWS, SGA, TTYPE, WILL, WONT

OPTIONS = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE),
    (socket.SOL_SOCKET, socket.SO_OOBINLINE),
    (socket.SOL_SOCKET, socket.SO_SNDBUF),
    (socket.IPPROTO_TCP, socket.TCP_NODELAY),
    (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT),
)

# Bytes that a caller's program may still send after the host has started the door: late answers, a
# window, a key that is an IAC, and keys.
LATE = b"".join(
    (
        b"a",
        bytes((IAC, DO, ECHO, IAC, WILL, SGA, IAC, WILL, NAWS, IAC, WONT, TTYPE)),
        subnegotiation(NAWS, bytes((0, 100, 0, 40))),
        subnegotiation(TTYPE, b"\0ansi"),
        bytes((IAC, IAC)),
        subnegotiation(NAWS, bytes((0, 255, 0, 24))),
        b"b",
    )
)


@dataclass
class Handed:
    """A host's connection to a caller: `near` is handed down, `caller` is the other end."""

    near: socket.socket
    caller: FarEnd

    @property
    def found(self) -> list[object]:
        """Everything about the socket that outlives the door."""
        flags: list[object] = [os.get_blocking(self.near.fileno())]
        return flags + [self.near.getsockopt(*option) for option in OPTIONS]

    def assert_that_host_and_caller_go_on(self) -> None:
        self.caller.stop_reading()
        self.near.sendall(b"Back at the board.")
        wire = socket.socket(fileno=os.dup(self.caller.descriptor))
        with wire:
            wire.settimeout(PATIENCE)
            while not self.caller.shown.endswith(b"Back at the board."):
                self.caller.shown += wire.recv(1000)
            wire.sendall(b"?")
        self.near.settimeout(PATIENCE)
        assert self.near.recv(10) == b"?"


@contextmanager
def handed_down(blocking: bool = True) -> Iterator[Handed]:
    with socket.create_server(("127.0.0.1", 0)) as port:
        caller = socket.create_connection(port.getsockname())
        near, _ = port.accept()
    near.setblocking(blocking)
    far = FarEnd(caller.detach())
    with near:
        yield Handed(near, far)
        far.close()


# The socket is the host's


@pytest.mark.parametrize("telnet", [True, False])
@pytest.mark.parametrize("blocking", [True, False])
async def test_the_socket_is_returned_unchanged_and_the_host_uses_it(
    telnet: bool, blocking: bool
) -> None:
    with handed_down(blocking) as host:
        before = host.found
        async with inherited(
            host.near.fileno(), STRANGER, USUAL_LIMITS, telnet=telnet, signs=HostSigns()
        ) as line:
            call = listened_to(line)
            host.caller.types(b"k")
            await call.until_typed(b"k")
            line.write(b"x" * 100_000 + b"Goodbye.")
            assert os.get_blocking(host.near.fileno()) == blocking
        await host.caller.until_shown(b"Goodbye.")
        assert host.found == before
        host.assert_that_host_and_caller_go_on()


async def test_the_socket_is_as_it_was_when_the_door_failed() -> None:
    with handed_down() as host:
        before = host.found
        with pytest.raises(ZeroDivisionError):
            async with inherited(
                host.near.fileno(), STRANGER, USUAL_LIMITS, telnet=True, signs=HostSigns()
            ):
                raise ZeroDivisionError
        assert host.found == before
        host.assert_that_host_and_caller_go_on()


async def test_a_local_socket_will_do() -> None:
    """Synchronet hands down one end of a pair where the caller is on SSH."""
    near, caller = socket.socketpair()
    with near, caller:
        introduction = replace(STRANGER, columns=100, rows=40)
        async with inherited(
            near.fileno(), introduction, USUAL_LIMITS, telnet=False, signs=HostSigns()
        ) as line:
            assert (line.kind, line.address) == ("socket", "unknown")
            assert (line.columns, line.rows) == (100, 40)
            call = listened_to(line)
            caller.sendall(EVERY_BYTE)
            await call.until_typed(EVERY_BYTE)
            line.write(EVERY_BYTE)
        assert caller.recv(1000) == EVERY_BYTE[:-1], "a host may not double the last byte"


async def test_the_caller_is_known_by_the_address_of_the_socket() -> None:
    with handed_down() as host:
        async with inherited(
            host.near.fileno(), STRANGER, USUAL_LIMITS, telnet=True, signs=HostSigns()
        ) as line:
            assert (line.kind, line.address) == ("socket", "127.0.0.1")
        introduction = replace(STRANGER, address="192.0.2.7")
        async with inherited(
            host.near.fileno(), introduction, USUAL_LIMITS, telnet=True, signs=HostSigns()
        ) as line:
            assert line.address == "192.0.2.7"


async def test_a_caller_who_hangs_up_ends_the_line() -> None:
    with handed_down() as host:
        async with inherited(
            host.near.fileno(), STRANGER, USUAL_LIMITS, telnet=True, signs=HostSigns()
        ) as line:
            call = listened_to(line)
            host.caller.types(b"all in")
            host.caller.close()
            assert await call.until_ended() == "the caller hung up"
            assert call.typed == b"all in"


async def test_a_caller_who_only_stops_sending_still_reads_the_last_words() -> None:
    with handed_down() as host:
        host.caller.stop_reading()
        async with inherited(
            host.near.fileno(), STRANGER, USUAL_LIMITS, telnet=True, signs=HostSigns()
        ) as line:
            call = listened_to(line)
            line.write(b"x" * 200_000 + b".")
            with socket.socket(fileno=os.dup(host.caller.descriptor)) as wire:
                wire.shutdown(socket.SHUT_WR)
            await call.until_ended()
            host.caller.go_on_reading()
        await host.caller.until_shown(b"x.")
        assert len(host.caller.shown) == 200_001


async def test_a_caller_who_never_reads_is_cut_off_but_not_from_the_host() -> None:
    with handed_down() as host:
        host.caller.stop_reading()
        async with inherited(
            host.near.fileno(), STRANGER, USUAL_LIMITS, telnet=True, signs=HostSigns()
        ) as line:
            call = listened_to(line)
            for _ in range(200):  # the kernel takes some megabytes first
                line.write(b"x" * 100_000)
            assert "bytes left unread" in await call.until_ended()
        host.near.settimeout(PATIENCE)
        host.caller.go_on_reading()
        await host.caller.until_shown(b"x")
        host.caller.types(b"?")
        assert host.near.recv(10) == b"?"


async def test_a_descriptor_that_is_no_connected_socket_is_refused_in_a_sentence() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    with socket.create_server(("127.0.0.1", 0)) as port:
        for descriptor, sentence in (
            (reading, f"Descriptor {reading} is not a socket"),
            (9999, "Descriptor 9999 is not open"),
            (-1, "Descriptor -1 is not open"),
            (2**31, f"Descriptor {2**31} is not open"),
            (port.fileno(), f"Nobody is connected to descriptor {port.fileno()}"),
        ):
            with pytest.raises(NoHostLine, match=sentence):
                async with inherited(
                    descriptor, STRANGER, USUAL_LIMITS, telnet=True, signs=HostSigns()
                ):
                    raise AssertionError("a line to nowhere")
    os.close(reading)


# The caller's telnet goes on


async def test_options_negotiated_by_the_host_are_not_negotiated_again() -> None:
    with handed_down() as host:
        async with inherited(
            host.near.fileno(), STRANGER, USUAL_LIMITS, telnet=True, signs=HostSigns()
        ) as line:
            call = listened_to(line)
            host.caller.types(LATE)
            await call.until_typed(b"a\xffb")
            line.write(EVERY_BYTE)
        await host.caller.until_shown(b"\xff\xff")
        assert host.caller.shown == EVERY_BYTE + b"\xff"


async def on_telnet(line: Line, host: Handed, sent: bytes, typed: bytes) -> Call:
    call = listened_to(line)
    host.caller.types(sent)
    await call.until_typed(typed)
    return call


async def test_a_timing_mark_is_answered_for_some_show_nothing_until_it_is() -> None:
    with handed_down() as host:
        async with inherited(
            host.near.fileno(), STRANGER, USUAL_LIMITS, telnet=True, signs=HostSigns()
        ) as line:
            await on_telnet(line, host, bytes((IAC, 244, IAC, DO, 6)) + b"k", b"\x03k")
        await host.caller.until_shown(bytes((IAC, WILL, 6)))
        assert host.caller.shown == bytes((IAC, WILL, 6))


async def test_a_data_mark_sent_as_urgent_data_leaves_no_hole() -> None:
    with handed_down() as host:
        async with inherited(
            host.near.fileno(), STRANGER, USUAL_LIMITS, telnet=True, signs=HostSigns()
        ) as line:
            call = await on_telnet(line, host, b"a\xff\xf4\xff", b"a\x03")
            with socket.socket(fileno=os.dup(host.caller.descriptor)) as wire:
                wire.send(b"\xf2", socket.MSG_OOB)
            host.caller.types(b"b")
            await call.until_typed(b"a\x03b")


async def test_where_the_host_takes_telnet_off_every_byte_is_a_key() -> None:
    with handed_down() as host:
        async with inherited(
            host.near.fileno(), STRANGER, USUAL_LIMITS, telnet=False, signs=HostSigns()
        ) as line:
            await on_telnet(line, host, LATE + EVERY_BYTE, LATE + EVERY_BYTE)


# Calling back


@asynccontextmanager
async def back_at_host(
    introduction: Introduction, *, telnet: bool
) -> AsyncIterator[tuple[Line, int]]:
    """A line on a connection by which the host was called back, and the host's end of it."""
    host, ours = socket.socketpair()
    async with called_back(
        ours, introduction, USUAL_LIMITS, telnet=telnet, signs=HostSigns()
    ) as line:
        yield line, host.detach()


async def test_a_call_back_ends_its_connection_when_it_is_left() -> None:
    async with back_at_host(replace(STRANGER, columns=100), telnet=False) as (line, host):
        assert (line.kind, line.columns) == ("socket", 100)
        call, far = listened_to(line), FarEnd(host)
        far.types(EVERY_BYTE)
        await call.until_typed(EVERY_BYTE)
        line.write(EVERY_BYTE + b"Goodbye.")
        asyncio.get_running_loop().call_soon(lambda: asyncio.create_task(hang_up_too(far)))
    assert far.shown == EVERY_BYTE[:-1] + b"Goodbye."


async def hang_up_too(host: FarEnd) -> None:
    await host.until_ended()
    host.close()


async def test_a_host_that_hangs_up_ends_the_line() -> None:
    async with back_at_host(STRANGER, telnet=True) as (line, host):
        call = listened_to(line)
        os.write(host, LATE)
        os.close(host)
        assert await call.until_ended() == "the caller hung up"
        assert call.typed == b"a\xffb"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("127.0.0.1:4000", ("127.0.0.1", 4000)),
        ("localhost:1", ("localhost", 1)),
        ("[fe80::1%eth0]:65535", ("fe80::1%eth0", 65535)),
    ],
)
def test_an_address_to_connect_to_is_read(text: str, read: tuple[str, int]) -> None:
    assert endpoint(text) == read


@pytest.mark.parametrize(
    "text",
    ["", "host", "host:", ":1", "host:0", "host:65536", "::1:4000", "a b:1", "h:１", "h:1\n"],
)
def test_an_address_that_is_none_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(NoHostLine, match="use HOST:PORT, port 1 to 65535"):
        endpoint(text)
