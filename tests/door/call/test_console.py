import asyncio
import gc
import weakref

import pytest

from ansi.charset import Charset
from ansi.keys import ENTER, UP
from door.call import terminal
from door.call.console import Console
from door.call.screen import Look, Paint
from door.call.terminal import ASK_LETTERS, ASK_SIZE
from tests.clock import FakeClock
from tests.door.wall import ObservedWall, Wall
from tests.world import NOON


@pytest.fixture
async def wall() -> Wall:
    return Wall()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOON)


@pytest.fixture
async def console(wall: Wall, clock: FakeClock) -> Console:
    console = Console(wall, Look(Charset.CP437, Paint.COLOUR), clock)
    console.screen.paint_screens()
    wall.written = b""
    return console


async def waits_for_a_key(console: Console, wall: Wall) -> asyncio.Task[None]:
    task = asyncio.create_task(console.pager.any_key())
    await asyncio.sleep(0)
    wall.written = b""
    return task


async def test_a_message_at_a_key_prompt_is_sent_at_once(console: Console, wall: Wall) -> None:
    answer = await waits_for_a_key(console, wall)
    console.received(b"x")
    await answer
    answer = await waits_for_a_key(console, wall)
    console.screen.say("Ada has come.")
    await asyncio.sleep(0)
    assert b"Ada has come." in wall.written
    answer.cancel()


async def test_an_answer_is_sent_with_the_next_question(console: Console, wall: Wall) -> None:
    answer = await waits_for_a_key(console, wall)
    console.received(b"x")
    await answer
    console.screen.say("Thank you.")
    await asyncio.sleep(0)
    assert wall.written == b""
    answer = asyncio.create_task(console.pager.any_key("Go on?"))
    await asyncio.sleep(0)
    assert b"Thank you." in wall.written
    assert b"Go on?" in wall.written
    answer.cancel()


# Doorway mode


async def test_an_arrow_of_doorway_mode_is_no_letter(console: Console, wall: Wall) -> None:
    console.received(b"\0")
    console.received(b"H")
    assert await console.keyboard.key() == UP


async def test_a_letter_after_a_nul_that_stood_alone_is_a_letter(
    console: Console, clock: FakeClock
) -> None:
    console.received(b"\0")
    await clock.advance(1.0)
    console.received(b"H")
    assert await console.keyboard.key() == "H"


async def test_an_arrow_a_while_after_enter_is_an_arrow(console: Console, clock: FakeClock) -> None:
    console.received(b"\r")
    await clock.advance(1.0)
    console.received(b"\0H")
    assert [await console.keyboard.key(), await console.keyboard.key()] == [ENTER, UP]


# Queries to the terminal


async def test_a_terminal_of_unknown_size_is_asked_for_it(console: Console, wall: Wall) -> None:
    terminal.ask_size(console)
    assert not wall.written
    wall.size_is_known = False
    terminal.ask_size(console)
    assert wall.written == ASK_SIZE
    console.received(b"\x1b[36;132R")
    assert (wall.columns, wall.rows) == (132, 36)
    console.received(b"\x1b[20;40R")  # no query was sent
    assert (wall.columns, wall.rows) == (132, 36)


async def test_a_terminal_of_plain_lines_is_not_asked(wall: Wall) -> None:
    wall.size_is_known = False
    terminal.ask_size(Console(wall, Look(Charset.ASCII, Paint.LINES), FakeClock(NOON)))
    assert not wall.written


@pytest.mark.parametrize("answer", [b"\x1b[1;2R", b"\x1b[0;0R", b"\x1b[24;1R"])
async def test_an_answer_that_is_no_corner_changes_nothing(
    console: Console, wall: Wall, answer: bytes
) -> None:
    wall.size_is_known = False
    terminal.ask_size(console)
    console.received(answer)
    assert (wall.columns, wall.rows, wall.size_is_known) == (80, 24, False)


@pytest.mark.parametrize(("column", "charset"), [(2, Charset.UTF8), (4, Charset.CP437)])
async def test_the_cursor_position_identifies_the_terminal(
    console: Console, wall: Wall, column: int, charset: Charset
) -> None:
    wall.size_is_known = False
    probe = asyncio.create_task(terminal.probe(console, 60.0))
    await asyncio.sleep(0)
    assert wall.written == ASK_LETTERS + ASK_SIZE
    console.received(b"\x1b[1;%dR\x1b[40;100R" % column)
    assert await probe == Look(charset, Paint.COLOUR)
    assert (wall.columns, wall.rows) == (100, 40)


async def test_a_terminal_that_does_not_answer_is_not_waited_for_long(
    console: Console, clock: FakeClock
) -> None:
    probe = asyncio.create_task(terminal.probe(console, 1.0))
    await asyncio.sleep(0)
    await clock.advance(1.0)
    assert await probe is None


async def test_a_key_ends_the_wait_for_a_terminal_and_is_not_lost(console: Console) -> None:
    probe = asyncio.create_task(terminal.probe(console, 60.0))
    await asyncio.sleep(0)
    console.received(b"x")
    assert await probe is None
    assert await console.keyboard.key() == "x"


async def test_the_console_does_not_wait_for_a_gone_caller(console: Console) -> None:
    probe = asyncio.create_task(terminal.probe(console, 60.0))
    await asyncio.sleep(0)
    console.hung_up("gone")
    assert await probe is None


async def test_a_terminal_that_never_answers_keeps_no_call_in_memory(wall: Wall) -> None:
    """The collector rarely visits objects that old."""
    gc.disable()
    try:
        console = Console(wall, Look(Charset.CP437, Paint.COLOUR), FakeClock(NOON))
        probe = asyncio.create_task(terminal.probe(console, 60.0))
        await asyncio.sleep(0)
        console.hung_up("gone")
        assert await probe is None
        await console.part()
        left = weakref.ref(console)
        del console, probe, wall.receiver
        assert left() is None
    finally:
        gc.enable()


async def test_an_echo_that_waits_keeps_no_call_in_memory() -> None:
    gc.disable()
    try:
        wall = Wall()
        console = Console(wall, Look(Charset.CP437, Paint.COLOUR), FakeClock(NOON))
        console.screen.paint_screens()
        console.screen.say("Until next time.")  # as after a key that is still being served
        await console.part()
        assert b"Until next time." in wall.written
        left = weakref.ref(wall)
        del console, wall.receiver, wall
        assert left() is None
    finally:
        gc.enable()


async def test_a_window_that_changes_after_the_last_words_shows_nothing(
    console: Console, wall: Wall
) -> None:
    console.screen.say("Until next time.")
    await console.part()
    wall.written = bytearray()
    wall.resize(100, 30)
    await asyncio.sleep(0)
    assert not wall.written


async def test_a_flood_of_windows_of_a_home_computer_paints_few_screens(clock: FakeClock) -> None:
    wall = ObservedWall()
    console = Console(wall, Look(Charset.PETSCII, Paint.COLOUR), clock)
    console.screen.paint_screens()
    wall.written.clear()
    for columns in range(40, 80):
        wall.resize(columns, 25)
        await asyncio.sleep(0)
    cleared = b"\x93"
    assert wall.written.count(cleared) <= 4, "a screen takes milliseconds, each time"
    await wall.until(cleared)
