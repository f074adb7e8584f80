"""A port opened by systemd: callers wait there until the board starts."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.processes import kept_port
from door.lines.port import systemd
from tests.door.processes import OPEN_ALL_DAY, command
from tests.terminal import MODERN, PATIENCE, Terminal
from tests.world import register

pytestmark = pytest.mark.long


@pytest.fixture
def port() -> Iterator[int]:
    with kept_port() as port:
        yield port


async def test_a_caller_who_connects_before_the_board_starts_is_served(
    tmp_path: Path, port: int
) -> None:
    activate = shutil.which("systemd-socket-activate")
    if activate is None:
        assert not os.environ.get("BJFT_NEED_CLIENTS"), "systemd-socket-activate must be here"
        pytest.skip("systemd-socket-activate is not installed")
    settings = tmp_path / "sysop.toml"
    settings.write_text(OPEN_ALL_DAY.replace("port = 0", f"port = {port}"), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *(activate, "-l", f"127.0.0.1:{port}", str(command("door"))),
        *("serve", "--config", str(settings)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    assert b"Listening" in await process.stderr.readline()
    terminal = Terminal(MODERN)
    await terminal.connect(port)  # which starts the board
    await register(terminal, "Ann")
    await terminal.close()
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(PATIENCE):
        output, _ = await process.communicate()
    assert process.returncode == 0
    assert f"port {port}." in output.decode()


def test_sockets_for_another_process_are_left_alone() -> None:
    environment = {"LISTEN_FDS": "1", "LISTEN_PID": "1", "LISTEN_FDNAMES": "bjft", "HOME": "/"}
    assert systemd.sockets_in(environment) == {}
    assert environment == {"HOME": "/"}
    assert systemd.sockets_in({"LISTEN_FDS": "x", "LISTEN_PID": str(os.getpid())}) == {}
