"""Front ends that name the caller (PROXY protocol 1 and 2), and untrusted ones."""

import asyncio
import ipaddress
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from door.errors import CallRefused, ProxyHeaderRefused
from door.lines.addresses import Network
from door.lines.blame import Blame
from door.lines.port import connection
from door.lines.port.connection import Entrance
from door.lines.port.gate import Gate
from door.lines.port.proxy_header import (
    LONGEST_EXTRAS,
    LONGEST_TEXT,
    SIGNATURE,
    Passed,
    ProxyHeader,
)
from door.lines.rlogin import rlogin
from door.lines.telnet.telnet import USUAL_LIMITS, TelnetListener
from door.lines.tls.tls import Certificate
from tests.certificates import put_into, trusting
from tests.door.lines.board import PATIENCE, Board
from tests.terminal import MODERN, REFUSING, Terminal

TEXT = b"PROXY TCP4 192.0.2.7 198.51.100.1 40000 23\r\n"
HOME = (ipaddress.ip_network("127.0.0.1"),)


def binary(command: int, family: int, body: bytes, length: int | None = None) -> bytes:
    size = len(body) if length is None else length
    return SIGNATURE + struct.pack(">BBH", command, family, size) + body


def from_4(text: str, extras: bytes = b"") -> bytes:
    ports = struct.pack(">HH", 40000, 23)
    return binary(0x21, 0x11, socket.inet_aton(text) + bytes(4) + ports + extras)


def from_6(text: str) -> bytes:
    address = socket.inet_pton(socket.AF_INET6, text)
    return binary(0x21, 0x21, address + bytes(16) + struct.pack(">HH", 40000, 23))


def read(data: bytes) -> Passed | None:
    return ProxyHeader().feed(data)


# Parsing


@pytest.mark.parametrize(
    ("header", "address"),
    [
        (TEXT, "192.0.2.7"),
        (b"PROXY TCP6 2001:db8::7 2001:db8::1 1 65535\r\n", "2001:db8::7"),
        (b"PROXY TCP6 ::ffff:192.0.2.7 ::1 0 0\r\n", "192.0.2.7"),
        (b"PROXY UNKNOWN\r\n", None),
        (b"PROXY UNKNOWN " + b"x" * (LONGEST_TEXT - 16) + b"\r\n", None),
        (b"PROXY UNKNOWN ffff::1 whatever 1 2\r\n", None),
        (from_4("192.0.2.7"), "192.0.2.7"),
        (from_4("192.0.2.7", b"\x04\x00\x01x"), "192.0.2.7"),
        (from_6("2001:db8::7"), "2001:db8::7"),
        (from_6("::ffff:192.0.2.7"), "192.0.2.7"),
        (binary(0x20, 0x00, b""), None),
        (binary(0x20, 0x11, bytes(12)), None),
        (binary(0x21, 0x00, b"extras"), None),
        (binary(0x21, 0x31, bytes(216)), None),
    ],
)
def test_a_header_is_read_however_it_is_cut_and_nothing_behind_it(
    header: bytes, address: str | None
) -> None:
    for cut in range(1, len(header)):
        whole = ProxyHeader()
        assert whole.feed(header[:cut]) is None
        assert whole.feed(header[cut:] + b"\xff\xfdkeys\r\n") == Passed(
            address, b"\xff\xfdkeys\r\n"
        )


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (b"Ada\r\n", "does not begin as"),
        (b"proxy TCP4", "does not begin as"),
        (b"\xff\xfb\x18", "does not begin as"),
        (b"PROXY TCP4 192.0.2.7 198.51.100.1 40000\r\n", "six words"),
        (b"PROXY TCP4  192.0.2.7 198.51.100.1 40000 23\r\n", "six words"),
        (b"PROXY TCP4 192.0.2.7 198.51.100.1 40000 23 \r\n", "six words"),
        (b"PROXY UDP4 192.0.2.7 198.51.100.1 40000 23\r\n", "protocol"),
        (b"PROXY \r\n", "protocol"),
        (b"PROXY TCP4 192.0.2.07 198.51.100.1 40000 23\r\n", "no address"),
        (b"PROXY TCP4 2001:db8::7 198.51.100.1 40000 23\r\n", "no address"),
        (b"PROXY TCP4 192.0.2.7 here 40000 23\r\n", "no address"),
        (b"PROXY TCP4 192.0.2.7 198.51.100.1 65536 23\r\n", "no port"),
        (b"PROXY TCP4 192.0.2.7 198.51.100.1 040 23\r\n", "no port"),
        (b"PROXY TCP4 192.0.2.7 198.51.100.1 -1 23\r\n", "no port"),
        ("PROXY TCP4 １92.0.2.7 198.51.100.1 1 23\r\n".encode(), "not ASCII"),
        (b"PROXY TCP4 " + b"1" * (LONGEST_TEXT - 11), "too long"),
        (b"PROXY UNKNOWN " + b"x" * (LONGEST_TEXT - 15) + b"\r\n", "too long"),
        (binary(0x31, 0x11, bytes(12)), "version"),
        (binary(0x22, 0x11, bytes(12)), "command"),
        (binary(0x21, 0x12, bytes(12)), "family"),
        (binary(0x21, 0x77, bytes(12)), "family"),
        (binary(0x21, 0x11, bytes(11)), "too short"),
        (binary(0x21, 0x21, bytes(35)), "too short"),
        (binary(0x21, 0x31, bytes(215)), "too short"),
        (binary(0x21, 0x11, b"", LONGEST_EXTRAS + 1), "too long"),
        (SIGNATURE[:-1] + b"x", "does not begin as"),
    ],
)
def test_a_malformed_header_is_refused_with_the_reason(header: bytes, why: str) -> None:
    with pytest.raises(ProxyHeaderRefused, match=why):
        read(header)


