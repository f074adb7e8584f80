"""A caller on standard input and output: terminals as hosts make them, pipes, sockets."""

import asyncio
import contextlib
import fcntl
import os
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from door.errors import Hangup, NoHostLine
from door.lines.flow import UNREAD
from door.lines.host import descriptors
from door.lines.host.host import USUAL_LIMITS, with_environment
from door.lines.host.stdio import opened
from door.lines.line import Hints
from tests.door.lines.board import PATIENCE
from tests.door.lines.host import EVERY_BYTE, STRANGER, FarEnd, HostSigns, listened_to, terminal

PATIENT = replace(USUAL_LIMITS, farewell=1000.0)  # where nothing may be left to the last resort

# Terminals


async def test_every_key_comes_by_itself_and_as_it_was_typed() -> None:
    with terminal() as host:
        async with opened(host.slave, host.slave, STRANGER, USUAL_LIMITS, HostSigns()) as line:
            call = listened_to(line)
            for byte in EVERY_BYTE:  # ^C, ^S, ^Q, ^Z, ^D and ^V among them
                call.typed.clear()
                host.far.types(bytes((byte,)))
                await call.until_typed(bytes((byte,)))
            line.write(b"!")
            await host.far.until_shown(b"!")
            assert host.far.shown == b"!", "the terminal echoed what was typed"


async def test_output_is_shown_unchanged_except_for_a_0xff() -> None:
    with terminal() as host:
        async with opened(host.slave, host.slave, STRANGER, USUAL_LIMITS, HostSigns()) as line:
            line.write(b"\n\r\n\t" + EVERY_BYTE + b"\xff\xff.")
            await host.far.until_shown(b"\xfe.")
            assert host.far.shown == b"\n\r\n\t" + EVERY_BYTE[:-1] + b"."


async def test_keys_typed_before_the_door_began_are_not_lost() -> None:
    with terminal() as host:
        host.far.types(b"hurry")
        await host.far.until_shown(b"hurry")
        async with opened(host.slave, host.slave, STRANGER, USUAL_LIMITS, HostSigns()) as line:
            await listened_to(line).until_typed(b"hurry")


async def test_the_terminal_is_as_it_was_when_the_call_has_ended() -> None:
    with terminal() as host:
        async with opened(host.slave, host.slave, STRANGER, USUAL_LIMITS, HostSigns()):
            assert host.settings()[0] != host.before[0]
            assert host.settings()[1] == host.before[1], "the host's own reads would fail"
        assert host.settings() == host.before


async def test_a_call_cancelled_repeatedly_restores_the_terminal() -> None:
    with terminal() as host:
        begun = asyncio.Event()

        async def call() -> None:
            async with opened(host.slave, host.slave, STRANGER, USUAL_LIMITS, HostSigns()) as line:
                line.write(b"x" * 100_000)
                begun.set()
                await asyncio.Event().wait()

        host.far.stop_reading()
        task = asyncio.create_task(call())
        await begun.wait()
        for _ in range(3):
            task.cancel()
            await asyncio.wait([task], timeout=0.01)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert host.settings() == host.before


async def test_the_last_words_leave_before_the_terminal_is_set_back() -> None:
    with terminal() as host:
        host.far.stop_reading()
        screen = b"a line\r\n" * 2000
        async with (
            asyncio.timeout(PATIENCE),
            opened(host.slave, host.slave, STRANGER, PATIENT, HostSigns()) as line,
        ):
            line.write(screen + b"Goodbye.")
            asyncio.get_running_loop().call_soon(host.far.go_on_reading)
        await host.far.until_shown(b"Goodbye.")
        assert host.far.shown == screen + b"Goodbye."


async def test_a_host_that_never_reads_the_last_words_is_not_waited_for() -> None:
    with terminal() as host:
        host.far.stop_reading()
        loop = asyncio.get_running_loop()
        async with opened(
            host.slave, host.slave, STRANGER, replace(USUAL_LIMITS, farewell=0.1), HostSigns()
        ) as line:
            line.write(b"x" * 200_000)
            left_at = loop.time()
        assert 0.1 <= loop.time() - left_at < 1.0
        assert host.settings() == host.before


async def test_a_caller_who_never_reads_is_cut_off_at_256_kb(warnings: list[str]) -> None:
    with terminal() as host:
        host.far.stop_reading()
        async with opened(host.slave, host.slave, STRANGER, USUAL_LIMITS, HostSigns()) as line:
            call = listened_to(line)
            for written in range(0, 300_000, 1000):
                assert not call.ends or written > 256 * 1024
                line.write(b"x" * 1000)
            assert "bytes left unread" in await call.until_ended()
        assert host.settings() == host.before
    assert warnings == [f"stdio unknown: {call.ends[0]}"]


