"""Attacks on a telnet port cost the board next to nothing.

Each of these stalled, filled or broke the original telnet library. Processor time is the thread's
own, which a busy machine does not change; memory is measured by tracemalloc.
"""

import asyncio
import gc
import socket
import time
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from door.lines.flow import UNREAD
from door.lines.telnet.telnet import USUAL_LIMITS, TelnetLimits
from tests.door.lines.board import (
    MEMORY,
    NO_BUDGET,
    Board,
    Call,
    connected,
    open_board,
    plugged,
    subnegotiation,
)
from tests.terminal import (
    CHARSET,
    DO,
    DONT,
    EOR,
    IAC,
    MODERN,
    NAWS,
    NEW_ENVIRON,
    REFUSING,
    SB,
    SE,
    SILENT,
    TTYPE,
    WILL,
    WONT,
    Profile,
    Terminal,
)

STALL = 0.05  # seconds by which a caller may delay the others
MXP, GMCP, MCCP1, MCCP2, MCCP3, LINEMODE, LOGOUT = 91, 201, 85, 86, 87, 34, 18


async def still_listening(call: Call, terminal: Terminal) -> None:
    """Check that the line still works: a key arrives and a word returns."""
    call.typed.clear()
    terminal.send("k")
    await call.until_typed(b"k")
    call.line.write(b"heard")
    await terminal.until_heard("heard")


@pytest.mark.parametrize(
    ("flood", "what"),
    [
        (bytes((IAC, SB, NAWS)) + b"A" * 100_000, "a telnet subnegotiation longer than 4096 bytes"),
        (bytes((IAC, SB, 99)) + b"\xff\xff" * 50_000, "a telnet subnegotiation longer than 4096"),
        (bytes((IAC, DO, 99)) * 30_000, "more than 500 telnet commands in a burst"),
        (bytes((IAC, DONT, 1, IAC, DO, 1)) * 15_000, "more than 500 telnet commands"),
        (bytes((IAC, WILL, TTYPE, IAC, WONT, TTYPE)) * 15_000, "more than 500 telnet commands"),
        (bytes((IAC, DO, EOR, IAC, DONT, EOR)) * 15_000, "more than 500 telnet commands"),
        (bytes((IAC, WILL, EOR, IAC, DO, EOR)) * 15_000, "more than 500 telnet commands"),
        (bytes((IAC, DO, GMCP, IAC, DONT, GMCP)) * 15_000, "more than 500 telnet commands"),
        (subnegotiation(GMCP, b"Core.Hello " + b"[" * 100_000), "a telnet subnegotiation longer"),
        (subnegotiation(GMCP, b"Core.Ping") * 10_000, "more than 500 telnet commands"),
        (subnegotiation(TTYPE, b"\0MTTS 2381") * 10_000, "more than 500 telnet commands"),
        (subnegotiation(CHARSET, b"\x02../../etc") * 10_000, "more than 500 telnet commands"),
        (bytes((IAC, 241)) * 45_000, "more than 500 telnet commands"),
        (bytes((IAC, 246)) * 45_000, "more than 500 telnet commands"),
        (subnegotiation(NAWS, b"\0") * 10_000, "more than 500 telnet commands"),
        (
            subnegotiation(NEW_ENVIRON, b"\0" + b"\0A\1B" * 900) * 20,
            "more than 500 telnet commands",
        ),
        (subnegotiation(MCCP3, b"") + b"bomb" * 25_000, "compression that was refused"),
        (subnegotiation(MCCP2, b""), "compression that was refused"),
        (subnegotiation(MCCP1, b""), "compression that was refused"),
    ],
    ids=[
        "endless subnegotiation",
        "doubled",
        "DO",
        "on and off",
        "asked again",
        "end of record",
        "EOR ping-pong",
        "GMCP on and off",
        "GMCP without end",
        "GMCP",
        "MTTS",
        "bad character sets",
        "NOP",
        "AYT",
        "bad NAWS",
        "environ",
        "MCCP3 bomb",
        "MCCP2",
        "MCCP1",
    ],
)
async def test_a_flood_is_cut_off_with_one_line_in_the_log(
    board: Board, warnings: list[str], flood: bytes, what: str
) -> None:
    async with Terminal(REFUSING) as terminal:
        call = await connected(terminal, board)
        tracemalloc.start()
        terminal.send(flood)
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        reason = await call.until_ended()
        grown = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
        assert reason.startswith(f"cut off: {what}")
        assert grown < MEMORY
        await terminal.until_closed()
        assert warnings == [f"telnet 127.0.0.1: {reason}"]
        assert len(terminal.wire) < 10_000, "answers are bounded as well"


