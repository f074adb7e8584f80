"""The pages beside a server: started by the settings, kept alive, and ended with it."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.processes import kept_port
from door.config import config as settings
from door.errors import CannotListen
from door.server import pages_process
from tests.door.processes import OPEN_ALL_DAY, served
from tests.terminal import PATIENCE
from tests.timebank.books import lay_new_books
from timebank.errors import SettingsError

pytestmark = pytest.mark.long


@pytest.fixture
def port() -> Iterator[int]:
    with kept_port() as port:
        yield port


def toml(port: int) -> str:
    return f"{OPEN_ALL_DAY}\n[pages]\nserve = true\nport = {port}\n"


async def first_line(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /log-on HTTP/1.1\r\nHost: books.example\r\nConnection: close\r\n\r\n")
    try:
        return await reader.readline()
    finally:
        writer.close()


async def is_shown(out: asyncio.StreamReader | None) -> None:
    assert out is not None
    async with asyncio.timeout(PATIENCE):
        while "The books are shown" not in (line := (await out.readline()).decode()):
            assert line, "the pages ended before they were shown"


async def test_the_pages_are_started_again_and_end_with_their_server(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sysop.toml"
    path.write_text(toml(port))
    config = settings.load(path)
    config.board.data.mkdir(parents=True)
    lay_new_books(config.database)
    begun: asyncio.Queue[Process] = asyncio.Queue()
    start = asyncio.create_subprocess_exec

    async def starting(*words: str, **how: Any) -> Process:
        process = await start(*words, **how, stdout=PIPE)
        begun.put_nowait(process)
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", starting)
    monkeypatch.setattr(pages_process, "FIRST_PAUSE", 0.0)
    keeping = asyncio.create_task(pages_process.keep_pages(path))
    first = await begun.get()
    await is_shown(first.stdout)
    assert b" 200 " in await first_line(port)
    first.kill()
    second = await begun.get()
    await is_shown(second.stdout)
    assert second.stdin is not None
    second.stdin.close()  # as when the server is killed
    async with asyncio.timeout(PATIENCE):
        assert await second.wait() == 0
    third = await begun.get()
    await is_shown(third.stdout)
    keeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await keeping
    assert third.returncode is not None


async def test_a_server_shows_the_books_when_its_settings_say_so(tmp_path: Path, port: int) -> None:
    async with served(tmp_path, toml=toml(port)) as board:
        await is_shown(board.process.stdout)
        assert b" 200 " in await first_line(port)
        board.process.terminate()
        assert await board.ends() == 0
        with pytest.raises(OSError, match=str(port)):
            await first_line(port)


def test_a_server_without_the_libraries_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    pages_process.check_libraries()
    monkeypatch.setattr(pages_process, "LIBRARIES", ("a_library_that_nobody_has",))
    with pytest.raises(CannotListen, match="need libraries that are not installed"):
        pages_process.check_libraries()


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ('host = "0.0.0.0"', "is not this machine alone"),
        ('host = "home"', "is not an IP address"),
        ('certificate = "cert.pem"', "go together"),
        ("port = 0", "port"),
        ("readers = 5", "readers"),
        ("serve = 1", "serve"),
        ("shows = true", "shows"),
    ],
)
def test_settings_are_checked(tmp_path: Path, lines: str, why: str) -> None:
    path = tmp_path / "sysop.toml"
    path.write_text(f"[pages]\n{lines}\n")
    with pytest.raises(SettingsError, match=why):
        settings.load(path)
