"""Commands are run in made books of several sizes, and compared with themselves in smaller ones."""

from __future__ import annotations

import select
from dataclasses import replace
from pathlib import Path

import pytest

from bench import commands
from bench.report import QUICK

pytestmark = pytest.mark.long


@pytest.mark.skipif(not hasattr(select, "epoll"), reason="the bench needs Linux")
def test_a_command_is_held_against_itself_in_smaller_books(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [commands.Command(("timebank", "outbox"), is_flat=True)]
    monkeypatch.setattr(commands, "COMMANDS", few)
    (row,) = commands.run(replace(QUICK, command_transfers=(1000, 2000)), tmp_path)
    assert row.what.startswith("timebank outbox, 2,")
    assert row.value > 0
    assert row.baseline is not None
    assert row.goal is not None
    assert not list(tmp_path.iterdir()), "it leaves nothing behind"