@pytest.mark.parametrize(
    "packet",
    [
        bytes((IAC, DO, 99)) * 1365,
        bytes((IAC, 246)) * 2048,
        b"\xff\xff" * 2048,
        b"k\xff\xff" * 1365,
        bytes((IAC, WILL, NEW_ENVIRON, IAC, WONT, NEW_ENVIRON)) * 682,
        subnegotiation(NAWS, b"\0\x50\0\x18") * 455,
        subnegotiation(NEW_ENVIRON, b"\0" + b"\0A\1B" * 1000),
        subnegotiation(NEW_ENVIRON, b"\0" + b"\2\2" * 2000),
        subnegotiation(CHARSET, b"\1" + b" A" * 500) * 4,
        subnegotiation(TTYPE, b"\0" + b"A" * 60) * 60,
    ],
    ids=["DO", "AYT", "FF", "k FF", "environ", "NAWS", "variables", "escapes", "charset", "ttype"],
)
@pytest.mark.parametrize("limits", [USUAL_LIMITS, NO_BUDGET], ids=["usual", "no budget"])
async def test_no_packet_stalls_the_others(packet: bytes, limits: TelnetLimits) -> None:
    # The least of three: the CPU that other tests' garbage costs in between is not the packet's.
    costs = []
    gc.disable()
    try:
        for _ in range(3):
            async with plugged(limits) as wire:
                began = time.thread_time()
                wire.telnet.take(packet[:UNREAD])
                costs.append(time.thread_time() - began)
    finally:
        gc.enable()
    # No real port lacks the budget. The test leaves it out to show that nothing else is a trap.
    assert min(costs) < (STALL if limits is USUAL_LIMITS else 3 * STALL)


@asynccontextmanager
async def megabytes_waiting(board: Board) -> AsyncIterator[None]:
    """Keep megabytes waiting in the caller's own machine; the body runs before they arrive."""
    loop, flood = asyncio.get_running_loop(), b"k" * 20_000_000
    with socket.socket() as wire:
        wire.setblocking(False)
        await loop.sock_connect(wire, ("127.0.0.1", board.port))
        yield
        tracemalloc.start()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await loop.sock_sendall(wire, flood)
        grown = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert grown < MEMORY


async def test_megabytes_wait_in_the_callers_own_machine(board: Board) -> None:
    """A board that does not read keeps 4 kB of the input, and the kernel some more."""
    async with megabytes_waiting(board):
        call = await board.answered()
        call.pauses = True
    assert 0 < len(call.typed) <= UNREAD


async def test_megabytes_before_the_call_begins_wait_as_well() -> None:
    async with (
        open_board(replace(USUAL_LIMITS, silence=60.0)) as board,
        megabytes_waiting(board),
    ):
        pass


async def test_a_paste_of_a_megabyte_arrives_whole_and_costs_little(board: Board) -> None:
    paste = bytes(range(255)) * 4000
    async with Terminal(REFUSING) as terminal:
        call = await connected(terminal, board)
        began = time.thread_time()
        terminal.send(paste)
        await call.until(lambda call: len(call.typed) == len(paste))
        assert time.thread_time() - began < 1.0
        assert call.typed == paste
        assert max(call.pieces) <= UNREAD


