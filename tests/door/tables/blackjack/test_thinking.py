"""The process of the tutor: its answers, and its life."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from door.games.blackjack.round import start
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, VEGAS
from door.games.engine import shuffle
from door.games.solver.tutor.hand_value import values
from door.games.solver.tutor.spot import Spot
from door.games.solver.tutor.tutor import spot_of
from door.tables.tutor import tutor_process
from door.tables.tutor.tutor_process import TutorProcess
from tests.door.processes import open_a_hand, served, sit_down, stand
from tests.door.test_helper import is_there


def spot(number: int = 0) -> Spot:
    """Some decision; another one for each number."""
    for tried in range(200 * number, 200 * number + 200):
        seed = tried.to_bytes(shuffle.SEED_BYTES, "big")
        dealt, _ = start(BLACK_JACK_FOR_TIME, shuffle.shuffle(seed, "", 1), [600])
        if not dealt.over:
            return replace(spot_of(dealt), rules=replace(BLACK_JACK_FOR_TIME, keys=(str(number),)))
    raise AssertionError("no hand is to be played")


@asynccontextmanager
async def process() -> AsyncIterator[TutorProcess]:
    begun = TutorProcess()
    try:
        yield begun
    finally:
        await begun.close()


async def test_the_helper_process_computes_the_tutors_exact_answer() -> None:
    at_vegas, _ = start(
        replace(VEGAS, decks=6), shuffle.shuffle(bytes(shuffle.SEED_BYTES), "", 6), [6]
    )
    asked = [spot(1), spot_of(at_vegas)]
    async with process() as begun:
        for each in asked:
            answer = await begun.ask(each)
            assert dict(answer) == dict(values(each))
            assert list(answer) == list(values(each))


async def test_a_known_answer_is_not_computed_again() -> None:
    async with process() as begun:
        first = await begun.ask(spot(1))
        assert begun.helper._process is not None
        os.kill(begun.helper._process.pid, signal.SIGSTOP)
        again = begun.ask(spot(1))
        assert again.done()
        assert again.result() is first


async def test_the_memory_of_the_helper_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tutor_process, "MAX_ANSWERS", 3)
    async with process() as begun:
        for number in (1, 2, 3, 1, 4):
            await begun.ask(spot(number))
        assert [begun.ask(spot(number)).done() for number in (1, 2, 3, 4)] == [
            True,
            False,
            True,
            True,
        ]


async def test_while_it_thinks_the_loop_is_free() -> None:
    """The process that asks does no computation."""
    before = values.cache_info()
    async with process() as begun:
        await begun.ask(spot(99))
    assert values.cache_info() == before


def test_it_loads_the_games_and_nothing_else_of_the_board() -> None:
    modules = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, door.helper_process, door.games.solver.tutor.hand_value;"
            " print(*sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    ours = {
        name for name in modules if name.startswith("door") and not name.startswith("door.games")
    }
    assert ours == {"door", "door.errors", "door.helper_process"}
    forms = {f"timebank.settings.{name}" for name in ("forms", "quoting")}
    bank = {name for name in modules if name.startswith("timebank")}
    assert bank == {"timebank", "timebank.settings", *forms}
    assert {"asyncio", "sqlalchemy", "ansi", "click"}.isdisjoint(modules)


# As callers meet it


def children_of(number: int) -> list[int]:
    tasks = Path(f"/proc/{number}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


async def test_a_server_restarts_a_dead_helper_and_ends_it_with_the_board(
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
