"""The sysop's warnings go to a command of theirs, each once."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tracemalloc
from pathlib import Path

import pytest

from door.server import notifier
from door.server.housekeeping import NOTIFY_SECONDS
from door.server.notifier import Notifier
from tests.world import BOARD, world

LOW = "The disk is low."
OLD = "The copy is old."


def appends(file: Path) -> tuple[str, ...]:
    """Return a command that appends its input to a file."""
    program = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read() + '--\\n')"
    return (sys.executable, "-c", program, str(file))


async def test_a_warning_is_sent_when_it_is_new_and_when_it_comes_again(tmp_path: Path) -> None:
    sent, notifier = tmp_path / "sent", Notifier()
    for warnings in ([LOW], [LOW], [LOW, OLD], [OLD], [LOW, OLD]):
        assert await notifier.send(appends(sent), warnings) is None
    assert sent.read_text() == f"{LOW}\n--\n{OLD}\n--\n{LOW}\n--\n"


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("raise SystemExit('no such mailbox')", "it ended with status 1: no such mailbox."),
        ("import os; os.kill(os.getpid(), 9)", "it ended with status -9: no output."),
        ("import time; time.sleep(60)", "it was not done after 0.3 seconds."),
    ],
)
async def test_a_warning_that_was_not_taken_is_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, problem: str
) -> None:
    notifier_ = Notifier()
    if "sleep" in program:
        monkeypatch.setattr(notifier, "COMMAND_SECONDS", 0.3)
    said = await notifier_.send((sys.executable, "-c", program), [LOW])
    assert said is not None
    assert said.endswith(problem)
    monkeypatch.undo()
    assert await notifier_.send(appends(tmp_path / "sent"), [LOW]) is None
    assert LOW in (tmp_path / "sent").read_text()


async def test_a_flood_of_output_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifier, "COMMAND_SECONDS", 0.5)
    tracemalloc.start()
    try:
        said = await Notifier().send(("yes", "no!"), [LOW])
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
    assert said is not None
    assert said.endswith("it was not done after 0.5 seconds.")


@pytest.mark.parametrize("ending", ["exit 0", "exec sleep 60"])
async def test_what_a_command_has_started_keeps_nothing_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """It has the command's output open. What a command that hangs has started ends with it."""
    monkeypatch.setattr(notifier, "COMMAND_SECONDS", 1.0)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = ("sh", "-c", f"sleep 4 3> {pipe} & {ending}")
    said, _ = await asyncio.gather(
        asyncio.wait_for(Notifier().send(command, [LOW]), 3.0),
        asyncio.to_thread(pipe.read_text),  # until what was started has ended
    )
    assert (said is None) == (ending == "exit 0")


async def test_a_command_that_is_missing_is_named() -> None:
    said = await Notifier().send(("/nowhere/mail",), [LOW])
    assert said is not None
    assert said.endswith(
        "/nowhere/mail, did not take the sysop's warnings: No such file or directory."
    )


async def test_the_board_sends_that_a_caller_waits(tmp_path: Path) -> None:
    pipe = tmp_path / "sent"
    os.mkfifo(pipe)
    toml = f"{BOARD}\n[callers]\napproval = true\n[notify]\ncommand = {json.dumps(appends(pipe))}\n"
    async with world(tmp_path, toml=toml) as board:
        board.enter("Ada")
        await board.pass_time(NOTIFY_SECONDS + 1)
        sent = await asyncio.to_thread(pipe.read_text)  # until the command closes it
    assert sent == "Ada waits for your approval: `door callers approve Ada`.\n--\n"
