"""A board closed by the sysop: setting the mark, removing it, and the messages."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from door import closed
from door.lines import hand_over
from door.run import relay, starting, turning_away
from door.server import server_note
from door.server.control import carry_out
from tests.door.hosting import hosted, until_gone
from tests.door.processes import served
from tests.door.riding import Rider
from tests.door.server.test_for_doors import for_doors
from tests.door.shell import Shell
from tests.world import BOARD, world
from timebank import serving

SINCE = "The board has been closed on this machine since"
BY_STOP, BY_DRAIN = "Ann with `door stop`", "Ann with `door drain`"
BY_END = "the end of `door serve`"


def test_the_notice_says_since_when_and_by_whom_until_the_board_opens(tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert closed.sentence(folder) == ""
    assert closed.reopen(folder) == ""
    assert closed.close(folder, BY_STOP) == ""
    assert closed.close(folder, BY_END) == "", "the first counts"
    assert re.fullmatch(
        SINCE + r" \d{4}-\d\d-\d\d \d\d:\d\d \S+, by Ann with `door stop`\."
        r" `door open` opens it for doors, and `door serve` for all callers\.",
        closed.sentence(folder),
    )
    assert closed.reopen(folder) == ""
    assert not closed.is_closed(folder)


@pytest.mark.parametrize("content", [b"", b"\x1b[2J\n", b"\xff\xff"])
def test_any_content_of_the_file_closes_the_board(tmp_path: Path, content: bytes) -> None:
    (tmp_path / closed.NAME).write_bytes(content)
    assert closed.is_closed(str(tmp_path))
    assert closed.sentence(str(tmp_path)).startswith(SINCE.removesuffix(" since"))
    assert "\x1b" not in closed.sentence(str(tmp_path))


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    assert "cannot be changed" in closed.close(str(tmp_path / "none"), BY_STOP)
    (tmp_path / closed.NAME).mkdir()
    assert "cannot be changed" in closed.reopen(str(tmp_path))


async def test_a_stop_closes_a_board_for_doors_and_ends_their_callers(tmp_path: Path) -> None:
    async with for_doors(tmp_path) as board:
        moth = Rider(board)
        await moth.comes_in()
        board.server.shut("Ann")
        assert BY_STOP in closed.sentence(str(board.config.board.data))
    assert await moth.hears() == [hand_over.DONE, "0"], "the door must end"
    await moth.terminal.until("The board is closing")
    await moth.leaves()


async def test_a_drain_closes_it_at_once_and_one_that_ends_by_itself_does_not(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as board:
        board.server.drain("Ann")
        assert BY_DRAIN in closed.sentence(str(board.config.board.data))
    closed.reopen(str(board.config.board.data))
    async with for_doors(tmp_path) as board:
        await board.server.give_way()
    assert not closed.is_closed(str(board.config.board.data))


@pytest.mark.parametrize("command", ["stop", "drain"])
async def test_closing_on_a_full_disk_warns_that_doors_stay_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    def refuse(folder: str, by: str) -> str:
        return f"{folder}/closed cannot be changed: No space left on device."

    async with world(tmp_path) as board:
        monkeypatch.setattr(closed, "close", refuse)
        answer = await carry_out(board.server, {"control": command, "by": "Ann"})
        assert "closed cannot be changed: No space left on device. Doors may" in answer["words"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_end_of_door_serve_leaves_it_and_its_start_takes_it_away(
    tmp_path: Path, number: int
) -> None:
    folder = str(tmp_path / "data")
    async with served(tmp_path) as board:
        board.process.send_signal(number)
        assert await board.ends() == 0
        assert BY_END in closed.sentence(folder)
        await board.serve()
        assert not closed.is_closed(folder)


async def test_doors_of_a_closed_board_say_so_and_start_no_server(tmp_path: Path) -> None:
    async with hosted(tmp_path) as host:
        host.config.board.data.mkdir(exist_ok=True)
        folder = str(host.config.board.data)
        closed.close(folder, BY_STOP)
        status, shown, _ = await host.refused("--stdio", "--dropfile", str(host.door32()))
        assert (status, hand_over.CLOSED in shown) == (0, True)
        assert not (host.config.board.data / hand_over.NAME).exists()
        closed.reopen(folder)
        visit = await host.a_visit()
        assert await visit.goes() == 0


async def test_a_server_that_a_door_has_started_leaves_the_board_open(tmp_path: Path) -> None:
    async with hosted(tmp_path) as host:
        visit = await host.a_visit()
        assert await visit.goes() == 0
        started = server_note.server_in(host.config.board.data)
        assert started is not None
        os.kill(started.process, signal.SIGTERM)
        await until_gone(started.process)
        assert not closed.is_closed(str(host.config.board.data))


# The commands, where no server runs.


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "sysop.toml").write_text(f"events = []\n{BOARD}")
    return Shell(tmp_path / "sysop.toml")


def test_the_sysop_closes_and_opens_a_board_that_no_server_serves(shell: Shell) -> None:
    data = shell.config.parent / "data"
    data.mkdir()
    result = shell("stop", "--by", "Ann")
    assert result.status == 0
    assert result.output.startswith(f"No server runs in {data}. {SINCE} ")
    assert "by Ann (command line) with `door stop`." in result.output
    for command in ("nodes", "drain"):
        assert "`door open` opens it for doors" in shell(command).error
    assert SINCE in shell("check").output
    assert shell("open").output == "The board is open for doors again.\n"
    assert shell("open").output == "The board is not closed.\n"
    assert "closed" not in shell("check").output


def test_where_the_folder_cannot_be_written_it_is_not_closed(shell: Shell) -> None:
    result = shell("stop")
    assert (result.status, "cannot be changed" in result.error) == (2, True)


def test_a_relay_of_a_closed_board_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "sysop.toml").write_text("[server]\nstart_for_doors_minutes = 5\n")
    monkeypatch.setattr(starting, "reach", lambda *words: pytest.fail("it starts a server"))
    closed.close(str(tmp_path / "data"), BY_STOP)
    messages: list[str] = []
    monkeypatch.setattr(
        turning_away, "turn_away", lambda path, line, words, why: messages.append(words)
    )
    assert relay.relay(["--config", str(tmp_path / "sysop.toml")], {}) == 0
    assert messages == [hand_over.CLOSED]
    assert serving.read(str(tmp_path / "data" / "board.sqlite3.serving")) is None
