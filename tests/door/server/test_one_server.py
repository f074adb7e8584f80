"""One server on the books of a board: a second one, commands, and calls."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from door.config.listeners import DOORS_ALONE
from door.lines import hand_over
from door.server.server import LOCK_SECONDS
from tests.door.hosting import BOARD, Host, Visit, hosted
from tests.door.peers.boards import until
from tests.door.processes import OPEN_ALL_DAY, Served, dealt_door, forked_door, served
from tests.door.shell import CommandResult, Shell
from tests.terminal import MODERN, PATIENCE
from tests.world import World, logged_on
from timebank import serving
from timebank.calls.calls import open_calls
from timebank.cli.main import main as timebank_main
from timebank.keeping import backup


def lock_in(folder: Path) -> str:
    return serving.place_of(str(folder / "data" / "board.sqlite3"))


async def test_a_second_server_names_the_first_and_ends_from_any_folder(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as first:
        elsewhere = tmp_path / "elsewhere"
        (elsewhere / "data").mkdir(parents=True)
        (elsewhere / "data" / "board.sqlite3").symlink_to(first.config.database)
        (elsewhere / "sysop.toml").write_text(OPEN_ALL_DAY)
        for folder in (tmp_path, elsewhere):
            second = await asyncio.create_subprocess_exec(
                *(*forked_door(tmp_path), "serve", "--config", str(folder / "sysop.toml")),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            async with asyncio.timeout(PATIENCE):
                output, error = await second.communicate()
            assert (second.returncode, output) == (2, b"")
            message = error.decode()
            assert message.startswith(f"Process {first.process.pid} of "), message
            assert (
                f" serves from these books, with the data folder {first.config.board.data}"
                in message
            )


async def test_after_a_kill_the_next_server_closes_every_call_at_once(tmp_path: Path) -> None:
    async with served(tmp_path) as board:
        board.enter("Ada")
        ada = await logged_on(board, "Ada", MODERN)
        await ada.until("minutes today")
        assert calls_open(board) == 1
        board.process.kill()
        await board.process.wait()
        board.port = 0
        assert calls_open(board) == 1
        await board.serve()
        assert calls_open(board) == 0
        ada = await logged_on(board, "Ada", MODERN)
        await ada.until("Press any key")
        await ada.send(" ").until("oodbye")
        assert "You're already on" not in ada.transcript


def calls_open(board: Served) -> int:
    with board.books() as desk:
        return len(open_calls(desk))


@pytest.mark.long
async def test_a_server_ended_with_its_pid_namespace_does_not_block_a_call(
    tmp_path: Path,
) -> None:
    apart = ("unshare", "--pid", "--fork", "--kill-child")
    probe = await asyncio.create_subprocess_exec(*apart, "true", stderr=subprocess.DEVNULL)
    if await probe.wait():
        pytest.skip("this user may make no namespace")
    async with hosted(tmp_path) as host:
        first = await called_from(host, *apart)
        await first.comes_in()
        first.process.kill()
        await first.process.wait()
        await asyncio.to_thread(until_free, lock_in(tmp_path))
        assert calls_open(host) == 1, "its server ended with the namespace"
        second = await host.a_visit()
        assert "You're already on" not in second.terminal.transcript
        assert calls_open(host) == 1
        assert await second.goes() == 0


def until_free(place: str) -> None:
    """Wait until a lock is free."""
    with open(place) as file:
        fcntl.flock(file, fcntl.LOCK_SH)


async def called_from(host: Host, *before: str) -> Visit:
    """Start a door behind other words of a command line, its caller's connection handed down."""
    with socket.create_server(("127.0.0.1", 0)) as port:
        caller = socket.create_connection(port.getsockname())
        near, _ = port.accept()
    host.door32(comm="2", handle=near.fileno())
    door = (*before, *dealt_door(host.folder), "run", "--dropfile", str(host.node(1)))
    with near:
        process = await host._started(*door, descriptors=(near.fileno(),), environment=None)
    return await host._visit(process, caller, "Moth@Xibalba", MODERN)


# Commands beside the server.


def timebank(folder: Path, *words: str) -> CommandResult:
    result = CliRunner().invoke(timebank_main, [*words, "--config", str(folder / "sysop.toml")])
    return CommandResult(result.exit_code, result.stdout, result.stderr)