@given(st.binary(max_size=300), st.sampled_from([b"", b"PROXY ", SIGNATURE, SIGNATURE + b"\x21"]))
def test_any_bytes_are_a_header_or_refused_within_its_length(noise: bytes, start: bytes) -> None:
    header = ProxyHeader()
    data = start + noise
    for at in range(len(data)):
        try:
            passed = header.feed(data[at : at + 1])
        except ProxyHeaderRefused:
            return
        if passed is not None:
            assert passed.address is None or ipaddress.ip_address(passed.address)
            return
    assert len(data) <= 16 + LONGEST_EXTRAS


# At the port


class Counting:
    """A gate that records arrivals, present callers, malformed headers and cut-offs."""

    def __init__(self, shut_to: str = "", words: str = "Not you.") -> None:
        self.came: list[str] = []
        self.here: list[str] = []
        self.said: list[tuple[str, str]] = []
        self.cut: list[tuple[str, Blame]] = []
        self._shut_to, self._words = shut_to, words

    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        self.came.append(address)
        if address == self._shut_to:
            raise CallRefused(self._words)
        self.here.append(address)
        return lambda: self.here.remove(address)

    def malformed(self, address: str, what: str) -> None:
        self.said.append((address, what))

    def cut_off(self, address: str, blame: Blame) -> None:
        self.cut.append((address, blame))


@asynccontextmanager
async def behind(
    gate: Gate, certificate: Certificate | None = None, proxies: tuple[Network, ...] = HOME
) -> AsyncIterator[Board]:
    board = Board()
    entrance = Entrance(gate, proxies, certificate)
    board.listener = await TelnetListener(board.serve, USUAL_LIMITS, entrance).open("127.0.0.1", 0)
    try:
        yield board
    finally:
        async with asyncio.timeout(PATIENCE):
            await board.listener.finish()


@pytest.mark.parametrize(
    ("header", "address"),
    [
        (TEXT, "192.0.2.7"),
        (from_4("203.0.113.9"), "203.0.113.9"),
        (from_6("2001:db8::7"), "2001:db8::7"),
    ],
)
async def test_the_line_knows_where_the_caller_is_and_so_does_the_gate(
    header: bytes, address: str
) -> None:
    gate = Counting()
    async with behind(gate) as board, Terminal(MODERN) as terminal:
        await terminal.connect(board.port, header=header)
        call = await board.answered()
        assert call.line.address == address
        assert call.line.hints.terminal_types == ("xterm-256color",)
        assert (gate.came, gate.here) == ([address], [address])
    assert gate.here == []


async def test_keys_in_the_packet_of_the_header_are_not_lost() -> None:
    async with behind(Counting()) as board, Terminal(REFUSING) as terminal:
        await terminal.connect(board.port, header=TEXT + b"Ada\r")
        await (await board.answered()).until_typed(b"Ada\r")


async def test_a_front_end_that_looks_whether_we_are_there_is_not_counted() -> None:
    gate = Counting()
    async with behind(gate) as board, Terminal(REFUSING) as terminal:
        await terminal.connect(board.port, header=binary(0x20, 0, b""))
        assert (await board.answered()).line.address == "127.0.0.1"
        assert gate.came == []
        # By these HAProxy's check knows that the board is not only there, but awake.
        assert b"\xff\xfd" in terminal.wire


