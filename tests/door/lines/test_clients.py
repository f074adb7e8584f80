"""Telnet programs that callers really have, run in a terminal of their own against the board."""

import asyncio
import importlib.util
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.door.lines.board import Board

PATIENCE = 120.0  # seconds; some of these programs take their time to start


class Desk:
    """A program in a pseudo-terminal, and what it shows there."""

    def __init__(self, keyboard: int) -> None:
        self.shown = bytearray()
        self._keyboard = keyboard
        self._news = asyncio.Event()
        asyncio.get_running_loop().add_reader(keyboard, self._read)

    def type(self, keys: bytes) -> None:
        os.write(self._keyboard, keys)

    async def until_shown(self, text: bytes) -> None:
        async with asyncio.timeout(PATIENCE):
            while text not in self.shown:
                self._news.clear()
                await self._news.wait()

    def _read(self) -> None:
        try:
            self.shown += os.read(self._keyboard, 4096)
        except OSError:  # how Linux says that the program has closed its end
            asyncio.get_running_loop().remove_reader(self._keyboard)
        self._news.set()


@asynccontextmanager
async def running(*command: str) -> AsyncIterator[tuple[Desk, asyncio.subprocess.Process]]:
    keyboard, screen = os.openpty()
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=screen,
        stdout=screen,
        stderr=screen,
        env=os.environ | {"TERM": "vt100", "LANG": "en_US.UTF-8"},
        start_new_session=True,
    )
    os.close(screen)
    try:
        yield Desk(keyboard), process
    finally:
        asyncio.get_running_loop().remove_reader(keyboard)
        if process.returncode is None:
            process.kill()
        await process.wait()
        os.close(keyboard)


@pytest.mark.skipif(not shutil.which("telnet"), reason="no telnet program is installed")
async def test_the_telnet_of_linux_sends_each_key_and_leaves_the_echo_to_us(board: Board) -> None:
    async with running("telnet", "127.0.0.1", str(board.port)) as (desk, process):
        call = await board.answered()
        assert [name.lower() for name in call.line.hints.terminal_types] == ["vt100"]
        await desk.until_shown(b"Board.")
        for key in (b"a", b"\x1b[A", b"\xc3\xa9", b"\x03"):
            call.typed.clear()
            desk.type(key)
            await call.until_typed(key)
        call.line.write(b"\xff\xc3\xa9Goodbye.")
        await desk.until_shown(b"\xff\xc3\xa9Goodbye.")
        assert b"\x1b[A" not in desk.shown, "the program echoed what was typed"
        call.over.set()
        await desk.until_shown(b"Connection closed by foreign host")
        await process.wait()


@pytest.mark.skipif(
    importlib.util.find_spec("telnetlib3.client") is None, reason="the library has no client"
)
async def test_the_telnet_program_of_the_library_says_who_it_is(board: Board) -> None:
    client = "import telnetlib3.client; telnetlib3.client.main()"
    command = (sys.executable, "-W", "ignore", "-c", client, "127.0.0.1", str(board.port))
    async with running(*command) as (desk, process):
        call = await asyncio.wait_for(board.calls.get(), PATIENCE)
        await desk.until_shown(b"Board.")
        assert call.line.hints.terminal_types == ("vt100",)
        assert call.line.hints.language.startswith("en_US.")
        desk.type(b"k")
        await call.until_typed(b"k")
        call.over.set()
        await process.wait()
