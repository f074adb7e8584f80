"""The files of docs/many-machines.md are used in the runs and match the text."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from unittest import mock

import pytest

from door.config import config
from door.lines.port.proxy_header import ProxyHeader
from door.server.health import DRAINS, LOST, SERVES, HealthPort
from tests import ROOT
from tests.door.shell import door as in_shell
from verify.machines.shipped import FOLDER, environment, fitted

pytestmark = pytest.mark.long

GUIDE = (ROOT / "docs" / "many-machines.md").read_text("utf-8")
PATIENCE = 60.0  # seconds
Call = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def test_the_guide_fills_every_placeholder_of_the_files() -> None:
    for file in FOLDER.iterdir():
        lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
        wanted = set(re.findall("@[A-Z]+@", "\n".join(lines)))
        # `sed` puts one into each line.
        assert all(len(re.findall("@[A-Z]+@", line)) < 2 for line in lines), file.name
        if wanted:
            (filled,) = re.findall(rf'sed "([^"]+)" machines/{file.name}', GUIDE)
            assert set(re.findall("@[A-Z]+@", filled)) == wanted
        assert f"machines/{file.name}" in GUIDE


def test_the_files_name_the_machines_of_the_guide() -> None:
    assert "| db1, db2, db3 | 10.0.0.11, .12, .13 |" in GUIDE
    assert "| board1, board2 | 10.0.0.31, .32 |" in GUIDE
    text = "".join(file.read_text("utf-8") for file in FOLDER.iterdir())
    known = {"0", "11", "12", "13", "31", "32"}
    assert set(re.findall(r"10\.0\.0\.(\d+)", text + GUIDE)) == known
    settings = environment((FOLDER / "etcd.default").read_text("utf-8"))
    assert settings["ETCD_INITIAL_CLUSTER"].count("http://10.0.0.1") == 3


@pytest.mark.parametrize("made", [(ROOT / "sysop.toml").read_text("utf-8"), ""])
def test_the_guide_changes_the_settings_of_two_boards_and_no_others(
    tmp_path: Path, made: str
) -> None:
    """With the file as `door init` writes it, and without a key in it."""
    file = tmp_path / "sysop.toml"
    file.write_text(made, encoding="utf-8")
    before = config.load(file)
    changes = re.findall(r"^/opt/bjft/bin/door config set (.*)$", GUIDE, re.MULTILINE)
    for words in changes:
        result = in_shell("config", "set", "--config", str(file), *words.split())
        assert result.status == 0, result.error
        after = config.load(file)
        if words.startswith("listeners.1.proxies"):
            assert after.server.name == "board1"
            assert str(after.server.health) == "10.0.0.31:2330"
            assert after.bank.server is not None
            assert after.listeners[0].host == "10.0.0.31"
            assert len(after.listeners[0].proxies) == 2
    assert after.server.name == "board2"
    assert str(after.server.health) == "10.0.0.32:2330"
    assert after.listeners[0].host == "10.0.0.32"
    assert (after.pages, after.metrics, after.games) == (before.pages, before.metrics, before.games)


def test_the_guide_installs_the_driver_for_books_on_a_server() -> None:
    installed = re.findall(r"/opt/bjft/bin/pip install .*", GUIDE)
    assert installed
    assert all("blackjack-for-time[postgres]" in command for command in installed)


def haproxy() -> str:
    path = shutil.which("haproxy", path="/usr/sbin:/usr/bin")
    if path is None:
        assert not os.environ.get("BJFT_NEED_CLIENTS"), "haproxy must be here"
        pytest.skip("HAProxy is not installed")
    return path


def test_haproxy_takes_its_file() -> None:
    path = haproxy()
    file = FOLDER / "haproxy.cfg"
    done = subprocess.run(
        [path, "-c", "-f", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr.lower()


class Board:
    """A server as HAProxy sees it: a port for callers, which sends its name, and one for health."""

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.status = SERVES
        self.health = HealthPort(lambda: self.status, mock.AsyncMock(), (), mock.Mock())
        self._over = asyncio.Event()
        self._over.set()
        self._on = 0

    async def open(self) -> None:
        await self.health.open("127.0.0.1", 0)
        self.callers = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.port = self.callers.sockets[0].getsockname()[1]

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._on += 1
        self._over.clear()
        header, passed = ProxyHeader(), None
        while passed is None:
            passed = header.feed(await reader.read(4096))
        writer.write(self.name)
        while data := await reader.read(4096):
            writer.write(data)
        await hang_up(writer)
        self._on -= 1
        if not self._on:
            self._over.set()

    def stand_still(self) -> None:
        """Stop answering; the kernel still accepts connections."""
        assert self.health._wire is not None
        asyncio.get_running_loop().remove_reader(self.health._wire.fileno())

    async def close(self) -> None:
        await self.health.finish(0)
        self.callers.close()
        await self._over.wait()


async def hang_up(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


@pytest.fixture
async def boards() -> AsyncIterator[tuple[Board, Board]]:
    made = Board(b"1"), Board(b"2")
    for board in made:
        await board.open()
    yield made
    for board in made:
        await board.close()


@pytest.fixture
async def front(boards: tuple[Board, Board], tmp_path: Path) -> AsyncIterator[Front]:
    """HAProxy with the file that is shipped, twenty times as quick."""
    path = haproxy()
    instead = {
        "    user haproxy\n    group haproxy\n": "",
        "/run/haproxy/admin.sock": str(tmp_path / "admin"),
        "bind :23 tcp-ut 45s": f"bind unix@{tmp_path / 'callers'}",
        "bind 127.0.0.1:5432": f"bind unix@{tmp_path / 'databases'}",
        "bind 127.0.0.1:8404": f"bind unix@{tmp_path / 'watch'}",
        "timeout check 2s": "timeout check 100ms",
        "inter 1s fall 3": "inter 50ms fall 3",
    }
    for number in (1, 2, 3):
        instead[f"server db{number} 10.0.0.1{number}:5432"] = f"server db{number} 127.0.0.1:1"
    for number, board in enumerate(boards, 1):
        ours = f"server board{number} 127.0.0.1:{board.port} check port {board.health.port}"
        instead[f"server board{number} 10.0.0.3{number}:2323 check port 2330"] = ours
    file = tmp_path / "haproxy.cfg"
    file.write_text(fitted("haproxy.cfg", {}, instead), encoding="utf-8")
    program = await asyncio.create_subprocess_exec(path, "-db", "-f", str(file))
    try:
        async with asyncio.timeout(PATIENCE):
            made = Front(tmp_path)
            await made.until("board1", "UP")
            await made.until("board2", "UP")
            yield made
            await made.hang_up()
    finally:
        program.kill()
        await program.wait()


class Front:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: list[asyncio.StreamWriter] = []

    async def call(self) -> tuple[bytes, Call]:
        """Call, and return the name of the server that has answered."""
        line = await asyncio.open_unix_connection(self._folder / "callers")
        self._lines.append(line[1])
        return await line[0].readexactly(1), line

    async def hang_up(self) -> None:
        for writer in self._lines:
            await hang_up(writer)

    async def until(self, server: str, state: str) -> None:
        """Wait until HAProxy holds a server for that, by checks of its own."""
        while not re.search(rf"^callers,{server},.*,{state},.*,L7", await self._stats(), re.M):
            pass

    async def _stats(self) -> str:
        try:
            reader, writer = await asyncio.open_unix_connection(self._folder / "admin")
        except OSError:
            return ""
        writer.write(b"show stat\n")
        answer = (await reader.read()).decode()
        await hang_up(writer)
        return answer


async def is_on(call: Call) -> bool:
    reader, writer = call
    writer.write(b"?")
    return await reader.read(1) == b"?"


async def test_a_server_that_drains_keeps_its_callers_and_gets_no_new_ones(
    boards: tuple[Board, Board], front: Front
) -> None:
    calls = dict([await front.call(), await front.call()])
    assert set(calls) == {b"1", b"2"}
    boards[0].status = DRAINS
    await front.until("board1", "NOLB")
    assert [(await front.call())[0] for _ in range(4)] == [b"2"] * 4
    assert await is_on(calls[b"1"])
    boards[0].status = SERVES
    await front.until("board1", "UP")
    assert (await front.call())[0] == b"1"
    assert await is_on(calls[b"1"])


@pytest.mark.parametrize("how", ["stands still", "has lost its books", "is drained, and then ends"])
async def test_callers_of_a_server_that_cannot_serve_them_are_cut_off(
    boards: tuple[Board, Board], front: Front, how: str
) -> None:
    calls = dict([await front.call(), await front.call()])
    if how == "stands still":
        boards[0].stand_still()
    elif how == "has lost its books":
        boards[0].status = LOST
    else:
        boards[0].status = DRAINS
        await front.until("board1", "NOLB")
        assert await is_on(calls[b"1"])
        await boards[0].health.finish(0)
    assert await calls[b"1"][0].read() == b""
    assert (await front.call())[0] == b"2"
    assert await is_on(calls[b"2"])
