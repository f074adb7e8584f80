"""The faults of telnetlib3 5.0.1 that door/lines/telnet/telnet.py lists, by their numbers.

Each test states what the library should do, and must fail. One that passes is reported as a
failure (`strict`): the fault is mended, and its entry and its workaround can be removed.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import logging
import re
import struct
import weakref
from collections.abc import Iterator

import pytest
import telnetlib3
from telnetlib3 import telopt

from door.lines.telnet import telnet
from tests.door.lines.board import MEMORY, subnegotiation
from tests.terminal import CHARSET, ECHO, IAC, NAWS, NEW_ENVIRON, TTYPE, WILL, WONT


def fault(number: int, *raises: type[BaseException]) -> pytest.MarkDecorator:
    """Expect a test to fail, by its own assertion or by one of these."""
    reason = f"telnetlib3 5.0.1, fault {number}"
    return pytest.mark.xfail(raises=raises or AssertionError, strict=True, reason=reason)


class Wire(asyncio.Transport):
    """A transport that records its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.is_paused = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))

    def pause_reading(self) -> None:
        self.is_paused = True

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        pass


def writer() -> telnetlib3.TelnetWriter:
    return telnetlib3.TelnetWriter(Wire(), None, server=True)


def feed(options: telnetlib3.TelnetWriter, data: bytes) -> None:
    for byte in data:
        options.feed_byte(bytes((byte,)))


async def server() -> tuple[telnetlib3.TelnetServer, Wire]:
    """A server that has just been called."""
    wire, made = Wire(), telnetlib3.TelnetServer(encoding=False, compression=False, timeout=0)
    made.connection_made(wire)
    return made, wire


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    library = logging.getLogger("telnetlib3")
    level = library.level
    library.setLevel(logging.WARNING)
    yield caplog
    library.setLevel(level)


@fault(1)
async def test_1_a_reader_that_is_full_pauses_the_transport() -> None:
    called, wire = await server()
    called.data_received(b"k" * MEMORY)
    assert wire.is_paused


@fault(2)
def test_2_reads_are_as_small_as_the_server_wants() -> None:
    assert issubclass(telnetlib3.TelnetServer, asyncio.BufferedProtocol)


@fault(3)
def test_3_the_backlog_can_be_set() -> None:
    assert "backlog" in inspect.signature(telnetlib3.create_server).parameters


@fault(3)
async def test_3_gone_clients_are_forgotten() -> None:
    board = telnetlib3.Server(None)
    called, _ = await server()
    board._register_protocol(called)
    called._waiter_connected.set_result(None)
    await asyncio.sleep(0)
    called.connection_lost(None)
    assert board._new_client.empty()


@fault(4)
async def test_4_compression_that_is_refused_stays_off() -> None:
    called, _ = await server()
    called.data_received(subnegotiation(87, b""))
    assert isinstance(called.writer, telnetlib3.TelnetWriter)
    assert not called.writer.mccp3_active


@fault(5)
def test_5_a_long_subnegotiation_is_not_taken() -> None:
    options, names = writer(), list[str]()
    options.set_ext_callback(telopt.TTYPE, names.append)
    feed(options, subnegotiation(TTYPE, b"\0" + b"A" * 100_000))
    assert names == []


@fault(6, struct.error, IndexError, NotImplementedError)
@pytest.mark.parametrize(
    ("option", "body"), [(NAWS, b"\0\0\0"), (CHARSET, b"\1"), (CHARSET, b"\4")], ids=range(3)
)
def test_6_nonsense_raises_nothing_but_valueerror(option: int, body: bytes) -> None:
    with contextlib.suppress(ValueError):
        feed(writer(), subnegotiation(option, body))


@fault(7, LookupError)
def test_7_a_false_character_set_does_not_hide_the_variables() -> None:
    options, environments = writer(), list[dict[str, str]]()
    options.set_ext_callback(telopt.NEW_ENVIRON, environments.append)
    feed(options, subnegotiation(CHARSET, b"\2nosuch"))
    feed(options, subnegotiation(NEW_ENVIRON, b"\0\0LANG\1C"))
    assert environments == [{"LANG": "C"}]


@fault(8)
def test_8_an_option_taken_back_is_not_waited_for() -> None:
    options = writer()
    options.iac(telopt.DO, telopt.TTYPE)
    feed(options, bytes((IAC, WILL, TTYPE, IAC, WONT, TTYPE)))
    assert not any(options.pending_option.values())


@fault(9, AssertionError, ValueError)
@pytest.mark.parametrize("option", [99, ECHO], ids=["unknown", "ECHO"])
def test_9_an_option_is_refused_each_time(option: int) -> None:
    wire = Wire()
    options = telnetlib3.TelnetWriter(wire, None, server=True)
    feed(options, bytes((IAC, WILL, option)) * 2)
    assert wire.written == [telopt.IAC + telopt.DONT + bytes((option,))] * 2


@fault(10)
def test_10_malformed_input_logs_no_warning(warnings: pytest.LogCaptureFixture) -> None:
    feed(writer(), subnegotiation(CHARSET, b"\3"))
    assert warnings.records == []


@fault(11)
def test_11_a_writer_has_no_linemode_until_it_is_agreed_on() -> None:
    assert writer().slctab == {}


@fault(12)
def test_12_a_closed_writer_is_freed() -> None:
    gc.disable()
    try:
        options = writer()
        gone = weakref.ref(options)
        options.close()
        del options
        assert gone() is None
    finally:
        gc.enable()


@fault(13)
def test_13_requests_made_together_leave_together() -> None:
    wire = Wire()
    options = telnetlib3.TelnetWriter(wire, None, server=True)
    options.iac(telopt.WILL, telopt.SGA)
    options.iac(telopt.DO, telopt.NAWS)
    assert len(wire.written) == 1


def test_the_list_and_these_tests_name_each_other() -> None:
    listed = set(re.findall(r"\btest_[0-9]\w+", telnet.__doc__ or ""))
    here = {name for name in globals() if name.startswith("test_") and name[5].isdigit()}
    assert listed == here
