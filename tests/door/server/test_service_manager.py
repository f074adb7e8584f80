"""The messages to systemd for a board with `Type=notify`, by sd_notify(3)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from door.server.service_manager import READY, STOPPING, TURNS, ServiceManager
from tests.door.processes import OPEN_ALL_DAY, Served

WATCHDOG = "300000"  # microseconds


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as wire:
        wire.bind(str(tmp_path / "notify"))
        wire.settimeout(60)
        yield wire


def test_the_manager_takes_its_variables_out_of_the_environment(systemd: socket.socket) -> None:
    environment = {
        "NOTIFY_SOCKET": systemd.getsockname(),
        "WATCHDOG_USEC": WATCHDOG,
        "WATCHDOG_PID": str(os.getpid()),
        "HOME": "/",
    }
    manager = ServiceManager.from_environment(environment)
    assert environment == {"HOME": "/"}
    manager.say(READY, "STATUS=16 nodes")
    manager.say(STOPPING)
    messages = [systemd.recv(200) for _ in range(2)]
    assert messages == [b"READY=1\nSTATUS=16 nodes", b"STOPPING=1"]


async def test_without_a_live_manager_nothing_is_sent() -> None:
    for environment in (
        {},
        {"NOTIFY_SOCKET": "/nowhere/notify", "WATCHDOG_USEC": "no number"},
        {"NOTIFY_SOCKET": "@nobody", "WATCHDOG_USEC": WATCHDOG, "WATCHDOG_PID": "1"},
    ):
        manager = ServiceManager.from_environment(environment)
        manager.say(READY)
        await manager.keep_alive()


@contextlib.asynccontextmanager
async def watched(folder: Path) -> AsyncIterator[Served]:
    (folder / "sysop.toml").write_text(OPEN_ALL_DAY, encoding="utf-8")
    board = Served(folder)
    try:
        await board.serve()
        yield board
    finally:
        await board.close()


async def test_a_board_reports_serving_progress_and_closing(
    tmp_path: Path, systemd: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", systemd.getsockname())
    monkeypatch.setenv("WATCHDOG_USEC", WATCHDOG)
    messages: list[bytes] = []

    def until_message(fact: str) -> None:
        while not messages or messages[-1] != fact.encode():
            messages.append(systemd.recv(200))

    async with watched(tmp_path) as board:
        await asyncio.to_thread(until_message, READY)
        await asyncio.to_thread(until_message, TURNS)
        board.process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(until_message, STOPPING)
        assert await board.ends() == 0
    assert set(messages) <= {READY.encode(), TURNS.encode(), STOPPING.encode()}
