"""The event loop of a board and its writer: which step may not wait for which."""

import asyncio
import sys
from pathlib import Path

import pytest

from door.config import config
from door.server.server import loop_of, quickest
from tests.door.visiting import MENU, seated
from tests.terminal import SYNCTERM
from tests.world import world
from timebank.errors import SettingsError


def test_without_uvloop_a_board_runs_on_asyncio_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert quickest() is None


def test_the_sysop_chooses_the_loop(tmp_path: Path) -> None:
    def chosen(toml: str) -> object:
        path = tmp_path / "sysop.toml"
        path.write_text(toml)
        return loop_of(config.load(path))

    assert chosen("") == quickest()
    assert chosen('[server]\nloop = "auto"\n') == quickest()
    assert chosen('[server]\nloop = "asyncio"\n') is None
    with pytest.raises(SettingsError, match='loop: must be "auto" or "asyncio"'):
        chosen('[server]\nloop = "uvloop"\n')


def test_a_hand_is_played_on_uvloop(tmp_path: Path) -> None:
    uvloop = pytest.importorskip("uvloop", reason="there are no wheels of uvloop for this machine")

    async def plays_a_hand() -> None:
        assert isinstance(asyncio.get_running_loop(), uvloop.Loop)
        async with world(tmp_path) as board:
            ada = await seated(board, "Ada", profile=SYNCTERM)
            await ada.bets(2, "stay", ends="win")
            await ada.stays()
            await ada.sees("You win")
            await ada.presses("q").is_asked(MENU)
            await ada.logs_off()

    with asyncio.Runner(loop_factory=quickest()) as runner:
        runner.run(plays_a_hand())
