"""SSH programs besides OpenSSH's own `ssh` (tests/door/server/test_ssh_client.py), and `ssh -N`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from door.lines.ssh.ssh import USUAL_LIMITS
from tests.door.lines.board import GREETING, PATIENCE
from tests.door.lines.ssh.board import SshBoard, open_board
from tests.door.lines.test_rlogin_clients import installed

AT_ONCE = replace(USUAL_LIMITS, idle=0.1)


def openssh(name: str, home: Path) -> list[str]:
    options = ("StrictHostKeyChecking=no", f"UserKnownHostsFile={home}/known", "BatchMode=yes")
    return [
        installed(name, "openssh-client"),
        "-F",
        "none",
        *(word for each in options for word in ("-o", each)),
    ]


@asynccontextmanager
async def running(
    home: Path, *command: str, on_terminal: bool = False
) -> AsyncIterator[tuple[asyncio.subprocess.Process, bytearray, int]]:
    """Run a program without keyboard input; return it, its output and its keyboard."""
    keyboard, screen = os.openpty()
    output = bytearray()
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=screen if on_terminal else asyncio.subprocess.DEVNULL,
        stdout=screen,
        stderr=screen,
        env=os.environ | {"TERM": "xterm", "HOME": str(home)},
        start_new_session=True,
    )
    os.close(screen)
    loop = asyncio.get_running_loop()

    def read() -> None:
        try:
            output.extend(os.read(keyboard, 4096))
        except OSError:  # how Linux reports that the program has closed its end
            loop.remove_reader(keyboard)

    loop.add_reader(keyboard, read)
    try:
        yield process, output, keyboard
    finally:
        loop.remove_reader(keyboard)
        if process.returncode is None:
            process.kill()
        await process.wait()
        os.close(keyboard)


async def output_of(home: Path, *command: str) -> str:
    """Run a program to its end and return its output."""
    async with running(home, *command) as (process, output, keyboard), asyncio.timeout(PATIENCE):
        await process.wait()
        while data := _rest(keyboard):
            output.extend(data)
        return output.decode()


def _rest(keyboard: int) -> bytes:
    try:
        return os.read(keyboard, 4096)
    except OSError:
        return b""


def dropbear(board: SshBoard) -> list[str]:
    return [
        installed("dbclient", "dropbear-bin"),
        "-y",
        "-y",
        "-p",
        str(board.port),
        "new@127.0.0.1",
    ]


async def test_dropbears_program_makes_a_call(tmp_path: Path) -> None:
    """It sends the first packet of the key exchange that it expects, before it knows ours."""
    async with open_board() as board:
        command = [*dropbear(board)[:-1], "-t", "new@127.0.0.1"]
        async with running(tmp_path, *command, on_terminal=True) as (process, output, keyboard):
            call, _ = await board.answered_with()
            os.write(keyboard, b"hit")
            await call.until_typed(b"hit")
            call.line.write(b"Goodbye.")
            call.over.set()
            async with asyncio.timeout(PATIENCE):
                await process.wait()
            assert GREETING in bytes(output)


async def test_a_command_by_dropbear_is_refused_in_a_sentence(tmp_path: Path) -> None:
    async with open_board() as board:
        assert "runs no commands" in await output_of(tmp_path, *dropbear(board), "ls")
        assert board.calls.empty()


@pytest.mark.parametrize(
    ("options", "refusal"), [((), "sends and takes no files"), (("-O",), "runs no commands")]
)
async def test_scp_new_and_old_is_refused_in_a_sentence(
    tmp_path: Path, options: tuple[str, ...], refusal: str
) -> None:
    async with open_board() as board:
        (tmp_path / "file").write_text("x")
        start = [*openssh("scp", tmp_path), *options, "-P", str(board.port)]
        assert refusal in await output_of(tmp_path, *start, f"{tmp_path}/file", "new@127.0.0.1:")
        assert board.calls.empty()


@pytest.mark.parametrize("options", [("-N",), ("-N", "-L", "{home}/local:127.0.0.1:1")])
async def test_a_program_that_asks_for_no_terminal_is_cut_off(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    async with open_board(AT_ONCE) as board:
        words = [option.format(home=tmp_path) for option in options]
        address = ("-p", str(board.port), "new@127.0.0.1")
        output = await output_of(tmp_path, *openssh("ssh", tmp_path), *words, *address)
        assert "needs a terminal" in output
        assert board.calls.empty()


async def test_dropbears_program_without_a_terminal_is_cut_off(tmp_path: Path) -> None:
    async with open_board(AT_ONCE) as board:
        command = dropbear(board)
        output = await output_of(tmp_path, *command[:-1], "-N", command[-1])
        assert "exited" in output
        assert board.calls.empty()