async def test_a_restore_in_a_storm_of_doors_starts_no_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Doors arrive while the books are locked for a restore: each refuses its caller."""
    async with hosted(tmp_path) as host:
        host.expected = "puts a backup in the place of these books"
        host.database.close()
        assert timebank(tmp_path, "backup", str(tmp_path / "copy")).status == 0
        loop = asyncio.get_running_loop()
        put_in_place = backup._put_in_place

        def in_the_middle(*what: Any) -> None:
            came = [
                asyncio.run_coroutine_threadsafe(one_comes(host, node), loop) for node in (1, 2)
            ]
            for each in came:
                each.result(PATIENCE)
            put_in_place(*what)

        monkeypatch.setattr(backup, "_put_in_place", in_the_middle)
        result = await asyncio.to_thread(
            timebank, tmp_path, "restore", "--yes", str(tmp_path / "copy")
        )
        assert result.status == 0, result.error
        assert "door.server" not in host.log
        assert not serving.is_held(lock_in(tmp_path))


async def one_comes(host: Host, node: int) -> None:
    file = host.door32(node, user=node)
    status, shown, _ = await host.refused("--stdio", "--dropfile", str(file))
    assert (status, hand_over.CLOSED in shown) == (2, True)


async def test_commands_next_to_a_server_cannot_replace_the_books(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as board:
        board.enter("Ada")
        copy = str(tmp_path / "copy")
        for words in (("backup", copy), ("audit",), ("maintain",), ("accounts",)):
            result = await asyncio.to_thread(timebank, tmp_path, *words)
            assert result.status == 0, result.error
        books = str(board.config.database)
        for words in (
            ("restore", "--yes", copy),
            ("move", books, str(tmp_path / "new")),
            ("upgrade",),
        ):
            result = await asyncio.to_thread(timebank, tmp_path, *words)
            assert result.status == 2
            assert result.error.startswith(f"Process {board.process.pid} of "), result.error


def test_a_disk_without_locks_is_named_before_the_board_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sysop.toml").write_text(OPEN_ALL_DAY)
    (tmp_path / "data").mkdir()
    shell = Shell(tmp_path / "sysop.toml")
    assert "locked" not in shell("check").output

    def flock(file: int, how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(serving.fcntl, "flock", flock)
    assert "the books must be on a disk of this machine" in shell("check").output
    result = shell("serve")
    assert result.status == 2
    assert "the books must be on a disk of this machine" in result.error


async def test_a_server_without_listeners_serves_doors(tmp_path: Path) -> None:
    toml = "listeners = []\n" + BOARD.partition("[[listeners]]")[0] + "[boards.Xibalba]\n"
    async with hosted(tmp_path, toml=toml) as host:
        server = await asyncio.create_subprocess_exec(
            *(*forked_door(tmp_path), "serve", "--config", str(host.config.path)),
            stdout=subprocess.PIPE,
        )
        assert server.stdout is not None
        async with asyncio.timeout(PATIENCE):
            output = (await server.stdout.readuntil(b"Ctrl-C")).decode()
        assert DOORS_ALONE in output
        visit = await host.a_visit()
        assert await visit.goes() == 0
        server.terminate()
        await server.communicate()
        assert server.returncode == 0
        with host.books() as desk:
            rows = desk.connection.exec_driver_sql("SELECT process FROM calls").scalars()
            assert [each.rpartition(":")[2] for each in rows] == [str(server.pid)]


# A lock that is removed.


async def test_a_removed_lock_lets_no_second_server_start(tmp_path: Path) -> None:
    async with served(tmp_path) as first:
        first.enter("Ada")
        ada = await logged_on(first, "Ada", MODERN)
        await ada.until("minutes today")
        os.unlink(lock_in(tmp_path))
        second = await asyncio.create_subprocess_exec(
            *(*forked_door(tmp_path), "serve", "--config", str(tmp_path / "sysop.toml")),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        async with asyncio.timeout(PATIENCE):
            _, error = await second.communicate()
        assert second.returncode == 2
        assert "another server listens there" in error.decode()
        assert first.process.returncode is None
        assert calls_open(first) == 1, "it has closed a call of the server that runs"


async def test_a_lock_that_was_removed_is_taken_again(board: World) -> None:
    place, lock = board.config.bank.lock, board.lock
    os.unlink(place)
    assert not serving.is_held(place)
    await board.pass_time(2 * LOCK_SECONDS)
    await until(lambda: serving.is_held(place), lock, "note")
    note = serving.read(place)
    assert note is not None
    assert (note.state, note.data) == (serving.SERVING, str(board.config.board.data))
    assert not board.server.ended.is_set()


async def test_a_server_ends_when_another_process_holds_its_removed_lock(
    board: World, caplog: pytest.LogCaptureFixture
) -> None:
    place = board.config.bank.lock
    os.unlink(place)
    with serving.take(place, serving.RESTORING):
        await board.pass_time(2 * LOCK_SECONDS)
        async with asyncio.timeout(PATIENCE):
            await board.server.ended.wait()
    assert " puts a backup in the place of these books" in caplog.text