@pytest.mark.parametrize(
    "nonsense",
    [
        b"".join(subnegotiation(NAWS, b"\0" * length) * 20 for length in (0, 1, 3, 5, 100)),
        subnegotiation(TTYPE, b"\0\xff\xfe\x1b[2J") + subnegotiation(TTYPE, b"") * 3,
        subnegotiation(TTYPE, b"\0" + b"A" * 3000) + subnegotiation(TTYPE, b"\1"),
        subnegotiation(NEW_ENVIRON, b"\0\0LANG\1x.hex") + subnegotiation(NEW_ENVIRON, b"\0"),
        subnegotiation(NEW_ENVIRON, b"\1\0LANG") + subnegotiation(NEW_ENVIRON, b"\2\3\1\2\2"),
        subnegotiation(CHARSET, b"\2nosuch") + subnegotiation(NEW_ENVIRON, b"\0\0LANG\1de_DE"),
        subnegotiation(CHARSET, b"\1") + subnegotiation(CHARSET, b"\1;") * 2,
        subnegotiation(CHARSET, b"\1;hex;rot13;zip") + subnegotiation(CHARSET, b"\4\1 A B"),
        subnegotiation(CHARSET, b"\2\xff\xfe") + subnegotiation(CHARSET, b"\3") * 2,
        subnegotiation(32, b"\0" + b"9" * 4000 + b",1") + subnegotiation(32, b"\0a,b\xff"),
        bytes((IAC, WILL, MXP, IAC, WILL, GMCP)) + subnegotiation(MXP, b"<send>") * 50,
        subnegotiation(GMCP, b"Core.Hello " + b"[" * 3000) + subnegotiation(GMCP, b"\xff"),
        bytes((IAC, WILL, LINEMODE)) + subnegotiation(LINEMODE, b"\3" + b"\1\2\3" * 50),
        bytes((IAC, DO, LOGOUT, IAC, DONT, LOGOUT, IAC, WONT, LOGOUT, IAC, WILL, LOGOUT)),
        bytes((IAC, WILL, 1, IAC, WILL, 6, IAC, WONT, 6, IAC, DO, 5)) + subnegotiation(5, b"\1"),
        bytes((IAC, DO, TTYPE, IAC, DO, NAWS)) + subnegotiation(TTYPE, b"\1"),
        bytes((IAC, SB, IAC, SE, IAC, SE, IAC, SB, IAC, SB, IAC, SE, IAC, DO, IAC)),
        bytes((IAC, DONT, 1, IAC, DONT, 3, IAC, DONT, 0, IAC, WONT, 0)),
        bytes((IAC, SB, NAWS, 0)) + bytes((IAC, DO, 1)) + subnegotiation(NAWS, b""),
        b"".join(bytes((IAC, command, o)) for o in range(50, 60) for command in range(251, 255)),
        subnegotiation(0, b"") + subnegotiation(44, b"\1\2") + subnegotiation(255, b"\0"),
    ],
    ids=range(21),
)
@pytest.mark.parametrize("profile", [MODERN, REFUSING, SILENT], ids=["modern", "refusing", "mute"])
async def test_nonsense_changes_nothing_and_is_not_worth_a_word(
    warnings: list[str], nonsense: bytes, profile: Profile
) -> None:
    terminal = Terminal(replace(profile, opening=nonsense))
    async with open_board(replace(USUAL_LIMITS, silence=0.02)) as board, terminal:
        call = await connected(terminal, board)
        await still_listening(call, terminal)
        terminal.send(nonsense)
        await still_listening(call, terminal)
        assert (call.line.columns, call.line.rows) == (80, 24)
        assert call.line.hints.terminal_types in {(), MODERN.terminal_types}
    assert warnings == []