async def test_drain_waits_until_everything_has_left() -> None:
    with terminal() as host:
        async with opened(host.slave, host.slave, STRANGER, USUAL_LIMITS, HostSigns()) as line:
            call = listened_to(line)
            host.far.stop_reading()
            line.write(b"x" * 200_000)
            drained = asyncio.create_task(line.drain(PATIENCE))
            host.far.types(b"k")
            await call.until_typed(b"k")
            assert not drained.done()
            host.far.go_on_reading()
            await drained


async def test_drain_gives_up_on_a_caller_who_never_reads() -> None:
    with terminal() as host:
        async with opened(host.slave, host.slave, STRANGER, USUAL_LIMITS, HostSigns()) as line:
            host.far.stop_reading()
            line.write(b"x" * 200_000)
            with pytest.raises(Hangup, match=r"nothing read for 0\.05 seconds"):
                await line.drain(0.05)


async def test_a_terminal_that_is_closed_is_a_hang_up() -> None:
    with terminal() as host:
        async with opened(host.slave, host.slave, STRANGER, USUAL_LIMITS, HostSigns()) as line:
            call = listened_to(line)
            host.hang_up()
            line.write(b"too late")
            await call.until_ended()


async def test_a_paused_line_keeps_4_kb_and_loses_nothing() -> None:
    with terminal() as host:
        async with opened(host.slave, host.slave, STRANGER, USUAL_LIMITS, HostSigns()) as line:
            call = listened_to(line)
            line.pause()
            paste = bytes(range(250)) * 8
            host.far.types(paste)
            line.write(b"?")
            await host.far.until_shown(b"?")
            assert call.typed == b""
            line.resume()
            await call.until_typed(paste)
            assert max(call.pieces) <= UNREAD


async def test_the_screen_is_as_large_as_the_terminal_says_and_follows_it() -> None:
    with terminal() as host:
        host.resize(100, 40)
        introduction = replace(STRANGER, columns=132, rows=50)
        signs = HostSigns()
        async with opened(host.slave, host.slave, introduction, USUAL_LIMITS, signs) as line:
            assert (line.columns, line.rows) == (100, 40)
            call = listened_to(line)
            host.resize(1000, 10)
            signs.look()
            await call.until(lambda call: call.sizes == [(160, 16)])


async def test_a_terminal_that_says_nothing_leaves_the_word_to_the_host() -> None:
    with terminal() as host:
        introduction = replace(STRANGER, columns=100, rows=0)
        async with opened(host.slave, host.slave, introduction, USUAL_LIMITS, HostSigns()) as line:
            assert (line.columns, line.rows) == (100, 24)


