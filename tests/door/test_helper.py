"""The helper process of a board: its answers, its life, and its inherited resources."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from door import helper, helper_process
from door.errors import HelperUnavailable
from door.helper import Helper
from door.server.server import quickest
from tests.terminal import PATIENCE

NAME = "the helper of this test"
FOR_EVER = 3600


@asynccontextmanager
async def begun(patience: float = PATIENCE) -> AsyncIterator[Helper]:
    here = Helper(NAME, patience)
    try:
        async with asyncio.timeout(PATIENCE):
            yield here
    finally:
        await here.close()
        assert process_of(here) is None


def process_of(here: Helper) -> int | None:
    return None if here._process is None else here._process.pid


def is_there(number: int) -> bool:
    return Path(f"/proc/{number}").exists()


async def started(here: Helper) -> int:
    """The number of the process, which has answered."""
    number = await here.ask(os.getpid)
    assert number == process_of(here)
    return number


async def busy(here: Helper) -> tuple[asyncio.Future[None], int]:
    """A question that has no answer, once a process is busy with it; and its number."""
    answer = here.ask(time.sleep, FOR_EVER)
    while (number := process_of(here)) is None:  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(0)
    return answer, number


# Answers


async def test_questions_that_come_at_once_are_all_answered() -> None:
    async with begun() as here:
        assert await asyncio.gather(*(here.ask(divmod, each, 7) for each in range(40))) == [
            divmod(each, 7) for each in range(40)
        ]
        assert len(set(await asyncio.gather(*(here.ask(os.getpid) for _ in range(4))))) == 1


async def test_questions_and_answers_may_be_long() -> None:
    long = "0123456789" * 100_000
    async with begun() as here:
        assert await here.ask(str.upper, long) == long


async def test_nothing_is_started_before_a_question_comes() -> None:
    async with begun() as here:
        assert process_of(here) is None
        await here.ask(os.getpid)
        assert process_of(here) is not None


async def test_it_is_less_urgent_than_the_board() -> None:
    async with begun() as here:
        ours = os.getpriority(os.PRIO_PROCESS, 0)
        theirs = os.getpriority(os.PRIO_PROCESS, await started(here))
        assert theirs == min(ours + helper_process.NICENESS, 19)


async def test_a_failed_computation_is_logged_and_the_helper_stays_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with begun() as here:
        number = await started(here)
        with pytest.raises(HelperUnavailable):
            await here.ask(divmod, 1, 0)
        assert f"{NAME} cannot answer" in caplog.text
        assert "ZeroDivisionError" in caplog.text
        assert await started(here) == number


async def test_no_more_questions_wait_than_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helper, "MAX_QUESTIONS", 3)
    async with begun() as here:
        waiting = [here.ask(time.sleep, FOR_EVER) for _ in range(3)]
        with pytest.raises(HelperUnavailable):
            await here.ask(os.getpid)
        assert not any(answer.done() for answer in waiting)


# Cancellation


async def test_a_cancelled_question_is_skipped(
    tmp_path: Path,
) -> None:
    async with begun() as here:
        os.kill(number := await started(here), signal.SIGSTOP)
        first, unwanted, last = (here.ask(os.mkdir, tmp_path / each) for each in "abc")
        unwanted.cancel()
        os.kill(number, signal.SIGCONT)
        await asyncio.gather(first, last)
        assert sorted(os.listdir(tmp_path)) == ["a", "c"]
        assert process_of(here) == number


async def test_a_short_cancelled_question_is_finished_before_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(helper, "CANCELLED_SECONDS", PATIENCE)
    async with begun() as here:
        os.kill(number := await started(here), signal.SIGSTOP)
        unwanted = here.ask(os.getpid)
        await asyncio.sleep(0)  # it is asked now
        unwanted.cancel()
        os.kill(number, signal.SIGCONT)
        assert await here.ask(os.getpid) == number


async def test_a_long_cancelled_question_ends_the_process_for_the_next() -> None:
    async with begun() as here:
        answer, number = await busy(here)
        following = here.ask(os.getpid)
        answer.cancel()
        assert await following not in (number, os.getpid())
        assert not is_there(number)


# When it dies


async def test_a_process_killed_at_work_restarts_with_the_same_question() -> None:
    async with begun() as here:
        first = await started(here)
        os.kill(first, signal.SIGSTOP)
        answer = here.ask(os.getpid)
        for _ in range(10):
            await asyncio.sleep(0)
        os.kill(first, signal.SIGKILL)
        assert await answer == process_of(here) != first


async def test_a_process_that_is_killed_at_rest_is_started_again() -> None:
    async with begun() as here:
        first = await started(here)
        os.kill(first, signal.SIGKILL)
        assert await started(here) != first


BAD = {
    "dies": (sys.executable, "-c", "import sys; sys.stdin.buffer.read(1)"),
    "cannot be started": ("/no/such/program",),
    "talks nonsense": (sys.executable, "-c", "print('what?'); input()"),
}


@pytest.mark.parametrize("command", BAD.values(), ids=BAD)
async def test_where_no_process_will_run_it_is_not_tried_for_ever(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(helper, "COMMAND", command)
    async with begun() as here:
        for answer in [here.ask(os.getpid) for _ in range(3)]:
            with pytest.raises(HelperUnavailable):
                await answer
        assert process_of(here) is None
    assert caplog.text.count(f"{NAME} does not answer") == 1


async def test_after_a_pause_another_process_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    async with begun() as here:
        with monkeypatch.context() as patch:
            patch.setattr(helper, "COMMAND", BAD["dies"])
            with pytest.raises(HelperUnavailable):
                await here.ask(os.getpid)
        with pytest.raises(HelperUnavailable, match="a moment ago"):
            await here.ask(os.getpid)
        here._pause_until = 0.0
        await started(here)


async def test_a_process_that_says_nothing_is_ended(caplog: pytest.LogCaptureFixture) -> None:
    async with begun(0.05) as here:
        answer = here.ask(time.sleep, FOR_EVER)
        numbers = set()
        while not answer.done():
            numbers.add(process_of(here))
            await asyncio.sleep(0)
        with pytest.raises(HelperUnavailable):
            await answer
        assert f"{NAME} does not answer: TimeoutError()" in caplog.text
    assert len(numbers - {None}) == helper.TRIES
    assert not any(is_there(number) for number in numbers if number is not None)


# When it ends


async def test_closing_ends_the_process_and_cancels_open_questions() -> None:
    async with begun() as here:
        answer, number = await busy(here)
        waiting = here.ask(os.getpid)
        await here.close()
        assert answer.cancelled()
        assert waiting.cancelled()
        assert not is_there(number)


async def test_closing_while_it_is_started_leaves_nothing() -> None:
    async with begun() as here:
        answer = here.ask(time.sleep, FOR_EVER)
        await asyncio.sleep(0)
        await here.close()
        assert answer.cancelled()
    gc.collect()


async def test_an_idle_process_ends_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helper, "IDLE_SECONDS", 0.0)
    async with begun() as here:
        number = await here.ask(os.getpid)
        while process_of(here) is not None:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0)
        assert await here.ask(os.getpid) != number


def test_it_ends_when_the_process_that_asked_is_gone() -> None:
    with subprocess.Popen(
        helper.COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as alone:
        assert alone.stdin is not None
        alone.stdin.close()
        assert alone.wait(PATIENCE) == 0
        assert alone.stderr is not None
        assert alone.stderr.read() == b""


# Inherited resources


LOOPS = {"asyncio": None, "uvloop": quickest()}


@pytest.mark.parametrize("loop", LOOPS)
def test_no_line_of_a_caller_is_open_in_it(loop: str) -> None:
    """Not even one that a host has handed down, which a new program would inherit."""
    if loop == "uvloop":
        pytest.importorskip("uvloop", reason="there are no wheels of uvloop for this machine")

    async def looks() -> None:
        async with begun() as here:
            first = await started(here)
            os.kill(first, signal.SIGKILL)
            number = await started(here)
            assert number != first
            open_there = sorted(os.listdir(f"/proc/{number}/fd"), key=int)
            assert open_there == ["0", "1", "2"]
            assert os.readlink(f"/proc/{number}/fd/2") == "/dev/null"
            assert os.getsid(number) == number, "no terminal's signal reaches it"

    ours, theirs = socket.socketpair()
    with ours, theirs:
        os.set_inheritable(ours.fileno(), True)
        with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
            runner.run(looks())


async def test_nothing_of_the_folder_it_is_started_in_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "door", "pickle"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not ours')")
    monkeypatch.chdir(tmp_path)
    async with begun() as here:
        await started(here)
