"""`door serve` without settings, and `door serve --try`: a temporary board."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.door.processes import command
from tests.door.shell import door
from tests.terminal import MODERN, PATIENCE, Terminal
from tests.world import register

pytestmark = pytest.mark.long


def test_a_folder_without_settings_gets_instructions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = door("serve")
    assert (result.status, result.output) == (2, "")
    for words in ("`door init` makes a board", "`door serve --try` plays at once", "--config"):
        assert words in result.error
    assert "`door init` makes a board." in door("check").error
    assert os.listdir(tmp_path) == []


async def test_a_trial_board_takes_a_call_at_once_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends with its terminal and leaves nothing in the folder of temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process = await asyncio.create_subprocess_exec(
        *(str(command("door")), "serve", "--try"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    assert process.stdout is not None
    output, called = "", None
    async with asyncio.timeout(PATIENCE):
        while called is None:
            line = (await process.stdout.readline()).decode()
            assert line, output
            output += line
            called = re.search(r"telnet localhost (\d+)", line)
    assert "nothing is saved when it closes" in output
    assert [name[:9] for name in os.listdir(tmp_path)] == ["bjft-try-"]
    terminal = Terminal(MODERN)
    await terminal.connect(int(called[1]))
    await register(terminal, "Ann")
    await terminal.close()
    process.send_signal(signal.SIGHUP)
    async with asyncio.timeout(PATIENCE):
        rest, errors = await process.communicate()
    assert (process.returncode, errors) == (0, b"")
    assert "no hand is lost" not in output + rest.decode()
    assert os.listdir(tmp_path) == []