async def test_where_a_terminal_cannot_be_opened_again_its_flag_is_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For example when the terminal belongs to another user, as the host changed users."""
    monkeypatch.setattr(descriptors, "_opened_again", lambda descriptor, way: None)
    with terminal() as host:
        async with opened(host.slave, host.slave, STRANGER, USUAL_LIMITS, HostSigns()) as line:
            call = listened_to(line)
            assert fcntl.fcntl(host.slave, fcntl.F_GETFL) & os.O_NONBLOCK
            host.far.types(b"k")
            await call.until_typed(b"k")
            line.write(b"!")
            await host.far.until_shown(b"!")
        assert host.settings() == host.before


# Pipes and sockets


async def test_pipes_work_too_and_stay_as_they_were() -> None:
    reading, keyboard = os.pipe()
    screen, writing = os.pipe()
    far = FarEnd(screen)
    async with opened(reading, writing, STRANGER, USUAL_LIMITS, HostSigns()) as line:
        call = listened_to(line)
        os.write(keyboard, EVERY_BYTE)
        await call.until_typed(EVERY_BYTE)
        line.write(b"x" * 200_000 + b".")
        await far.until_shown(b"x.")
        assert len(far.shown) == 200_001
        assert os.get_blocking(reading)
        assert os.get_blocking(writing)
        os.close(keyboard)
        assert await call.until_ended() == "the caller hung up"
    os.close(reading)
    os.close(writing)
    await far.until_ended()
    far.close()


async def test_the_end_of_the_input_does_not_stop_the_output() -> None:
    reading, keyboard = os.pipe()
    screen, writing = os.pipe()
    far = FarEnd(screen)
    far.stop_reading()
    async with (
        asyncio.timeout(PATIENCE),
        opened(reading, writing, STRANGER, PATIENT, HostSigns()) as line,
    ):
        call = listened_to(line)
        line.write(b"x" * 100_000 + b".")
        os.close(keyboard)
        await call.until_ended()
        far.go_on_reading()
    await far.until_shown(b"x.")
    assert len(far.shown) == 100_001
    for end in (reading, writing):
        os.close(end)
    far.close()


async def test_a_closed_output_is_a_hang_up() -> None:
    reading, keyboard = os.pipe()
    screen, writing = os.pipe()
    async with opened(reading, writing, STRANGER, USUAL_LIMITS, HostSigns()) as line:
        call = listened_to(line)
        os.close(screen)
        line.write(b"hello?")
        assert await call.until_ended() == "the connection broke: Broken pipe"
    for end in (reading, writing, keyboard):
        os.close(end)


async def test_a_socket_for_both_is_left_open_and_blocking() -> None:
    far, near = socket.socketpair()
    with far, near:
        async with opened(
            near.fileno(), near.fileno(), STRANGER, USUAL_LIMITS, HostSigns()
        ) as line:
            call = listened_to(line)
            far.sendall(b"k")
            await call.until_typed(b"k")
            line.write(b"Goodbye.")
            assert os.get_blocking(near.fileno())
        assert far.recv(100) == b"Goodbye."
        near.sendall(b"Back at the board.")
        assert far.recv(100) == b"Back at the board."


@pytest.mark.parametrize("path", [__file__, os.devnull])
@pytest.mark.parametrize("name", ["input", "output"])
async def test_a_caller_on_a_file_is_refused_with_a_sentence(name: str, path: str) -> None:
    near, far = socket.socketpair()
    file = os.open(path, os.O_RDONLY)
    ends = (file, near.fileno()) if name == "input" else (near.fileno(), file)
    with near, far, pytest.raises(NoHostLine, match=f"Standard {name} is a file or a device"):
        async with opened(*ends, STRANGER, USUAL_LIMITS, HostSigns()):
            raise AssertionError("a line to a file")
    os.close(file)


@pytest.mark.parametrize(("lacks", "name"), [(0, "input"), (1, "output")])
async def test_a_descriptor_that_is_not_open_is_refused_with_a_sentence(
    lacks: int, name: str
) -> None:
    ends = os.pipe()
    os.close(ends[lacks])
    with pytest.raises(NoHostLine, match=f"There is no standard {name} to talk to the caller"):
        async with opened(*ends, STRANGER, USUAL_LIMITS, HostSigns()):
            raise AssertionError("a line to nowhere")
    os.close(ends[1 - lacks])


async def test_no_descriptor_is_left_behind() -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    with terminal() as host:
        before = count()
        async with opened(host.slave, host.slave, STRANGER, USUAL_LIMITS, HostSigns()):
            assert count() > before
        with contextlib.suppress(ZeroDivisionError):
            async with opened(host.slave, host.slave, STRANGER, USUAL_LIMITS, HostSigns()):
                raise ZeroDivisionError
        with contextlib.suppress(NoHostLine):
            async with opened(host.slave, 9999, STRANGER, USUAL_LIMITS, HostSigns()):
                raise AssertionError("a line to nowhere")
        assert count() == before


# Hints about the caller


async def test_the_line_knows_the_hints_of_the_host() -> None:
    hints = Hints(terminal_types=("ansi",), charset="CP437")
    with terminal() as host:
        introduction = replace(STRANGER, address="Synchronet, node 2", hints=hints)
        async with opened(host.slave, host.slave, introduction, USUAL_LIMITS, HostSigns()) as line:
            assert (line.kind, line.address, line.hints) == ("stdio", "Synchronet, node 2", hints)


@pytest.mark.parametrize(
    ("hints", "environment", "known"),
    [
        (Hints(), {"TERM": "xterm"}, Hints(("xterm",))),
        (Hints(("ansi",)), {"TERM": "xterm"}, Hints(("ansi", "xterm"))),
        (Hints(("ansi",)), {"TERM": "ansi"}, Hints(("ansi",))),
        (Hints(), {"LANG": "C", "LC_CTYPE": "", "LC_ALL": "fr_FR"}, Hints(language="fr_FR")),
        (Hints(language="de_DE"), {"LANG": "fr_FR"}, Hints(language="de_DE")),
        (Hints(), {"TERM": "x\x1b[2J\n" + "y" * 99}, Hints(("x[2J" + "y" * 60,))),
        (Hints(tuple("abcdefgh")), {"TERM": "i"}, Hints(tuple("abcdefgh"))),
        (Hints(), {}, Hints()),
    ],
)
def test_the_environment_adds_to_the_hints_of_the_host(
    hints: Hints, environment: dict[str, str], known: Hints
) -> None:
    assert with_environment(hints, environment) == known


def test_a_door_starts_without_the_telnet_library_and_the_database() -> None:
    program = (
        "import sys, door.lines.host.stdio, door.lines.host.socket;"
        "print([name for name in ('telnetlib3', 'sqlalchemy') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert result.stdout == b"[]\n"
