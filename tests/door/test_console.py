import asyncio

import pytest

from ansi.charset import Charset
from door.console import Console, Look, Paint
from tests.clock import FakeClock
from tests.door.wall import Wall
from tests.world import NOON


@pytest.fixture
async def wall() -> Wall:
    return Wall()


@pytest.fixture
async def console(wall: Wall) -> Console:
    console = Console(wall, Look(Charset.CP437, Paint.COLOUR), FakeClock(NOON))
    console.paint_screens()
    return console


async def waits_for_a_key(console: Console, wall: Wall) -> asyncio.Task[None]:
    task = asyncio.create_task(console.any_key())
    await asyncio.sleep(0)
    wall.written = b""
    return task


async def test_what_is_said_to_one_who_is_waited_for_is_sent_at_once(
    console: Console, wall: Wall
) -> None:
    answer = await waits_for_a_key(console, wall)
    console.received(b"x")
    await answer
    answer = await waits_for_a_key(console, wall)
    console.say("Ada has come.")
    await asyncio.sleep(0)
    assert b"Ada has come." in wall.written
    answer.cancel()


async def test_an_answer_is_sent_with_the_next_question(console: Console, wall: Wall) -> None:
    answer = await waits_for_a_key(console, wall)
    console.received(b"x")
    await answer
    console.say("Thank you.")
    await asyncio.sleep(0)
    assert wall.written == b""
    answer = asyncio.create_task(console.any_key("Go on?"))
    await asyncio.sleep(0)
    assert b"Thank you." in wall.written
    assert b"Go on?" in wall.written
    answer.cancel()
