"""The process in which the tutor thinks: what it says, and what becomes of it."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from door import beside
from door.errors import NoAdviceNow
from door.games.blackjack.round import start
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, VEGAS
from door.games.blackjack.tutor import thinking
from door.games.blackjack.tutor.hands import values
from door.games.blackjack.tutor.spot import Spot
from door.games.blackjack.tutor.thinking import ThinkingProcess
from door.games.blackjack.tutor.tutor import spot_of
from door.games.engine import shuffle
from door.server.server import quickest
from tests.door.processes import open_a_hand, served, sit_down, stand
from tests.terminal import PATIENCE

DEAF = (sys.executable, "-c", "import time; time.sleep(3600)")
DYING = (sys.executable, "-c", "import sys; sys.stdin.buffer.read(1)")


def spot(number: int = 0) -> Spot:
    """Some decision; another one for each number."""
    for tried in range(200 * number, 200 * number + 200):
        seed = tried.to_bytes(shuffle.SEED_BYTES, "big")
        dealt, _ = start(BLACK_JACK_FOR_TIME, shuffle.shuffle(seed, "", 1), [600])
        if not dealt.over:
            return replace(spot_of(dealt), rules=replace(BLACK_JACK_FOR_TIME, keys=(str(number),)))
    raise AssertionError("no hand is to be played")


@asynccontextmanager
async def process(*how: Any) -> AsyncIterator[ThinkingProcess]:
    begun = ThinkingProcess(*how)
    try:
        async with asyncio.timeout(PATIENCE):
            yield begun
    finally:
        await begun.close()
        assert begun.process_id is None


def is_there(number: int) -> bool:
    return Path(f"/proc/{number}").exists()


async def started(begun: ThinkingProcess) -> int:
    """The number of the process, which has answered."""
    await begun.ask(spot())
    assert begun.process_id is not None
    return begun.process_id


# What it says


async def test_it_says_what_the_tutor_works_out_to_the_last_digit() -> None:
    at_vegas, _ = start(
        replace(VEGAS, decks=6), shuffle.shuffle(bytes(shuffle.SEED_BYTES), "", 6), [6]
    )
    asked = [spot(1), spot_of(at_vegas)]
    async with process() as begun:
        for each in asked:
            told = await begun.ask(each)
            assert dict(told) == dict(values(each))
            assert list(told) == list(values(each))


async def test_questions_that_come_at_once_are_all_answered() -> None:
    async with process() as begun:
        asked = [spot(number % 7) for number in range(40)]
        told = await asyncio.gather(*map(begun.ask, asked))
        assert [dict(each) for each in told] == [dict(values(each)) for each in asked]


async def test_what_is_known_is_not_asked_again() -> None:
    async with process() as begun:
        first = await begun.ask(spot(1))
        os.kill(await started(begun), signal.SIGSTOP)
        again = begun.ask(spot(1))
        assert again.done()
        assert again.result() is first


async def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinking, "KEPT", 3)
    async with process() as begun:
        for number in (1, 2, 3, 1, 4):
            await begun.ask(spot(number))
        assert [begun.ask(spot(number)).done() for number in (1, 2, 3, 4)] == [
            True,
            False,
            True,
            True,
        ]


async def test_nothing_is_started_before_a_question_comes(tmp_path: Path) -> None:
    async with process() as begun:
        assert begun.process_id is None
        await begun.ask(spot())
        assert begun.process_id is not None


async def test_while_it_thinks_the_loop_is_free() -> None:
    """Nothing of the sums is done in the process that asks."""
    before = values.cache_info()
    async with process() as begun:
        await begun.ask(spot(99))
    assert values.cache_info() == before


async def test_it_is_less_urgent_than_the_board() -> None:
    async with process() as begun:
        number = await started(begun)
        ours = os.getpriority(os.PRIO_PROCESS, 0)
        theirs = os.getpriority(os.PRIO_PROCESS, number)
        assert theirs == min(ours + beside.NICE, beside.LEAST_URGENT)


# When it dies


async def test_a_process_that_is_killed_in_thought_is_started_again_for_the_same_question() -> None:
    async with process() as begun:
        first = await started(begun)
        os.kill(first, signal.SIGSTOP)
        answer = begun.ask(spot(1))
        for _ in range(10):
            await asyncio.sleep(0)
        os.kill(first, signal.SIGKILL)
        assert dict(await answer) == dict(values(spot(1)))
        assert begun.process_id not in (None, first)


async def test_a_process_that_is_killed_at_rest_is_started_again() -> None:
    async with process() as begun:
        first = await started(begun)
        os.kill(first, signal.SIGKILL)
        assert dict(await begun.ask(spot(1))) == dict(values(spot(1)))
        assert begun.process_id not in (None, first)


@pytest.mark.parametrize(
    "command",
    [DYING, ("/no/such/program",), (sys.executable, "-c", "print('what?'); input()")],
    ids=["dies", "cannot be started", "talks nonsense"],
)
async def test_where_no_process_will_run_the_book_is_not_at_hand(
    command: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    async with process(command) as begun:
        answers = [begun.ask(spot(number)) for number in range(3)]
        for answer in answers:
            with pytest.raises(NoAdviceNow):
                await answer
        assert begun.process_id is None
    assert caplog.text.count("the tutor's process does not answer") == 1, "it is not tried for ever"


async def test_after_a_pause_another_process_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    async with process(DYING) as begun:
        with pytest.raises(NoAdviceNow):
            await begun.ask(spot())
        begun._command = thinking.COMMAND
        with pytest.raises(NoAdviceNow, match="a moment ago"):
            await begun.ask(spot())
        begun._pause_until = 0.0
        assert dict(await begun.ask(spot())) == dict(values(spot()))


async def test_a_process_that_says_nothing_is_ended(caplog: pytest.LogCaptureFixture) -> None:
    async with process(DEAF, 0.05) as begun:
        answer = begun.ask(spot())
        numbers = set()
        while not answer.done():
            numbers.add(begun.process_id)
            await asyncio.sleep(0)
        with pytest.raises(NoAdviceNow):
            await answer
        assert not any(is_there(number) for number in numbers if number is not None)


async def test_what_it_cannot_work_out_is_told_in_the_log_and_it_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    impossible = replace(spot(), unseen=())
    async with process() as begun:
        number = await started(begun)
        with pytest.raises(NoAdviceNow):
            await begun.ask(impossible)
        assert "TypeError" in caplog.text
        await begun.ask(spot(1))
        assert begun.process_id == number


async def test_no_more_questions_wait_than_are_answered_in_a_few_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(thinking, "MOST_WAITING", 3)
    async with process(DEAF) as begun:
        waiting = [begun.ask(spot(number)) for number in (1, 2, 3, 3)]
        with pytest.raises(NoAdviceNow):
            await begun.ask(spot(4))
        assert not any(answer.done() for answer in waiting)


async def test_a_question_that_nobody_wants_answered_any_more_is_passed_over() -> None:
    async with process() as begun:
        os.kill(number := await started(begun), signal.SIGSTOP)
        first, unwanted, last = (begun.ask(spot(each)) for each in (1, 2, 3))
        unwanted.cancel()
        os.kill(number, signal.SIGCONT)
        await asyncio.gather(first, last)
        assert not begun.ask(spot(2)).done()


# When it ends


async def test_closing_ends_it_in_thought_and_cancels_what_is_asked() -> None:
    async with process(DEAF) as begun:
        answers = [begun.ask(spot(number)) for number in range(3)]
        while (number := begun.process_id) is None:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0)
        await begun.close()
        assert all(answer.cancelled() for answer in answers)
        assert not is_there(number)


async def test_closing_while_it_is_started_leaves_nothing() -> None:
    async with process(DEAF) as begun:
        answer = begun.ask(spot())
        await asyncio.sleep(0)
        await begun.close()
        assert answer.cancelled()
    gc.collect()


def test_it_ends_when_the_process_that_asked_is_gone() -> None:
    with subprocess.Popen(
        thinking.COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as alone:
        assert alone.stdin is not None
        alone.stdin.close()
        assert alone.wait(PATIENCE) == 0
        assert alone.stderr is not None
        assert alone.stderr.read() == b""


# What it gets of the board


LOOPS = {"asyncio": None, "uvloop": quickest()}


@pytest.mark.parametrize("loop", LOOPS)
def test_no_line_of_a_caller_is_open_in_it(loop: str) -> None:
    """Not even one that a host has handed down, which a new program would inherit."""
    if loop == "uvloop":
        pytest.importorskip("uvloop", reason="there are no wheels of uvloop for this machine")

    async def looks() -> None:
        async with process() as begun:
            first = await started(begun)
            os.kill(first, signal.SIGKILL)
            await begun.ask(spot(1))
            number = begun.process_id
            assert number not in (None, first)
            open_there = sorted(os.listdir(f"/proc/{number}/fd"), key=int)
            assert open_there == ["0", "1", "2"]
            assert os.readlink(f"/proc/{number}/fd/2") == "/dev/null"
            assert os.getsid(begun.process_id or 0) == number, "no terminal's signal reaches it"

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
    async with process() as begun:
        assert dict(await begun.ask(spot())) == dict(values(spot()))


def test_it_loads_the_games_and_nothing_else_of_the_board() -> None:
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "import door.games.blackjack.tutor.process, sys; print(*sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    ours = {name for name in said if name.startswith("door") and not name.startswith("door.games")}
    assert ours == {"door", "door.errors"}
    assert {"asyncio", "sqlalchemy", "timebank", "ansi", "click"}.isdisjoint(said)


# As callers meet it


def children_of(number: int) -> list[int]:
    tasks = Path(f"/proc/{number}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


async def test_a_real_server_has_one_that_dies_comes_again_and_ends_with_the_board(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as board:
        board.enter("Ada")
        ada = await sit_down(board, "Ada")
        await open_a_hand(ada)
        await stand(ada)
        server = board.process.pid
        assert children_of(server) == [], "without a tutor there is none"
        ada.terminal.send("u")
        await ada.message("Tutor is on")
        await open_a_hand(ada)
        await ada.message("Book:")
        (first,) = children_of(server)
        os.kill(first, signal.SIGKILL)
        await stand(ada)
        await open_a_hand(ada)
        await ada.message("Book:")
        (second,) = children_of(server)
        assert second != first
        os.kill(second, signal.SIGSTOP)
        await stand(ada)
        await open_a_hand(ada)
        await stand(ada)
        board.process.terminate()
        assert await board.ends() == 0
        assert not is_there(second)
