"""The event loop of a board: where uvloop is installed, it serves callers as asyncio's does."""

import asyncio
import sys
from pathlib import Path

import pytest

from door.server.server import quickest
from tests.door.visiting import MENU, visitor
from tests.terminal import SYNCTERM
from tests.world import world


def test_without_the_extra_a_board_runs_on_asyncio_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert quickest() is None


def test_a_hand_is_played_on_uvloop(tmp_path: Path) -> None:
    uvloop = pytest.importorskip("uvloop", reason="the extra uvloop is not installed")

    async def plays_a_hand() -> None:
        assert isinstance(asyncio.get_running_loop(), uvloop.Loop)
        async with world(tmp_path) as board:
            ada = await visitor(board, "Ada", profile=SYNCTERM)
            await ada.sits_down()
            await ada.bets(2, "stay", ends="win")
            await ada.stays()
            await ada.sees("You win")
            ada.presses("q")
            await ada.is_asked(MENU)
            await ada.logs_off()

    with asyncio.Runner(loop_factory=quickest()) as runner:
        runner.run(plays_a_hand())
