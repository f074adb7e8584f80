"""The sysop's commands with an unreadable sysop.toml: they need only the socket."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from door.lines import hand_over
from door.server import server_note
from tests.door.processes import OPEN_ALL_DAY, Served
from tests.door.shell import CommandResult, door
from tests.door.visiting import sysop_toml, visitor
from tests.world import World, world

TOML = sysop_toml(events="")
TYPO = TOML.replace("[calls]", "[calls]\nnodes = sixteen")
UNNAMED = "If the board runs, name its data folder: --data DIR.\n"
UNKNOWN = "Can't read the settings:\n"
RANDOM_BYTES = random.Random(11).randbytes(4096)

Ask = Callable[..., Awaitable[CommandResult]]


def by_config(board: World) -> Ask:
    return lambda *words: asyncio.to_thread(door, *words, "--config", str(board.config.path))


def by_environment(board: World) -> Ask:
    where = {"BJFT_CONFIG": str(board.config.path)}
    return lambda *words: asyncio.to_thread(door, *words, environment=where)


def by_data(board: World) -> Ask:
    return lambda *words: asyncio.to_thread(door, *words, "--data", str(board.config.board.data))


ways = pytest.mark.parametrize("way", [by_config, by_environment, by_data])


def note_on(config: Path) -> Path:
    return config.with_name(f".{config.name}{hand_over.NOTE}")


# Commands despite broken settings


@ways
@pytest.mark.parametrize("broken", [RANDOM_BYTES, TYPO.encode(), None, Path])
async def test_every_command_reaches_the_server_despite_a_broken_sysop_toml(
    board: World, way: Callable[[World], Ask], broken: bytes | type[Path] | None
) -> None:
    sysop = way(board)
    ada, bob = await visitor(board, "Ada"), await visitor(board, "Bob")
    before = await sysop("nodes")
    assert before.status == 0
    if isinstance(broken, bytes):
        board.config.path.write_bytes(broken)
    else:
        board.config.path.unlink()
    if broken is Path:
        board.config.path.mkdir()
    assert await sysop("nodes") == before
    assert [on["name"] for on in json.loads((await sysop("nodes", "--json")).output)["nodes"]]
    assert await sysop("say", "1", "Hello") == CommandResult(0, "Ada can read it.\n", "")
    await ada.sees("The sysop: Hello")
    assert await sysop("kick", "1") == CommandResult(
        0, "Ada on node 1 sees why and is disconnected.\n", ""
    )
    await ada.is_sent_off("The sysop ended this call.")
    assert await sysop("refused") == CommandResult(0, "Nobody has to wait.\n", "")
    nobody = "Nothing is held against 192.0.2.1.\n"
    assert await sysop("forgive", "192.0.2.1") == CommandResult(2, "", nobody)
    assert "1 caller is on" in (await sysop("drain")).output
    await bob.sees("The sysop is about to close the board. Please finish soon.")
    assert await sysop("stop") == CommandResult(0, "The board is closing.\n", "")
    assert board.server.ended.is_set()


async def test_a_server_is_reached_after_sysop_toml_changed_the_folder(
    board: World,
) -> None:
    ask = by_config(board)
    await visitor(board, "Ada")
    board.config.path.write_text(TOML.replace("[board]", '[board]\ndata = "dta"'))
    assert "Ada" in (await ask("nodes")).output


async def test_a_server_is_reached_by_any_path_to_its_sysop_toml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, toml=TOML) as board:
        board.config.path.write_bytes(RANDOM_BYTES)
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "board.toml").symlink_to(board.config.path)
        monkeypatch.chdir(tmp_path / "elsewhere")
        for path in ("board.toml", "../sysop.toml"):
            result = await asyncio.to_thread(door, "nodes", "--config", path)
            assert result == CommandResult(0, "Nobody is online.\n", "")
        monkeypatch.chdir(tmp_path)
        assert (await asyncio.to_thread(door, "nodes")).output == "Nobody is online.\n"


async def test_a_note_in_the_home_folder_replaces_an_unwritable_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setattr("pwd.getpwuid", lambda user: Person(str(home)))
    note_on(tmp_path / "sysop.toml").mkdir()
    async with world(tmp_path, toml=TOML) as board:
        board.config.path.write_bytes(RANDOM_BYTES)
        assert (await by_config(board)("nodes")).output == "Nobody is online.\n"
        assert list((home / hand_over.STATE).iterdir())
    assert not list((home / hand_over.STATE).iterdir())


async def test_a_note_that_cannot_be_written_is_logged_and_the_board_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("pwd.getpwuid", lambda user: Person("/dev/null"))
    note_on(tmp_path / "sysop.toml").mkdir()
    async with world(tmp_path, toml=TOML) as board:
        assert "commands such as door nodes need --data" in caplog.text
        assert (await by_config(board)("nodes")).output == "Nobody is online.\n"
        board.config.path.write_bytes(RANDOM_BYTES)
        assert (await by_data(board)("nodes")).output == "Nobody is online.\n"
        result = await by_config(board)("nodes")
        assert result.status == 2
        assert result.error.startswith(UNKNOWN)
        assert result.error.endswith(UNNAMED)


class Person:
    """The fields of a system user that the note reads."""

    def __init__(self, home: str) -> None:
        self.pw_name, self.pw_dir = "sysop", home


# No server


async def test_without_a_server_the_error_says_so_and_names_wrong_settings(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=TOML) as board:
        path = board.config.path
        path.write_text(TYPO)
    result = await by_config(board)("nodes")
    assert result == CommandResult(
        2,
        "",
        f"{UNKNOWN}{complaint(path)}{UNNAMED}",
    )
    result = await by_data(board)("stop")
    nothing = f"This board's server is not running: nothing listens in {board.config.board.data}.\n"
    assert result == CommandResult(2, "", nothing)


@pytest.mark.parametrize("words", [("callers", "list"), ("check",)])
async def test_commands_that_need_settings_name_the_wrong_ones(
    board: World, words: tuple[str, ...]
) -> None:
    board.config.path.write_text(TYPO)
    result = await by_config(board)(*words)
    assert result == CommandResult(2, "", complaint(board.config.path))


def complaint(path: Path) -> str:
    """Return the complaint of every other command about TYPO."""
    line = TYPO.splitlines().index("nodes = sixteen") + 1
    result = door("check", "--config", str(path))
    assert result.error.startswith(f"{path}, line {line}, column 9: has text without quotes")
    return result.error


async def test_a_closed_server_leaves_no_note_and_the_next_one_is_reached(
    tmp_path: Path,
) -> None:
    for _ in range(2):
        async with world(tmp_path, toml=TOML) as board:
            data = board.config.board.data
            serving = server_note.server_in(data)
            assert serving is not None
            assert (serving.process, serving.version) == (os.getpid(), server_note.version())
            assert (serving.config, serving.data) == (str(board.config.path), str(data))
            assert serving.runs
            board.config.path.write_bytes(RANDOM_BYTES)
            assert (await by_config(board)("nodes")).output == "Nobody is online.\n"
        assert server_note.server_in(data) is None
        assert not note_on(board.config.path).is_symlink()


async def test_a_server_without_its_socket_is_named(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        data = board.config.board.data
        (data / hand_over.NAME).unlink()
        result = await by_config(board)("nodes")
        assert result.status == 2
        assert result.error.startswith(f"Process {os.getpid()} has served this board since ")
        assert result.error.endswith(
            f", but doesn't answer: nothing listens in {data}. SIGTERM closes the board, and no"
            " hand is lost.\n"
        )


# As the sysop runs it


async def test_a_killed_server_is_recognised_and_the_next_takes_its_place(
    tmp_path: Path,
) -> None:
    path = tmp_path / "sysop.toml"
    path.write_text(OPEN_ALL_DAY)
    board = Served(tmp_path)
    try:
        await board.serve()
        path.write_bytes(RANDOM_BYTES)
        assert (await by_config(board)("nodes")).output == "Nobody is online.\n"
        board.process.send_signal(signal.SIGKILL)
        await board.process.wait()
        result = await by_config(board)("nodes")
        assert result.status == 2
        first, second, *_ = result.error.splitlines()
        assert first.startswith(
            f"This board's server is not running. The last one in {board.config.board.data},"
            f" process {board.process.pid}, began on "
        )
        assert first.endswith("and ended without closing the board.")
        assert second == "Can't read the settings:"
        path.write_text(OPEN_ALL_DAY)
        board.port = 0
        await board.serve()
        path.write_bytes(RANDOM_BYTES)
        assert (await by_config(board)("stop")).output == "The board is closing.\n"
        assert await board.ends() == 0
    finally:
        path.write_text(OPEN_ALL_DAY)
        await board.close()


# Trust


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"serving\n", b"serving\nprocess=x:y\ndata=", RANDOM_BYTES]
)
async def test_a_note_that_is_none_of_ours_leads_nowhere(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sysop.toml"
    path.write_bytes(RANDOM_BYTES)
    note_on(path).symlink_to(f"1:2:3:4 {tmp_path}")
    (tmp_path / "board.sqlite3.serving").write_bytes(content)
    result = await asyncio.to_thread(door, "nodes", "--config", str(path))
    assert result.error.startswith(UNKNOWN)
    result = await asyncio.to_thread(door, "nodes", "--data", str(tmp_path))
    assert result.error == f"This board's server is not running: nothing listens in {tmp_path}.\n"


async def test_a_note_that_came_with_a_copy_of_the_folder_leads_nowhere(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        other = tmp_path / "other.toml"
        note_on(board.config.path).rename(note_on(other))
        result = await asyncio.to_thread(door, "nodes", "--config", str(other))
        assert result.error.startswith(UNKNOWN)


async def test_another_users_note_and_server_are_not_used(
    board: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.config.path.write_bytes(RANDOM_BYTES)
    ask = by_config(board)
    users = {os.geteuid() + 1}
    with monkeypatch.context() as patched:
        patched.setattr(server_note, "trusted", lambda config: users)
        assert (await ask("stop")).error.startswith(UNKNOWN)
    with monkeypatch.context() as patched:
        patched.setattr(hand_over, "is_of", lambda wire, user: False)
        patched.setattr(server_note, "trusted", lambda config: {os.geteuid()})
        result = await ask("stop")
    assert result.status == 2
    assert "Another user's program listens" in result.error
    assert (await by_data(board)("nodes")).output == "Nobody is online.\n"
    assert not board.server.ended.is_set()


def test_only_users_who_can_write_sysop_toml_are_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    path = tmp_path / "sysop.toml"
    assert server_note.trusted(path) == {0, 54321, tmp_path.stat().st_uid}
    assert server_note.trusted(tmp_path / "no" / "such.toml") == {0, 54321}
