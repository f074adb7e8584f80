"""An rlogin port: real sockets, byte by byte, with everything that can go wrong on them."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from door.lines.line import Hints, Line
from door.lines.rlogin.header import RloginHeader
from door.lines.rlogin.rlogin import USUAL_LIMITS, RloginLimits, RloginListener
from tests.door.lines.board import GREETING, PATIENCE, Call
from tests.door.lines.host import EVERY_BYTE, FarEnd

HEADER = b"\0secret\0Ada\0ansi/115200\0"
SAID = RloginHeader("secret", "Ada", "ansi", "", "")


class Port:
    """An rlogin port that greets its calls and queues them in `calls`."""

    def __init__(self) -> None:
        self.calls: asyncio.Queue[tuple[Call, RloginHeader]] = asyncio.Queue()
        self.listener: RloginListener

    async def serve(self, line: Line, header: RloginHeader) -> None:
        call = Call(line)
        line.write(GREETING)
        line.attach(call)
        self.calls.put_nowait((call, header))
        await call.over.wait()

    async def answered(self) -> tuple[Call, RloginHeader]:
        async with asyncio.timeout(PATIENCE):
            return await self.calls.get()

    def dialled(self) -> FarEnd:
        return FarEnd(socket.create_connection(("127.0.0.1", self.listener.port)).detach())


@asynccontextmanager
async def open_port(limits: RloginLimits) -> AsyncIterator[Port]:
    port = Port()
    port.listener = await RloginListener(port.serve, limits).open("127.0.0.1", 0)
    try:
        yield port
    finally:
        await port.listener.finish()


async def test_a_header_is_answered_with_one_nul_and_the_call_begins() -> None:
    async with open_port(USUAL_LIMITS) as port:
        caller = port.dialled()
        caller.types(HEADER)
        call, header = await port.answered()
        assert header == SAID
        line = call.line
        assert (line.kind, line.address, line.hints) == ("rlogin", "127.0.0.1", Hints(("ansi",)))
        await caller.until_shown(GREETING)
        call.over.set()
        await caller.until_ended()
        assert caller.shown == b"\0" + GREETING
        caller.close()


async def test_a_header_and_keys_may_come_byte_by_byte() -> None:
    async with open_port(USUAL_LIMITS) as port:
        caller = port.dialled()
        with socket.socket(fileno=caller.descriptor) as wire:
            wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            wire.detach()
        for byte in HEADER[:-1]:
            assert caller.shown == b"", "it was answered before it was whole"
            caller.types(bytes((byte,)))
        caller.types(HEADER[-1:])
        call, header = await port.answered()
        assert header == SAID
        for byte in EVERY_BYTE[:-1]:  # ^S and ^Q among them
            call.typed.clear()
            caller.types(bytes((byte,)))
            await call.until_typed(bytes((byte,)))
        caller.close()


async def test_bytes_after_the_header_are_keys() -> None:
    async with open_port(USUAL_LIMITS) as port:
        caller = port.dialled()
        caller.types(HEADER + EVERY_BYTE + b"\0" + HEADER)
        call, _ = await port.answered()
        await call.until_typed(EVERY_BYTE + b"\0" + HEADER)
        caller.close()


async def test_output_is_sent_unchanged() -> None:
    async with open_port(USUAL_LIMITS) as port:
        caller = port.dialled()
        caller.types(HEADER)
        call, _ = await port.answered()
        call.line.write(EVERY_BYTE * 2)
        call.over.set()
        await caller.until_ended()
        assert caller.shown == b"\0" + GREETING + EVERY_BYTE * 2
        caller.close()


async def test_the_window_is_asked_for_with_an_urgent_byte_and_followed() -> None:
    async with open_port(USUAL_LIMITS) as port:
        wire = socket.create_connection(("127.0.0.1", port.listener.port))
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
        caller = FarEnd(wire.detach())
        caller.types(HEADER)
        call, _ = await port.answered()
        await caller.until_shown(GREETING)
        assert caller.shown == b"\0\x80" + GREETING, "urgent data stands behind the answer"
        size = b"\xff\xffss\0\x28\0\x64\0\0\0\0"
        caller.types(b"a" + size[:5])
        await call.until_typed(b"a")
        assert call.sizes == []
        caller.types(size[5:] + b"b")
        await call.until(lambda call: call.sizes == [(100, 40)])
        caller.types(b"\xff\xffss\xff\xff\xff\xff\0\0\0\0")
        await call.until(lambda call: call.sizes == [(100, 40), (160, 60)])
        assert call.typed == b"ab"
        caller.close()


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"GET / HTTP/1.0\r\n\r\n", "it does not begin with a NUL, so it is not rlogin"),
        (b"\0secret\0\0ansi\0", "the log-on name is empty"),
        (b"\0" + b"secret" * 1000, "the first field is longer than 128 bytes"),
    ],
)
async def test_a_malformed_header_is_refused_in_words_and_logged(
    sent: bytes, reason: str, warnings: list[str]
) -> None:
    async with open_port(USUAL_LIMITS) as port:
        caller = port.dialled()
        caller.types(sent)
        await caller.until_ended()
        assert caller.shown == b"\x01This port takes rlogin from boards that are known here.\r\n"
        assert port.calls.empty()
        caller.close()
    assert warnings == [f"rlogin 127.0.0.1: refused: {reason}"]


async def test_later_bytes_do_not_mend_a_refused_header(warnings: list[str]) -> None:
    async with open_port(USUAL_LIMITS) as port:
        caller = port.dialled()
        caller.types(b"\0s\x01")
        await caller.until_ended()
        caller.types(b"\0Ada\0ansi\0")
        caller.close()
    assert port.calls.empty()
    assert len(warnings) == 1


async def test_a_refused_caller_is_refused_only_once(
    warnings: list[str],
) -> None:
    async with open_port(replace(USUAL_LIMITS, header=0.1)) as port:
        refused = port.dialled()
        refused.types(b"\0\0")
        await refused.until_ended()
        silent = port.dialled()
        await silent.until_ended()
        refused.close()
        silent.close()
    assert len(warnings) == 2


async def test_a_header_that_takes_too_long_is_refused(warnings: list[str]) -> None:
    async with open_port(replace(USUAL_LIMITS, header=0.1)) as port:
        caller = port.dialled()
        began = asyncio.get_running_loop().time()
        caller.types(HEADER[:-1])
        await caller.until_ended()
        assert 0.09 <= asyncio.get_running_loop().time() - began < 1.0
        assert port.calls.empty()
        caller.close()
    assert warnings == ["rlogin 127.0.0.1: refused: no header in 0.1 seconds"]


async def test_the_time_for_the_header_is_over_when_it_has_come(warnings: list[str]) -> None:
    async with open_port(replace(USUAL_LIMITS, header=0.1)) as port:
        caller, late = port.dialled(), port.dialled()
        caller.types(HEADER)
        call, _ = await port.answered()
        await late.until_ended()
        caller.types(b"k")
        await call.until_typed(b"k")
        caller.close()
        late.close()
    assert len(warnings) == 1


async def test_a_caller_who_hangs_up_before_the_header_ends_is_dropped(warnings: list[str]) -> None:
    async with open_port(USUAL_LIMITS) as port:
        for length in (0, 1, len(HEADER) - 1):
            caller = port.dialled()
            caller.types(HEADER[:length])
            with socket.socket(fileno=caller.descriptor) as wire:
                wire.shutdown(socket.SHUT_WR)
                wire.detach()
            await caller.until_ended()
            assert caller.shown == b""
            caller.close()
        assert port.calls.empty()
    assert warnings == []
