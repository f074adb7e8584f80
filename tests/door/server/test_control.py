"""The sysop's commands to the running server: the list of callers, and ending one call or all."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import stat
import threading
import time
from pathlib import Path

import pytest

from door.defence.counts import MANY
from door.lines import commands, hand_over
from door.server.control import UNKNOWN
from tests.door.shell import CommandResult, Shell
from tests.door.visiting import MENU, MINUTE, Guest, seated, sysop_toml, visitor
from tests.terminal import PATIENCE
from tests.world import World, world
from timebank import serving

TOML = sysop_toml(events="")


async def sysop(board: World, *words: str) -> CommandResult:
    """Type a command at the shell while the board runs."""
    return await asyncio.to_thread(Shell(board.config.path), *words)


async def test_nodes_lists_callers_with_node_and_time(board: World) -> None:
    await seated(board, "Ada")
    await board.pass_time(5 * MINUTE)
    bob = await visitor(board, "Bob")
    stranger = Guest(board, "")
    await stranger.dials()
    listed = json.loads((await sysop(board, "nodes", "--json")).output)
    here = socket.gethostname()
    assert listed == {
        "nodes": [
            {
                "node": 1,
                "name": "Ada",
                "where": "Black Jack For Time",
                "since": "2026-11-20T12:00:00+00:00",
                "idle": 300,
                "left": 55 * MINUTE,
                "address": "127.0.0.1",
                "server": here,
            },
            {
                "node": 2,
                "name": "Bob",
                "where": bob.caller.place,
                "since": "2026-11-20T12:05:00+00:00",
                "idle": 0,
                "left": 60 * MINUTE,
                "address": "127.0.0.1",
                "server": here,
            },
        ],
        "servers": [{"name": here, "log_ons": 1, "draining": False}],
        "log_ons": 1,
        "draining": False,
        "event": "",
        "silent": [],
    }
    header, first, second, waiting = (await sysop(board, "nodes")).output.splitlines()
    assert header.split() == ["Node", "Caller", "Where", "Since", "Idle", "Left", "Address"]
    assert first.split()[:6] == ["1", "Ada", "Black", "Jack", "For", "Time"]
    assert first.split()[-3:] == ["5:00", "55:00", "127.0.0.1"]
    assert second.split()[:2] == ["2", "Bob"]
    assert waiting == "Logging on: 1."


async def test_an_empty_board_says_so(board: World) -> None:
    assert (await sysop(board, "nodes")).output == "Nobody is online.\n"


async def test_a_kicked_caller_reads_why_and_returns_to_the_hand(board: World) -> None:
    ada, bob = await visitor(board, "Ada"), await visitor(board, "Bob")
    await ada.sits_down()
    await ada.bets(2, "stay", ends="win")
    result = await sysop(board, "kick", "1", "--why", "Go to|12 bed,\x1b[2J Ada!")
    assert result == CommandResult(0, "Ada on node 1 sees why and is disconnected.\n", "")
    await ada.is_sent_off("Go to│12 bed,[2J Ada!", "Your hand waits for you on the table.")
    assert bob.prompt.find(MENU) >= 0
    await ada.calls()
    await ada.is_asked("<H>it")


async def test_a_caller_locked_at_the_shell_is_logged_off_at_once(board: World) -> None:
    ada = await visitor(board, "Ada")
    await ada.sits_down()
    result = await sysop(board, "callers", "lock", "Ada", "--why", "spam")
    assert result.output == "Ada is now locked out, and their call on node 1 ends.\n"
    await ada.is_sent_off("The sysop has locked your name: spam.")
    assert "left, until midnight" not in ada.screen


async def test_a_caller_locked_in_mid_hand_is_not_called_back_to_it(board: World) -> None:
    ada = await visitor(board, "Ada")
    await ada.sits_down()
    await ada.bets(2, "stay", ends="win")
    await sysop(board, "callers", "lock", "Ada")
    await ada.is_sent_off("The sysop has locked your name. Please ask why.")
    assert "waits for you" not in ada.screen


async def test_an_empty_node_cannot_be_kicked(board: World) -> None:
    result = await sysop(board, "kick", "3")
    assert result == CommandResult(2, "", "Node 3 is empty.\n")


async def test_the_sysop_can_message_one_caller_or_all_in_printable_text(
    board: World,
) -> None:
    ada, bob = await visitor(board, "Ada"), await visitor(board, "Bob")
    result = await sysop(board, "say", "2", "Hello|00 \x1b[31mBob\x07")
    assert result.output == "Bob can read it.\n"
    await bob.sees("The sysop: Hello│00 [31mBob")
    assert "The sysop" not in ada.screen
    result = await sysop(board, "say", "all", "Back at\r\nnine")
    assert result.output == "2 callers can read it.\n"
    await ada.sees("The sysop: Back at nine")
    for words, why in (
        (
            ("say", "all", "no " * 67),
            "A line has 200 characters at most, this one has 201.\n",
        ),
        (("say", "all", " \x1b "), "There is nothing to say.\n"),
        (("say", "7", "Hello"), "Node 7 is empty.\n"),
        (
            ("say", "two", "Hello"),
            "NODE is a number that `door nodes` shows, or \"all\", and not 'two'.\n",
        ),
    ):
        assert await sysop(board, *words) == CommandResult(2, "", why)


async def test_the_sysop_can_list_and_lift_waits(tmp_path: Path) -> None:
    toml = f"{TOML}\n[defence]\nallow = []\nwrong_passwords = 1\n"
    async with world(tmp_path, toml=toml) as board:
        board.enter("Ada")
        assert (await sysop(board, "refused")).output == "Nobody has to wait.\n"
        villain = Guest(board, "Ada")
        await villain.dials()
        for key in ("Ada", "a guess"):
            villain.presses(f"{key}\r")
        await villain.terminal.until_heard("Wrong name or")
        result = (await sysop(board, "refused")).output.splitlines()
        assert result == [
            "Address     Wait  Why",
            "127.0.0.1  30:00  too many wrong passwords for a name",
            "`door forgive` clears an address or a name.",
        ]
        answer = json.loads((await sysop(board, "refused", "--json")).output)
        why = "too many wrong passwords for a name"
        held = {"address": "127.0.0.1", "why": why, "wait": 1800}
        assert answer == {"held": [held], "more": 0, "names": 0}
        for who in ("127.0.0.1", "ADA"):
            result = await sysop(board, "forgive", who)
            assert result.output == f"Nothing is held against {who} any more.\n"
            result = await sysop(board, "forgive", who)
            assert result == CommandResult(2, "", f"Nothing is held against {who}.\n")
        assert (await sysop(board, "refused")).output == "Nobody has to wait.\n"
        for number in range(MANY):
            board.server.board.reception.present(f"192.0.2.{number}", "Ada", lambda: None)
        output = (await sysop(board, "refused")).output
        assert "Strangers have to wait for 1 name; the names are not recorded.\n" in output


async def test_a_drained_board_takes_no_calls_and_closes_behind_the_last_caller(
    board: World,
) -> None:
    ada = await visitor(board, "Ada")
    stranger = Guest(board, "")
    await stranger.dials()
    result = await sysop(board, "drain")
    assert result.output == (
        "No more calls are taken; 1 caller is on. The board closes when the last has gone.\n"
    )
    await stranger.is_sent_off("The board is closing and takes no more calls.")
    await ada.sees("The sysop is about to close the board. Please finish soon.")
    with pytest.raises(ConnectionRefusedError):
        await board.call()
    assert "takes no more calls" in (await sysop(board, "nodes")).output
    await ada.sits_down()
    await ada.bets(1, "stay", ends="lose")
    await ada.stays()
    assert not board.server.ended.is_set()
    await ada.presses("q").is_asked(MENU)
    await ada.logs_off()
    async with asyncio.timeout(PATIENCE):
        await board.server.ended.wait()


async def test_a_second_drain_or_one_of_an_empty_board_closes_at_once(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=TOML) as board:
        await visitor(board, "Ada")
        await sysop(board, "drain")
        assert not board.server.ended.is_set()
        assert (await sysop(board, "drain")).output == "The board is closing.\n"
        assert board.server.ended.is_set()
    async with world(tmp_path, toml=TOML) as board:
        assert (await sysop(board, "drain")).output == "The board is closing.\n"
        assert board.server.ended.is_set()


async def test_stop_closes_the_board_and_logs_the_sysops_name(
    board: World, caplog: pytest.LogCaptureFixture
) -> None:
    result = await sysop(board, "stop", "--by", "Jane")
    assert result.output == "The board is closing.\n"
    assert board.server.ended.is_set()
    assert "Jane (command line) stops the board" in caplog.messages


async def test_without_a_server_a_command_says_so(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        path = board.config.board.data / hand_over.NAME
        status = path.stat()
    assert stat.S_ISSOCK(status.st_mode)
    result = await asyncio.to_thread(Shell(tmp_path / "sysop.toml"), "nodes")
    assert result.status == 2
    assert result.error.startswith("This board's server is not running: nothing listens in ")


@pytest.mark.parametrize("is_killed", [True, False])
async def test_while_a_server_starts_a_command_names_it_and_not_the_last_one(
    tmp_path: Path, is_killed: bool
) -> None:
    async with world(tmp_path, toml=TOML) as board:
        data = board.config.board.data
        left = data / "board.sqlite3.serving"
        note = left.read_text()
    if is_killed:
        left.write_text(note)
    with serving.take(serving.place_of(str(data / serving.BOOKS)), serving.STARTING, str(data)):
        result = await asyncio.to_thread(Shell(tmp_path / "sysop.toml"), "nodes")
        assert result.status == 2
        assert result.error.startswith(f"Process {os.getpid()} of ")
        assert " starts to serve from these books" in result.error
        assert result.error.endswith(". Try again in a moment.\n")


@pytest.mark.parametrize("command", ["stop", "drain"])
async def test_a_server_that_only_starts_is_closed_as_soon_as_it_can_be(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sysop.toml").write_text(TOML)
    data = tmp_path / "data"
    data.mkdir()
    waits = threading.Event()
    pause = time.sleep

    def sleep(seconds: float) -> None:
        waits.set()
        pause(seconds)

    monkeypatch.setattr("time.sleep", sleep)
    place = serving.place_of(str(data / serving.BOOKS))
    with serving.take(place, serving.STARTING, str(data)) as lock:
        waiting = asyncio.create_task(asyncio.to_thread(Shell(tmp_path / "sysop.toml"), command))
        assert await asyncio.to_thread(waits.wait, PATIENCE)
        async with world(tmp_path, toml=TOML) as board:
            lock.note(serving.SERVING, str(data))
            assert (await waiting).output == "The board is closing.\n"
            assert board.server.ended.is_set()


# Permissions


async def test_only_the_owner_may_open_the_socket(board: World) -> None:
    path = board.config.board.data / hand_over.NAME
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_uid == os.geteuid()


async def test_another_users_process_is_refused_where_it_may_hand_callers_over(
    board: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await visitor(board, "Ada")
    monkeypatch.setattr(hand_over, "is_of", lambda wire, user: False)
    result = await sysop(board, "stop")
    assert result == CommandResult(2, "", "Only the user of the server and root can control it.\n")
    assert not board.server.ended.is_set()
    await ada.is_asked(MENU)


@pytest.mark.parametrize(
    "header",
    [
        {"control": "shutdown"},
        {"control": "kick", "node": "1", "why": ""},
        {"control": "kick", "node": True, "why": 7},
        {"control": "say", "node": [], "text": "x"},
        {"control": None},
    ],
)
async def test_a_command_of_another_version_changes_nothing(
    board: World, header: dict[str, object]
) -> None:
    answers = commands.Conversation(board.config.board.data, header).answers()
    async with asyncio.timeout(PATIENCE):
        answer = [each async for each in answers]
    assert answer == [{"error": UNKNOWN}]
    assert not board.server.ended.is_set()


async def test_a_command_is_dropped_when_its_client_is_gone(
    board: World, caplog: pytest.LogCaptureFixture
) -> None:
    """A stopped server finds the command when it resumes, perhaps an hour later."""
    with contextlib.closing(hand_over.dial(str(board.config.board.data))) as wire:
        wire.send(hand_over.packed(commands.COMMAND, json.dumps({"control": "stop"})))
    assert (await sysop(board, "nodes")).output == "Nobody is online.\n"
    assert not board.server.ended.is_set()
    assert "a command came too late, the sysop no longer waits" in caplog.text


async def test_nodes_and_check_say_that_the_server_is_of_another_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as board:
        for command in ("nodes", "check"):
            assert "release" not in (await sysop(board, command)).output
        monkeypatch.setattr("door.server.server_note.version", lambda: "9.9")
        reason = (
            f"process {os.getpid()}, is of release {hand_over.release()}, and 9.9 is installed: "
        )
        for command in ("nodes", "check"):
            assert reason in (await sysop(board, command)).output