async def test_hints_are_short_and_printable(board: Board) -> None:
    evil = b"\x1b]0;evil\x07\xe2\x80\xae" + b"A" * 500
    async with Terminal(REFUSING) as terminal:
        call = await connected(terminal, board)
        for option, body in (
            (NEW_ENVIRON, b"\0\0LANG\1" + evil),
            (TTYPE, b"\0" + evil),
            (CHARSET, b"\2" + evil),
        ):
            terminal.send(subnegotiation(option, body))
        await still_listening(call, terminal)
        hints = call.line.hints
        for text in (*hints.terminal_types, hints.language, hints.charset):
            assert len(text) <= 64
            assert text == "" or (text.isascii() and text.isprintable())
        assert hints.language.startswith("]0;evilAAAA")


async def test_variables_other_than_the_language_are_dropped(board: Board) -> None:
    async with Terminal(MODERN) as terminal:
        call = await connected(terminal, board)
        hints = call.line.hints
        terminal.send(
            subnegotiation(NEW_ENVIRON, b"\0\0peername\1x\0PEERNAME\1y\0USER\1root\0cols\0013")
        )
        await still_listening(call, terminal)
        assert (call.line.address, call.line.hints) == ("127.0.0.1", hints)


@pytest.mark.parametrize(
    ("wish", "option"),
    [
        *product([WILL], [1, 5, 25, LINEMODE, 69, 70, MCCP1, MCCP2, MCCP3, MXP, GMCP, 254]),
        *product([DO], [5, LOGOUT, NAWS, TTYPE, LINEMODE, MCCP2, MCCP3, 254]),
    ],
)
async def test_unwanted_and_unknown_options_are_refused(
    board: Board, wish: int, option: int
) -> None:
    async with Terminal(REFUSING) as terminal:
        call = await connected(terminal, board)
        await terminal.until("Board.")
        asked = len(terminal.wire)
        terminal.send(bytes((IAC, wish, option)))
        await still_listening(call, terminal)
        refusal = {WILL: DONT, DO: WONT}[wish]
        assert terminal.wire[asked:] == bytes((IAC, refusal, option)) + b"heard"


async def test_options_leave_nothing_behind_however_many_there_are() -> None:
    every = b"".join(
        bytes((IAC, command, option)) for option in range(255) for command in range(251, 255)
    )
    async with plugged(NO_BUDGET) as wire:
        wire.telnet.take(every)
        tracemalloc.start()
        for number in range(20):
            wire.telnet.take(every)
            name = b"\0\0VARIABLE%d\1" % number
            wire.telnet.take(subnegotiation(NEW_ENVIRON, name + b"x" * 1000))
            wire.telnet.take(subnegotiation(MXP, b"x" * 1000))
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        # The unread answers wait in the transport.
        assert grown - 20 * len(every) < 20_000


# Anything at all


PIECES = st.one_of(
    st.binary(max_size=12),
    st.sampled_from([bytes((IAC,)), bytes((IAC, SB)), bytes((IAC, SE)), b"\xff\xff", b"\r\0"]),
    st.builds(
        lambda command, option: bytes((IAC, command, option)),
        st.integers(236, 255),
        st.integers(0, 255),
    ),
    st.builds(
        subnegotiation,
        st.sampled_from([NAWS, TTYPE, NEW_ENVIRON, CHARSET, 32, LINEMODE, MXP, 5]),
        st.binary(max_size=40),
    ),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(PIECES, max_size=8).map(b"".join), max_size=6))
def test_no_packets_break_the_protocol(packets: list[bytes]) -> None:
    async def feed() -> None:
        async with plugged(USUAL_LIMITS) as wire:
            for packet in packets:
                wire.telnet.take(packet)
            line = wire.telnet.line
            assert 40 <= line.columns <= 160
            assert 16 <= line.rows <= 60
            assert len(line.hints.terminal_types) <= 8
            if not line.ended:
                # This closes any open command, and then a key is a key again.
                wire.telnet.take(b"x\xff\xf0")
                wire.call.typed.clear()
                wire.telnet.take(b"key")
                assert wire.call.typed == b"key"

    asyncio.run(feed())
