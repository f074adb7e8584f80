import asyncio

import pytest

from ansi.charset import Charset
from door.console import Console, Look, Paint
from door.lines.line import Hints, Receiver
from tests.clock import FakeClock
from tests.world import NOON


class Paper:
    """A line that keeps what is written on it."""

    kind, address, hints = "telnet", "127.0.0.1", Hints()
    columns, rows = 80, 24

    def __init__(self) -> None:
        self.written = b""

    def attach(self, receiver: Receiver) -> None:
        pass

    def pause(self) -> None:
        pass

    def resume(self) -> None:
        pass

    def write(self, data: bytes) -> None:
        self.written += data

    async def drain(self, seconds: float) -> None:
        pass

    def hang_up(self) -> None:
        pass

    def abort(self) -> None:
        pass


@pytest.fixture
async def paper() -> Paper:
    return Paper()


@pytest.fixture
async def console(paper: Paper) -> Console:
    console = Console(paper, Look(Charset.CP437, Paint.COLOUR), FakeClock(NOON))
    console.paint_screens()
    return console


async def waits_for_a_key(console: Console, paper: Paper) -> asyncio.Task[None]:
    task = asyncio.create_task(console.any_key())
    await asyncio.sleep(0)
    paper.written = b""
    return task


async def test_what_is_said_to_one_who_is_waited_for_is_sent_at_once(
    console: Console, paper: Paper
) -> None:
    answer = await waits_for_a_key(console, paper)
    console.received(b"x")
    await answer
    answer = await waits_for_a_key(console, paper)
    console.say("Ada has come.")
    await asyncio.sleep(0)
    assert b"Ada has come." in paper.written
    answer.cancel()


async def test_an_answer_is_sent_with_the_next_question(console: Console, paper: Paper) -> None:
    answer = await waits_for_a_key(console, paper)
    console.received(b"x")
    await answer
    console.say("Thank you.")
    await asyncio.sleep(0)
    assert paper.written == b""
    answer = asyncio.create_task(console.any_key("Go on?"))
    await asyncio.sleep(0)
    assert b"Thank you." in paper.written
    assert b"Go on?" in paper.written
    answer.cancel()