async def test_from_others_a_header_is_not_believed_but_typed() -> None:
    gate = Counting()
    async with (
        behind(gate, proxies=(ipaddress.ip_network("192.0.2.0/24"),)) as board,
        Terminal(REFUSING) as terminal,
    ):
        await terminal.connect(board.port, source="127.0.0.2", header=TEXT)
        call = await board.answered()
        await call.until_typed(TEXT)
        assert (call.line.address, gate.came) == ("127.0.0.2", ["127.0.0.2"])


@pytest.mark.parametrize("sent", [b"PROXY TCP5 \r\n", b"Ada\r", SIGNATURE + b"\xff" * 8])
async def test_a_front_end_with_a_malformed_header_is_cut_off_and_logged(sent: bytes) -> None:
    gate = Counting()
    async with behind(gate) as board, Terminal(REFUSING) as terminal:
        await terminal.connect(board.port, header=sent)
        await terminal.until_closed()
        assert terminal.wire == b""
        assert [address for address, _ in gate.said] == ["127.0.0.1"]
        assert board.calls.empty()


async def test_a_silent_front_end_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FRONT_END_SECONDS", 0.05)
    gate = Counting()
    async with behind(gate) as board, Terminal(REFUSING) as terminal:
        await terminal.connect(board.port, header=b"PROXY ")
        await terminal.until_closed()
        assert gate.said == [("127.0.0.1", "no PROXY header in 0.05 seconds")]


async def test_a_refused_caller_is_hung_up_on_and_the_next_one_served() -> None:
    gate = Counting(shut_to="192.0.2.7")
    async with behind(gate) as board, Terminal(REFUSING) as shut, Terminal(REFUSING) as next_one:
        await shut.connect(board.port, header=TEXT)
        await shut.until_closed()
        await next_one.connect(board.port, header=from_4("192.0.2.8"))
        assert (await board.answered()).line.address == "192.0.2.8"


async def test_without_a_front_end_the_gate_has_words_for_the_caller() -> None:
    gate = Counting(shut_to="127.0.0.1")
    async with behind(gate, proxies=()) as board, Terminal(REFUSING) as terminal:
        await terminal.connect(board.port)
        await terminal.until_closed()
        assert terminal.received == b"Not you.\r\n"
        assert board.calls.empty()


async def test_a_gate_may_cut_a_call_that_it_let_in() -> None:
    cuts: list[Callable[[], None]] = []

    class Cutting(Counting):
        def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
            cuts.append(cut)
            return super().enter(address, cut)

    gate = Cutting()
    async with behind(gate) as board, Terminal(REFUSING) as terminal:
        await terminal.connect(board.port, header=TEXT)
        call = await board.answered()
        cuts[0]()
        assert await call.until_ended() == "the board broke the connection"
        await terminal.until_closed()
    assert gate.here == []


async def test_tls_comes_behind_the_header(tmp_path: Path) -> None:
    async with (
        behind(Counting(), Certificate(*put_into(tmp_path))) as board,
        Terminal(MODERN) as terminal,
    ):
        await terminal.connect(board.port, header=from_6("2001:db8::7"), tls=trusting())
        call = await board.answered()
        assert call.line.address == "2001:db8::7"
        terminal.send("h")
        await call.until_typed(b"h")


async def test_rlogin_callers_may_come_through_a_front_end_too() -> None:
    arrivals: asyncio.Queue[str] = asyncio.Queue()

    async def serve(line, header) -> None:
        arrivals.put_nowait(f"{header.second} from {line.address}")

    listener = rlogin.RloginListener(serve, rlogin.USUAL_LIMITS, Entrance(Counting(), HOME))
    port = await listener.open("127.0.0.1", 0)
    _, writer = await asyncio.open_connection("127.0.0.1", port.port)
    writer.write(TEXT + b"\0secret\0Ada\0ansi/9600\0")
    async with asyncio.timeout(PATIENCE):
        assert await arrivals.get() == "Ada from 192.0.2.7"
        writer.close()
        await port.finish()


async def test_an_rlogin_program_that_is_refused_shows_why() -> None:
    async def serve(line, header) -> None:
        raise AssertionError("nobody gets here")

    gate = Counting(shut_to="127.0.0.1")
    listener = rlogin.RloginListener(serve, rlogin.USUAL_LIMITS, Entrance(gate))
    port = await listener.open("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port.port)
    async with asyncio.timeout(PATIENCE):
        assert await reader.read() == b"\x01Not you.\r\n"
        writer.close()
        await port.finish()
