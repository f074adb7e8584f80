"""Telnet programs that callers really have, run in a terminal of their own against the board."""

import asyncio
import importlib.util
import sys
from pathlib import Path

import pytest

from tests.door.lines.board import PATIENCE, Board
from tests.door.lines.test_rlogin_clients import installed, running


async def test_the_telnet_of_linux_sends_each_key_and_leaves_the_echo_to_us(
    board: Board, tmp_path: Path
) -> None:
    telnet = installed("telnet", "telnet")
    async with running(tmp_path, telnet, "127.0.0.1", str(board.port), ends=None) as window:
        desk = window.far
        call = await board.answered()
        assert [name.lower() for name in call.line.hints.terminal_types] == ["vt100"]
        await desk.until_shown(b"Board.")
        for key in (b"a", b"\x1b[A", b"\xc3\xa9", b"\x03"):
            call.typed.clear()
            desk.types(key)
            await call.until_typed(key)
        call.line.write(b"\xff\xc3\xa9Goodbye.")
        await desk.until_shown(b"\xff\xc3\xa9Goodbye.")
        assert b"\x1b[A" not in desk.shown, "the program echoed what was typed"
        call.over.set()
        await desk.until_shown(b"Connection closed by foreign host")


@pytest.mark.skipif(
    importlib.util.find_spec("telnetlib3.client") is None, reason="the library has no client"
)
async def test_the_telnet_program_of_the_library_names_itself(board: Board, tmp_path: Path) -> None:
    client = "import telnetlib3.client; telnetlib3.client.main()"
    command = (sys.executable, "-W", "ignore", "-c", client, "127.0.0.1", str(board.port))
    async with running(tmp_path, *command, ends=None) as window:
        desk = window.far
        call = await asyncio.wait_for(board.calls.get(), PATIENCE)
        await desk.until_shown(b"Board.")
        assert call.line.hints.terminal_types == ("vt100",)
        assert call.line.hints.language.startswith("en_US.")
        desk.types(b"k")
        await call.until_typed(b"k")
        call.over.set()
